# SPDX-License-Identifier: GPL-2.0-only
"""How many messages the fluid engine completes in a CPU-second, by what it has to do for each.

    python benchmarks/fluid.py [MESSAGES]

Three kinds of work on 1024 hosts: random pairs, sizes and times of data centres at half load, one
hashed path each; rounds of sprayed all-to-all in which a host sends its next message when the one
before is in; a ring all-reduce. One core; the time is that of the engine, without building tables.
"""

import sys
import time

import numpy as np

from pyorch.simulate.fabric import Fabric
from pyorch.spec.resolved import Link
from pyorch.topology import leaf_spine

HOSTS, RATE_BPS, DELAY_PS = 1024, 800 * 10**9, 500_000
LINK = Link(rate_bps=RATE_BPS, delay_ps=DELAY_PS)
ROCE, SPRAY = "ns3::RoceTransport", "ns3::SprayTransport"


def random_pairs(messages):
    """Poisson arrivals at half load; sizes are exponential with a mean of 100 kB."""
    rng = np.random.default_rng(1)
    mean_bytes = 100_000
    src = rng.integers(0, HOSTS, messages)
    gap_ps = mean_bytes * 8e12 / RATE_BPS / HOSTS / 0.5
    return {
        "src": src,
        "dst": (src + rng.integers(1, HOSTS, messages)) % HOSTS,
        "bytes": rng.exponential(mean_bytes, messages).astype(np.int64) + 1,
        "start_ps": np.cumsum(rng.exponential(gap_ps, messages)).astype(np.int64),
    }, None


def in_rounds(messages, step):
    """Round k: host i sends to i + step(k), when its message of round k - 1 is in."""
    rounds = messages // HOSTS
    host, turn = np.tile(np.arange(HOSTS), rounds), np.repeat(np.arange(rounds), HOSTS)
    flows = {
        "src": host,
        "dst": (host + step(turn)) % HOSTS,
        "bytes": np.full(len(host), 100_000),
        "start_ps": np.zeros(len(host), dtype=np.int64),
    }
    later = np.arange(HOSTS, len(host))
    waits = {"flow": later, "after": later - HOSTS, "at_sender": np.ones(len(later), int)}
    return flows, waits


def completions_per_s(flows, waits, transport):
    """Run the messages; return how many end in a second of CPU."""
    params = leaf_spine.Params.model_validate(
        {"leaves": 32, "hosts_per_leaf": 32, "spines": 32}, context={"link": LINK}
    )
    fabric = Fabric(seed=1)
    fabric.engine = {"type": "fluid"}
    for name, columns in leaf_spine.tables(params, LINK).items():
        fabric.table(name, columns)
    fabric.table("flows", {"flow": np.arange(len(flows["src"])), **flows})
    if waits:
        fabric.table("dependencies", waits)
    fabric.forwarding("ns3::EcmpHash")
    fabric.transport(transport)
    facade = fabric.build(fabric.load())
    begin = time.process_time()
    while not facade.RunSlice(10**18, 10.0):
        pass
    took_s = time.process_time() - begin
    done = int(facade.FlowsDone())
    facade.__destruct__()
    assert done == len(flows["src"])
    return done / took_s


def main(messages):
    """Print a line for each kind of work."""
    for name, (flows, waits), transport in (
        ("random pairs, hashed", random_pairs(messages), ROCE),
        ("random pairs, sprayed", random_pairs(messages), SPRAY),
        ("all-to-all in rounds, sprayed", in_rounds(messages, lambda k: 32 + 31 * k % 960), SPRAY),
        ("all-to-all in rounds, hashed", in_rounds(messages, lambda k: 32 + 31 * k % 960), ROCE),
        ("ring, hashed", in_rounds(messages, lambda k: 1 + 0 * k), ROCE),
    ):
        rate = completions_per_s(flows, waits, transport)
        print(f"{name:32} {rate:10.0f} per CPU-second, {rate * 60 / 1e6:6.2f} million per minute")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200_000)
