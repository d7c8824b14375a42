# SPDX-License-Identifier: GPL-2.0-only
"""The page of `make trust` has each target with its result and its numbers."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import trust  # noqa: E402

ROOT = Path(__file__).parents[1]


def test_a_page_has_a_row_of_each_target_and_says_what_has_failed():
    found = {
        "battery": (0, "Building: 9 of 30 done\n....\n3000 passed in 9 s\n"),
        "drill": (2, "9 kills\n\r1 kills (a 1)\r100 kills (a 25)\n7 comparisons: all the same | x"),
    }
    rows = trust.page(found, "abc").splitlines()[-2:]
    assert rows == [
        "| battery | passed | 3000 passed in 9 s |",
        "| drill | **failed** (2) | 100 kills (a 25); 7 comparisons: all the same / x |",
    ]


def test_one_that_fails_is_in_the_page_and_the_others_are_run(tmp_path, monkeypatch):
    monkeypatch.setattr(trust, "run", lambda target: (int(target == "a"), f"1 passed {target}"))
    assert trust.main(str(tmp_path / "page.md"), "a", "b") == 1
    said = (tmp_path / "page.md").read_text()
    assert "| a | **failed** (1) |" in said and "| b | passed |" in said
    assert trust.main(str(tmp_path / "page.md"), "b") == 0


def test_every_target_of_trust_is_one_of_the_makefile():
    makefile = (ROOT / "Makefile").read_text()
    targets = re.search(r"^TRUST := (.*)$", makefile, re.M)[1].split()
    assert len(targets) >= 5
    assert all(re.search(rf"^{target}: setup$", makefile, re.M) for target in targets)
