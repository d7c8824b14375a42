# SPDX-License-Identifier: GPL-2.0-only
"""Files of strangers: whatever is wrong with one, it is read or refused in one line, and soon."""

import gzip
import random
import re
import time
from collections.abc import Iterator

import formats
import pytest

from pyorch.errors import PyorchError

#: A file of a few hundred bytes takes some milliseconds; other work on the machine is allowed for.
LONGEST_S = 2
HUGE = b"9" * 30
#: Nine of the one before, nine times: a few hundred bytes that mean 400 million.
ALIASES = b"a: &a [1]\n" + b"".join(
    b"%c: &%c [%s]\n" % (name, name, b", ".join([b"*%c" % before] * 9))
    for name, before in zip(b"bcdefghi", b"abcdefgh", strict=True)
)
ENTITIES = b'<!DOCTYPE s [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]>'
_NUMBER = re.compile(rb"(?<![\w.])\d+(?![\w.])")


def cut(data: bytes) -> Iterator[bytes]:
    """Yield a file cut short at bytes that are drawn, and at its first and last ones."""
    draw = random.Random(len(data))
    yield from (data[:at] for at in (0, 1, len(data) - 1))
    yield from (data[: draw.randrange(len(data))] for _ in range(20))


def damaged(data: bytes) -> Iterator[bytes]:
    """Yield the file with bytes that are drawn in it."""
    draw = random.Random(len(data))
    for _ in range(12):
        at = draw.randrange(len(data))
        yield data[:at] + draw.randbytes(3) + data[at + 3 :]


def others(data: bytes) -> Iterator[bytes]:
    """Yield what is no such file, and what is small and would be large."""
    yield from (b"", bytes(4096), random.Random(1).randbytes(4096), b"9" * 10**6)
    yield from (b"[" * 10**5, b"<system>" * 10**5, b'{"a":' * 10**5, ALIASES)
    yield from (
        b"<!DOCTYPE html><html><body>404</body></html>",
        data.decode("latin-1").encode("utf-16"),
    )
    yield from (gzip.compress(bytes(10**7)), gzip.compress(data * 1000))


def numbers(data: bytes) -> Iterator[bytes]:
    """Yield the file with a number negative, huge, or none, one after the other."""
    found = list(_NUMBER.finditer(data))
    draw = random.Random(len(data))
    for number in draw.sample(found, min(len(found), 12)):
        for other in (b"-1", HUGE, b"nan", b"1e999"):
            yield data[: number.start()] + other + data[number.end() :]


BAD = {"cut short": cut, "damaged": damaged, "numbers": numbers, "others": others}


@pytest.mark.parametrize("what", BAD)
@pytest.mark.parametrize("example", formats.EXAMPLES, ids=lambda one: f"{one.slot}-{one.kind}")
def test_a_bad_file_is_refused_in_one_line_or_read(example, what, tmp_path):
    n_refused = n_bad = 0
    for data in BAD[what](example.data):
        n_bad += 1
        begin = time.process_time()
        try:
            example.read(tmp_path, data)
        except PyorchError as error:
            n_refused += 1
            said = str(error)
            assert "\n" not in said and len(said) < 5000
            assert example.name in said or "x.yaml:" in said, said
        assert time.process_time() - begin < LONGEST_S, data[:200]

    assert n_refused == n_bad if what == "others" else n_refused or what == "numbers"


def test_entities_are_refused_in_each_format_of_xml(tmp_path):
    for example in formats.EXAMPLES:
        if example.kind == "xml":
            data = ENTITIES + re.sub(rb'"\w+"', b'"&b;"', example.data, count=1)
            with pytest.raises(PyorchError, match="declares a document type or entities"):
                example.read(tmp_path, data)
