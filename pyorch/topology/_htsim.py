# SPDX-License-Identifier: GPL-2.0-only
"""Reads .topo files of htsim: a fat tree of 2 or 3 tiers, one section for each tier.

Podsize hosts share the switches below the top; Radix_Down and Radix_Up count the ports of a
switch, Bundle the links of a switch to each one below it. Speed and latency are those of the links
below a tier. Tier 0 there is tier 1 here.
"""

from typing import Any

import numpy as np

from pyorch.errors import did_you_mean, quoted
from pyorch.spec.fields import FieldError
from pyorch.spec.files import FileRef, listed, numbered_lines
from pyorch.spec.limits import MOST_LINKS
from pyorch.topology import _clos
from pyorch.units import LARGEST, parse_whole

KEY = "file"
HEADER = ("nodes", "tiers", "podsize")
NEEDED = ("downlink_speed_gbps", "radix_down", "downlink_latency_ns")
UNUSED = ("queue_down", "queue_up")
OPTIONAL = ("radix_up", "switch_latency_ns", "bundle", "oversubscribed", *UNUSED)

#: Factors to bit/s and ps.
UNITS = {"downlink_speed_gbps": 10**9, "downlink_latency_ns": 1000}


def read(file: FileRef, loss_ratio: float) -> dict[str, dict[str, np.ndarray]]:
    """Return node and link tables.

    Raises
    ------
    FieldError
        With file and line: what stands there and what belongs there.
    """
    return parse(numbered_lines(file, KEY), file["path"], loss_ratio)


def unused(file: FileRef) -> str:
    """Return what a file says that no run follows."""
    return listed(
        {words[0] for _, words in numbered_lines(file, KEY) if words[0].lower() in UNUSED}
    )


def parse(
    lines: list[tuple[int, list[str]]], where: str, loss_ratio: float
) -> dict[str, dict[str, np.ndarray]]:
    """Return the tables of numbered lines of words; `where` is the file for messages."""
    header, tiers = _sections(lines, where)
    clos = _shape(header, tiers, where)
    rates_bps, delays_ps = (
        [tier[name] * factor for tier in tiers] for name, factor in UNITS.items()
    )
    return _clos.tables(clos, rates_bps, delays_ps, loss_ratio)


def _sections(
    lines: list[tuple[int, list[str]]], where: str
) -> tuple[dict[str, int], list[dict[str, int]]]:
    """Return the header and one dict for each tier, all in lower case."""
    header: dict[str, int] = {}
    tiers: dict[int, dict[str, int]] = {}
    section = header
    known: tuple[str, ...] = (*HEADER, "tier")
    for number, words in lines:
        name = words[0].lower()
        if name not in known:
            raise FieldError(
                KEY, f"{where}:{number}: {quoted(words[0])} does not belong here. Known here:"
                f" {', '.join(known)}.{did_you_mean(name, known)}",
            )  # fmt: skip
        value = _number(words[1:])
        if value is None:
            raise FieldError(
                KEY, f"{where}:{number}: {quoted(' '.join(words))}: write {words[0]} and one whole"
                " number.",
            )  # fmt: skip
        if name == "tier":
            if value != len(tiers):
                raise FieldError(
                    KEY, f"{where}:{number}: Tier {value} stands where Tier {len(tiers)} belongs."
                )
            section = tiers.setdefault(value, {})
            known = (*NEEDED, *OPTIONAL, "tier")
        elif name in section:
            raise FieldError(KEY, f"{where}:{number}: {words[0]} stands twice. Keep one.")
        else:
            section[name] = value
    for name in HEADER:
        if not header.get(name):
            raise FieldError(KEY, f"{where}: the header has no {name.capitalize()} of 1 or more.")
    if header["tiers"] not in (2, 3) or len(tiers) != header["tiers"]:
        raise FieldError(
            KEY, f"{where}: Tiers {header['tiers']}, and {len(tiers)} sections Tier: there must be"
            " as many, 2 or 3. Is the file cut off?",
        )  # fmt: skip
    return header, [tiers[index] for index in range(len(tiers))]


def _number(words: list[str]) -> int | None:
    """Return the one whole number, 0 or more, or None."""
    try:
        (word,) = words
        value = parse_whole(word)
    except ValueError:
        return None
    return value if value >= 0 else None


def _shape(header: dict[str, int], tiers: list[dict[str, int]], where: str) -> _clos.Clos:
    """Return the folded Clos that the file describes."""
    for index, tier in enumerate(tiers):
        _check_tier(index, tier, index == len(tiers) - 1, where)
    bundle = [tier.get("bundle", 1) for tier in tiers]
    children = [_over(tier["radix_down"], bundle[i], f"Tier {i}: Radix_Down over Bundle", where)
                for i, tier in enumerate(tiers)]  # fmt: skip
    parents = [_over(tier["radix_up"], bundle[i + 1],
                     f"Tier {i}: Radix_Up over Bundle of Tier {i + 1}", where)
               for i, tier in enumerate(tiers[:-1])]  # fmt: skip
    clos = _clos.Clos(tuple(children), tuple(parents), tuple(bundle[1:]))
    podsize = header["nodes"] if len(tiers) == 2 else children[0] * children[1]
    for name, there, follows in (
        ("Nodes", header["nodes"], clos.hosts),
        ("Podsize", header["podsize"], podsize),
    ):
        if there != follows:
            raise FieldError(
                KEY, f"{where}: {name} {there}, but the radices of the tiers give {follows}."
            )
    if (cables := _clos.counts(clos)["cables"]) > MOST_LINKS:
        raise FieldError(KEY, f"{where}: {cables} links; there may be {MOST_LINKS}.")
    return clos


def _check_tier(index: int, tier: dict[str, int], is_top: bool, where: str) -> None:
    for name in (*NEEDED, *(() if is_top else ("radix_up",))):
        if name not in tier or (tier[name] == 0 and not name.endswith("_ns")):
            raise FieldError(KEY, f"{where}: Tier {index} has no {name}. Is the file cut off?")
    for name, factor in UNITS.items():
        if tier[name] * factor > LARGEST:
            raise FieldError(
                KEY, f"{where}: Tier {index}: {name} {tier[name]} does not fit 64 bits."
            )
    if is_top and tier.get("radix_up"):
        raise FieldError(KEY, f"{where}: Tier {index} is the top, so it has no Radix_Up.")
    if index == 0 and tier.get("bundle", 1) != 1:
        raise FieldError(KEY, f"{where}: Tier 0: Bundle must be 1; a host has one port.")
    if not is_top and tier.get("oversubscribed", 1) != 1:
        down = tier["radix_down"]
        if down != tier["oversubscribed"] * tier["radix_up"]:
            raise FieldError(
                KEY, f"{where}: Tier {index}: Oversubscribed {tier['oversubscribed']}, but"
                f" Radix_Down {down} over Radix_Up {tier['radix_up']} is another ratio.",
            )  # fmt: skip
    if tier.get("switch_latency_ns"):
        raise FieldError(
            KEY, f"{where}: Tier {index}: Switch_Latency_ns {tier['switch_latency_ns']}: the"
            " latency of all switches is switch.processing_delay of the scenario. Write 0 here.",
        )  # fmt: skip


def _over(value: int, divisor: int, what: str, where: str) -> Any:
    if divisor < 1 or value % divisor:
        raise FieldError(KEY, f"{where}: {what}: {value} / {divisor} is no whole number.")
    return value // divisor
