# SPDX-License-Identifier: GPL-2.0-only
"""A figure is four files that are byte-identical when drawn again, and one look per transport."""

import hashlib
import re

import pandas as pd
import pytest

from pyorch import figures
from pyorch.errors import FigureError
from pyorch.figures.command import drawn

TABLE = pd.DataFrame({"seed": [1, 2, 3], "fct_ps": [10**9, 2 * 10**9, 3 * 10**9]})


def draw(ax, table):
    """Draw three points."""
    ax.plot(table["seed"], table["fct_ps"] / 1e9, "o", label="µs")
    ax.legend()
    return table


def test_drawing_twice_gives_the_same_bytes(tmp_path):
    digests = []
    for attempt in ("first", "second"):
        figure, data = drawn(draw, {"table": TABLE}, "smoke")
        files = figures.save(figure, "x", data, tmp_path / attempt)
        digests.append([hashlib.sha256(file.read_bytes()).hexdigest() for file in files])

    assert digests[0] == digests[1]
    assert sorted(p.name for p in (tmp_path / "first").iterdir()) == [
        "x.csv", "x.pdf", "x.png", "x.svg"
    ]  # fmt: skip


def test_a_figure_prints_its_scale():
    figure, _ = drawn(draw, {"table": TABLE}, "smoke")

    assert "scale: smoke" in [text.get_text() for text in figure.texts]


def test_a_figure_that_returns_nothing_is_refused():
    with pytest.raises(FigureError, match="returned no DataFrame of what it has drawn"):
        drawn(lambda ax: None, {}, "smoke")


def test_the_style_of_a_transport_is_the_same_everywhere():
    assert figures.style("rocev2").label.startswith("RoCEv2")
    assert figures.style("never_heard_of") == figures.style("never_heard_of")
    assert figures.style("never_heard_of", "My own").label == "My own"


def test_no_two_known_things_look_alike():
    looks = [figures.style(name) for name in ("rocev2", "rocev2_irn", "sprayed", "fluid")]

    assert len({(look.color, look.marker) for look in looks}) == len(looks)


def test_needs_are_read_without_running_the_file(tmp_path):
    plot = tmp_path / "f.py"
    plot.write_text('NEEDS = {"fct": "figure_5/fct.csv"}\nraise RuntimeError\n')

    assert figures.read_needs(plot) == {"fct": "figure_5/fct.csv"}
    assert figures.need_path("figure_5/fct.csv", "results", "smoke") == (
        "results/figure_5/smoke/fct.csv"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\n", "there is no NEEDS. Write NEEDS = {}"),
        ("NEEDS = dict(a=1)\n", "NEEDS must be a literal dict"),
        ('NEEDS = {"a": "fct.csv"}\n', "'fct.csv' is not <scenario>/<metric>.csv"),
    ],
)
def test_needs_that_cannot_be_read_are_refused(tmp_path, text, message):
    plot = tmp_path / "f.py"
    plot.write_text(text)

    with pytest.raises(FigureError, match=re.escape(message)):
        figures.read_needs(plot)


def test_a_missing_table_says_how_to_make_it(tmp_path, capsys):
    with pytest.raises(SystemExit) as exit_:
        figures.main(draw, {"table": "s/fct.csv"}, ["--results", str(tmp_path)])

    assert exit_.value.code == 1
    assert "no such table. Make it with: snakemake --cores all" in capsys.readouterr().err
