# A library tools_NAME for each folder profile/NAME/:
#
#   stacks   the profile, its table
#   page     the profile as an HTML page: zlib
#   symbols  names of functions: libdw (elfutils), libiberty
#   pprof    writes profile.proto: protobuf-c, zlib
#
#   UVPERF_PROFILE_LACKS  the missing libraries; empty if all are there

pkg_check_modules(UVPERF_LIBDW QUIET IMPORTED_TARGET libdw>=0.176)
pkg_check_modules(UVPERF_ZLIB QUIET IMPORTED_TARGET zlib)
pkg_check_modules(UVPERF_PROTOBUF_C QUIET IMPORTED_TARGET libprotobuf-c>=1.3)
find_program(UVPERF_PROTOC_C protoc-c DOC "Makes C of profile.proto")
find_library(UVPERF_LIBIBERTY iberty)
find_path(UVPERF_LIBIBERTY_INCLUDE libiberty/demangle.h)
mark_as_advanced(UVPERF_PROTOC_C UVPERF_LIBIBERTY UVPERF_LIBIBERTY_INCLUDE)

set(UVPERF_PROFILE_LACKS "")
if(NOT UVPERF_LIBDW_FOUND)
  list(APPEND UVPERF_PROFILE_LACKS "libdw >= 0.176")
endif()
if(NOT UVPERF_LIBIBERTY OR NOT UVPERF_LIBIBERTY_INCLUDE)
  list(APPEND UVPERF_PROFILE_LACKS libiberty)
endif()
if(NOT UVPERF_PROTOBUF_C_FOUND)
  list(APPEND UVPERF_PROFILE_LACKS "libprotobuf-c >= 1.3")
endif()
if(NOT UVPERF_PROTOC_C)
  list(APPEND UVPERF_PROFILE_LACKS protoc-c)
endif()
if(NOT UVPERF_ZLIB_FOUND)
  list(APPEND UVPERF_PROFILE_LACKS zlib)
endif()
list(JOIN UVPERF_PROFILE_LACKS ", " UVPERF_PROFILE_LACKS)
if(UVPERF_PROFILE_LACKS)
  return()
endif()

foreach(part stacks page symbols pprof)
  file(GLOB sources CONFIGURE_DEPENDS profile/${part}/*.c)
  add_library(tools_${part} STATIC ${sources})
  target_link_libraries(tools_${part} PUBLIC tools_common)
endforeach()
target_link_libraries(tools_page PUBLIC tools_stacks PkgConfig::UVPERF_ZLIB)
target_link_libraries(tools_symbols PUBLIC PkgConfig::UVPERF_LIBDW
                      ${UVPERF_LIBIBERTY})
target_link_libraries(tools_pprof PUBLIC tools_stacks PkgConfig::UVPERF_ZLIB
                      PkgConfig::UVPERF_PROTOBUF_C)

set(parts ${CMAKE_CURRENT_BINARY_DIR}/page_parts.c)
add_custom_command(
  OUTPUT ${parts}
  COMMAND ${CMAKE_COMMAND} -DOUT=${parts} -P embed.cmake
  WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/profile/page
  DEPENDS embed.cmake profile/page/embed.cmake profile/page/page.html
          profile/page/page.css profile/page/page.js
  COMMENT "Embedding the page" VERBATIM)
target_sources(tools_page PRIVATE ${parts})

# The messages in C. Warnings are off for them.
set(made ${CMAKE_CURRENT_BINARY_DIR}/pprof)
add_custom_command(
  OUTPUT ${made}/profile.pb-c.c ${made}/profile.pb-c.h
  COMMAND ${CMAKE_COMMAND} -E make_directory ${made}
  COMMAND ${UVPERF_PROTOC_C} --c_out=${made} profile.proto
  WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/profile/pprof
  DEPENDS profile/pprof/profile.proto
  VERBATIM)
set_source_files_properties(${made}/profile.pb-c.c PROPERTIES
                            COMPILE_OPTIONS -w)
target_sources(tools_pprof PRIVATE ${made}/profile.pb-c.c)
target_include_directories(tools_pprof SYSTEM PUBLIC ${made})
