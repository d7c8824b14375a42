# SPDX-License-Identifier: GPL-2.0-only
#
# How everything here is compiled and linked: optimised, with logs and assertions as the wheel has
# them, and so that the same sources give the same bytes in any folder.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

# The wheel was built with both; they change the layout of a few ns-3 classes (udp-client.h).
add_compile_definitions(NS3_LOG_ENABLE NS3_ASSERT_ENABLE)
# Our own calls are not interposed: without the last option a shared library inlines none of them.
add_compile_options(
  -O3 -Wall -Wextra -Wno-unused-parameter -fdiagnostics-color=never -fno-semantic-interposition
)

# No path of this machine may reach the bytes: not of sources, headers, the wheel or the build.
cmake_path(GET CMAKE_SOURCE_DIR PARENT_PATH REPOSITORY)
add_compile_options(
  -ffile-prefix-map=${REPOSITORY}/=
  -ffile-prefix-map=${NS3_ROOT}/=
  -ffile-prefix-map=${CMAKE_BINARY_DIR}/= # the last that matches holds
)
# Libraries carry no rpath: Python loads the wheel's first. Programs carry one (see below).
set(CMAKE_SKIP_RPATH ON)

# The wheel's libraries name GTK and others that nothing here needs.
add_link_options(LINKER:--allow-shlib-undefined)

if(PYORCH_SANITIZE)
  # The wheel is not instrumented, so the dynamic type of its objects cannot be checked. What is found
  # ends the process: a test would pass over a mere message. An index between the size and the
  # capacity of a vector is the standard library's to find.
  add_compile_options(
    -O1 -g -fno-omit-frame-pointer -fsanitize=${PYORCH_SANITIZE} -fno-sanitize=vptr
    -fno-sanitize-recover=all
  )
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
  add_link_options(-fsanitize=${PYORCH_SANITIZE})
else()
  # A function that was declared and never written fails here, not when a run loads the library.
  add_link_options(LINKER:--no-undefined)
endif()

# Let a program find the wheel's libraries and ours. DT_RPATH rather than DT_RUNPATH, because only
# the former also serves the libraries that those libraries need.
function(add_program_rpath target)
  target_link_options(
    ${target} PRIVATE LINKER:--disable-new-dtags LINKER:-rpath,${NS3_LIBRARY_DIR}
    LINKER:-rpath,${CMAKE_LIBRARY_OUTPUT_DIRECTORY}
  )
endfunction()
