# SPDX-License-Identifier: GPL-2.0-only
"""Takes the parts of the reproduction report, leaves one page of HTML that needs nothing else."""

from base64 import b64encode
from html import escape

#: Colours by what a status says; the word stands beside the colour everywhere.
_TONES = {
    "MATCH": "good", "TRUNC": "good", "ANCHOR_OK": "good", "CLOSE": "near",
    "DEVIATES": "bad", "ANCHOR_MISS": "bad", "DOC_ERROR": "doc", "HYPOTHESIS": "guess",
}  # fmt: skip

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; color: #222; max-width: 76rem; margin: 2rem auto;
       padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { margin-top: 2.5rem; border-bottom: 1px solid #ccc; }
h3 { margin-bottom: .4rem; }
table { border-collapse: collapse; width: 100%; font-size: .85rem; }
th { text-align: left; border-bottom: 1.5px solid #444; position: sticky; top: 0;
     background: #fff; }
td, th { padding: .25rem .5rem; vertical-align: top; }
td { border-bottom: 1px solid #e5e5e5; } tr:target { background: #fff6d6; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.s { white-space: nowrap; } code { font-size: .8rem; } small { color: #555; }
.status { padding: 0 .35rem; border-radius: .25rem; background: #eee; font-size: .75rem; }
.good { background: #c9e9dc; } .near { background: #d6eaf7; } .bad { background: #f6cdb8; }
.doc { background: #efd3e3; } .guess { background: #fbe9a9; }
figure { display: inline-block; width: 23rem; margin: 0 1rem 1rem 0; vertical-align: top; }
figure img { width: 100%; border: 1px solid #eee; } figcaption { font-size: .8rem; }
dt { font-weight: 600; margin-top: .9rem; } dd { margin-left: 0; }
nav a { margin-right: 1rem; }
"""


def page(verdict, status_rows, figures, contradictions, groups, documents, head, images) -> str:
    """Return the page.

    Parameters
    ----------
    verdict : str
        The sentence on top.
    status_rows : list of list of str
        Status, meaning, and how often it occurs in each of `documents`.
    figures : list of Figure
        Shown with their captions; links lead to the files beside the page.
    contradictions : list of Contradiction
        In words.
    groups : list of (document, title, list of (Row, cells))
        The tables.
    documents, head : list of str
        Column headings.
    images : dict of str to bytes
        PNG by name of the figure; one that is not drawn yet has only its caption.
    """
    body = [
        "<h1>Reproduction of the two source documents</h1>",
        f"<p>{escape(verdict)}</p>",
        '<nav><a href="#figures">Figures</a><a href="#contradictions">What the documents do not'
        ' agree on</a><a href="#rows">All rows</a></nav>',
        _status_table(status_rows, documents),
        '<h2 id="figures">Figures</h2>',
        *(_figure(figure, images.get(figure.name)) for figure in figures),
        '<h2 id="contradictions">What the documents do not agree on</h2>',
        "<dl>",
        *(_contradiction(entry) for entry in contradictions),
        "</dl>",
        '<div id="rows"></div>',
        *_groups(groups, head),
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>Reproduction report</title><style>{_STYLE}</style></head>\n<body>\n"
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def _badge(name: str) -> str:
    return f'<span class="status {_TONES.get(name, "")}">{escape(name)}</span>'


def _status_table(rows, documents) -> str:
    heads = "".join(f'<th class="n">{escape(name)}</th>' for name in documents)
    lines = [
        f'<tr><td class="s">{_badge(name)}</td><td>{escape(meaning)}</td>'
        + "".join(f'<td class="n">{count}</td>' for count in counts)
        + "</tr>"
        for name, meaning, *counts in rows
    ]
    return f"<table><tr><th>status</th><th>meaning</th>{heads}</tr>{''.join(lines)}</table>"


def _figure(figure, png: bytes | None) -> str:
    caption = escape(" ".join(figure.caption.split()))
    name = escape(figure.name)
    if png is None:  # no picture and no links to files that are not there
        return f"<figure><figcaption><b>{name}</b> (not drawn yet). {caption}</figcaption></figure>"
    source = f"data:image/png;base64,{b64encode(png).decode()}"
    return (
        f'<figure><a href="{name}.pdf"><img src="{source}" alt="{name}"></a>'
        f"<figcaption><b>{name}.</b> {caption} (<a href='{name}.csv'>data</a>)</figcaption>"
        "</figure>"
    )


def _contradiction(entry) -> str:
    links = ", ".join(f'<a href="#{row}">{row}</a>' for row in entry.rows)
    return (
        f"<dt>{escape(entry.title)}</dt><dd>{escape(entry.text)} <small>Rows: {links}.</small></dd>"
    )


def _groups(groups, head) -> list[str]:
    parts, last = [], ""
    for document, title, rows in groups:
        if document != last:
            parts.append(f"<h2>{escape(document)}</h2>")
            last = document
        parts.append(f"<h3>{escape(title)}</h3>")
        names = "".join(
            f'<th class="n">{name}</th>' if 3 <= index <= 5 else f"<th>{name}</th>"
            for index, name in enumerate(head)
        )
        parts.append(f"<table><tr>{names}</tr>{''.join(_row(*row) for row in rows)}</table>")
    return parts


def _row(row, cells) -> str:
    section, quantity, unit, document, computed, deviation = map(escape, cells)
    formula = f"<code>{escape(row.claim.formula)}</code>" if row.claim.formula else ""
    remark = f"<br><small>{escape(row.claim.remark)}</small>" if row.claim.remark else ""
    return (
        f'<tr id="{escape(row.claim.id)}" title="{escape(row.claim.id)}">'
        f'<td class="s">{section}</td><td>{quantity}</td><td class="s">{unit}</td>'
        f'<td class="n">{document}</td><td class="n">{computed}</td><td class="n">{deviation}</td>'
        f'<td class="s">{_badge(row.status)}</td><td>{formula}{remark}</td></tr>'
    )
