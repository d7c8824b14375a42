# SPDX-License-Identifier: GPL-2.0-only
"""Every reader against a second one, for as long as a test may take; `fuzz.py` takes longer."""

import random

import edits
import pytest
import targets
from compare import low_limits
from hypothesis import given, settings
from hypothesis import strategies as st

SEEDS = st.integers(0, 2**32)


each_reader = pytest.mark.parametrize("reader", targets.TARGETS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder for the files; networks are small meanwhile."""
    with low_limits():
        yield tmp_path_factory.mktemp("files")


@each_reader
@settings(max_examples=30)
@given(seed=SEEDS)
def test_what_a_writer_writes_is_read_as_a_second_reader_reads_it(reader, folder, seed):
    target = targets.TARGETS[reader]

    was_read = target.check(target.draw(random.Random(seed)), folder)

    assert was_read or reader == "parquet"  # some of its columns hold no whole numbers


@each_reader
@settings(max_examples=60)
@given(seed=SEEDS)
def test_a_file_with_a_mistake_is_refused_or_read_as_it_stands(reader, folder, seed):
    target, draw = targets.TARGETS[reader], random.Random(seed)

    target.check(edits.edited(target.draw(draw), draw, target.words.split()), folder)
