# The component uvperf_tracepoint, which needs libtraceevent. Included by
# CMakeLists.txt; UVPERF_HAS_TRACEPOINT is ON if it is built.
set(UVPERF_LIBTRACEEVENT_LEAST 1.5)
set(UVPERF_HAS_TRACEPOINT OFF)

if(UVPERF_TRACEPOINT)
  # GLOBAL, so that a project that adds this one can link to it.
  pkg_check_modules(UVPERF_LIBTRACEEVENT QUIET IMPORTED_TARGET GLOBAL
                    libtraceevent>=${UVPERF_LIBTRACEEVENT_LEAST})
  if(UVPERF_LIBTRACEEVENT_FOUND)
    set(UVPERF_HAS_TRACEPOINT ON)
    message(STATUS "uvperf_tracepoint: is built, with libtraceevent "
                   "${UVPERF_LIBTRACEEVENT_VERSION}")
  elseif(UVPERF_TRACEPOINT STREQUAL "AUTO")
    message(STATUS "uvperf_tracepoint: is not built, as pkg-config does not "
                   "find libtraceevent >= ${UVPERF_LIBTRACEEVENT_LEAST}")
  else()
    message(FATAL_ERROR
      "uvperf_tracepoint needs libtraceevent >= "
      "${UVPERF_LIBTRACEEVENT_LEAST}, and pkg-config does not find it. "
      "Install libtraceevent-dev (Debian, Alpine), libtraceevent-devel "
      "(Fedora) or libtraceevent (Arch), or leave the component out by "
      "-DUVPERF_TRACEPOINT=OFF.")
  endif()
endif()
if(NOT UVPERF_HAS_TRACEPOINT)
  return()
endif()

file(GLOB UVPERF_TRACEPOINT_SOURCES CONFIGURE_DEPENDS
     ${PROJECT_SOURCE_DIR}/lib/tracepoint/*.c)

# Links to the core library of the same kind. Our headers include no header of
# libtraceevent.
function(uvperf_tracepoint_library name kind core)
  uvperf_library(${name} ${kind} uvperf_tracepoint ${UVPERF_TRACEPOINT_SOURCES})
  target_link_libraries(${name} PUBLIC ${core}
                        PRIVATE PkgConfig::UVPERF_LIBTRACEEVENT)
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
