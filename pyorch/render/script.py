# SPDX-License-Identifier: GPL-2.0-only
"""Takes a resolved spec, returns the text of a scenario script that a person can read and edit."""

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import jinja2

from pyorch.errors import SpecError
from pyorch.spec.plan import ENGINE_TEMPLATE, TEMPLATES
from pyorch.spec.resolved import Engine, Spec
from pyorch.spec.schema import options_of
from pyorch.units import format_si

#: Suffix of a name to the unit a reader sees and how many of ours make one.
_UNITS = {"_ps": ("s", 1e-12), "_bps": ("bit/s", 1), "_bytes": ("B", 1)}


def render_script(spec: Spec, templates: Path | str = TEMPLATES) -> str:
    """Return the scenario script of a run.

    Parameters
    ----------
    spec : Spec
        Resolved spec.
    templates : path
        Folder of the templates.

    Raises
    ------
    SpecError
        The template names something that the spec does not have.
    """
    name = f"{ENGINE_TEMPLATE if spec.engine != Engine() else spec.template}.py.jinja"
    try:
        return environment(str(templates)).get_template(name).render(run=spec.plain())
    except jinja2.TemplateNotFound as error:
        raise SpecError(f"{templates}: no template '{error.name}'.") from None
    except jinja2.UndefinedError as error:
        raise SpecError(
            f"{templates}/{name}: {error.message}; a resolved spec has it not."
        ) from None


@lru_cache(maxsize=4)
def environment(folder: str) -> jinja2.Environment:
    """Return the environment of all templates: values only, and a missing name is an error."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    made.filters |= {
        "options": options_of, "python": python_literal, "readable": readable, "unit": with_unit,
    }  # fmt: skip
    return made


def compile_templates() -> None:
    """Compile the templates of pyorch now, for a process whose forks then need not."""
    made = environment(str(TEMPLATES))
    for name in made.list_templates(extensions=["jinja"]):
        made.get_template(name)


def readable(value: int | float, name: str) -> str:
    """Return a number as a reader sees it, by the suffix of its name: ``# 800 Gbit/s``."""
    for suffix, (unit, factor) in _UNITS.items():
        if name.endswith(suffix):
            return format_si(value * factor if factor != 1 else value, unit)
    return "[1]"


def with_unit(value: Any, name: str) -> str:
    """Return the comment behind a value: the same number with its unit, if it has one."""
    known = name.endswith(tuple(_UNITS)) and value is not None
    return f"  # {readable(value, name)}" if known else ""


def python_literal(value: object) -> str:
    """Return a value as a Python literal on one line, texts with double quotes."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False) if value.isprintable() else ascii(value)
    if isinstance(value, int) and not isinstance(value, bool) and value >= 10_000:
        return f"{value:_}"
    return repr(value)
