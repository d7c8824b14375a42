# SPDX-License-Identifier: GPL-2.0-only
"""A figure is five files that are byte-identical when drawn again, and one look per transport."""

import hashlib
import re
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pyorch import figures
from pyorch.errors import FigureError
from pyorch.figures.command import drawn, record, size_and_seeds
from pyorch.figures.provenance import runs_of
from pyorch.figures.style import COLORS, STYLE_FILE

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
        files = figures.save(figure, "x", data, tmp_path / attempt, "Three points.\n")
        digests.append([hashlib.sha256(file.read_bytes()).hexdigest() for file in files])

    assert digests[0] == digests[1]
    assert sorted(p.name for p in (tmp_path / "first").iterdir()) == [
        "x.csv", "x.pdf", "x.png", "x.svg", "x.txt"
    ]  # fmt: skip


def test_a_figure_prints_how_large_its_runs_are_and_how_many_seeds():
    size = size_and_seeds({"table": "s/fct.csv"}, {"table": TABLE}, "smoke")
    figure, _ = drawn(draw, {"table": TABLE}, size)

    assert size == "scale: smoke, 3 seeds"  # there is no scenario of this name
    assert size in [text.get_text() for text in figure.texts]
    assert size_and_seeds({}, {}, "smoke") == ""


def test_a_figure_says_that_a_variant_has_fewer_seeds_than_another():
    table = pd.DataFrame({"variant": ["a", "a", "a", "b"], "seed": [1, 2, 3, 1]})
    size = size_and_seeds({"table": "s/fct.csv"}, {"table": table}, "smoke")

    assert size == "scale: smoke, 1 to 3 seeds"


def test_each_scale_has_a_folder_of_its_own_and_a_caption(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for scale in ("smoke", "paper"):
        folder = tmp_path / "results" / "s" / scale
        folder.mkdir(parents=True)
        TABLE.to_csv(folder / "fct.csv", index=False)
        figures.main(draw, {"table": "s/fct.csv"}, ["--scale", scale])
    figures.main(draw, {"table": "s/fct.csv"}, ["--scale", scale, "--width", "column"])

    assert sorted(path.parent.name for path in tmp_path.glob("figures/*/test_figures.pdf")) == [
        "paper", "smoke"
    ]  # fmt: skip
    assert (tmp_path / "figures/paper/test_figures_column.pdf").exists()
    caption = (tmp_path / "figures/smoke/test_figures.txt").read_text()
    assert caption.startswith("A figure is five files that are byte-identical when drawn again")
    assert "Scale: smoke, 3 seeds." in caption
    assert "from s/fct.csv." in caption


def test_a_figure_that_returns_nothing_is_refused():
    with pytest.raises(FigureError, match="returned no DataFrame of what it has drawn"):
        drawn(lambda ax: None, {}, "smoke")


def test_the_style_of_a_transport_is_the_same_everywhere():
    assert figures.style("rocev2").label.startswith("RoCEv2")
    assert figures.style("never_heard_of") == figures.style("never_heard_of")
    assert figures.style("never_heard_of", "My own").label == "My own"


def test_the_label_of_a_scenario_is_never_replaced():
    assert figures.style("rocev2", "RoCEv2 + DCQCN, no PFC").label == "RoCEv2 + DCQCN, no PFC"
    assert figures.styles([("rocev2", "mine")])["rocev2"].label == "mine"


def test_no_two_known_things_look_alike():
    looks = [figures.style(name) for name in yaml.safe_load(STYLE_FILE.read_text())["names"]]

    assert len({look.color for look in looks}) == len(looks)
    assert all(1.05 / (luminance(look.color) + 0.05) > 2 for look in looks)


def test_those_of_a_group_share_what_stands_for_it():
    one, other = figures.style("rocev2"), figures.style("rocev2_dcqcn")

    assert (one.group, one.group_color) == (other.group, other.group_color)
    assert one.group_color != figures.style("sprayed").group_color
    assert figures.style("never_heard_of").group == ""


@given(st.lists(st.text("abcdefgh_0123456789", min_size=1), unique=True, max_size=40))
def test_no_two_things_in_one_figure_look_alike(names):
    looks = figures.styles((name, None) for name in names)

    assert list(looks) == names
    assert len({(look.color, look.marker, look.dashes) for look in looks.values()}) == len(names)
    if len(names) <= len(COLORS):
        assert len({look.color for look in looks.values()}) == len(names)


def test_names_that_once_shared_a_colour_do_not():
    looks = figures.styles((name, None) for name in ("swift", "timely", "dctcp", "hpcc", "ndp"))

    assert len({look.color for look in looks.values()}) == 5


def luminance(color):
    """Relative luminance of WCAG 2.1, from its own formula."""
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def lab(color):
    """CIE 1976 L*a*b* of an sRGB colour, white D65."""
    parts = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    to_xyz = [
        [0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505],
    ]  # fmt: skip
    ratio = np.array(to_xyz) @ linear / [0.9505, 1, 1.089]
    f = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_each_colour_is_seen_on_white_and_no_two_are_close():
    known = [figures.style(name).color for name in ("rocev2", "rocev2_irn", "sprayed", "fluid")]
    colors = [*COLORS, *known]

    # Yellow (#F0E442), which nobody sees, has 1.3; 23 is ten times a just noticeable difference.
    assert min(1.05 / (luminance(color) + 0.05) for color in colors) > 2
    distances = {
        pair: np.linalg.norm(lab(pair[0]) - lab(pair[1])) for pair in combinations(colors, 2)
    }
    assert min(distances.values()) > 23, min(distances, key=distances.get)


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


FACTS = {
    "seed": 1, "events": 1, "data_packets": 1, "simulated_ps": 1, "wall_s": 1.0, "cpu_user_s": 1.0,
    "cpu_system_s": 0.0, "run_cpu_s": 1.0, "peak_memory_bytes": 1, "git_commit": "c0ffee",
    "versions": {"pyorch": "0.1.0"}, "libraries_sha256": {"libroce.so": "ab" * 32},
    "code_sha256": {"pyorch/units.py": "cd" * 32},
}  # fmt: skip


def test_a_figure_says_which_runs_it_shows_and_what_made_them(tmp_path, monkeypatch):
    monkeypatch.setattr("pyorch.traces.read_provenance", lambda folder: FACTS | of_folder(folder))
    tables = [
        pd.DataFrame({"scenario": "s", "scale": "smoke", "variant": "a", "seed": [1, 1, 2],
                      "run": ["s1-a", "s1-a", "s2-a"]}),
        pd.DataFrame({"scenario": "s", "scale": "smoke", "case": "x", "variant": "b", "seed": [1],
                      "run": ["s1-b"]}),
        pd.DataFrame({"seed": [7], "fct_ps": [1]}),
    ]  # fmt: skip
    made = runs_of(tables, tmp_path)

    # Each run once, and nothing of a table that does not say of which runs it is.
    assert made["run"].tolist() == ["s1-a", "s2-a", "s1-b"]
    assert made["git_commit"].tolist() == ["of s1-a", "of s2-a", "of s1-b"]
    assert made["libraries_sha256"].unique().tolist() == ["libroce.so=" + "ab" * 8]
    assert made["code_sha256"].str.fullmatch("[0-9a-f]{16}").all()
    assert list(made.columns[:6]) == ["scenario", "scale", "case", "variant", "seed", "run"]


def of_folder(folder):
    return {"git_commit": f"of {folder.name}"}


def test_only_a_figure_whose_runs_are_known_has_a_record_of_them(tmp_path, monkeypatch):
    monkeypatch.setattr("pyorch.traces.read_provenance", lambda folder: FACTS)
    known = pd.DataFrame({"scenario": ["s"], "seed": [1], "run": ["s1-a"]})

    assert record("f", {"table": "s/fct.csv"}, [("results", {"table": TABLE})], tmp_path) == []
    for needs, tables, n_lines in ({}, {}, 1), ({"table": "s/fct.csv"}, {"table": known}, 2):
        (written,) = record("f", needs, [("results", tables)], tmp_path)
        assert written == tmp_path / "f.provenance.csv"
        assert len(written.read_text().splitlines()) == n_lines


def test_rows_of_a_sweep_of_one_variant_are_drawn_beside_committed_ones(tmp_path, capsys):
    for place, variant in ("kept/s/smoke", "a"), ("results/s/smoke-1234", "b"):
        folder = tmp_path / place
        folder.mkdir(parents=True)
        TABLE.assign(variant=variant).to_csv(folder / "fct.csv", index=False)
    given = ["--scale", "smoke", "--results", f"{tmp_path}/kept", "--out", str(tmp_path)]

    figures.main(
        draw, {"table": "s/fct.csv"}, [*given, "--with", f"{tmp_path}/results/s/smoke-1234"]
    )
    drawn_rows = pd.read_csv(tmp_path / "test_figures.csv")
    assert list(drawn_rows["variant"]) == ["a"] * 3 + ["b"] * 3

    with pytest.raises(SystemExit):
        figures.main(
            draw, {"table": "s/fct.csv"}, [*given, "--with", f"{tmp_path}/results/t/smoke"]
        )
    assert "is a folder of scenario 't'; this figure shows s." in capsys.readouterr().err


def test_a_missing_table_says_how_to_make_it(tmp_path, capsys):
    with pytest.raises(SystemExit) as exit_:
        figures.main(draw, {"table": "s/fct.csv"}, ["--results", str(tmp_path)])

    assert exit_.value.code == 1
    assert "no such table. Make it with: snakemake --cores all" in capsys.readouterr().err


def test_a_missing_table_that_the_repository_has_at_another_scale_is_told_of(
    tmp_path, capsys, monkeypatch
):
    (tmp_path / "docs" / "results" / "s" / "paper").mkdir(parents=True)
    (tmp_path / "docs" / "results" / "s" / "paper" / "fct.csv").write_text("a\n1\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        figures.main(draw, {"table": "s/fct.csv"}, [])
    assert capsys.readouterr().err.endswith(
        "results/s/laptop/fct.csv: no such table. Make it with: snakemake --cores all"
        " results/s/laptop/fct.csv (or draw it from the tables of the repository: --scale paper"
        " --results docs/results)\n"
    )
    with pytest.raises(SystemExit):
        figures.main(draw, {"table": "s/fct.csv", "other": "s/slowdown.csv"}, [])
    assert "docs/results" not in capsys.readouterr().err
