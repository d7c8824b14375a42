# SPDX-License-Identifier: GPL-2.0-only
"""Takes a kind and a name, writes its files; nothing that exists is ever overwritten."""

from pathlib import Path

from pyorch import built, trust
from pyorch.built import IS_PACKAGED, REPOSITORY, study
from pyorch.errors import PluginError
from pyorch.render import environment
from pyorch.scaffold import names
from pyorch.scaffold.kinds import KINDS, File, Module
from pyorch.spec import json_schema

TEMPLATES = Path(__file__).parent / "templates"


def write(kind: str, name: str, root: Path | None = None) -> list[Path]:
    """Write the files of a new plug-in and return them.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    name : str
        ``slow-start`` for a module, ``slow_start`` for a file.
    root : Path, optional
        The project; this folder if it is a study, else the clone.

    Raises
    ------
    PluginError
        The name cannot be one, or something else has it.
    """
    chosen = KINDS[kind]
    root = root or study() or _clone()
    trust.grant(study())
    if isinstance(chosen, Module):
        return _write_module(chosen, name, root)
    assert isinstance(chosen, File)
    return [_write_file(chosen, name, root)]


def _clone() -> Path:
    """Return the folder of the clone that this is.

    Raises
    ------
    PluginError
        It is none: a wheel has no sources.
    """
    if IS_PACKAGED:
        raise PluginError(
            "this folder is no study, where such a file has its place. Make one:"
            " pyorch init my-study"
        )
    return REPOSITORY


def next_steps(kind: str, name: str) -> list[str]:
    """Return what to do with a plug-in that was written."""
    chosen = KINDS[kind]
    values = {"name": name}
    if isinstance(chosen, Module):
        values |= {"stem": names.stem(chosen, name), "cls": names.class_of(chosen, name)}
    return [line.format(**values) for line in chosen.next]


def _write_module(kind: Module, name: str, root: Path) -> list[Path]:
    modules = root / "ns3-modules"
    names.check_module(kind, name, modules, _others(root))
    stem = names.stem(kind, name)
    values = {
        "name": name,
        "stem": stem,
        "class": names.class_of(kind, name),
        "group": names.words(name),
        "guard": stem.upper().replace("-", "_"),
        "kind": kind.name,
        "contract": kind.contract,
        "library": kind.library,
        "models": kind.models,
        "lacks": kind.lacks,
        "oracle": kind.oracle,
    }
    folder = modules / name
    files = {
        folder / "CMakeLists.txt": "CMakeLists.txt.jinja",
        folder / "README.md": "README.md.jinja",
        folder / "model" / f"{stem}.cc": f"{kind.name}.cc.jinja",
        folder / "model" / f"{stem}.h": f"{kind.name}.h.jinja",
        folder / "test" / f"{stem}-test-suite.cc": f"{kind.name}.test.cc.jinja",
    }
    return [_render("cpp", template, values, path) for path, template in files.items()]


def _others(root: Path) -> list[Path]:
    """Return the folders of modules that those of a study are built beside."""
    return [built.MODULES] if root == study() else []


def _write_file(kind: File, name: str, root: Path) -> Path:
    path = root / (kind.path_in_study if root == study() else kind.path).format(name=name)
    names.check_file(kind, name, path)
    if kind.name == "figure" and not (root / f"scenarios/{name}.yaml").exists():
        raise PluginError(
            f"figure '{name}': there is no scenarios/{name}.yaml whose results it could draw."
            f" Write it first: pyorch new scenario {name}"
        )
    has_schema = kind.name == "scenario" and (root / json_schema.FILE).exists()
    first = json_schema.COMMENT if has_schema else ""
    return _render("python", kind.template, {"name": name, "first": first}, path)


def _render(folder: str, template: str, values: dict[str, str], path: Path) -> Path:
    text = environment(str(TEMPLATES / folder)).get_template(template).render(values)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("x") as file:
        file.write(text)
    return path
