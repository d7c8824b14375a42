# SPDX-License-Identifier: GPL-2.0-only
"""Random networks, loads and failures out of the generators that scenarios use.

Everything is drawn from a `random.Random`, which is called `any_of` where it chooses from a list.
"""

import csv
import tempfile
from dataclasses import dataclass
from math import prod
from pathlib import Path
from random import Random

import numpy as np
from oracle_network import GBPS, NS_PS, US_PS, Columns

from pyorch import plugins
from pyorch.failure._outage import link_events, merged
from pyorch.spec.network import Network
from pyorch.spec.resolved import Link

#: Outages begin before this; those that end have ended by a few times this.
TROUBLE_PS = 300 * US_PS
MOST_FLOWS = 24

RATES_BPS = [rate * GBPS for rate in (1, 7, 10, 56, 100, 400, 800)]
DELAYS_PS = [1, 999, 50 * NS_PS, 500 * NS_PS, 2 * US_PS, 20 * US_PS]
LOSSES = [0.0, 0.0, 0.0, 1e-3, 2e-2]
SIZES_BYTES = [1, 2, 257, 4096, 4097, *range(9_000, 200_000, 12_345)]
STARTS_PS = [0, 0, 0, 1, 5 * US_PS, 123_456_789]
MOMENTS_PS = [0, *np.geomspace(NS_PS, TROUBLE_PS, 300).astype(int).tolist()]
LENGTHS_PS = [1, 100 * NS_PS, US_PS, 3 * US_PS, 30 * US_PS, 200 * US_PS]


# ---- topologies


@dataclass
class Net:
    """Node and link tables and what their generator counts."""

    nodes: Columns
    links: Columns
    counts: dict[str, int]

    @property
    def hosts(self) -> list[int]:
        return self.nodes["node"][self.nodes["is_switch"] == 0].tolist()

    @property
    def switches(self) -> list[int]:
        return self.nodes["node"][self.nodes["is_switch"] == 1].tolist()

    @property
    def n_links(self) -> int:
        return len(self.links["node_a"])


def network(random: Random, kind: str) -> Net:
    """Return a network of a kind that a scenario can name, some of its links unlike the others."""
    any_of = random.choice
    link = Link(
        rate_bps=any_of(RATES_BPS), delay_ps=any_of(DELAYS_PS), loss_ratio=any_of(LOSSES)
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        given = TOPOLOGIES[kind](random, Path(folder))
        module = plugins.load("pyorch.topology", kind)
        params = module.Params.model_validate(given, context={"link": link, "folder": folder})
        tables, counts = module.tables(params, link), module.counts(params)
    links = {name: column.copy() for name, column in tables["links"].items()}
    n_links = len(links["node_a"])
    for row in random.choices(range(n_links), k=random.randint(0, 3)):
        links["rate_bps"][row] = any_of(RATES_BPS)
        links["loss_ratio"][row] = any_of([0.0, 0.0, 0.2])
    # The ratio loses 3 % of frames of 4 kB.
    links["bit_error_ratio"] = np.full(n_links, any_of([0.0, 0.0, 0.0, 1e-6]))
    return Net(tables["nodes"], links, counts)


def _rate(random: Random) -> str:
    return f"{random.choice(RATES_BPS)} bit/s"


def _delay(random: Random) -> str:
    return f"{random.choice(DELAYS_PS)} ps"


def _leaf_spine(random: Random, folder: Path) -> dict:
    per_leaf = random.randint(1, 4)
    return {
        "leaves": random.randint(1 if per_leaf > 1 else 2, 4),
        "hosts_per_leaf": per_leaf,
        "spines": random.randint(1, 3),
        "parallel": random.randint(1, 2),
        "planes": random.randint(1, 2),
        "uplink_rate": _rate(random),
        "uplink_delay": _delay(random),
    }


def _fat_tree(random: Random, folder: Path) -> dict:
    tiers = random.randint(2, 4)
    half = random.choice([1, 2, 3] if tiers == 2 else [1, 2])
    ups = [random.choice([up for up in (1, 2, 3) if half % up == 0]) for _ in range(tiers - 1)]
    parallel = [random.choice([n for n in (1, 2, 3) if up % n == half % n == 0]) for up in ups]
    hosts_of_pod = half * prod(half // n for n in parallel[:-1])
    return {
        "tiers": tiers,
        "radix": 2 * half,
        "oversubscription": [half / up for up in ups],
        "parallel": parallel,
        "pods": random.randint(1 if hosts_of_pod > 1 else 2, 2 * half // parallel[-1]),
        "planes": random.randint(1, 2),
    }


def _dumbbell(random: Random, folder: Path) -> dict:
    return {
        "left": random.randint(1, 4),
        "right": random.randint(1, 4),
        "parallel": random.randint(1, 3),
        "bottleneck_rate": _rate(random),
        "bottleneck_delay": _delay(random),
    }


def _from_file(random: Random, folder: Path) -> dict:
    """Write a connected graph of switches, with cycles, and hosts with one or two links each."""
    n_switches, n_hosts = random.randint(1, 6), random.randint(2, 7)
    ids = random.sample(range(n_switches + n_hosts), n_switches + n_hosts)
    switches, hosts = ids[:n_switches], ids[n_switches:]
    pairs = [(switches[i], random.choice(switches[:i])) for i in range(1, n_switches)]
    for _ in range(random.randint(0, 6) if n_switches > 1 else 0):
        pairs.append(tuple(random.sample(switches, 2)))
    for host in hosts:
        pairs += [(host, switch) for switch in random.choices(switches, k=random.randint(1, 2))]
    seen: dict[tuple, int] = {}
    rows = []
    for a, b in pairs:
        key = (min(a, b), max(a, b))
        seen[key] = seen.get(key, -1) + 1
        link = (random.choice(values) for values in (RATES_BPS, DELAYS_PS, LOSSES))
        rows.append((a, b, seen[key], *link))
    names = ("node_a", "node_b", "parallel", "rate_bps", "delay_ps", "loss_ratio")
    _write(folder / "links.csv", names, rows)
    _write(folder / "nodes.csv", ("node", "is_switch"), [(i, int(i in switches)) for i in ids])
    return {"nodes": "nodes.csv", "links": "links.csv"}


TOPOLOGIES = {
    "dumbbell": _dumbbell, "leaf_spine": _leaf_spine, "fat_tree": _fat_tree, "from_file": _from_file
}  # fmt: skip


def _write(path: Path, names: tuple, rows: list[tuple]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([names, *rows])


def ring(random: Random) -> Net:
    """Return switches in a ring with a host at each: what goes half round closes the circle."""
    n = random.randint(4, 6)
    host, switch = np.arange(n), n + np.arange(n)
    nodes = {
        "node": np.arange(2 * n),
        "is_switch": np.repeat([0, 1], n),
        "tier": np.repeat([0, 1], n),
        "plane": np.zeros(2 * n, dtype=np.int64),
    }
    links = {
        "node_a": np.concatenate([host, switch]),
        "node_b": np.concatenate([switch, np.roll(switch, -1)]),
        "parallel": np.zeros(2 * n, dtype=np.int64),
        "rate_bps": np.full(2 * n, random.choice(RATES_BPS)),
        "delay_ps": np.full(2 * n, random.choice(DELAYS_PS)),
        "loss_ratio": np.zeros(2 * n),
        "bit_error_ratio": np.zeros(2 * n),
    }
    return Net(nodes, links, {"hosts": n, "hosts_per_leaf": 1})


# ---- loads


def flows(random: Random, net: Net, n_transports: int) -> Columns:
    """Return the flows of some workloads, cut to what a test can carry."""
    parts = []
    for _ in range(random.randint(1, 3)):
        kind = random.choice([*WORKLOADS, "flow_table"])
        part = _listed(random, net) if kind == "flow_table" else _generated(random, net, kind)
        rows = min(len(part["src"]), MOST_FLOWS)
        columns = {name: column[:rows] for name, column in part.items()}
        parts.append({**columns, "transport": np.full(rows, random.randrange(n_transports))})
    table = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    table["bytes"] = np.minimum(table["bytes"], random.choice([3_000, 60_000, 200_000]))
    table["flow"] = random.randint(0, 5) + random.choice([1, 7]) * np.arange(len(table["src"]))
    return table


def dependencies(random: Random, table: Columns) -> Columns:
    """Return flows that wait for others, each for some with a smaller id."""
    n = len(table["flow"])
    if n < 2 or random.random() < 0.6:
        return {}
    pairs = {tuple(sorted(random.sample(range(n), 2))) for _ in range(random.randint(1, 6))}
    after, flow = np.array(sorted(pairs)).T
    at_sender = np.array([random.randint(0, 1) for _ in pairs])
    known_at = np.where(at_sender == 1, table["src"][after], table["dst"][after])
    news_ps = np.array([random.randint(1, 2_000_000) for _ in pairs])
    return {
        "flow": table["flow"][flow],
        "after": table["flow"][after],
        "at_sender": at_sender,
        "delay_ps": np.where(known_at == table["src"][flow], random.choice([0, 700]), news_ps),
    }


def _generated(random: Random, net: Net, kind: str) -> Columns:
    module = plugins.load("pyorch.workload", kind)
    params = module.Params.model_validate(WORKLOADS[kind](random, net.counts))
    module.check(params, Network(net.counts, net.nodes, net.links), 10**12)
    return module.flows(params, net.nodes, net.links, random.randint(1, 1000))


def _listed(random: Random, net: Net) -> Columns:
    """Return any pairs, also the same again and again, through a file."""
    rows = [
        (*random.sample(net.hosts, 2), random.choice(SIZES_BYTES), random.choice(STARTS_PS))
        for _ in range(random.randint(1, 12))
    ]
    module = plugins.load("pyorch.workload", "flow_table")
    with tempfile.TemporaryDirectory() as folder:
        _write(Path(folder) / "flows.csv", ("src", "dst", "bytes", "start_ps"), rows)
        params = module.Params.model_validate({"file": "flows.csv"}, context={"folder": folder})
        return module.flows(params, net.nodes, net.links, 1)


def _alike(random: Random, **more) -> dict:
    size, start_ps = random.choice(SIZES_BYTES), random.choice(STARTS_PS)
    return {"message": f"{size} B", "start": f"{start_ps} ps", **more}


def _permutation(random: Random, counts: dict) -> dict:
    fits = counts["hosts_per_leaf"] * 2 <= counts["hosts"]
    return _alike(random, inter_leaf=fits and random.random() < 0.5)


def _incast(random: Random, counts: dict) -> dict:
    n = counts["hosts"]
    return _alike(
        random,
        senders=random.randint(1, n - 1),
        receiver=random.randrange(n),
        random_senders=random.random() < 0.5,
    )


def _outcast_incast(random: Random, counts: dict) -> dict:
    targets = random.randint(1, counts["hosts"] - 1)
    senders = random.randint(1, counts["hosts"] - targets)
    return _alike(
        random, targets=targets, senders=senders, random_hosts=random.random() < 0.5
    )  # fmt: skip


def _poisson(random: Random, counts: dict) -> dict:
    return {
        "load": random.choice([0.1, 0.9]),
        "duration": random.choice(["10 us", "100 us"]),
        "sizes": random.choice(["fb_hdp", "websearch", "ali_storage_2019"]),
    }


WORKLOADS = {
    "permutation": _permutation,
    "stride": lambda r, c: _alike(r, stride=r.randint(1, c["hosts"] - 1)),
    "incast": _incast,
    "outcast_incast": _outcast_incast,
    "all_to_all": lambda r, c: _alike(r, hosts=r.randint(2, min(5, c["hosts"]))),
    "single": lambda r, c: _alike(r, target=r.randint(1, c["hosts"] - 1)),
    "poisson": _poisson,
}


# ---- trouble


def trouble(random: Random, net: Net, table: Columns, kind: str) -> Columns:
    """Return when links change: not at all, by kinds of failure, or as any list of changes."""
    # Half of what happens, happens next to somebody who receives something.
    ends = (net.links["node_a"], net.links["node_b"])
    last = np.flatnonzero(np.isin(ends, table["dst"]).any(axis=0)).tolist()
    rows = [random.choice(last or [0]) if random.random() < 0.5 else random.randrange(net.n_links)
            for _ in range(20)]  # fmt: skip
    if kind == "changes":
        return changes(random, net, rows)
    parts = []
    for row in rows[: random.randint(1, 3)] if kind == "failures" else ():
        name = random.choice(["scheduled", "scheduled", "random"])
        given = _scheduled(random, net, row) if name == "scheduled" else _at_random(random, net)
        module = plugins.load("pyorch.failure", name)
        params = module.Params.model_validate(given)
        module.check(params, net.nodes, net.links, 10**12)
        seed = random.randint(1, 1000)
        parts.append(module.outages(params, net.nodes, net.links, seed, TROUBLE_PS))
    return link_events(merged(parts), net.links) if parts else {}


def _scheduled(random: Random, net: Net, row: int) -> dict:
    link = [[int(net.links[name][row]) for name in ("node_a", "node_b")]]
    plane = random.choice(np.unique(net.nodes["plane"]).tolist())
    what = random.choice(
        [{"links": link}, {"links": link}, {"switches": [random.choice(net.switches)]},
         {"planes": [plane]}]
    )  # fmt: skip
    length_ps = random.choice(LENGTHS_PS)
    given = {**what, "at": f"{random.choice(MOMENTS_PS)} ps", "duration": f"{length_ps} ps"}
    again = random.choice(["once", "once", "flaps", "for good"])
    if again == "flaps":
        every_ps = length_ps + random.choice(LENGTHS_PS)
        given |= {"times": random.randint(2, 4), "every": f"{every_ps} ps"}
    elif again == "for good":
        del given["duration"]
    return given | _maybe_slower(random, net)


def _at_random(random: Random, net: Net) -> dict:
    kinds = ["links", "switches", "planes"] + ["fabric_links"] * (len(net.switches) > 1)
    mttr = f"{random.choice(LENGTHS_PS)} ps"
    # Of a larger network each part fails less often: a run may not have 200,000 outages.
    mtbf = f"{200 * -(-len(net.links['rate_bps']) // 15)} us"
    return {"what": random.choice(kinds), "mtbf": mtbf, "mttr": mttr} | _maybe_slower(random, net)


def _maybe_slower(random: Random, net: Net) -> dict:
    rate_bps = int(net.links["rate_bps"].min()) // random.choice([2, 10])
    return {"rate": f"{rate_bps} bit/s"} if random.random() < 0.3 else {}


def changes(random: Random, net: Net, rows: list[int]) -> Columns:
    """Return changes in any order, also of links that were well; mostly all are in the end."""
    divisor = {  # 0 is a cut, else the rate is divided by it
        (random.choice(MOMENTS_PS), row): random.choice([0, 0, 0, 1, 1, 2, 10])
        for row in rows[: random.randint(1, len(rows))]
    }
    if random.random() < 0.8:
        divisor |= {(TROUBLE_PS + 1, row): 1 for row in range(net.n_links)}
    time_ps, link = (np.array(column, dtype=np.int64) for column in zip(*divisor, strict=True))
    by = np.array(list(divisor.values()))
    rate_bps = np.where(by == 0, 0, net.links["rate_bps"][link] // np.maximum(by, 1))
    ends = {name: net.links[name][link] for name in ("node_a", "node_b", "parallel")}
    return {"time_ps": time_ps, **ends, "rate_bps": rate_bps}


def scripted_losses(random: Random, net: Net) -> Columns:
    """Return data frames that are lost, each by its number on one direction of a link."""
    chosen = {
        (random.randrange(net.n_links), random.randint(0, 1), random.randint(1, 20))
        for _ in range(random.choice([0, 0, 1, 3]))
    }
    if not chosen:
        return {}
    link, turned, ordinal = np.array(sorted(chosen)).T
    a, b = net.links["node_a"][link], net.links["node_b"][link]
    return {
        "node": np.where(turned, b, a),
        "peer": np.where(turned, a, b),
        "parallel": net.links["parallel"][link],
        "ordinal": ordinal,
    }
