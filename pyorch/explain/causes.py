# SPDX-License-Identifier: GPL-2.0-only
"""What may make a message slow, and how a scenario is without it, in the order of removal.

A cause takes the scenario of a run and changes it; it returns whether the run had it at all.
"""

from collections.abc import Callable
from typing import NamedTuple

#: More than any switch of today: nothing is dropped, and nothing has to be held back.
ENDLESS_BUFFER = "1 TB"
#: Of the hash, instead of the one that the run had.
OTHER_SEEDS = (1, 2, 3)
#: Only the last packet of a message is acknowledged then.
LAST_PACKET_ONLY = 1_000_000


class Cause(NamedTuple):
    """One cause.

    Attributes
    ----------
    name : str
        What the run is without it.
    remove : callable
        ``remove(scenario, draw)`` changes a scenario; returns whether the run had it.
    draws : int
        How many ways there are to remove it.
    counter : str
        Number of the summary of a run that is above 0 if the run had it; empty: any may have it.
    """

    name: str
    remove: Callable[[dict, int], bool]
    draws: int = 1
    counter: str = ""


def _failures(scenario: dict, draw: int) -> bool:
    had = bool(scenario.get("failures"))
    scenario["failures"] = []
    return had


def _hash(scenario: dict, draw: int) -> bool:
    forwarding = scenario["switch"]["forwarding"]
    if not forwarding or forwarding["type"] != "ns3::EcmpHash":
        return False
    attributes = forwarding.setdefault("attributes", {})
    attributes["Seed"] = int(attributes.get("Seed", 0)) + OTHER_SEEDS[draw]
    return True


def _flow_control(scenario: dict, draw: int) -> bool:
    had = scenario["link"].get("flow_control") is not None
    if had:
        scenario["link"]["flow_control"] = "none"
        scenario["switch"]["buffer"] = ENDLESS_BUFFER
    return had


def _buffers(scenario: dict, draw: int) -> bool:
    """Without flow control a full buffer drops frames."""
    had = scenario["link"].get("flow_control") is None
    scenario["switch"]["buffer"] = ENDLESS_BUFFER
    return had


def _control(scenario: dict, draw: int) -> bool:
    return _attribute(scenario, "CongestionControl", "", lambda value: value != "")


def _acknowledgements(scenario: dict, draw: int) -> bool:
    """Without a window nothing waits for acknowledgements but the end of the message."""
    transports = [one for one in scenario["transport"] if one["type"] == "ns3::RoceTransport"]
    if any(int(one["attributes"]["WindowBytes"]) for one in transports):
        return False
    return _attribute(scenario, "AckInterval", LAST_PACKET_ONLY, lambda value: True)


def _attribute(
    scenario: dict, name: str, value: object, is_cause: Callable[[object], bool]
) -> bool:  # fmt: skip
    """Give an attribute another value where a transport has it and it is the cause."""
    had = False
    for transport in scenario["transport"]:
        attributes = transport["attributes"]
        if name in attributes and is_cause(attributes[name]):
            attributes[name] = value
            had = True
    return had


CAUSES = (
    Cause("no link fails", _failures),
    Cause("another hash of paths", _hash, draws=len(OTHER_SEEDS)),
    Cause("no flow control, endless buffers", _flow_control),
    Cause("endless buffers, nothing is dropped there", _buffers, counter="dropped_frames"),
    Cause("no congestion control", _control),
    Cause("only the last packet is acknowledged", _acknowledgements),
)
