# SPDX-License-Identifier: GPL-2.0-only
"""A file of sites and demands: what the command prints of it, and what is refused where."""

import csv
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pyorch.cli.theory.app import app
from pyorch.errors import SpecError
from pyorch.wan import plan, read_request

TEXT = """\
sites: [a, b, c]
links:
  - {between: [a, b], rate: 10 Gb/s, delay: 10 ms}
  - {between: [b, c], rate: 10 Gb/s, delay: 10 ms}
  - {between: [a, c], rate: 10 Gb/s, delay: 10 ms}
demands:
  - {name: bulk, from: a, to: b, demand: 20 Gb/s, weight: 2}
  - {name: web, from: a, to: c, function: [{share: 1, rate: 5 Gb/s}, {share: 4, rate: 10 Gb/s}]}
tunnels: 2
"""


def test_the_command_prints_a_row_for_each_tunnel(tmp_path):
    """At share 4 bulk has 8 Gb/s and web the 10 that it asks for; bulk goes on to the 10 left.

    Web fills the link ac, so all of bulk is direct.
    """
    (tmp_path / "sites.yaml").write_text(TEXT)
    words = ["wan-te", str(tmp_path / "sites.yaml"), "--format", "csv"]
    result = CliRunner().invoke(app, words, catch_exceptions=False)
    rows = list(csv.DictReader(result.stdout.splitlines()))

    assert [(row["demand"], row["tunnel"], float(row["split"])) for row in rows] == [
        ("bulk", "a b", 1.0), ("web", "a c", 1.0)
    ]  # fmt: skip
    assert [float(row["granted_gbps"]) for row in rows] == pytest.approx([10, 10], rel=1e-6)
    assert [float(row["asked_gbps"]) for row in rows] == [20, 10]


MISTAKES = {
    "an unknown site": (
        "from: a, to: b", "from: a, to: bb",
        "sites.yaml:7: demands.0.to: no site is called 'bb'. There are a, b, c.",
    ),
    "a link to an unknown site": (
        "[b, c]", "[b, d]", "sites.yaml:4: links.1.between.1: no site is called 'd'.",
    ),
    "the same link twice": (
        "[b, c]", "[b, a]",
        "sites.yaml:4: links.1.between: 'b' and 'a' have a link already. Write one with the sum",
    ),
    "a demand from a site to itself": (
        "from: a, to: b", "from: a, to: a", "sites.yaml:7: demands.0.to: both ends are 'a'.",
    ),
    "a name twice": ("name: web", "name: bulk", "demands.1: 'bulk' is there twice. Name it once."),
    "neither demand nor function": (
        "demand: 20 Gb/s, ", "", "sites.yaml:7: demands.0: write either demand, maybe with",
    ),
    "a function that falls": (
        "rate: 10 Gb/s}]}", "rate: 1 Gb/s}]}",
        "sites.yaml:8: demands.1.function.1: share does not grow, or rate falls",
    ),
    "a number without unit": ("10 Gb/s, delay", "10, delay", "links.0.rate: '10' has no unit"),
    "an unknown key": ("tunnels: 2", "tunels: 2", "sites.yaml:9: tunels: there is no such key."),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_what_is_wrong_is_said_with_file_line_and_key(mistake, tmp_path):
    old, new, message = MISTAKES[mistake]
    (tmp_path / "sites.yaml").write_text(TEXT.replace(old, new, 1))

    with pytest.raises(SpecError) as caught:
        read_request(tmp_path / "sites.yaml")
    assert message in str(caught.value)


def test_the_example_of_the_page_is_served(tmp_path):
    """West has 190 and 380 Gb/s in (95 %), of which web has its 80 at share 50: 490 for training.

    Exact splits of these are 190 and 300, 0.39 and 0.61; fourths make them 1/2 and 1/2, and one
    half has to fit 190. That leaves 380 - 190 - 80 = 110 to backup, by the middle.
    """
    page = (Path(__file__).parents[2] / "docs" / "wan.md").read_text()
    text = next(part for part in page.split("```yaml\n")[1:] if part.startswith("sites"))
    (tmp_path / "sites.yaml").write_text(text.split("```")[0])
    training, backup, web = plan(read_request(tmp_path / "sites.yaml")).grants

    assert web.rate_bps == pytest.approx(80e9, rel=1e-6)
    assert training.rate_bps == pytest.approx(380e9, rel=1e-6)
    assert [tunnel.split for tunnel in training.tunnels] == [0.5, 0.5]
    assert backup.rate_bps == pytest.approx(110e9, rel=1e-6)
