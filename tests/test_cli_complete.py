# SPDX-License-Identifier: GPL-2.0-only
"""A shell offers values of options and arguments, and never shows an error."""

import os
import subprocess
import sys

import pytest


def offered(words, number, folder=None):
    """Return the words that bash is offered for word `number` of a command line."""
    done = subprocess.run(
        [sys.executable, "-m", "pyorch"], cwd=folder, capture_output=True, text=True,
        env=os.environ | {
            "_PYORCH_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(number),
        },
    )  # fmt: skip
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("pyorch plot que", ["queues"]),
        ("pyorch list attr", ["attributes"]),
        ("pyorch export x --scale sm", ["smoke"]),
        ("pyorch run scenarios/figure_5.yaml --variant rocev2_i", ["rocev2_irn"]),
        ("pyorch run scenarios/no_such.yaml --variant r", []),
        ("pyorch sweep scenarios/figure_5.yaml --metric slowd", ["slowdown"]),
    ],
)
def test_the_beginning_of_a_value_is_completed(words, expected):
    assert offered(words, len(words.split()) - 1) == expected


def test_runs_are_offered_by_their_names(tmp_path):
    for name in ("s1-0123456789", "s2-0123456789"):
        (tmp_path / "results" / "one" / name).mkdir(parents=True)
        (tmp_path / "results" / "one" / name / "provenance.json").touch()

    assert offered("pyorch show s2", 2, tmp_path) == ["s2-0123456789"]
