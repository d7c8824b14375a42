# SPDX-License-Identifier: GPL-2.0-only
"""The table of links that are gone is that of the figure beside it."""

from pathlib import Path

import pandas as pd

DOCS = Path(__file__).parents[1] / "docs"
NAMES = {"MRC-like": "mrc", "UEC NSCC, REPS": "nscc", "sprayed": "sprayed",
         "RoCEv2, one path in one plane": "rocev2"}  # fmt: skip


def test_the_page_has_the_values_of_the_figure():
    shown = pd.read_csv(DOCS / "gallery" / "figures" / "mrc_links.csv")
    wide = shown.pivot_table(index="variant", columns=["message", "gone"], values="over_least")
    page = (DOCS / "transports.md").read_text().partition("**Links that are gone.**")[2]
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| ")]
    found = {row[0]: row[1:] for row in rows[1 : 1 + len(NAMES)]}

    assert wide.shape == (4, 8)
    for label, variant in NAMES.items():
        assert found[label] == [f"{value:.2f}" for value in wide.loc[variant]]
