# SPDX-License-Identifier: GPL-2.0-only
"""The build is quiet, repeatable, and shows the compiler's own words when it fails."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from pyorch.errors import BuildError
from pyorch.simulate import build, places

CMAKE_FOLDER = places.MODULES

#: A module as small as one can be, that still asserts and logs (which put file names into bytes).
MODULE = """
#include "ns3/assert.h"
#include "ns3/log.h"
#include "ns3/tiny.h"
NS_LOG_COMPONENT_DEFINE("Tiny");
int Tiny(int n) { NS_LOG_FUNCTION(n); NS_ASSERT_MSG(n > 0, "n"); return n; }
"""
LIST = (
    "build_lib(LIBNAME fabric SOURCE_FILES a.cc HEADER_FILES tiny.h LIBRARIES_TO_LINK ${libcore})"
)


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """Return a function that makes a repository with one small module and uses it."""

    def make(name, source=MODULE, cmake=LIST):
        root = tmp_path / name
        module = root / "ns3-modules" / "fabric"
        module.mkdir(parents=True)
        (module / "a.cc").write_text(source)
        (module / "tiny.h").write_text("#pragma once\nint Tiny(int n);\n")
        (module / "CMakeLists.txt").write_text(cmake)
        shutil.copy(CMAKE_FOLDER / "CMakeLists.txt", root / "ns3-modules")
        shutil.copytree(CMAKE_FOLDER / "cmake", root / "ns3-modules" / "cmake")
        stock = root / "benchmarks" / "stock"
        stock.mkdir(parents=True)
        (stock / "CMakeLists.txt").touch()
        monkeypatch.setattr(places, "REPOSITORY", root)
        monkeypatch.setattr(places, "MODULES", root / "ns3-modules")
        monkeypatch.setattr(places, "BUILD", root / "build")
        monkeypatch.setattr(places, "LIBRARIES", root / "build" / "lib")
        monkeypatch.setattr(build, "LOG", root / "build" / "build.log")
        monkeypatch.setattr(build, "_write_typeids", lambda: None)
        return root

    return make


@pytest.mark.ns3
@pytest.mark.slow
def test_the_same_sources_give_the_same_bytes_in_any_folder(tiny):
    libraries = []
    for name in ("one", "another/and deeper"):
        root = tiny(name)
        build.build()
        libraries.append((root / "build/lib/libfabric.so").read_bytes())

    assert libraries[0] == libraries[1]
    assert b"a.cc" in libraries[0]  # so a file name was there to go wrong


@pytest.mark.ns3
def test_an_error_of_the_compiler_is_shown_with_its_file_and_line(tiny):
    tiny("broken", source=MODULE + "int Broken() { return missing; }\n")

    with pytest.raises(BuildError) as caught:
        build.build()

    text = str(caught.value)
    assert "ns3-modules/fabric/a.cc:7" in text
    assert "error: 'missing' was not declared" in text.replace("‘", "'").replace("’", "'")
    assert "c++" not in text  # not the command line
    assert "All that was printed is in build/build.log." in text


@pytest.mark.ns3
def test_an_argument_that_build_lib_does_not_know_is_named(tiny):
    tiny("unknown", cmake="build_lib(EXTRA LIBNAME fabric SOURCE_FILES a.cc)")

    with pytest.raises(BuildError, match="does not know\\s+EXTRA"):
        build.build()


@pytest.mark.ns3
def test_a_module_that_is_gone_leaves_no_library(tiny):
    root = tiny("two")
    other = root / "ns3-modules" / "other"
    other.mkdir()
    (other / "b.cc").write_text("int Other() { return 1; }\n")
    (other / "CMakeLists.txt").write_text("build_lib(LIBNAME other SOURCE_FILES b.cc)\n")
    build.build()
    assert (root / "build/lib/libother.so").exists()

    shutil.rmtree(other)
    build.build()

    assert not (root / "build/lib/libother.so").exists()
    assert (root / "build/lib/libfabric.so").exists()


#: What a test library does as it is loaded, by what is then said of it.
FAULTS = {
    "heap-buffer-overflow": "int* a = new int[n]; int got = a[n]; delete[] a; return got;",
    "heap-use-after-free": "int* a = new int[n]; delete[] a; return a[0];",
    "__n < this->size()": "std::vector<int> a(n); a.reserve(2 * n); return a[n];",
    "signed integer overflow": "return n + 2147483647;",
    "detected memory leaks": "return *new int(n) / 1000;",
    "": "return n;",
}


@pytest.mark.ns3
@pytest.mark.slow
def test_what_the_sanitizers_find_ends_the_test_runner(tiny):
    root = tiny("faults", cmake=LIST[:-1] + " TEST_SOURCES faults.cc)")
    cases = "".join(f"case {i}: {{ {body} }}\n" for i, body in enumerate(FAULTS.values()))
    (root / "ns3-modules" / "fabric" / "faults.cc").write_text(
        "#include <cstdlib>\n#include <vector>\n"
        f"int Fault(int which, int n) {{ switch (which) {{ {cases} }} return 0; }}\n"
        'int g_fault = Fault(std::atoi(std::getenv("FAULT")), 4);\n'
    )
    build.build(sanitize="address,undefined")

    for i, said in enumerate(FAULTS):
        done = subprocess.run(
            [root / "build/bin/test-runner", "--list"],
            env=os.environ | {"FAULT": str(i)},
            capture_output=True,
            text=True,
        )
        assert said in done.stderr
        assert (done.returncode != 0) == bool(said), said


@pytest.mark.ns3
def test_a_build_with_nothing_to_do_says_nothing(tiny, capfd):
    tiny("idle")
    build.build()
    assert capfd.readouterr().err == "Building the C++ modules ...\n"

    build.build()

    assert capfd.readouterr() == ("", "")


def test_of_ninjas_output_only_what_the_compiler_said_is_kept():
    printed = (
        "[1/3] Building CXX object a.o\n"
        "FAILED: [code=1] a.o\n"
        "/usr/bin/c++ -O3 a.cc\n"
        f"{places.REPOSITORY}/ns3-modules/x/a.cc: In function 'int f()':\n"
        f"{places.REPOSITORY}/ns3-modules/x/a.cc:3:1: error: no\n"
        "    3 | no;\n"
        "ninja: build stopped: subcommand failed.\n"
    )

    assert build.errors_of(printed).splitlines() == [
        "ns3-modules/x/a.cc: In function 'int f()':",
        "ns3-modules/x/a.cc:3:1: error: no",
        "    3 | no;",
    ]


def test_modules_are_found_and_not_listed():
    text = Path(CMAKE_FOLDER / "CMakeLists.txt").read_text()
    folders = [path.parent.name for path in CMAKE_FOLDER.glob("*/CMakeLists.txt")]

    assert folders
    assert not [name for name in folders if f"add_subdirectory({name})" in text]
