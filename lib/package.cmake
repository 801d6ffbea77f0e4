# Makes `cpack` build a Debian package for each install component. Included by
# CMakeLists.txt if the shared libraries are built.
set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
# dpkg-shlibdeps looks for libuvperf there.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})
# Builders of packages should set themselves as the contact.
if(NOT CPACK_PACKAGE_CONTACT)
  set(CPACK_PACKAGE_CONTACT "The uvperf authors <uvperf@localhost>")
endif()
# Each package has its own summary.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")

# uvperf_package(component name section description package-it-needs…)
macro(uvperf_package component name section description)
  string(TOUPPER ${component} UVPERF_COMPONENT)
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  set(CPACK_DEBIAN_${UVPERF_COMPONENT}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${UVPERF_COMPONENT}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${UVPERF_COMPONENT}_DESCRIPTION "${description}")
  string(REPLACE ";" ", " CPACK_DEBIAN_${UVPERF_COMPONENT}_PACKAGE_DEPENDS
         "${ARGN}")
  if(NOT "${section}" STREQUAL libdevel)
    set(CPACK_DEBIAN_${UVPERF_COMPONENT}_PACKAGE_SHLIBDEPS ON)
  endif()
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE RENAME copyright
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name}
          COMPONENT ${component} EXCLUDE_FROM_ALL)
endmacro()

set(UVPERF_SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(UVPERF_SAME "(= ${PROJECT_VERSION})")
set(CPACK_COMPONENTS_ALL "")

uvperf_package(library libuvperf${UVPERF_SOVERSION} libs
"perf_event_open(2) for libuv programs
Perf events of Linux as handles of libuv: counts, samples and side-band records
of threads, processes, CPUs and cgroups, decoded in callbacks.")
uvperf_package(development libuvperf-dev libdevel
"perf_event_open(2) for libuv programs (development files)
Headers, the static library, and what pkg-config and find_package read."
  "libuvperf${UVPERF_SOVERSION} ${UVPERF_SAME}"
  "libuv1-dev (>= ${UVPERF_LIBUV_LEAST})")
if(UVPERF_HAS_TRACEPOINT)
  uvperf_package(tracepoint libuvperf-tracepoint${UVPERF_SOVERSION} libs
"fields of tracepoints by name, for uvperf
Reads the fields of a tracepoint's records by their names, and prints them."
    "libuvperf${UVPERF_SOVERSION} ${UVPERF_SAME}")
  uvperf_package(tracepoint_development libuvperf-tracepoint-dev libdevel
"fields of tracepoints by name, for uvperf (development files)
The header, the static library, and what pkg-config and find_package read."
    "libuvperf-tracepoint${UVPERF_SOVERSION} ${UVPERF_SAME}"
    "libuvperf-dev ${UVPERF_SAME}")
endif()
if(UVPERF_INSTALL_TOOLS)
  uvperf_package(tools uvperf-tools utils
"counting, sampling and tracing with perf events
uvperf-stat counts, uvperf-record writes perf.data, uvperf-profile shows where
CPU time goes. uvperf-trace prints tracepoints and system calls, uvperf-watch
prints forks, execs and exits. uvperf-list and uvperf-doctor show what can be
measured.")
endif()
include(CPack)
