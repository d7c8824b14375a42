# SPDX-License-Identifier: GPL-2.0-only
"""What cannot be loaded is said before anything is loaded."""

import hashlib
import json
import os
import subprocess

import pytest

from pyorch import built
from pyorch.errors import BuildError
from pyorch.simulate import loader


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Pretend a build in which one library registers one type."""
    monkeypatch.setattr(built, "here", lambda: built.Build(tmp_path))
    monkeypatch.setattr(loader, "loaded", {})  # another test of this process may have loaded some
    (tmp_path / "typeids.json").write_text(
        json.dumps([{"name": "ns3::RoceTransport", "library": "libroce.so"}])
    )
    return tmp_path


def test_a_type_that_no_module_registers_is_refused_with_the_nearest(folder):
    with pytest.raises(BuildError, match="'ns3::RoseTransport'. Did you mean ns3::RoceTransport?"):
        loader.facade_of(["ns3::RoseTransport"])


def test_a_type_unlike_any_is_refused_with_all_there_are(folder):
    with pytest.raises(BuildError, match="'x'. Known: ns3::RoceTransport."):
        loader.facade_of(["x"])


def test_modules_that_are_not_built_are_named_with_what_to_do(folder):
    (folder / "typeids.json").unlink()

    with pytest.raises(BuildError, match="typeids.json is not there.*Run: make setup"):
        loader.facade_of([])


def test_a_library_that_is_no_library_is_named_with_what_to_do(folder):
    (folder / "lib").mkdir()
    (folder / "lib" / "libfacade.so").write_text("not a library")

    with pytest.raises(BuildError, match="libfacade.so cannot be loaded: .*make clean setup"):
        loader.load_library(folder / "lib" / "libfacade.so")


@pytest.fixture
def compiled(folder):
    """A library that can be loaded, and a function that puts another one in its place."""
    path = folder / "libhash.so"

    def put(content):
        source = folder / "x.c"
        source.write_text(content)
        subprocess.run(["cc", "-shared", "-o", folder / "new.so", source], check=True)
        (folder / "new.so").rename(path)

    put("int x = 1;")
    return path, put


def test_what_is_hashed_is_what_was_loaded(compiled):
    path, put = compiled
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    loader.load_library(path)
    loader.check_unchanged()
    os.utime(path)  # built again, the same bytes
    loader.check_unchanged()

    put("int x = 2;")

    assert loader.loaded["libhash.so"].sha256 == before
    with pytest.raises(BuildError, match="libhash.so was built anew while this run was going"):
        loader.check_unchanged()
    path.unlink()
    with pytest.raises(BuildError, match="libhash.so was built anew"):
        loader.check_unchanged()


def test_a_library_that_is_missing_is_named(folder):
    with pytest.raises(BuildError, match="libfacade.so cannot be loaded"):
        loader.load_library(folder / "lib" / "libfacade.so")
