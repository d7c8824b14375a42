# SPDX-License-Identifier: GPL-2.0-only
"""Builds a page of HTML in which every value is escaped."""

from functools import lru_cache

import jinja2


def html(name: str, **values: object) -> str:
    """Return a page; `name` is that of its template, without ``.html.jinja``."""
    return _environment().get_template(f"{name}.html.jinja").render(values)


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("pyorch.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
