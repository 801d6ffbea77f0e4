# The component uvperf_tracepoint. Included by CMakeLists.txt;
# UVPERF_HAS_TRACEPOINT is ON if it is built.
set(UVPERF_HAS_TRACEPOINT OFF)
if(NOT UVPERF_TRACEPOINT)
  return()
endif()
set(UVPERF_HAS_TRACEPOINT ON)

file(GLOB UVPERF_TRACEPOINT_SOURCES CONFIGURE_DEPENDS
     ${PROJECT_SOURCE_DIR}/lib/tracepoint/*.c)

# Links to the core library of the same kind.
function(uvperf_tracepoint_library name kind core)
  uvperf_library(${name} ${kind} uvperf_tracepoint ${UVPERF_TRACEPOINT_SOURCES})
  target_link_libraries(${name} PUBLIC ${core})
endfunction()

uvperf_tracepoint_library(uvperf_tracepoint_static STATIC uvperf_static)
set_target_properties(uvperf_tracepoint_static PROPERTIES
                      EXPORT_NAME tracepoint_static)
add_library(uvperf::tracepoint_static ALIAS uvperf_tracepoint_static)
if(UVPERF_BUILD_SHARED)
  uvperf_tracepoint_library(uvperf_tracepoint SHARED uvperf)
  uvperf_exports(uvperf_tracepoint
    ${PROJECT_SOURCE_DIR}/lib/tracepoint/uvperf_tracepoint.map)
  set_target_properties(uvperf_tracepoint PROPERTIES EXPORT_NAME tracepoint)
  add_library(uvperf::tracepoint ALIAS uvperf_tracepoint)
endif()
