# SPDX-License-Identifier: GPL-2.0-only
"""Takes the name of a new plug-in, leaves a folder with a skeleton that works as it is."""

import json
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from pyorch.built import IS_PACKAGED
from pyorch.errors import PluginError, quoted
from pyorch.render import environment
from pyorch.simulate import places
from pyorch.spec.limits import LONGEST_NAME

app = typer.Typer(no_args_is_help=True, help="Write the skeleton of a plug-in that works as it is.")

TEMPLATES = places.MODULES / "templates" / "transport"
#: Targets and folders of the build that are no modules.
_TAKEN = {"all", "bin", "clean", "help", "include", "install", "lib", "stock", "test"}


@app.callback()
def new() -> None:
    """Let typer have sub-commands although there is but one."""


@app.command()
def transport(name: Annotated[str, typer.Argument(help="Folder in ns3-modules, 'swift'.")]) -> None:
    """Write a transport: a fixed window, each packet acknowledged by its number."""
    for path in write_transport(name):
        typer.echo(places.shown(path))
    typer.echo(
        "Next: python -m pyorch.simulate.build\n"
        f"      build/bin/test-runner --suite={name}-transport --verbose\n"
        f"      transport: {{type: ns3::{class_of(name)}}}  in a scenario; see docs/extending.md"
    )


def class_of(name: str) -> str:
    """Return the C++ class of a transport, ``SlowStartTransport`` for ``slow-start``."""
    return "".join(word.capitalize() for word in name.split("-")) + "Transport"


def write_transport(name: str, modules: Path = places.MODULES) -> list[Path]:
    """Write the module of a new transport and return its files.

    Raises
    ------
    PluginError
        The name cannot be one, or something else has it.
    """
    check_sources()
    check_name(name, modules)
    values = {
        "name": name,
        "class": class_of(name),
        "group": class_of(name).removesuffix("Transport"),
        "guard": name.upper().replace("-", "_"),
    }
    written = []
    templates = environment(str(TEMPLATES))
    for template in sorted(templates.list_templates(extensions=["jinja"])):
        folder, slash, file = template.removesuffix(".jinja").rpartition("/")
        path = modules / name / folder / (f"{name}-{file}" if slash else file)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(templates.get_template(template).render(values))
        written.append(path)
    return written


def check_sources() -> None:
    """Raise PluginError where no module can be written, because none could be built."""
    if IS_PACKAGED:
        raise PluginError("pyorch was installed from a wheel; C++ is written in a clone of it.")


def check_name(name: str, modules: Path = places.MODULES) -> None:
    """Raise PluginError unless a transport may be called so."""
    where = f"transport {quoted(name)}:"
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name) or len(name) > LONGEST_NAME:
        raise PluginError(
            f"{where} not a name for a folder, a header and a class. Write at most {LONGEST_NAME}"
            f" lower-case letters and digits, words joined by -, for example '{_nearest(name)}'."
        )
    if (modules / name).exists():
        raise PluginError(
            f"{where} {places.shown(modules / name)} exists already. Choose another name, or"
            " remove the folder."
        )
    if name in _TAKEN or name.endswith("-test") or name in _stock_modules():
        raise PluginError(
            f"{where} a module of ns-3 or a part of the build has this name. Choose another one."
        )
    if owner := _owner_of_header(f"{name}-transport.h", modules):
        raise PluginError(
            f"{where} its header ns3/{name}-transport.h would hide {owner}. Choose another name."
        )
    if owner := _owner_of_class(class_of(name), modules):
        raise PluginError(
            f"{where} its TypeId ns3::{class_of(name)} is that of a class in {owner}. Choose"
            " another name."
        )


def _nearest(name: str) -> str:
    """Return what the user may have meant, ``slow-start`` for ``SlowStart``."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()
    return re.sub(r"[^a-z0-9]+", "-", words).lstrip("0123456789-")[:20].rstrip("-") or "slow-start"


def _stock() -> Path:
    """Return the folder of the ns3 package, which is not loaded."""
    return Path(find_spec("ns3").submodule_search_locations[0])


def _stock_modules() -> set[str]:
    return {path.stem.partition("-")[2] for path in _stock().glob("lib64/libns3.*-*.so")}


def _headers(modules: Path) -> Iterator[Path]:
    """Yield all headers that a module can include as ns3/<file>."""
    yield from _stock().glob("include/ns3/*.h")
    yield from sorted(modules.glob("*/*/*.h"))


def _owner_of_header(file: str, modules: Path) -> str | None:
    found = (places.shown(path) for path in _headers(modules) if path.name == file)
    return next(found, None)


def _owner_of_class(name: str, modules: Path) -> str | None:
    """Return where a class of this name is declared, or which built module registers its TypeId."""
    declared = re.compile(rf"^\s*(?:class|struct)\s+{name}\b".encode(), re.MULTILINE)
    for path in _headers(modules):
        text = path.read_bytes()
        if name.encode() in text and declared.search(text):
            return places.shown(path)
    if places.TYPEIDS.exists():
        for entry in json.loads(places.TYPEIDS.read_text()):
            module = entry["library"].removeprefix("lib").removesuffix(".so")
            if entry["name"] == f"ns3::{name}" and (modules / module).exists():
                return places.shown(modules / module)
    return None
