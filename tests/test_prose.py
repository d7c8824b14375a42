# SPDX-License-Identifier: GPL-2.0-only
"""The pages keep to the limits of `make prose`, and its measures are right."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "docs"))
import prose  # noqa: E402


def test_a_page_is_measured_by_its_sentences_outside_code_and_tables():
    page = prose.measure(
        "# What\n\nOne two three. What four `x y` six?\n\n| a b | what c |\n|--|--|\n"
    )
    assert page.lengths == [3, 4]
    assert (page.words, page.whats) == (1 + 7 + 4, 1)


def test_long_paragraphs_and_unknown_words_are_named():
    page = prose.measure(
        "A b c d e f g. " * 13 + "\n\nThe pakcet waits. `wrogn` MtuByts http://a/zzzzz"
    )
    assert len(page.long) == 1
    assert page.unknown == {"pakcet"}


def test_an_image_needs_a_text_that_says_what_is_seen():
    page = prose.measure("![Figure 1](a.png) ![Slowest transfer over the number of hosts](b.png)")
    assert page.unsaid == ["a.png"]


@pytest.mark.parametrize("path", prose.pages(), ids=lambda path: str(path.relative_to(prose.ROOT)))
def test_every_page_keeps_to_the_limits(path):
    assert prose.measure(path.read_text()).complaints() == []
