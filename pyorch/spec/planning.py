# SPDX-License-Identifier: GPL-2.0-only
"""The three sections that say which runs there are, as closed models: sweep, variants, scales.

Their keys are key paths into the scenario. None may lead into a section of planning from another
one, where it would come too late and be ignored; only a scale chooses what is swept.
"""

import re
from math import prod
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator

from pyorch.errors import did_you_mean, quoted
from pyorch.spec.fields import Closed
from pyorch.spec.limits import LONGEST_NAME, LONGEST_TEXT, MOST_RUNS

SCALES = ("smoke", "laptop", "paper")
#: Sections that are settled before there is one point of a scenario.
PLANNING_KEYS = ("sweep", "variants", "scales")
_VARIANT = re.compile(rf"[A-Za-z0-9_][A-Za-z0-9_+-]{{0,{LONGEST_NAME - 1}}}")


def _no_key(key: str, refused: tuple[str, ...]) -> str:
    head = key.split(".")[0]
    if head == "name":
        raise ValueError("a scenario has one name. Write another scenario for another name.")
    if head in refused:
        raise ValueError(f"{head} is not looked at from here. Write it at the top of the file.")
    if not all(key.split(".")):
        raise ValueError(f"{quoted(key)} is no key path. Write keys with dots between them.")
    return key


def _point_key(key: str) -> str:
    return _no_key(key, PLANNING_KEYS)


def _scale_key(key: str) -> str:
    return _no_key(key, ("scales",))


def _variant_name(name: str) -> str:
    if not _VARIANT.fullmatch(name):
        raise ValueError(
            f"{quoted(name)} is no name of a variant. Write up to {LONGEST_NAME} letters, digits,"
            " _, + and -."
        )
    return name


def _scale_name(name: str) -> str:
    if name not in SCALES:
        raise ValueError(f"there is {', '.join(SCALES)} here.{did_you_mean(name, SCALES)}")
    return name


def _values(given: object) -> object:
    if not isinstance(given, list) or not given:
        raise ValueError("write a list of at least one value: [1, 2, 3].")
    return given


def _changes(given: object) -> object:
    if not isinstance(given, dict):
        raise ValueError("write label and key paths with values below it.")
    label = given.get("label", "")
    if not isinstance(label, str) or len(label) > LONGEST_TEXT or not label.isprintable():
        raise ValueError(
            f"label: {quoted(label)} is not one line of text of at most {LONGEST_TEXT} characters."
            " Quote it."
        )
    return given


def _nothing_is_empty(given: object) -> object:
    return {} if given is None else given


PointKey = Annotated[str, AfterValidator(_point_key)]
ScaleKey = Annotated[str, AfterValidator(_scale_key)]
VariantName = Annotated[str, AfterValidator(_variant_name)]
ScaleName = Annotated[str, AfterValidator(_scale_name)]
Values = Annotated[list[Any], BeforeValidator(_values)]
Changes = Annotated[dict[PointKey, Any], BeforeValidator(_changes)]
MayBeEmpty = BeforeValidator(_nothing_is_empty)


class Planning(Closed):
    """Which runs a scenario has.

    Attributes
    ----------
    sweep : dict
        Values by key path; one run for each element of the product.
    variants : dict
        Joint changes by name: label, and values by key path.
    scales : dict
        Changes by scale.
    """

    sweep: Annotated[dict[PointKey, Values], MayBeEmpty] = {}
    variants: Annotated[dict[VariantName, Changes], MayBeEmpty] = {}
    scales: Annotated[
        dict[ScaleName, Annotated[dict[ScaleKey, Any], MayBeEmpty]], MayBeEmpty
    ] = {}  # fmt: skip

    @property
    def n_runs(self) -> int:
        """Number of runs, before points that turn out to be the same simulation share one."""
        return max(len(self.variants), 1) * prod(map(len, self.sweep.values()))


def too_many(planning: Planning) -> str | None:
    """Return what to say of a scenario with more runs than anybody can wait for."""
    if planning.n_runs <= MOST_RUNS:
        return None
    factors = [f"{len(values)} of {key}" for key, values in planning.sweep.items()]
    if planning.variants:
        factors.insert(0, f"{len(planning.variants)} variants")
    shown = " x ".join(factors[:8]) + (" x ..." if len(factors) > 8 else "")
    return f"{shown} = {planning.n_runs:,} runs; at most {MOST_RUNS:,}. Sweep less."
