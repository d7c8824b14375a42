# SPDX-License-Identifier: GPL-2.0-only
"""The sections that say which runs there are, as closed models: sweep, variants, cases, scales.

Their keys are key paths into the scenario. None may lead into a section of planning from another
one, where it would come too late and be ignored; only a scale chooses what is swept.
"""

import re
from collections.abc import Iterable
from math import prod
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator

from pyorch.errors import did_you_mean, quoted
from pyorch.spec.fields import Closed
from pyorch.spec.limits import LONGEST_NAME, LONGEST_TEXT, MOST_RUNS
from pyorch.spec.measured import Measured

SCALES = ("smoke", "laptop", "paper")
#: Sections that are settled before there is one point of a scenario.
PLANNING_KEYS = ("sweep", "variants", "cases", "scales", "measured")
#: Keys of a variant and of a case that are no key paths.
WORDS = {"variants": ("label",), "cases": ("label", "exclude")}
#: What begins a formula where tables are opened: labels stand in them as they are.
_FORMULA = ("=", "+", "-", "@")
#: Of a variant or case, and what no label begins with or holds.
NAME = rf"[A-Za-z0-9_][A-Za-z0-9_+-]{{0,{LONGEST_NAME - 1}}}"
LABEL_PATTERN = rf"^(?![{re.escape(''.join(_FORMULA))}])[^\x00-\x1f]*$"


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


def _name_of(what: str) -> AfterValidator:
    def check(name: str) -> str:
        if not re.fullmatch(NAME, name):
            raise ValueError(
                f"{quoted(name)} is no name of a {what}. Write up to {LONGEST_NAME} letters,"
                " digits, _, + and -."
            )
        return name

    return AfterValidator(check)


def _scale_name(name: str) -> str:
    if name not in SCALES:
        raise ValueError(f"there is {', '.join(SCALES)} here.{did_you_mean(name, SCALES)}")
    return name


def _values(given: object) -> object:
    if not isinstance(given, list) or not given:
        raise ValueError("write a list of at least one value: [1, 2, 3].")
    return given


def _changes(given: object) -> dict:
    if not isinstance(given, dict):
        raise ValueError("write label and key paths with values below it.")
    label = given.get("label", "")
    if not isinstance(label, str) or len(label) > LONGEST_TEXT or not label.isprintable():
        raise ValueError(
            f"label: {quoted(label)} is not one line of text of at most {LONGEST_TEXT} characters."
            " Quote it."
        )
    if label.startswith(_FORMULA):
        raise ValueError(
            f"label: {quoted(label)} begins with {label[0]}, so a spreadsheet takes it for a"
            " formula when it opens a table. Begin with a letter or a digit."
        )
    return given


def _changes_of_case(given: object) -> object:
    names = _changes(given).get("exclude", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError("exclude: write a list of names of variants: [a, b].")
    return given


def _nothing_is_empty(given: object) -> object:
    return {} if given is None else given


PointKey = Annotated[str, AfterValidator(_point_key)]
ScaleKey = Annotated[str, AfterValidator(_scale_key)]
VariantName = Annotated[str, _name_of("variant")]
CaseName = Annotated[str, _name_of("case")]
ScaleName = Annotated[str, AfterValidator(_scale_name)]
Values = Annotated[list[Any], BeforeValidator(_values)]
Changes = Annotated[dict[PointKey, Any], BeforeValidator(_changes)]
CaseChanges = Annotated[dict[PointKey, Any], BeforeValidator(_changes_of_case)]
MayBeEmpty = BeforeValidator(_nothing_is_empty)


class Planning(Closed):
    """Which runs a scenario has.

    Attributes
    ----------
    sweep : dict
        Values by key path; one run for each element of the product.
    variants : dict
        Joint changes by name: label, and values by key path; what is compared.
    cases : dict
        The same, crossed with the variants: the situations in which they are compared. ``skip``
        has the names of the variants that a case does without.
    scales : dict
        Changes by scale.
    measured : Measured, optional
        Values that were measured on hardware; they change no run.
    """

    sweep: Annotated[dict[PointKey, Values], MayBeEmpty] = {}
    variants: Annotated[dict[VariantName, Changes], MayBeEmpty] = {}
    cases: Annotated[dict[CaseName, CaseChanges], MayBeEmpty] = {}
    scales: Annotated[
        dict[ScaleName, Annotated[dict[ScaleKey, Any], MayBeEmpty]], MayBeEmpty
    ] = {}  # fmt: skip
    measured: Measured | None = None

    @property
    def n_runs(self) -> int:
        """Number of runs, before points that turn out to be the same simulation share one."""
        return self.n_pairs * prod(map(len, self.sweep.values()))

    @property
    def n_pairs(self) -> int:
        """Number of pairs of a case and a variant; an empty section counts as one of its kind."""
        cases = self.cases or {"": {}}
        excluded = [
            {*changes.get("exclude", [])} & self.variants.keys() for changes in cases.values()
        ]
        return sum(max(len(self.variants), 1) - len(names) for names in excluded)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Case and variant of each pair in the order of the file; a name may be empty."""
        cases, variants = self.cases or {"": {}}, self.variants or {"": {}}
        return [
            (case, variant)
            for case, changes in cases.items()
            for variant in variants
            if variant not in changes.get("exclude", [])
        ]


def no_such(what: str, name: object, known: Iterable[str]) -> str:
    """Return what to say of a variant or case that is not there."""
    hint = did_you_mean(str(name), known)
    return f"no {what} {quoted(name)}. There are {', '.join(filter(None, known)) or 'none'}.{hint}"


def too_many(planning: Planning) -> str | None:
    """Return what to say of a scenario with more runs than anybody can wait for."""
    if planning.n_runs <= MOST_RUNS:
        return None
    factors = [f"{len(values)} of {key}" for key, values in planning.sweep.items()]
    if planning.cases or planning.variants:
        one = "variants" if planning.variants else "cases"
        both = planning.cases and planning.variants
        factors.insert(0, f"{planning.n_pairs} {'pairs of case and variant' if both else one}")
    shown = " x ".join(factors[:8]) + (" x ..." if len(factors) > 8 else "")
    return f"{shown} = {planning.n_runs:,} runs; at most {MOST_RUNS:,}. Sweep less."
