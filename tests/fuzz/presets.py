# SPDX-License-Identifier: GPL-2.0-only
"""Checks of presets of the analytical model: every value of the file, and what is made of them."""

import math
from pathlib import Path

import naive
import yaml
from compare import check_refusal

from pyorch.errors import PyorchError, SpecError
from pyorch.theory import exposed, preset

KINDS = ("training", "inference", "site")


def check_preset(data: bytes, folder: Path) -> bool:
    """A preset, read as each kind that there is."""
    path = folder / "m.yaml"
    path.write_bytes(data)
    return any(check_kind(data, path, kind) for kind in KINDS)


def check_kind(data: bytes, path: Path, kind: str) -> bool:
    try:
        file = preset.read(str(path), kind)
    except SpecError as error:
        check_refusal(error, path.name)
        return False
    text = data.decode("utf-8-sig")
    says = yaml.load(text, yaml.CSafeLoader)
    assert says.pop("kind") == kind
    found = file.model_dump(exclude_unset=True, by_alias=True)
    del found["kind"]
    as_it_stands(found, says)
    try:
        made = getattr(preset, kind)(str(path))
        if kind == "training":
            share = float(exposed.expose_setup(made.setup).share)
            assert 0 <= share <= 1, f"exposed share {share}"
    except PyorchError as error:
        check_refusal(error, None)
    return True


def as_it_stands(ours, theirs, key="") -> None:
    """Raise unless a value is what the file says: quantities in their unit, formats in bytes."""
    if isinstance(theirs, dict):
        assert ours.keys() == theirs.keys(), f"{key}: {list(ours)} is not {list(theirs)}"
        for name in theirs:
            as_it_stands(ours[name], theirs[name], name)
    elif isinstance(theirs, list):
        for mine, its in zip(ours, theirs, strict=True):
            as_it_stands(mine, its, key)
    elif isinstance(theirs, str) and not isinstance(ours, str | bool):
        assert ours == naive.preset_number(theirs), f"{key}: {ours!r} is not {theirs!r}"
    else:
        nearest = float(theirs) if isinstance(ours, float) else theirs
        alike = isinstance(ours, bool) == isinstance(theirs, bool)
        assert ours == nearest and alike, f"{key}: {ours!r} is not {theirs!r}"
        assert not isinstance(ours, float) or math.isfinite(ours), f"{key}: {ours!r}"
