# SPDX-License-Identifier: GPL-2.0-only
"""The build is quiet, repeatable, and shows the compiler's own words when it fails."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pyorch import built
from pyorch.errors import BuildError
from pyorch.simulate import build, build_cache

CMAKE_FOLDER = built.MODULES

#: A module as small as one can be, that still asserts and logs (which put file names into bytes).
MODULE = """
#include "ns3/assert.h"
#include "ns3/log.h"
#include "ns3/tiny.h"
NS_LOG_COMPONENT_DEFINE("Tiny");
int Tiny(int n) { NS_LOG_FUNCTION(n); NS_ASSERT_MSG(n > 0, "n"); return n; }
"""
LIST = (
    "build_lib(LIBNAME facade SOURCE_FILES a.cc HEADER_FILES tiny.h LIBRARIES_TO_LINK ${libcore})"
)


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """Return a function that makes a repository with one small module and uses it."""

    def make(name, source=MODULE, cmake=LIST):
        root = tmp_path / name
        module = root / "ns3-modules" / "facade"
        module.mkdir(parents=True)
        (module / "a.cc").write_text(source)
        (module / "tiny.h").write_text("#pragma once\nint Tiny(int n);\n")
        (module / "CMakeLists.txt").write_text(cmake)
        shutil.copy(CMAKE_FOLDER / "CMakeLists.txt", root / "ns3-modules")
        shutil.copytree(CMAKE_FOLDER / "cmake", root / "ns3-modules" / "cmake")
        stock = root / "benchmarks" / "stock"
        stock.mkdir(parents=True)
        (stock / "CMakeLists.txt").touch()
        monkeypatch.setattr(built, "REPOSITORY", root)
        monkeypatch.setattr(built, "MODULES", root / "ns3-modules")
        place = built.Build(root / "build")
        monkeypatch.setattr(built, "here", lambda: place)
        monkeypatch.setattr(build, "_write_typeids", lambda: place.typeids.write_text("[]\n"))
        return root

    return make


@pytest.mark.ns3
@pytest.mark.slow
def test_the_same_sources_give_the_same_bytes_in_any_folder(tiny):
    libraries = []
    for name in ("one", "another/and deeper"):
        root = tiny(name)
        build.build()
        libraries.append((root / "build/lib/libfacade.so").read_bytes())

    assert libraries[0] == libraries[1]
    assert b"a.cc" in libraries[0]  # so a file name was there to go wrong


@pytest.mark.ns3
def test_an_error_of_the_compiler_is_shown_with_its_file_and_line(tiny):
    tiny("broken", source=MODULE + "int Broken() { return missing; }\n")

    with pytest.raises(BuildError) as caught:
        build.build()

    text = str(caught.value)
    assert "ns3-modules/facade/a.cc:7" in text
    assert "error: 'missing' was not declared" in text.replace("‘", "'").replace("’", "'")
    assert "c++" not in text  # not the command line
    assert "All that was printed is in build/build.log." in text


@pytest.mark.ns3
def test_an_argument_that_build_lib_does_not_know_is_named(tiny):
    tiny("unknown", cmake="build_lib(EXTRA LIBNAME facade SOURCE_FILES a.cc)")

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
    assert (root / "build/lib/libfacade.so").exists()


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
    (root / "ns3-modules" / "facade" / "faults.cc").write_text(
        "#include <cstdlib>\n#include <vector>\n"
        f"int Fault(int which, int n) {{ switch (which) {{ {cases} }} return 0; }}\n"
        'int g_fault = Fault(std::atoi(std::getenv("FAULT")), 4);\n'
    )
    build.build(("test-runner",), sanitize="address,undefined")

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
def test_suites_are_built_when_asked_for_and_from_then_on_kept_up_to_date(tiny):
    root = tiny("suites", cmake=LIST[:-1] + " TEST_SOURCES suite.cc)")
    suite = root / "ns3-modules" / "facade" / "suite.cc"
    suite.write_text("int suite = 1;\n")
    runner, library = root / "build/bin/test-runner", root / "build/lib/libfacade-test.so"
    build.build()
    assert (root / "build/lib/libfacade.so").exists()
    assert not runner.exists() and not library.exists()

    build.build(("test-runner",))
    assert runner.exists()
    before = library.read_bytes()
    suite.write_text("int another_suite = 1;\n")
    build.build()
    assert library.read_bytes() != before


@pytest.mark.ns3
def test_a_build_with_nothing_to_do_says_nothing(tiny, capfd):
    tiny("idle")
    build.build()
    said = capfd.readouterr().err
    assert re.fullmatch(r"Building the C\+\+ modules: 1 of \d done, a\.cc\n", said)

    build.build()

    assert capfd.readouterr() == ("", "")


@pytest.mark.ns3
def test_a_header_that_is_gone_leaves_no_link(tiny):
    root = tiny("two")
    module = root / "ns3-modules" / "facade"
    (module / "old.h").write_text("#pragma once\n")
    (module / "CMakeLists.txt").write_text(LIST.replace("tiny.h", "tiny.h old.h"))
    build.build()
    assert (root / "build/include/ns3/old.h").exists()

    (module / "old.h").unlink()
    (module / "CMakeLists.txt").write_text(LIST)
    build.build()

    assert os.listdir(root / "build/include/ns3") == ["tiny.h"]


@pytest.fixture
def cached(tiny, tmp_path, monkeypatch):
    """Return `tiny` with a cache of builds."""
    monkeypatch.setenv("PYORCH_CACHE", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tiny


@pytest.mark.ns3
def test_a_second_clone_compiles_nothing(cached, capfd):
    first = cached("first")
    build.build()
    assert "Building" in capfd.readouterr().err
    second = cached("second")
    for _ in range(2):
        build.build()

    assert capfd.readouterr() == ("", "")
    for file in ("lib/libfacade.so", "typeids.json", "include/ns3/tiny.h"):
        assert (second / "build" / file).read_bytes() == (first / "build" / file).read_bytes()
    # A header is that of this clone, so an edit of it is seen.
    assert (second / "build/include/ns3/tiny.h").resolve().is_relative_to(second)


@pytest.mark.ns3
def test_where_the_modules_come_from_is_said_when_it_is_asked_for(
    cached, tmp_path, capfd, monkeypatch
):
    monkeypatch.setattr("pyorch.jobs.belong", lambda: None)
    monkeypatch.setattr("pyorch.jobs.adopt", lambda: None)
    cached("first")
    assert build.main(["--say"]) == 0
    said = capfd.readouterr().out
    assert said.startswith("C++ modules: compiled here, in ")
    assert said.endswith("\nReady: make figures SCALE=smoke\n")
    cached("second")
    for _ in range(2):
        assert build.main(["--say"]) == 0
        said = capfd.readouterr().out
        assert f"taken from the build cache, {tmp_path / 'cache' / 'pyorch' / 'modules'}/" in said
        assert "PYORCH_CACHE=off make setup" in said
    assert build.main([]) == 0 and capfd.readouterr().out == ""


@pytest.mark.ns3
def test_other_sources_or_flags_are_another_build(cached, monkeypatch, capfd):
    root = cached("one")
    names = {build_cache.key()}
    (root / "ns3-modules/facade/README.md").write_text("words")
    assert {build_cache.key()} == names
    (root / "ns3-modules/facade/a.cc").write_text(MODULE + "int more;\n")
    names.add(build_cache.key())
    monkeypatch.setenv("CXXFLAGS", "-g")
    names.add(build_cache.key())
    assert len(names) == 3

    monkeypatch.delenv("CXXFLAGS")
    build.build()
    (root / "ns3-modules/facade/a.cc").write_text(MODULE)
    build.build()  # the compiler's turn: this folder has its objects
    assert "1 of" in capfd.readouterr().err


@pytest.mark.ns3
def test_a_restored_build_that_is_edited_is_compiled(cached, capfd):
    cached("one")
    build.build()
    root = cached("two")
    build.build()
    before = (root / "build/lib/libfacade.so").read_bytes()
    source = root / "ns3-modules/facade/a.cc"
    source.write_text(source.read_text().replace("return n;", "return n + 1;"))
    build.build()

    assert (root / "build/lib/libfacade.so").read_bytes() != before


@pytest.mark.ns3
def test_a_damaged_build_in_the_cache_is_not_used(cached, tmp_path, capfd):
    cached("one")
    build.build()
    kept = next((tmp_path / "cache/pyorch/modules").glob("*/lib/libfacade.so"))
    kept.write_bytes(kept.read_bytes()[:-1])
    capfd.readouterr()
    root = cached("two")
    build.build()

    assert "Building" in capfd.readouterr().err
    assert (root / "build/lib/libfacade.so").read_bytes() != kept.read_bytes()


@pytest.mark.ns3
def test_a_kept_build_brings_no_link_to_a_header_that_is_gone(cached, tmp_path):
    cached("one")
    build.build()
    kept = next((tmp_path / "cache/pyorch/modules").glob("*/manifest.json"))
    kept.write_text(kept.read_text().replace('"tiny.h": ', '"old.h": "facade/old.h", "tiny.h": '))
    root = cached("two")
    build.build()

    assert not (root / "build/build.ninja").exists()  # it was restored
    assert os.listdir(root / "build/include/ns3") == ["tiny.h"]


@pytest.mark.ns3
def test_without_a_cache_nothing_is_kept(cached, tmp_path, monkeypatch):
    monkeypatch.setenv("PYORCH_CACHE", "off")
    cached("one")
    build.build()

    assert not (tmp_path / "cache").exists()


def test_progress_says_how_many_files_are_done(capfd):
    shown = build.Compiling("Building the C++ modules")
    shown.take("-- Configuring done\n")
    shown.take("[7/46] Building CXX object facade/CMakeFiles/facade.dir/model/routing.cc.o\n")
    shown.take("[8/46] Building CXX object facade/CMakeFiles/facade.dir/model/pfc.cc.o\n")
    shown.end()

    # Not a terminal: one line at once, the next after a while.
    assert capfd.readouterr().err == "Building the C++ modules: 7 of 46 done, routing.cc\n"


def test_of_ninjas_output_only_what_the_compiler_said_is_kept():
    printed = (
        "[1/3] Building CXX object a.o\n"
        "FAILED: [code=1] a.o\n"
        "/usr/bin/c++ -O3 a.cc\n"
        f"{built.REPOSITORY}/ns3-modules/x/a.cc: In function 'int f()':\n"
        f"{built.REPOSITORY}/ns3-modules/x/a.cc:3:1: error: no\n"
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


def test_ctrl_c_ends_the_compilers_and_is_answered_in_one_line(tmp_path):
    # The builder alone gets the signal, as from a shell that runs it in the background.
    pid = tmp_path / "pid"
    code = (
        "import sys; from pyorch.simulate import build\n"
        "build.build = lambda *_: build._call(['sh', '-c', 'echo $$ > pid; exec sleep 300'])\n"
        "sys.exit(build.main([]))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=built.REPOSITORY, text=True, stderr=subprocess.PIPE,
        env=os.environ | {"PYORCH_BUILD": str(tmp_path)},
    )  # fmt: skip
    while not (pid.exists() and pid.read_text()) and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)

    assert (process.returncode, said) == (130, "stopped by Ctrl-C; what was compiled is kept.\n")
    assert not Path("/proc", pid.read_text().strip()).exists()
