# Tensor layouts as a library target.
#
#   find_package(layoutc CONFIG REQUIRED)
#   layoutc_add(<target> <manifest or folder>... [OUT <folder>] [TARGETS <name>...])
#
# LAYOUTC_EXECUTABLE says which layoutc is run; else it is looked for in PATH and beside this package.

cmake_policy(PUSH)
cmake_policy(VERSION 3.20...3.30)

if(CMAKE_VERSION VERSION_LESS 3.20)
  set(layoutc_FOUND FALSE)
  set(layoutc_NOT_FOUND_MESSAGE "layoutc needs CMake 3.20 or later")
  cmake_policy(POP)
  return()
endif()

find_program(LAYOUTC_EXECUTABLE layoutc
  PATHS
    ${CMAKE_CURRENT_LIST_DIR}
    ${CMAKE_CURRENT_LIST_DIR}/../../../bin
    ${CMAKE_CURRENT_LIST_DIR}/../../target/release
  DOC "The layout compiler")

set(_layoutc_found "")
if(LAYOUTC_EXECUTABLE)
  execute_process(COMMAND ${LAYOUTC_EXECUTABLE} --version
    OUTPUT_VARIABLE _layoutc_found ERROR_QUIET RESULT_VARIABLE _layoutc_result)
  string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" _layoutc_found "${_layoutc_found}")
endif()
if(NOT _layoutc_found)
  set(layoutc_FOUND FALSE)
  set(layoutc_NOT_FOUND_MESSAGE
    "there is no program layoutc in PATH; set LAYOUTC_EXECUTABLE (now `${LAYOUTC_EXECUTABLE}`) to its path")
elseif(_layoutc_found VERSION_LESS layoutc_VERSION)
  set(layoutc_FOUND FALSE)
  set(layoutc_NOT_FOUND_MESSAGE
    "${LAYOUTC_EXECUTABLE} is layoutc ${_layoutc_found}, older than this package, ${layoutc_VERSION}")
endif()

# layoutc_add(<target> <manifest or folder>... [OUT <folder>] [TARGETS <name>...])
#
# Makes <target> a library of what layoutc writes for the manifests, or for the project in a folder, with the folder of
# the headers to include. It is made again when an input changes: a manifest, one that it uses, a template, layoutc.toml.
#
# OUT      where the files go, below the binary folder [<target>]
# TARGETS  the languages [c]; C is compiled, CUDA too where the project has that language, the rest is only written
#
# The programs that test the C and measure it are written, and are no part of the library.
function(layoutc_add target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "OUT" "TARGETS")
  if(NOT arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "layoutc_add(${target}): name manifests, or the folder of a project")
  endif()
  if(NOT arg_TARGETS)
    set(arg_TARGETS c)
  endif()
  if(NOT arg_OUT)
    set(arg_OUT ${target})
  endif()
  cmake_path(ABSOLUTE_PATH arg_OUT BASE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR} NORMALIZE)

  # Which files are written depends on the manifests: what changes one configures again.
  set(select)
  foreach(path IN LISTS arg_UNPARSED_ARGUMENTS)
    cmake_path(ABSOLUTE_PATH path BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    list(APPEND select ${path})
    set(inputs ${path})
    if(IS_DIRECTORY ${path})
      file(GLOB_RECURSE inputs CONFIGURE_DEPENDS ${path}/*.kdl ${path}/layoutc.toml)
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${inputs})
  endforeach()
  list(APPEND select --out ${arg_OUT})
  foreach(name IN LISTS arg_TARGETS)
    list(APPEND select --target ${name})
  endforeach()

  execute_process(COMMAND ${LAYOUTC_EXECUTABLE} outputs ${select} --format cmake
    OUTPUT_VARIABLE listing RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "layoutc_add(${target}): the layouts are not good")
  endif()
  cmake_language(EVAL CODE "${listing}")

  # Other files than before: some may be missing. Makefiles would keep asking for a manifest that is gone.
  set(stamp ${CMAKE_CURRENT_BINARY_DIR}/${target}.layoutc)
  set(before)
  if(EXISTS ${stamp}.cmake)
    file(READ ${stamp}.cmake before)
  endif()
  if(NOT before STREQUAL listing)
    file(REMOVE ${stamp} ${stamp}.d)
    if(CMAKE_GENERATOR MATCHES "Makefiles")
      set(kept ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}_layouts.dir/compiler_depend)
      file(REMOVE ${kept}.make ${kept}.internal)
    endif()
    file(WRITE ${stamp}.cmake "${listing}")
  endif()

  # By-products, because a file that did not change keeps its time: what includes it is not compiled again.
  add_custom_command(
    OUTPUT ${stamp}
    BYPRODUCTS ${LAYOUTC_OUTPUTS}
    COMMAND ${LAYOUTC_EXECUTABLE} build ${select} --quiet --stamp ${stamp} --depfile ${stamp}.d
    DEPENDS ${LAYOUTC_EXECUTABLE}
    DEPFILE ${stamp}.d
    WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}
    COMMENT "Laying out ${target}"
    VERBATIM)
  add_custom_target(${target}_layouts DEPENDS ${stamp})

  set(includes)
  foreach(name IN LISTS arg_TARGETS)
    list(APPEND includes ${arg_OUT}/${name})
  endforeach()
  _layoutc_sources(sources)
  if(sources)
    add_library(${target} STATIC ${sources})
    target_include_directories(${target} PUBLIC ${includes})
  else()
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE ${includes})
  endif()
  add_dependencies(${target} ${target}_layouts)
endfunction()

# Of LAYOUTC_OUTPUTS, what a library is compiled of: C sources beside their header, which programs are not, but for
# those that need MPI, and CUDA sources.
function(_layoutc_sources variable)
  set(sources)
  foreach(file IN LISTS LAYOUTC_OUTPUTS)
    string(REGEX REPLACE "\\.c$" ".h" header "${file}")
    # The header of the tensors that the exchanges in `mpi/a_mpi.c` move is `a.h`.
    string(REPLACE "${arg_OUT}/c/mpi/" "${arg_OUT}/c/" moved "${file}")
    string(REGEX REPLACE "_mpi\\.c$" ".h" moved "${moved}")
    set(is_library FALSE)
    if(NOT header STREQUAL file AND header IN_LIST LAYOUTC_OUTPUTS)
      set(is_library TRUE)
    endif()
    if(file MATCHES "_mpi\\.c$" AND file MATCHES "/c/mpi/" AND moved IN_LIST LAYOUTC_OUTPUTS)
      set(is_library FALSE)
    endif()
    if(is_library OR (file MATCHES "\\.cu$" AND CMAKE_CUDA_COMPILER))
      list(APPEND sources "${file}")
    endif()
  endforeach()
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()

cmake_policy(POP)
