# SPDX-License-Identifier: GPL-2.0-only
"""Whatever stands in a value stands on the page as text."""

from types import SimpleNamespace

from pyorch.report.pages import html

EVIL = """<script>alert(1)</script>' onclick='x" onload="y"""


def test_no_value_of_the_benchmarks_is_markup():
    page = html("benchmarks", summary=EVIL, names=[EVIL], rows=[[EVIL, 3]])

    assert "<script>" not in page and "' onclick" not in page and '" onload' not in page
    assert page.count("&lt;script&gt;") == 3


def test_no_value_of_the_reproduction_is_markup():
    claim = SimpleNamespace(id=EVIL, formula=EVIL, remark=EVIL)
    page = html(
        "reproduction", verdict=EVIL, status_rows=[[EVIL, EVIL, EVIL]], documents=[EVIL],
        figures=[SimpleNamespace(name=EVIL, caption=EVIL)], head=[EVIL] * 8, tones={EVIL: "good"},
        contradictions=[SimpleNamespace(title=EVIL, text=EVIL, rows=[EVIL])], images={},
        groups=[(EVIL, EVIL, [(SimpleNamespace(claim=claim, status=EVIL), [EVIL] * 6)])],
    )  # fmt: skip

    assert "<script>" not in page and "' onclick" not in page and '" onload' not in page
    assert page.count("&lt;script&gt;") > 20
