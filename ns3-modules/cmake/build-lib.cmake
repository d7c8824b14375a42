# SPDX-License-Identifier: GPL-2.0-only
#
# The part of ns-3's build_lib() that our modules use, with ns-3's names and meaning.

# build_lib(LIBNAME name SOURCE_FILES ... HEADER_FILES ... LIBRARIES_TO_LINK ... TEST_SOURCES ...)
#
# Makes lib<name>.so and "ns3/<header>.h" for each header; for the runner of the test suites, and for
# nothing else, lib<name>-test.so if there are TEST_SOURCES (its target is ${test<name>}).
function(build_lib)
  cmake_parse_arguments(
    LIB "" "LIBNAME" "SOURCE_FILES;HEADER_FILES;LIBRARIES_TO_LINK;TEST_SOURCES" ${ARGN}
  )
  if(LIB_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${CMAKE_CURRENT_LIST_DIR}/CMakeLists.txt: build_lib() does not know "
                        "${LIB_UNPARSED_ARGUMENTS}. It takes LIBNAME, SOURCE_FILES, HEADER_FILES, "
                        "LIBRARIES_TO_LINK, TEST_SOURCES."
    )
  endif()
  foreach(header IN LISTS LIB_HEADER_FILES)
    publish_header(${CMAKE_CURRENT_SOURCE_DIR}/${header})
  endforeach()

  add_library(${LIB_LIBNAME} SHARED ${LIB_SOURCE_FILES})
  target_include_directories(${LIB_LIBNAME} PUBLIC ${CMAKE_BINARY_DIR}/include)
  target_link_libraries(${LIB_LIBNAME} PUBLIC ${LIB_LIBRARIES_TO_LINK})

  if(LIB_TEST_SOURCES)
    add_library(${LIB_LIBNAME}-test SHARED EXCLUDE_FROM_ALL ${LIB_TEST_SOURCES})
    # Nearly all time of a suite is spent in the modules, so what counts is how long it compiles.
    target_compile_options(${LIB_LIBNAME}-test PRIVATE -O1)
    # Suites run whole networks. Without a keyword, as in ns-3: whoever adds must not use one either.
    target_link_libraries(${LIB_LIBNAME}-test ${LIB_LIBNAME} ${libfacade})
    set(test${LIB_LIBNAME} ${LIB_LIBNAME}-test PARENT_SCOPE)
    set_property(GLOBAL APPEND PROPERTY TEST_LIBRARIES ${LIB_LIBNAME}-test)
  endif()
endfunction()

# Make a header reachable as "ns3/<file>". A link, so that an edit needs no copying.
function(publish_header header)
  cmake_path(GET header FILENAME file)
  set(published ${CMAKE_BINARY_DIR}/include/ns3/${file})
  get_property(owner GLOBAL PROPERTY HEADER_${file})
  if(owner)
    message(FATAL_ERROR "ns3/${file} would be both ${owner} and ${header}. Rename one.")
  endif()
  set_property(GLOBAL PROPERTY HEADER_${file} ${header})
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/include/ns3)
  file(CREATE_LINK ${header} ${published} SYMBOLIC)
endfunction()

# bin/test-runner: ns-3's runner over the test suites of all modules; built when asked for.
function(add_test_runner)
  get_property(libraries GLOBAL PROPERTY TEST_LIBRARIES)
  add_executable(test-runner EXCLUDE_FROM_ALL ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/test-runner.cc)
  # Suites register when their library is loaded; nothing refers to them by symbol.
  target_link_libraries(test-runner PRIVATE LINKER:--no-as-needed ${libraries} ns3-core)
  add_program_rpath(test-runner)
endfunction()
