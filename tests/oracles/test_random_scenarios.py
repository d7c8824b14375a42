# SPDX-License-Identifier: GPL-2.0-only
"""Random networks, loads and failures with every transport: how they are run changes nothing.

Here two with each; more: ``PYORCH_SCENARIOS=300 pytest`` and the name of this file.
"""

import os
import runpy
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
import yaml
from oracle_network import run_fabric
from test_domains import expect_the_same

from pyorch import spec as specs
from pyorch.errors import SimulationError
from pyorch.render import input_tables, write_run
from pyorch.spec.scenario import parse_scenario

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.ns3

#: Each transport with the switches that it needs.
VARIANTS = yaml.safe_load((ROOT / "scenarios/transports.yaml").read_text())["variants"]
SCENARIOS = int(os.environ.get("PYORCH_SCENARIOS", 2 * len(VARIANTS)))
RATES = ["25 Gb/s", "93 Gb/s", "100 Gb/s", "400 Gb/s"]
DELAYS = ["1 ps", "70 ns", "333333 ps", "500 ns", "3 us"]
SIZES = ["1 B", "30 kB", "100 kB", "300 kB"]


# ---- what is drawn; all networks have at least 8 hosts


def leaf_spine(random: Random, leaves: int) -> dict:
    return {
        "type": "leaf_spine", "leaves": leaves, "hosts_per_leaf": random.randint(3, 4),
        "spines": random.randint(1, 3), "parallel": random.choice([1, 1, 2]),
        "uplink_rate": random.choice(RATES), "uplink_delay": random.choice(DELAYS),
    }  # fmt: skip


def fat_tree(random: Random) -> dict:
    tiers = random.randint(2, 3)
    delays = [random.choice(DELAYS) for _ in range(tiers - 1)]
    return {"type": "fat_tree", "tiers": tiers, "radix": 4, "uplink_delay": delays}


def rails(random: Random) -> dict:
    rail = {"type": "star", "hosts": 4, "planes": random.randint(1, 2)}
    scale_up = {"rate": "900 Gb/s", "delay": random.choice(DELAYS), "planes": random.randint(1, 2)}
    return {"type": "rails", "devices": random.randint(2, 3), "rail": rail, "scale_up": scale_up}


def multi_site(random: Random) -> dict:
    sites = [{"name": name, "topology": leaf_spine(random, 2)} for name in ("east", "west")]
    haul = {"between": ["east", "west"], "rate": random.choice(RATES), "delay": "20 us"}
    return {"type": "multi_site", "sites": sites, "long_haul": [haul | {"parallel": 2}]}


NETWORKS: list[Callable[[Random], dict]] = [
    lambda random: {"type": "star", "hosts": 8, "planes": random.randint(1, 2)},
    lambda random: leaf_spine(random, 3),
    fat_tree,
    rails,
    multi_site,
]


def load(random: Random) -> dict:
    size = {"message": random.choice(SIZES), "start": random.choice(["0 ns", "0 ns", "17 us"])}
    return random.choice([
        {"type": "permutation", "inter_leaf": False, **size},
        {"type": "incast", "senders": random.randint(2, 6), **size},
        {"type": "outcast_incast", "targets": 3, "senders": 3, **size},
        {"type": "all_to_all", "hosts": 4, **size},
        {"type": "poisson", "load": 0.5, "duration": "20 us", "sizes": "fb_hdp"},
        {"type": "collective", "algorithm": "ring", "operation": "all_reduce", "ranks": 4,
         "bytes": "120 kB", "chunks": random.randint(1, 2), "groups": random.randint(1, 2)},
    ])  # fmt: skip


def failure(random: Random) -> dict:
    kind = {"type": "random", "what": random.choice(["links", "switches"]), "mtbf": "400 us"}
    slower = {"rate": "3 Gb/s"} if random.random() < 0.3 else {}
    return kind | {"mttr": random.choice(["1 us", "60 us"])} | slower


def scenario(seed: int) -> dict:
    """Draw a scenario with the transport whose turn it is."""
    random = Random(seed)
    drawn = {
        "name": "drawn",
        "topology": random.choice(NETWORKS)(random),
        "link": {"rate": random.choice(RATES), "delay": random.choice(DELAYS),
                 "jitter": random.choice(["0 ns", "0 ns", "7 ns"]),
                 "loss": random.choice([0, 0, 0.01])},
        "switch": {"buffer": "64 MB", "processing_delay": random.choice(["0 ns", "10 ps", "1 us"]),
                   "convergence": random.choice(["0 ns", "5 us", "50 us"])},
        "workload": [load(random) for _ in range(random.randint(2, 4))],
        "failures": [failure(random) for _ in range(random.randint(0, 2))],
        "trace": {"arrivals": True, "sample": "10 us"},
        "stop": random.choice(["40 us", "20 ms"]),
        "seed": random.randint(1, 1000),
    }  # fmt: skip
    variant = list(VARIANTS.values())[seed % len(VARIANTS)]
    for path, value in variant.items():
        *sections, key = path.split(".")
        section = drawn
        for name in sections:
            section = section.setdefault(name, {})
        section[key] = value
    del drawn["label"]
    return drawn


def turned(value):
    """Return the same YAML with the keys of every mapping in the other order."""
    if isinstance(value, dict):
        return {key: turned(value[key]) for key in reversed(value)}
    return [turned(item) for item in value] if isinstance(value, list) else value


# ---- what is run


def resolved(drawn: dict) -> specs.Spec:
    (run,) = specs.plan(parse_scenario(yaml.safe_dump(drawn, sort_keys=False), "drawn.yaml"))
    return run.spec


def outcome(
    spec: specs.Spec, folder: Path, domains: int | None = None, threads: int = 1,
    fetch_always: bool = False,
):  # fmt: skip
    write_run(spec, folder)
    fabric = runpy.run_path(str(folder / "scenario.py"))["build"]()
    fabric.domains, fabric.threads = domains, threads
    fabric.engine["fetch_always"] = fetch_always
    return run_fabric(fabric, fabric.stop_ps)


@pytest.mark.parametrize("seed", range(SCENARIOS))
def test_a_random_scenario_is_the_same_however_it_is_run(seed, tmp_path):
    # Oracle: the run itself. That nothing is lost without being counted the engine checks.
    drawn = scenario(seed)
    spec = resolved(drawn)
    assert resolved(turned(drawn)) == spec
    expected = outcome(spec, tmp_path)
    for domains, threads, fetch_always in ((1, 1, True), (2, 1, True), (4, 2, False)):
        try:
            parted = outcome(spec, tmp_path, domains, threads, fetch_always)
            expect_the_same(parted, expected)
        except SimulationError as error:
            assert "run it in one domain" in str(error)


@pytest.mark.parametrize("seed", range(SCENARIOS))
def test_after_links_have_come_back_every_message_ends(seed, tmp_path):
    # Oracle: every transport sends again what is lost. Up to four links are cut, and all are back
    # after 400 us.
    random = Random(seed)
    drawn = scenario(seed) | {"failures": [], "stop": "2 s"}
    links = input_tables(resolved(drawn))["links"]
    for row in random.choices(range(len(links["node_a"])), k=random.randint(1, 4)):
        cut = {"at": f"{random.randint(0, 100)} us", "duration": f"{random.randint(1, 300)} us"}
        ends = [int(links[name][row]) for name in ("node_a", "node_b")]
        drawn["failures"].append({"type": "scheduled", "links": [ends], **cut})

    got = outcome(resolved(drawn | {"trace": {}}), tmp_path)

    assert got["summary"]["flows_done"] == got["summary"]["flows_total"]
