# The library tools_recording reads perf.data, with libzstd also the files of
# perf record -z.
pkg_check_modules(UVPERF_ZSTD QUIET IMPORTED_TARGET libzstd)
file(GLOB sources CONFIGURE_DEPENDS common/recording/*.c)
if(UVPERF_ZSTD_FOUND)
  list(FILTER sources EXCLUDE REGEX "/unpack_none\\.c$")
else()
  list(FILTER sources EXCLUDE REGEX "/unpack_zstd\\.c$")
endif()
add_library(tools_recording STATIC ${sources})
target_link_libraries(tools_recording PUBLIC tools_common)
if(UVPERF_ZSTD_FOUND)
  target_link_libraries(tools_recording PUBLIC PkgConfig::UVPERF_ZSTD)
endif()
