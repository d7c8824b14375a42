# SPDX-License-Identifier: GPL-2.0-only
#
# Declares the libraries of the ns3 wheel as imported targets ns3-<module>. The wheel's own CMake
# config names include folders of the machine that built it, so find_package(ns3) cannot be used.

find_package(Python3 REQUIRED COMPONENTS Interpreter)
execute_process(
  COMMAND ${Python3_EXECUTABLE} -c
          "import importlib.util as u; print(u.find_spec('ns3').submodule_search_locations[0])"
  OUTPUT_VARIABLE NS3_ROOT
  OUTPUT_STRIP_TRAILING_WHITESPACE
  ERROR_QUIET
)
if(NOT IS_DIRECTORY "${NS3_ROOT}/include/ns3")
  message(FATAL_ERROR "${Python3_EXECUTABLE} has no package ns3. Run: make setup")
endif()
set(NS3_LIBRARY_DIR ${NS3_ROOT}/lib64)

file(GLOB NS3_LIBRARIES ${NS3_LIBRARY_DIR}/libns3.*-*.so)
set(NS3_MODULES "")
foreach(library IN LISTS NS3_LIBRARIES)
  string(REGEX REPLACE ".*/libns3\\.[0-9]+-(.*)\\.so" "\\1" module ${library})
  list(APPEND NS3_MODULES ${module})
  add_library(ns3-${module} SHARED IMPORTED)
  set_target_properties(
    ns3-${module} PROPERTIES IMPORTED_LOCATION ${library}
                             INTERFACE_INCLUDE_DIRECTORIES ${NS3_ROOT}/include
  )
endforeach()
