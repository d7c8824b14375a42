# SPDX-License-Identifier: GPL-2.0-only
"""Each answer of the page of questions has its numbers from the sections that it links."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
ROWS = re.findall(r"^\| (.*\?) \| (.*) \|$", (DOCS / "questions.md").read_text(), re.MULTILINE)
LINK = re.compile(r"\]\(([^)#]+)#?([^)]*)\)")
NUMBER = re.compile(r"\d[\d,.]*\d|\d")


def section(page, anchor):
    """Return a page's text below the heading with an anchor; all of it without an anchor."""
    text = (DOCS / page).read_text()
    if not anchor:
        return text
    for heading in re.finditer(r"^(#+) (.*)\n", text, re.MULTILINE):
        if re.sub(r"[^\w\- ]", "", heading[2].lower()).replace(" ", "-") == anchor:
            rest = text[heading.end() :]
            end = re.search(rf"^#{{1,{len(heading[1])}}} ", rest, re.MULTILINE)
            return rest[: end.start()] if end else rest
    raise ValueError(f"{page} has no section {anchor}")


def numbers_without_source(answer):
    """Return the numbers of an answer that none of its linked sections has."""
    its = set(NUMBER.findall(re.sub(r"`[^`]*`", "", LINK.sub("]", answer))))
    said = {
        number
        for page, anchor in LINK.findall(answer)
        for number in NUMBER.findall(section(page, anchor))
    }
    return its - said


def test_the_page_has_questions():
    assert len(ROWS) > 50


@pytest.mark.parametrize(("question", "answer"), ROWS, ids=[question for question, _ in ROWS])
def test_the_numbers_of_an_answer_are_those_of_its_sections(question, answer):
    assert LINK.search(answer)
    assert numbers_without_source(answer) == set()


def test_a_number_that_no_section_has_is_found():
    link = "[Requirements](artifact.md#requirements)"
    assert numbers_without_source(f"2 cores and 5 GB. {link}") == {"5"}
