# SPDX-License-Identifier: GPL-2.0-only
"""Runs the cases of htsim on our engine and holds them against its results.

As a program it prints the tables of docs/validation.md: python tests/peers/htsim.py [draws]

htsim's routes depend on its own hash, so the same matrix takes other paths here. What can be
compared is the completion over the max-min fluid value of the paths that each simulator has drawn,
and its distribution over many draws. htsim sends the last packet of a message at full size; the
messages here are whole numbers of packets for that reason.
"""

import sys
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from pyorch import render, spec, traces
from pyorch.metrics import RunTables
from pyorch.spec.scenario import parse_scenario
from pyorch.theory import ecmp
from pyorch.theory.paths import Network, random_choice

sys.path.insert(0, str(Path(__file__).parents[1] / "oracles"))
sys.path.insert(0, str(Path(__file__).parents[2]))
import oracle_network

from tests import loaded_runs

DATA = Path(__file__).parents[1] / "data" / "htsim"
MTU_BYTES, PACKET_BYTES = 4096, 4160
COUNTED_BYTES = 4096  # data_packet_size(): a packet of a limit that is said in packets (-mtu 4096)
PFC = {"15/12": (15, 3), "120/96": (120, 24), "none": (10_000, 1)}
LINK_DELAY_US = 1.0
RESUME_BELOW_BYTES = 1  # htsim resumes strictly below its threshold, our engine at it


def peers() -> pd.DataFrame:
    """Return htsim's results with the fluid values of htsim's own paths."""
    table = pd.read_csv(DATA / "peer.csv")
    norms = normalised(
        table["topo"], table["flow_bytes"], table["fct_mean_us"], table["fct_max_us"],
        table["fluid_mean"], table["fluid_p100"],
    )  # fmt: skip
    return table.assign(**norms)


def normalised(topo, flow_bytes, mean_us, max_us, fluid_mean, fluid_p100) -> dict:
    """Return mean and slowest completion over their fluid values [1].

    The round trip is taken off first, so that 1 means: as the fluid, but for headers and ACKs. The
    fluid values are in units of a flow alone, payload only.
    """
    topo = pd.Series(topo)
    gbps = topo.str.rpartition("_")[2].astype(float)
    links = topo.str.startswith("ft").map({True: 6, False: 4})
    alone_us = flow_bytes * 8 / gbps / 1e3
    trip_us = 2 * links * LINK_DELAY_US
    return {
        "mean_over_fluid": (mean_us - trip_us) / alone_us / fluid_mean,
        "tail_over_fluid": (max_us - trip_us) / alone_us / fluid_p100,
    }


@cache
def workspace() -> Path:
    """Return a folder with our scenario, the topologies and matrices of whole packets."""
    folder = Path(tempfile.mkdtemp(prefix="htsim-"))
    for path in DATA.glob("*.topo"):
        (folder / path.name).write_text(path.read_text())
    return folder


def whole_packets(matrix: str, flow_bytes: int) -> Path:
    """Write a matrix with messages of whole packets and return where."""
    n_packets = -(-flow_bytes // MTU_BYTES)
    source = DATA / matrix.replace(str(flow_bytes), "2000000")
    path = workspace() / f"{flow_bytes}_{matrix}"
    path.write_text(source.read_text().replace("size 2000000", f"size {n_packets * MTU_BYTES}"))
    return path


def plan(topo: str, matrix: str, flow_bytes: int, pfc: str = "15/12", seed: int = 1):
    """Return one of htsim's cases, resolved for our engine."""
    return plan_of(topo, pfc, seed, [("workload.file", whole_packets(matrix, flow_bytes).name)])


def plan_of(topo: str, pfc: str, seed: int, own: list[tuple]):
    """Return a run on one of htsim's topologies with what is said besides."""
    xoff, xon_offset = PFC[pfc]
    sets = [
        *own,
        ("topology.file", f"{topo}.topo"),
        ("link.rate", f"{topo.rpartition('_')[2]} Gb/s"),
        ("link.flow_control.attributes.XoffBytes", xoff * COUNTED_BYTES),
        (
            "link.flow_control.attributes.XonOffsetBytes",
            xon_offset * COUNTED_BYTES + RESUME_BELOW_BYTES,
        ),
        ("switch.buffer", "1 TB" if pfc == "none" else "1 GB"),
        ("seed", seed),
    ]
    scenario = parse_scenario((DATA / "htsim.yaml").read_text(), str(workspace() / "htsim.yaml"))
    (planned,) = spec.plan(scenario, sets=sets)
    return planned


def simulate(planned) -> RunTables:
    """Return the tables of a run on our engine."""
    folder = workspace() / planned.id
    folder.mkdir(exist_ok=True)
    (folder / "scenario.py").write_text(render.render_script(planned.spec))
    render.write_tables(render.input_tables(planned.spec), folder / "tables.npz")
    ended = loaded_runs.simulate(folder / "scenario.py", folder, folder / "simulate.log")
    if ended.status:
        raise RuntimeError((folder / "simulate.log").read_text())
    traces.convert(folder)
    return RunTables(planned.spec, folder)


def run(topo: str, matrix: str, flow_bytes: int, pfc: str = "15/12", seed: int = 1) -> dict:
    """Return completion times [us] and fluid values [1] of one run on our engine."""
    tables = simulate(plan(topo, matrix, flow_bytes, pfc, seed))
    flows, paths = tables.flows, tables.table("paths")
    fct_us = (tables.table("flows")["sender_end_ps"] - flows["start_ps"]).to_numpy(float) / 1e6
    columns = {name: paths[name].to_numpy(dtype=np.int64) for name in paths.columns}
    routes = tables.network.recorded_routes(flows["flow"].to_numpy(), columns)
    fluid = fluid_slowdown(routes, tables.network.rate_bps)
    assert int(tables.table("ports")["dropped_buffer_frames"].sum()) == 0
    result = {
        "topo": topo, "matrix": matrix, "pfc_packets": pfc, "seed": seed,
        "fct_min_us": fct_us.min(), "fct_p50_us": float(np.median(fct_us)),
        "fct_mean_us": fct_us.mean(), "fct_max_us": fct_us.max(),
        "fluid_mean": fluid.mean(), "fluid_p100": fluid.max(),
    }  # fmt: skip
    names = ("fct_mean_us", "fct_max_us", "fluid_mean", "fluid_p100")
    norms = normalised([topo], flow_bytes, *(result[name] for name in names))
    return result | {name: float(value.iloc[0]) for name, value in norms.items()}


def draws(topo: str, matrix: str, flow_bytes: int, pfc: str, n: int) -> pd.DataFrame:
    """Return one row for each of the first n seeds of the hash."""
    return pd.DataFrame([run(topo, matrix, flow_bytes, pfc, seed) for seed in range(1, n + 1)])


def fluid_slowdown(routes: np.ndarray, rate_bps: np.ndarray) -> np.ndarray:
    """Return the max-min fluid completion of each flow [1]; a flow alone is 1."""
    n, start_ps = len(routes), np.zeros(len(routes))
    return ecmp.fluid_fct_ps(routes, np.full(n, rate_bps[0] / 8e12), start_ps, rate_bps)


def fluid_draws(topo: str, matrix: str, seeds, ideal: bool = False) -> np.ndarray:
    """Return the fluid value of the slowest flow [1] for each seed; nothing is sent.

    The paths are those of the engine's hash, or of an ideal one: uniform and independent.
    """
    tables = render.input_tables(plan(topo, matrix, 2_000_000).spec)
    nodes, links, flows = (tables[name] for name in ("nodes", "links", "flows"))
    network, slowest = Network(nodes, links), []
    for seed in seeds:
        if ideal:
            choose = random_choice(np.random.default_rng(seed))
            routes = network.routes(flows["src"], flows["dst"], choose)
        else:
            drawn = oracle_network.run_tables(
                nodes, links, flows, [("ns3::RoceTransport", {})], forwarding="ns3::EcmpHash",
                queue=None, pfc=None, drops=(), seed=seed, stop_ps=0,
            )["paths"]  # fmt: skip
            routes = network.recorded_routes(flows["flow"], drawn)
        slowest.append(fluid_slowdown(routes, network.rate_bps).max())
    return np.array(slowest)


def draws_alike(topo: str, matrix: str, fluid: float, seeds) -> pd.DataFrame:
    """Return one row for each of the seeds whose slowest flow has this fluid value."""
    alike = np.isclose(fluid_draws(topo, matrix, seeds), fluid)
    chosen = np.array(seeds)[alike].tolist()
    return pd.DataFrame([run(topo, matrix, 2_000_000, seed=seed) for seed in chosen])


def report(n: int) -> None:
    """Print a table: htsim, our median over the draws, and where htsim lies among them."""
    print("| case | FCT p50 [us] | ratio | mean / fluid | ratio | slowest / fluid | ratio | rank |")
    print("|---|---|---|---|---|---|---|---|")
    for peer in peers().itertuples():
        fixed = not peer.matrix.startswith("perm")
        ours = draws(peer.topo, peer.matrix, peer.flow_bytes, peer.pfc_packets, 1 if fixed else n)
        cells = [f"{peer.topo} {peer.matrix.rpartition('_')[0].removesuffix('_1.0')}"
                 f" {peer.pfc_packets}"]  # fmt: skip
        names = ["fct_p50_us", "mean_over_fluid", "tail_over_fluid"]
        for name in ["fct_max_us"] if fixed else names:
            theirs, own = getattr(peer, name), ours[name].median()
            cells += [f"{own:.6g} ({theirs:.6g})", f"{own / theirs:.3f}"]
        cells.append(f"{(ours['tail_over_fluid'] < peer.tail_over_fluid).mean():.0%}")
        print(f"| {' | '.join(cells)} |".replace("nan (nan) | nan", "- | -"), flush=True)


if __name__ == "__main__":
    report(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
