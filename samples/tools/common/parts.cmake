# A library tools_NAME for each folder common/NAME/:
#
#   stacks     the profile, its table
#   page       the profile as an HTML page: zlib
#   recording  reads perf.data; with libzstd also the files of perf record -z
#   symbols    names of functions: libdw (elfutils), libiberty
#   pprof      writes profile.proto: protobuf-c, zlib
#
# Those that need libraries are built if these are found.
#
#   UVPERF_TOOLS_LACK  the missing libraries; empty if all are there

pkg_check_modules(UVPERF_LIBDW QUIET IMPORTED_TARGET libdw>=0.176)
pkg_check_modules(UVPERF_ZLIB QUIET IMPORTED_TARGET zlib)
pkg_check_modules(UVPERF_ZSTD QUIET IMPORTED_TARGET libzstd)
pkg_check_modules(UVPERF_PROTOBUF_C QUIET IMPORTED_TARGET libprotobuf-c>=1.3)
find_program(UVPERF_PROTOC_C protoc-c DOC "Makes C of profile.proto")
find_library(UVPERF_LIBIBERTY iberty)
find_path(UVPERF_LIBIBERTY_INCLUDE libiberty/demangle.h)
mark_as_advanced(UVPERF_PROTOC_C UVPERF_LIBIBERTY UVPERF_LIBIBERTY_INCLUDE)

set(UVPERF_TOOLS_LACK "")
if(NOT UVPERF_LIBDW_FOUND)
  list(APPEND UVPERF_TOOLS_LACK "libdw >= 0.176")
endif()
if(NOT UVPERF_LIBIBERTY OR NOT UVPERF_LIBIBERTY_INCLUDE)
  list(APPEND UVPERF_TOOLS_LACK libiberty)
endif()
if(NOT UVPERF_PROTOBUF_C_FOUND)
  list(APPEND UVPERF_TOOLS_LACK "libprotobuf-c >= 1.3")
endif()
if(NOT UVPERF_PROTOC_C)
  list(APPEND UVPERF_TOOLS_LACK protoc-c)
endif()
if(NOT UVPERF_ZLIB_FOUND)
  list(APPEND UVPERF_TOOLS_LACK zlib)
endif()
list(JOIN UVPERF_TOOLS_LACK ", " UVPERF_TOOLS_LACK)

# Without a source file there is no target.
function(uvperf_tools_part name)
  file(GLOB sources CONFIGURE_DEPENDS common/${name}/*.c)
  # With or without libzstd, for files of perf record -z.
  if(UVPERF_ZSTD_FOUND)
    list(FILTER sources EXCLUDE REGEX "/unpack_none\\.c$")
  else()
    list(FILTER sources EXCLUDE REGEX "/unpack_zstd\\.c$")
  endif()
  if(sources)
    add_library(tools_${name} STATIC ${sources})
    target_link_libraries(tools_${name} PUBLIC tools_common ${ARGN})
  endif()
endfunction()

uvperf_tools_part(stacks)
uvperf_tools_part(recording)
if(UVPERF_ZSTD_FOUND)
  target_link_libraries(tools_recording PUBLIC PkgConfig::UVPERF_ZSTD)
endif()
if(UVPERF_ZLIB_FOUND)
  uvperf_tools_part(page tools_stacks PkgConfig::UVPERF_ZLIB)
  set(parts ${CMAKE_CURRENT_BINARY_DIR}/page_parts.c)
  add_custom_command(
    OUTPUT ${parts}
    COMMAND ${CMAKE_COMMAND} -DOUT=${parts} -P embed.cmake
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/common/page
    DEPENDS common/page/embed.cmake common/page/page.html
            common/page/page.css common/page/page.js
    COMMENT "Embedding the page" VERBATIM)
  target_sources(tools_page PRIVATE ${parts})
endif()
if(NOT UVPERF_TOOLS_LACK)
  uvperf_tools_part(symbols PkgConfig::UVPERF_LIBDW ${UVPERF_LIBIBERTY}
                    ${CMAKE_DL_LIBS})
  uvperf_tools_part(pprof tools_stacks PkgConfig::UVPERF_PROTOBUF_C
                    PkgConfig::UVPERF_ZLIB)
  # The messages in C. Warnings are off for them.
  set(made ${CMAKE_CURRENT_BINARY_DIR}/pprof)
  add_custom_command(
    OUTPUT ${made}/profile.pb-c.c ${made}/profile.pb-c.h
    COMMAND ${CMAKE_COMMAND} -E make_directory ${made}
    COMMAND ${UVPERF_PROTOC_C} --c_out=${made} profile.proto
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/common/pprof
    DEPENDS common/pprof/profile.proto
    VERBATIM)
  set_source_files_properties(${made}/profile.pb-c.c PROPERTIES
                              COMPILE_OPTIONS -w)
  target_sources(tools_pprof PRIVATE ${made}/profile.pb-c.c)
  target_include_directories(tools_pprof SYSTEM PUBLIC ${made})
endif()
