# SPDX-License-Identifier: GPL-2.0-only
"""Takes the modules of a study and the installed ones, writes one build folder that has both.

Those of the study are compiled against the headers of the installed ones, which are linked and not
built again, so everything that reads a build folder reads this one as it reads any other.
"""

import re
from pathlib import Path

from pyorch.built import CMAKE_PARTS, INSTALLED, REPOSITORY, TEST_HEADERS, here, module_folders
from pyorch.errors import BuildError

_PROJECT = """\
# Written by pyorch: the modules of a study beside those that are installed.
cmake_minimum_required(VERSION 3.25)
project(pyorch-study-modules CXX)
set(PYORCH_SANITIZE "" CACHE STRING "Sanitizers of every target")
list(APPEND CMAKE_MODULE_PATH [==[{parts}]==])
include(ns3-wheel)
include(compile-options)
include(build-lib)
# A crash names the line.
add_compile_options(
  -g1 [==[-ffile-prefix-map={repository}/=pyorch/]==] {prefixes}
  "-ffile-prefix-map=${{CMAKE_BINARY_DIR}}=." # for nothing the assembler writes the folder itself
)
foreach(module IN LISTS NS3_MODULES)
  set(lib${{module}} ns3-${{module}})
endforeach()
foreach(module {installed})
  add_library(${{module}} SHARED IMPORTED GLOBAL)
  set_target_properties(
    ${{module}} PROPERTIES IMPORTED_LOCATION "${{CMAKE_BINARY_DIR}}/lib/lib${{module}}.so"
                         INTERFACE_INCLUDE_DIRECTORIES "${{CMAKE_BINARY_DIR}}/include"
                         INTERFACE_LINK_LIBRARIES ns3-core
  )
  set(lib${{module}} ${{module}})
endforeach()
# What a template of an installed header refers to may be in any of them.
link_libraries({installed})
set(CMAKE_SHARED_LINKER_FLAGS "-Wl,--as-needed")
# Tests share headers with those of pyorch's own modules.
include_directories(AFTER [==[{tests}]==])
file(GLOB MODULE_LISTS CONFIGURE_DEPENDS {modules})
foreach(list IN LISTS MODULE_LISTS)
  cmake_path(GET list PARENT_PATH folder)
  cmake_path(GET folder FILENAME module)
  if(DEFINED lib${{module}})
    message(FATAL_ERROR "${{folder}}: there is another module of that name. Rename one.")
  endif()
  set(lib${{module}} ${{module}})
endforeach()
foreach(list IN LISTS MODULE_LISTS)
  cmake_path(GET list PARENT_PATH folder)
  cmake_path(GET folder FILENAME module)
  add_subdirectory(${{folder}} ${{module}})
endforeach()
add_test_runner()
"""


def link_installed() -> None:
    """Link the installed libraries and headers into the build folder of the study.

    Raises
    ------
    BuildError
        pyorch's own modules are not built.
    """
    libraries = _installed()
    if not libraries or not (INSTALLED / "typeids.json").exists():
        raise BuildError(f"{INSTALLED}: pyorch's own modules are not built. Run: make setup")
    for path in [*libraries, *(INSTALLED / "include" / "ns3").glob("*.h")]:
        link = here().folder / path.relative_to(INSTALLED)
        if link.is_symlink() and link.readlink() == path:
            continue
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(path)


def write_project() -> Path:
    """Write the CMake project of the study; return its folder."""
    folder, folders = here().folder / "project", module_folders(here().study)
    folder.mkdir(parents=True, exist_ok=True)
    text = _PROJECT.format(
        parts=CMAKE_PARTS, tests=TEST_HEADERS, repository=REPOSITORY,
        modules=" ".join(f"[==[{folder}/*/CMakeLists.txt]==]" for folder in folders),
        prefixes=" ".join(f"[==[-ffile-prefix-map={folder.parent}/=]==]" for folder in folders),
        installed=" ".join(re.sub(r"^lib|\.so$", "", path.name) for path in _installed()),
    )  # fmt: skip
    (folder / "CMakeLists.txt").write_text(text)
    return folder


def _installed() -> list[Path]:
    return sorted(p for p in INSTALLED.glob("lib/lib*.so") if not p.stem.endswith("-test"))
