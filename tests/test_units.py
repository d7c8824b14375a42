# SPDX-License-Identifier: GPL-2.0-only
"""Text with units becomes exactly the integer that a person would write, or a clear refusal."""

import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyorch import units
from pyorch.errors import SpecError

QUANTITIES = st.integers(min_value=0, max_value=2**63 - 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("500 ns", 500_000), ("16.1 us", 16_100_000), ("1ps", 1), ("1e-3 ms", 1_000_000),
     (" 20 ms ", 20 * 10**9), ("0 s", 0), ("41.6 ns", 41_600)],
)  # fmt: skip
def test_a_time_is_a_whole_number_of_picoseconds(text, expected):
    assert units.parse_time_ps(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("800 Gb/s", 8 * 10**11), ("1.6 Tb/s", 16 * 10**11), ("10 bit/s", 10)],
)
def test_a_rate_is_in_bits_per_second(text, expected):
    assert units.parse_rate_bps(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("97.4 MB", 97_400_000), ("1 MB", 10**6), ("1 MiB", 1_048_576), ("1.5 KiB", 1536)],
)
def test_a_size_is_decimal_unless_it_says_binary(text, expected):
    assert units.parse(text, units.SIZE) == expected


@pytest.mark.parametrize("dimension", [units.TIME, units.RATE, units.SIZE])
@given(value=QUANTITIES)
def test_the_exact_text_reads_back_as_the_same_number(dimension, value):
    assert units.parse(units.format_exact(value, dimension), dimension) == value


@given(mantissa=st.integers(0, 10**6), decimals=st.integers(0, 6))
def test_a_decimal_fraction_means_what_it_says(mantissa, decimals):
    # Oracle: rational arithmetic of the standard library, m / 10^d us = m / 10^d * 10^6 ps.
    exact = Fraction(mantissa, 10**decimals) * 10**6
    digits = str(mantissa).rjust(decimals + 1, "0")
    text = f"{digits[: len(digits) - decimals]}.{digits[len(digits) - decimals :]} us"

    assert units.parse_time_ps(text) == exact


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("800", "'800' has no unit I can read as a rate. Write a number and one of bit/s, kb/s"),
        (800, "'800' has no unit I can read as a rate"),
        (None, "nothing stands where a rate is wanted. Write a number and one of bit/s"),
        (["1 Gb/s"], "a list of 1 stands where one rate goes. Write a number and one of bit/s"),
        ("fast", "'fast' has no unit I can read as a rate"),
        ("800 Gbps", "'800 Gbps': 'Gbps' is not a unit of rate here. Did you mean Gb/s? Write a"),
        ("800 Gbit/s", "'Gbit/s' is not a unit of rate here. Did you mean Gb/s? Write a"),
        ("800 Kbit/s", "'Kbit/s' is not a unit of rate here. Did you mean kb/s? Write a"),
        ("900 GB/s", "'GB/s' is not a unit of rate here. A byte has 8 bits: 1 GB/s is 8 Gb/s."),
        ("900GBps", "'GBps' is not a unit of rate here. A byte has 8 bits: 1 GB/s is 8 Gb/s."),
        ("3 MiB/s", "'MiB/s' is not a unit of rate here. A byte has 8 bits: 1 GB/s is 8 Gb/s."),
        ("-1 Gb/s", "'-1 Gb/s' is negative; a rate is 0 or more."),
        ("0.5 bit/s", "'0.5 bit/s' is 0.5 bit/s, which is not a whole number."),
        ("1." + "0" * 30 + "1 bit/s", "which is not a whole number."),
        ("1e-999999999 bit/s", "'1e-999999999 bit/s' is 1e-999999999 bit/s, which is not a whole"),
        ("1e999999999 bit/s", "is more than 9223372036854775807 bit/s, which 64 bits hold"),
        ("1e9999999999 bit/s", "no unit I can read"),
        ("\u0663 bit/s", "no unit I can read"),
        ("1_0 bit/s", "no unit I can read"),
        ("9" * 9000 + " 0", "'999999"),
        ("1e9 Tb/s", "is more than 9223372036854775807 bit/s, which 64 bits hold"),
    ],
)
def test_a_refusal_says_what_was_read_and_what_is_allowed(text, message):
    with pytest.raises(SpecError, match=re.escape(message)):
        units.parse_rate_bps(text)


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [(800 * 10**9, "bit/s", "800 Gbit/s"), (0, "B", "0 B"), (97_400_000, "B", "97.4 MB"),
     (5e-7, "s", "500 ns"), (1234567, "B", "1.235 MB"), (-2000, "W", "-2 kW"),
     (1e-15, "s", "0.000000000000001 s")],
)  # fmt: skip
def test_a_reader_sees_four_digits_and_a_prefix(value, unit, expected):
    assert units.format_si(value, unit) == expected


@pytest.mark.parametrize(("value", "dimension", "text"), [
    (20 * 10**9, units.TIME, "20 ms"), (1_500_000, units.TIME, "1.5 us"), (7, units.TIME, "7 ps"),
    (800 * 10**9, units.RATE, "800 Gb/s"), (2**20, units.SIZE, "1 MiB"),
    (10**6, units.SIZE, "1 MB"),
])  # fmt: skip
def test_an_exact_text_is_the_shortest(value, dimension, text):
    assert units.format_exact(value, dimension) == text
