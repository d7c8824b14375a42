# SPDX-License-Identifier: GPL-2.0-only
"""Takes the rows of both documents, writes the reproduction report: one page, Markdown and HTML."""

import ast
import io
import math
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from pyorch.report.pages import html
from pyorch.report.sources import cites
from pyorch.theory import golden
from pyorch.theory.golden import Row, status
from pyorch.writing import make_folder, write_text

CONTRADICTIONS = Path(golden.__file__).with_name("contradictions.yaml")

DOCUMENTS = {
    "paper": "[hotnets24], the paper",
    "blog": "[asterfusion24], the blog",
}
#: Groups of a document, in its order: heading by second part of the row id.
GROUPS = {
    "paper": {
        "intro": "Introduction", "infra": "Site: budget, racks, power", "table1": "Table 1",
        "scale": "Scaling laws, figure 1", "arch": "Architecture", "mem": "Memory and placement",
        "comp": "Compute per layer", "tp": "Tensor parallelism", "pp": "Pipeline parallelism",
        "dp": "Data parallelism", "moe": "Mixture of experts",
        "exp": "Exposed networking, figures 3a and 3b", "wan": "Wide area, figure 3c",
        "fct": "Transport, figures 5 and 6", "topo": "Topology and its cost",
        "alt": "Readings that were tried",
    },
    "blog": {
        "growth": "Growth of models", "c4": "Data set", "gpt3": "GPT-3", "in": "Inputs",
        "N": "Mini-batches", "dp": "Data parallelism", "fsdp": "Fully sharded data parallelism",
        "tp": "Tensor parallelism", "pp": "Pipeline parallelism", "3d": "Three kinds together",
        "table": "Comparison table", "inf": "Inference", "data": "Loading the data set",
        "ckpt": "Checkpoint", "c": "Conclusion", "sw": "Switch",
    },
}  # fmt: skip


#: Twice the width at which the page shows a figure.
PREVIEW_PIXELS = 760


#: Colours by what a status says; the word stands beside the colour everywhere.
_TONES = {
    "MATCH": "good", "TRUNC": "good", "ANCHOR_OK": "good", "CLOSE": "near",
    "DEVIATES": "bad", "ANCHOR_MISS": "bad", "DOC_ERROR": "doc", "HYPOTHESIS": "guess",
}  # fmt: skip


@dataclass(frozen=True)
class Contradiction:
    """Something that the documents do not agree on with themselves, in words."""

    title: str
    text: str
    rows: tuple[str, ...]


@dataclass(frozen=True)
class Group:
    """Rows about one topic of one document."""

    document: str
    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Figure:
    """A figure of the project: file name without suffix, and its caption."""

    name: str
    caption: str


@cache
def contradictions() -> tuple[Contradiction, ...]:
    """Return what is contradictory or unexplained, in the order of the documents."""
    entries = yaml.safe_load(CONTRADICTIONS.read_text(encoding="utf-8"))
    return tuple(Contradiction(e["title"], e["text"].strip(), tuple(e["rows"])) for e in entries)


def groups(rows: Iterable[Row]) -> list[Group]:
    """Return the rows by document and topic; each row is in exactly one group."""
    rows = list(rows)
    return [
        Group(document, title, found)
        for document, topics in GROUPS.items()
        for topic, title in topics.items()
        if (
            found := tuple(
                row for row in rows
                if (row.claim.document, row.claim.topic) == (document, topic)
            )
        )
    ]  # fmt: skip


def figures(plots: Path) -> list[Figure]:
    """Return the figures of a folder that are about the documents, with their captions, undrawn."""
    found = [
        Figure(path.stem, ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "")
        for path in sorted(plots.glob("[!_]*.py"))
    ]
    return [figure for figure in found if cites(figure.caption)]


def summary(rows: Iterable[Row]) -> dict[str, Counter]:
    """Return how often each status occurs in each document."""
    counts = {document: Counter() for document in DOCUMENTS}
    for row in rows:
        counts[row.claim.document][row.status] += 1
    return counts


def verdict(counts: dict[str, Counter]) -> str:
    """Return the one sentence that stands on top."""
    both = sum(counts.values(), Counter())
    scored = {name: both[name] for name in status.FOUND}
    reproduced = sum(both[name] for name in status.REPRODUCED)
    return (
        f"Of {sum(both.values())} quantities, {sum(scored.values())} can be scored:"
        f" {reproduced} are reproduced to the digits or statements that are printed,"
        f" {both[status.CLOSE]} are within 1 %, and {both[status.DEVIATES]} deviate further or,"
        f" for {both[status.ANCHOR_MISS]} more, do not meet what the text says about a plot."
        f" {both['HYPOTHESIS']} are inferences and {both['DOC_ERROR']} are errors of the documents;"
        " neither counts as reproduced. The others are inputs, consequences, or not scored."
    )


def number(value: float | None) -> str:
    """Return a value with six significant digits, exact whole numbers with separators."""
    if value is None:
        return ""
    if math.isinf(value):
        return "never"
    if value == int(value) and abs(value) < 1e9:
        return f"{int(value):,}"
    return f"{value:,.6g}"


def deviation(row: Row) -> str:
    """Return computed against printed, in percent."""
    if row.deviation is None or row.status == "INPUT":
        return ""
    return f"{100 * row.deviation:+.2f} %"


def cells(row: Row) -> list[str]:
    """Return what both pages show of a row, but for its status."""
    claim = row.claim
    return [
        claim.source_section, claim.quantity, claim.unit.replace("-", "") or "1",
        number(claim.document_value), number(row.computed), deviation(row),
    ]  # fmt: skip


HEAD = ["section", "quantity", "unit", "document", "computed", "deviation", "status", "formula"]


def markdown(rows: list[Row], shown: list[Figure]) -> str:
    """Return the report as Markdown."""
    counts = summary(rows)
    lines = ["# Reproduction of the two source documents", "", verdict(counts), ""]
    lines += _table(["status", "meaning", *DOCUMENTS], _status_rows(counts))
    lines += ["## Figures", ""]
    lines += [f"- [{f.name}]({f.name}.pdf): {' '.join(f.caption.split())}" for f in shown]
    lines += ["", "## What the documents do not agree on", ""]
    for entry in contradictions():
        lines += [f"**{entry.title}.** {entry.text} Rows: {', '.join(entry.rows)}.", ""]
    document = ""
    for group in groups(rows):
        if group.document != document:
            document = group.document
            lines += [f"## {DOCUMENTS[document]}", ""]
        lines += [f"### {group.title}", ""]
        lines += _table(["id", *HEAD], [_markdown_row(row) for row in group.rows])
    return "\n".join(lines).rstrip() + "\n"


def _status_rows(counts: dict[str, Counter]) -> list[list[str]]:
    return [
        [name, meaning, *(str(counts[document][name]) for document in DOCUMENTS)]
        for name, meaning in status.MEANING.items()
    ]


def _markdown_row(row: Row) -> list[str]:
    formula = f"`{row.claim.formula}`" if row.claim.formula else ""
    said = "; ".join(part for part in (formula, row.claim.remark) if part)
    return [row.claim.id, *cells(row), row.status, said]


def _table(head: list[str], body: list[list[str]]) -> list[str]:
    """Return a Markdown table and an empty line."""
    rows = [head, ["---"] * len(head), *body]
    escaped = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return [*("| " + " | ".join(row) + " |" for row in escaped), ""]


def preview(path: Path) -> bytes:
    """Return a small copy of a PNG: a page within another page may not be larger than 2 MB."""
    from PIL import Image

    small = io.BytesIO()
    with Image.open(path) as image:
        shown = image.convert("RGB")
    shown.thumbnail((PREVIEW_PIXELS, PREVIEW_PIXELS))
    shown.quantize(64).save(small, "PNG", optimize=True)
    return small.getvalue()


def write(out: Path | str, plots: Path | str = "plots") -> list[Path]:
    """Write ``reproduction.md`` and ``reproduction.html`` and return their paths.

    The page holds previews of the figures that are drawn in `out` already.
    """
    out = Path(out)
    make_folder(out)
    rows, shown = golden.rows(), figures(Path(plots))
    pages = {
        "reproduction.md": markdown(rows, shown),
        "reproduction.html": html(
            "reproduction",
            verdict=verdict(summary(rows)), status_rows=_status_rows(summary(rows)),
            figures=shown, contradictions=contradictions(), documents=list(DOCUMENTS), head=HEAD,
            groups=[
                (DOCUMENTS[group.document], group.title, [(row, cells(row)) for row in group.rows])
                for group in groups(rows)
            ],
            images={f.name: b64encode(preview(png)).decode() for f in shown
                    if (png := out / f"{f.name}.png").exists()},
            tones=_TONES,
        ),
    }  # fmt: skip
    for name, text in pages.items():
        write_text(out / name, text)
    return [out / name for name in pages]
