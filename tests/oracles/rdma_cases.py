# SPDX-License-Identifier: GPL-2.0-only
"""The cases of `tests/data/rdma` on our engine, with its parameters; no oracle lives here.

    python tests/oracles/rdma_cases.py

prints what both have, for `docs/validation.md`.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from oracle_network import MS_PS, US_PS, Flows, Outcome, run_fabric, star

from pyorch.simulate.fabric import Fabric

DATA = Path(__file__).parents[1] / "data" / "rdma"
SWITCH = 1000
PACKET = 1000
POOL, HEADROOM = 4 * 2**20, 37_500


@dataclass(frozen=True)
class Control:
    """A congestion control with the peer's parameters and sizes."""

    type: str
    frame_bytes: int
    frame_ns: int  # on the wire, rounded down as the peer does: the rate is set by it
    red: tuple[int, int, float] = (400_000, 1_600_000, 0.2)
    pool_bytes: int = POOL
    ack_bytes: int = 64

    @property
    def rate_bps(self) -> int:
        return round(self.frame_bytes * 8e9 / self.frame_ns)


CONTROLS = {
    # Its window of 52 000 bytes is payload, ours is bytes on the wire: 4160 ns x 1090 / 1000.
    "hpcc": Control("ns3::Hpcc[BaseRtt=4534ns|MaxStage=5]", 1090, 87, ack_bytes=88),
    "timely": Control(
        "ns3::Timely[RateAiShare=0.0005|HyperFactor=2]", 1056, 84
    ),
    # 615 Mb/s x 4160 ns
    "k30_dctcp": Control(
        "ns3::Dctcp[IncreaseBytes=320]", 1048, 83, red=(30_000, 30_000, 1), pool_bytes=8 * POOL
    ),
    # No byte counter there.
    "dcqcn": Control(
        "ns3::Dcqcn[AlphaInterval=1us|Timer=900us|CounterBytes=1000000000000|RecoveryRounds=1"
        "|RateAiShare=0.0005|RateHaiShare=0.001|ClampTarget=false]",
        1048,
        83,
    ),
}  # fmt: skip

LONG = 4 * 10**9
#: Flows as (bytes, start), and when to stop.
PATTERNS = {
    "single": ([(10**6, 0)], MS_PS),
    "16to1": ([(500_000, 0)] * 16, 20 * MS_PS),
    "hpcc_2to1": ([(LONG, 0), (LONG, 200 * US_PS)], 3 * MS_PS),
    "timely_2to1": ([(LONG, 0), (LONG, MS_PS)], 50 * MS_PS),
    "k30_dctcp_2to1": ([(LONG, 0), (LONG, MS_PS)], 20 * MS_PS),
    "dcqcn_2to1": ([(LONG, 0), (LONG, MS_PS)], 100 * MS_PS),
}


def simulate(scenario: str, *, seed: int = 1, sample_ps: int = US_PS) -> Outcome:
    """Run a scenario of the peer, for example "timely_16to1"."""
    name, _, pattern = scenario.rpartition("_")
    control = CONTROLS[name]
    sizes, stop_ps = PATTERNS.get(scenario) or PATTERNS[pattern]
    network = star(len(sizes) + 1, control.rate_bps, US_PS)
    receiver = len(sizes)
    flows = Flows()
    for src, (size, start_ps) in enumerate(sizes):
        flows.add(src, receiver, size, start_ps)
    ports = len(network.links)
    fabric = Fabric(seed=seed)
    fabric.wire(framing_bytes=0)
    fabric.switch(buffer_bytes=control.pool_bytes + ports * HEADROOM)
    fabric.trace(sample_ps=sample_ps)
    tables = {
        "nodes": network.nodes_table(), "links": network.links_table(), "flows": flows.table()
    }  # fmt: skip
    for table, columns in tables.items():
        fabric.table(table, columns)
    fabric.forwarding("ns3::EcmpHash")
    kmin, kmax, pmax = control.red
    fabric.queue("ns3::RedEcn", {"KminBytes": kmin, "KmaxBytes": kmax, "Pmax": pmax})
    fabric.program("ns3::InbandTelemetry", {"HopBytes": 0, "BaseBytes": 0})  # in the headers
    fabric.flow_control(
        "ns3::Pfc", {"Alpha": 0.125, "HeadroomBytes": HEADROOM, "XonOffsetBytes": 2496}
    )
    fabric.transport(
        "ns3::RoceTransport",
        {
            "MtuBytes": PACKET, "HeaderBytes": control.frame_bytes - PACKET, "RethBytes": 0,
            "AckBytes": control.ack_bytes, "CnpInterval": "4us", "CongestionControl": control.type,
        },
    )  # fmt: skip
    return run_fabric(fabric, stop_ps)


def queue_at(got: Outcome, receiver: int, times_us: np.ndarray) -> np.ndarray:
    """Return the queue of the receiver's port [byte]; a sample that is not there is of none."""
    samples = pd.DataFrame(got["port_samples"])
    here = samples[(samples["node"] == SWITCH) & (samples["peer"] == receiver)]
    here = here[here["time_ps"] % US_PS == 0]  # but not the last one, at the end of the run
    queue = here.set_index(here["time_ps"] // US_PS)["queue_bytes"]
    return queue.reindex(times_us, fill_value=0).to_numpy()


def goodput_gbps(got: Outcome, period_us: int, bins: int) -> np.ndarray:
    """Return payload that arrived, by flow and period; the peer's has been acknowledged."""
    samples = pd.DataFrame(got["flow_samples"])
    which = (samples["time_ps"] - 1) // (period_us * US_PS)
    found = samples.groupby([samples["flow"], which])["arrived_packets"].sum() * PACKET * 8e-3
    index = pd.MultiIndex.from_product([sorted(samples["flow"].unique()), range(bins)])
    return found.reindex(index, fill_value=0).to_numpy().reshape(-1, bins) / period_us


def peer(file: str, scenario: str) -> pd.DataFrame:
    table = pd.read_csv(DATA / f"{file}.csv")
    return table[table["scenario"] == scenario]


def peer_goodput_gbps(scenario: str, bins: int) -> np.ndarray:
    rates = peer("goodput", scenario)
    period_us = rates["t_end_us"].min()
    table = rates.pivot(index="flow", columns="t_end_us", values="goodput_gbps")
    return table.reindex(columns=period_us * np.arange(1, bins + 1)).fillna(0).to_numpy()


def _report() -> None:
    for scenario in pd.read_csv(DATA / "summary.csv")["scenario"]:
        name, _, pattern = scenario.rpartition("_")
        if name not in CONTROLS:
            continue
        long = pattern == "2to1"
        got = simulate(scenario, sample_ps=20 * US_PS if scenario == "dcqcn_2to1" else US_PS)
        theirs = peer("summary", scenario).iloc[0]
        port = got.port(SWITCH, got["flows"]["dst"][0])
        print(f"{scenario}: deepest {port['max_queue_bytes']} ({theirs.queue_max_sampled_bytes})")
        print(f"  pauses {got['ports']['pause_frames_sent'].sum() // 2} ({theirs.pfc_pause_sent})")
        marks = got["flows"]["ecn_marked_packets"].sum()
        print(f"  marks {marks} ({theirs.acks_with_ecn_echo})")
        times = peer("queue", scenario)
        if len(times):
            ours = queue_at(got, got["flows"]["dst"][0], times["t_us"].to_numpy())
            apart = np.abs(ours - times["queue_bytes"].to_numpy())
            print(f"  queue mean {ours.mean():.0f} ({times['queue_bytes'].mean():.0f})", end="")
            print(f" apart: mean {apart.mean():.0f}, most {apart.max()}")
        if not long:
            fct = got["flows"]["sender_end_ps"] / 1000
            print(f"  fct {fct.min():.0f} {fct.mean():.0f} {fct.max():.0f}", end="")
            print(f" ({theirs.fct_min_ns} {theirs.fct_mean_ns} {theirs.fct_max_ns})")
            continue
        bins = peer("goodput", scenario)["t_end_us"].nunique()
        period_us = int(peer("goodput", scenario)["t_end_us"].min())
        ours, theirs = goodput_gbps(got, period_us, bins), peer_goodput_gbps(scenario, bins)
        print("  goodput apart", np.abs(ours - theirs).mean(axis=1).round(2), end="")
        print(" sum apart", np.abs((ours - theirs).sum(axis=0)).mean().round(2), end="")
        tail = slice(-bins // 5, None)
        print(" tail", ours[:, tail].mean(axis=1).round(1), theirs[:, tail].mean(axis=1).round(1))


if __name__ == "__main__":
    _report()
