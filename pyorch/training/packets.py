# SPDX-License-Identifier: GPL-2.0-only
"""Takes networks of `theory.design`, returns a scenario that runs a smaller step on each of them.

A case is a network, a variant is a transport with the switches that it needs.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pyorch.errors import TheoryError, did_you_mean, quoted
from pyorch.spec.limits import LONGEST_NAME
from pyorch.theory.design import Design
from pyorch.theory.parallelism import Setup
from pyorch.training.smaller import (
    Smaller,
    delay,
    peers_for,
    smaller,
    stages_for,
    topology,
    workload,
)

_SPRAYED = {
    "transport": {
        "type": "ns3::SprayTransport",
        "attributes": {"PathSelector": "ns3::PermutedEntropy", "WindowBdp": 2},
    },
    "switch.forwarding": {"type": "ns3::EntropyModulo"},
}
_PFC = {
    "link.flow_control": {
        "type": "ns3::Pfc",
        "attributes": {"XoffBytes": "100 kB", "XonOffsetBytes": "10 kB"},
    }
}
#: What a scenario has for each transport that has a name: as in scenarios/training_step.yaml, and
#: max-min fair rates of the same messages.
TRANSPORTS: dict[str, dict[str, Any]] = {
    "sprayed": {"label": "Sprayed, fixed window", **_SPRAYED},
    "roce": {
        "label": "RoCEv2 (go-back-N, PFC), one path for each message",
        "transport": {"type": "ns3::RoceTransport", "attributes": {"Recovery": "GoBackN"}},
        **_PFC,
    },
    "dcqcn": {
        "label": "RoCEv2 + DCQCN, one path for each message",
        "transport": {
            "type": "ns3::RoceTransport",
            "attributes": {"Recovery": "GoBackN", "CongestionControl": "ns3::Dcqcn"},
        },
        "switch.queue": {
            "type": "ns3::RedEcn",
            "attributes": {
                "KminBytes": "5 kB",
                "KmaxBytes": "200 kB",
                "Pmax": 0.01,
                "ReferenceRateBps": "40 Gb/s",
            },
        },
        **_PFC,
    },
    "adaptive": {
        "label": "RoCEv2, adaptive routing",
        "transport": {
            "type": "ns3::RoceTransport",
            "attributes": {
                "Recovery": "GoBackN",
                "DirectPlacement": True,
                "HeaderBytes": 78,
                "RethBytes": 0,
            },
        },
        "switch.forwarding": {"type": "ns3::LeastLoaded", "attributes": {"Choices": 0}},
        **_PFC,
    },
    "nscc": {
        "label": "UEC NSCC",
        "transport": {
            "type": "ns3::UecTransport",
            "attributes": {"CongestionControl": "ns3::Nscc", "Trimmable": True},
        },
        "switch.queue": {
            "type": "ns3::TrimmingQueue",
            "attributes": {
                "LimitBytes": "70 kB",
                "KminBytes": "14 kB",
                "KmaxBytes": "56 kB",
                "Pmax": 1,
            },
        },
    },
    "fluid": {"label": "Max-min fair rates", "engine": "fluid", **_SPRAYED},
}
#: A run is stopped when it has taken so many times the step of the closed form.
_LONGEST = 50


def variant(transport: str) -> tuple[str, dict]:
    """Return the variant of a transport by its name, or its TypeId with all attributes' defaults.

    Raises
    ------
    TheoryError
        It is neither.
    """
    if transport in TRANSPORTS:
        return transport, TRANSPORTS[transport]
    if re.fullmatch(r"ns3::\w{1,50}", transport):
        return transport.removeprefix("ns3::"), {"transport": {"type": transport}}
    raise TheoryError(
        f"--transport {quoted(transport)[1:-1]}: write {', '.join(TRANSPORTS)} (nscc: UEC), or a"
        f" TypeId, ns3::RoceTransport.{did_you_mean(transport, TRANSPORTS)}"
    )


def case(one: Design) -> str:
    """Return the name of a network: ``p4_r8_o1_7``."""
    ratios = "x".join(f"{ratio:g}" for ratio in (one.fabric.oversubscription, *one.fabric.upper))
    return f"p{one.fabric.planes}_r{one.fabric.rails}_o{ratios.replace('.', '_')}"


def step(
    setup: Setup, chosen: Sequence[Design], peers: int = 2, divide: int | None = None
) -> Smaller:
    """Return the step that is simulated on all of some networks; raises TheoryError if none is."""
    networks = [(one.fabric, one.tiers) for one in chosen]
    planes = max(one.fabric.planes for one in chosen)
    return smaller(
        setup, peers_for(setup, networks, peers), divide, stages_for(setup, networks), planes
    )


def scenario(
    preset: str, setup: Setup, chosen: Sequence[Design], transports: Sequence[str], one: Smaller
) -> dict:
    """Return what would stand in the file of a scenario.

    Parameters
    ----------
    preset : str
        Name or path.
    setup : Setup
        Of that preset.
    chosen : sequence of Design
        Networks; of one radix, so that their numbers name them.
    transports : sequence of str
        See `variant`.
    one : Smaller
        The step.

    Raises
    ------
    TheoryError
        A transport has no such name, or packets would take several networks.
    """
    name = re.sub(r"\W", "_", f"design_{Path(preset).stem}", flags=re.ASCII)[:LONGEST_NAME]
    variants = dict(variant(transport) for transport in transports)
    nic_bps = setup.network.scale_out_bps
    fabric = chosen[0].fabric
    return {
        "name": name,
        "topology": topology(setup, fabric, chosen[0].tiers, one),
        "link": {"rate": f"{round(nic_bps)} bit/s", "delay": delay(fabric, one)},
        "wire": {"framing": f"{fabric.framing.framing_bytes} B"},
        "switch": {"buffer": "64 MB"},
        "workload": workload(preset, setup, one),
        "transport": {"type": "ns3::SprayTransport"},
        "stop": f"{round(_LONGEST * one.bare_ps)} ps",
        "cases": {
            case(each): {
                "label": f"{each.fabric.planes} planes, {each.fabric.rails} rails",
                "topology": topology(setup, each.fabric, each.tiers, one),
                "link.rate": f"{round(nic_bps / each.fabric.planes)} bit/s",
            }
            for each in chosen
        },
        "variants": variants,
    }  # fmt: skip
