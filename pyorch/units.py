# SPDX-License-Identifier: GPL-2.0-only
"""Turns text with a unit into integers in the one unit that pyorch uses for each dimension.

Decimal arithmetic throughout: 16.1 us is not a whole number of picoseconds in binary floating
point. Sizes in MB are 10^6 bytes, in MiB 2^20 bytes.
"""

import re
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from typing import NamedTuple

from pyorch.errors import SpecError, did_you_mean, quoted


class Dimension(NamedTuple):
    """One physical dimension: its name, its unit inside pyorch, and what a user may write."""

    name: str
    unit: str
    example: str
    factors: dict[str, int]

    @property
    def one(self) -> str:
        """Its name with the article."""
        return f"{'an' if self.name[0] in 'aeiou' else 'a'} {self.name}"


TIME = Dimension(
    "time",
    "ps",
    "500 ns",
    {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12},
)
RATE = Dimension(
    "rate",
    "bit/s",
    "800 Gb/s",
    {"bit/s": 1, "kb/s": 10**3, "Mb/s": 10**6, "Gb/s": 10**9, "Tb/s": 10**12},
)
SIZE = Dimension(
    "size",
    "B",
    "97.4 MB",
    {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
    | {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40},
)  # fmt: skip

SHARE = Dimension("share", "ppm", "1%", {"%": 10**4, "ppm": 1})

COMPUTE = Dimension(
    "arithmetic rate",
    "FLOPS",
    "20 PFLOPS",
    {f"{prefix}FLOPS": 1000**power for power, prefix in enumerate(("", "k", "M", "G", "T", "P"))},
)

#: The end of a key says which dimension its value has once it is an integer.
BY_SUFFIX = {"_ps": TIME, "_bps": RATE, "_bytes": SIZE, "_ppm": SHARE, "_flops": COMPUTE}

#: An exponent of more than nine digits is none: no number here is that large or small.
_UNSIGNED = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,9})?"
_DECIMAL = rf"[+-]?{_UNSIGNED}"
#: Of a decimal number as text.
NUMBER_PATTERN = f"^{_DECIMAL}$"
_NUMBER = re.compile(_DECIMAL)
#: The number is atomic, or thousands of digits without a unit would be split in every way.
_QUANTITY = re.compile(rf"\s*((?>{_DECIMAL}))\s*(\S*)\s*")
#: Other words for a rate: of bytes, as 'GB/s' and 'GiBps', and of bits, as 'Gbit/s' and 'Gbps'.
_BYTE_RATE = re.compile(r"[kKMGT]?i?B(?:/s|ps)")
_BIT_RATE = re.compile(r"^([kKMGT])(?:bit/s|bps|bits?/sec)$")
#: 106 days in ps; and int64 holds it.
LARGEST = 2**63 - 1


def parse(text: object, dimension: Dimension) -> int:
    """Return the quantity in the unit of its dimension.

    Parameters
    ----------
    text : str
        Number and unit, ``"500 ns"``; the space may be left out.
    dimension : Dimension
        TIME [ps], RATE [bit/s], SIZE [B] or SHARE [ppm].

    Raises
    ------
    SpecError
        No unit, an unknown unit, a negative value, one that does not fit 64 bits, or a value
        that is not a whole number of the smallest unit: rounding would change the question.
    """
    advice = advice_on(dimension)
    shown = quoted(text)
    match = _QUANTITY.fullmatch(text) if isinstance(text, str) else None
    if text is None:
        raise SpecError(f"nothing stands where {dimension.one} is wanted. {advice}")
    if isinstance(text, list):
        raise SpecError(f"a list of {len(text)} stands where one {dimension.name} goes. {advice}")
    if match is None or not match[2]:
        raise SpecError(f"{shown} has no unit I can read as {dimension.one}. {advice}")
    number, unit = match.groups()
    if unit not in dimension.factors:
        raise SpecError(
            f"{shown}: {quoted(unit)} is not a unit of {dimension.name} here."
            f"{_hint(unit, dimension)} {advice}"
        )
    value = _times(number, dimension.factors[unit])
    if value < 0:
        raise SpecError(f"{shown} is negative; {dimension.one} is 0 or more.")
    if value > LARGEST:
        raise SpecError(f"{shown} is more than {LARGEST} {dimension.unit}, which 64 bits hold.")
    if value != value.to_integral_value():
        is_short = value.adjusted() > -20 and len(number) < 40
        raise SpecError(
            f"{shown} is {f'{value.normalize():f}' if is_short else f'{value:.3g}'}"
            f" {dimension.unit}, which is not a whole number. Write a multiple of 1"
            f" {dimension.unit}."
        )
    return int(value)


def _hint(unit: str, dimension: Dimension) -> str:
    """Return what was meant, in a sentence after a space; nothing if no unit is near."""
    if dimension is RATE:
        if _BYTE_RATE.fullmatch(unit):
            return " A byte has 8 bits: 1 GB/s is 8 Gb/s."
        unit = _BIT_RATE.sub(r"\1b/s", unit)
    return did_you_mean(re.sub("[\u00b5\u03bc]", "u", unit), dimension.factors)


def advice_on(dimension: Dimension) -> str:
    """Return what to write, in words."""
    allowed = ", ".join(dimension.factors)
    return f"Write a number and one of {allowed}, for example '{dimension.example}'."


def pattern(dimension: Dimension) -> str:
    """Return a regular expression, of Python and of JavaScript, of what `parse` reads."""
    units = "|".join(map(re.escape, dimension.factors))
    return rf"^\s*\+?{_UNSIGNED}\s*(?:{units})\s*$"


def above_zero(text_pattern: str) -> str:
    """Return a pattern of `pattern` that leaves out 0."""
    return text_pattern.replace(r"\+?", r"\+?(?=[0.]*[1-9])", 1)


def parse_whole(word: str, factor: int = 1) -> int:
    """Return a decimal number of a file times a factor: ``"2.0e-6"`` s are 2000000 ps.

    Raises
    ------
    ValueError
        No number, not a whole one after the multiplication, or one that does not fit 64 bits; the
        text says which.
    """
    if len(word) < 19 and factor == 1 and word.isascii() and word.isdigit():
        return int(word)
    if not _NUMBER.fullmatch(word):
        raise ValueError(f"{quoted(word)} is no number")
    value = _times(word, factor)
    if not -LARGEST - 1 <= value <= LARGEST:
        raise ValueError(f"{quoted(word)} does not fit 64 bits")
    if value != value.to_integral_value():
        raise ValueError(f"{quoted(word)} is no whole number")
    return int(value)


def parse_float(word: str) -> float:
    """Return a decimal number of a file as the nearest float.

    Raises
    ------
    ValueError
        No number: infinities and NaN are none.
    """
    if not _NUMBER.fullmatch(word):
        raise ValueError(f"{quoted(word)} is no number")
    return float(word)


def _times(number: str, factor: int) -> Decimal:
    """Return the exact product: no digit is rounded away, however long the number is."""
    exact = Context(prec=len(number) + 40, Emax=MAX_EMAX, Emin=MIN_EMIN)
    return exact.multiply(Decimal(number), Decimal(factor))


def parse_time_ps(text: object) -> int:
    """Return a time [ps]: ``"500 ns"`` is 500000."""
    return parse(text, TIME)


def parse_rate_bps(text: object) -> int:
    """Return a rate [bit/s]: ``"800 Gb/s"`` is 800000000000."""
    return parse(text, RATE)


def parse_size_bytes(text: object) -> int:
    """Return a size [byte]: ``"4 MB"`` is 4000000."""
    return parse(text, SIZE)


def format_exact(value: int, dimension: Dimension) -> str:
    """Return the shortest text that `parse` reads back as exactly `value`."""
    candidates = [
        f"{(Decimal(value) / factor).normalize():f} {unit}"
        for unit, factor in dimension.factors.items()
        if Decimal(value) / factor * factor == value
    ]
    return min(candidates, key=len)


_PREFIXES: list[tuple[int | Decimal, str]] = [
    (10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k"), (1, ""),
    (Decimal("1e-3"), "m"), (Decimal("1e-6"), "u"), (Decimal("1e-9"), "n"), (Decimal("1e-12"), "p"),
]  # fmt: skip


def format_si(value: int | float | Decimal, unit: str) -> str:
    """Return `value` with four significant digits and an SI prefix: ``800 Gbit/s``.

    Parameters
    ----------
    value : int, float or Decimal
        In `unit`, without prefix.
    unit : str
        ``"bit/s"``, ``"B"``, ``"s"``, ...
    """
    number = Decimal(str(value))
    for factor, prefix in _PREFIXES:
        if abs(number) >= factor:
            return f"{_four_digits(number / factor)} {prefix}{unit}"
    return f"{_four_digits(number)} {unit}"


def _four_digits(number: Decimal) -> str:
    """Return four significant digits, without trailing zeros and without an exponent."""
    if not number:
        return "0"
    digits = number.quantize(Decimal(1).scaleb(number.adjusted() - 3))
    text = f"{digits:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
