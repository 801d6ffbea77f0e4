# Installs headers, libraries, and the files for pkg-config and find_package.
# Included by CMakeLists.txt. The install components are
#
#   library, development                 for running and for building programs
#   tracepoint, tracepoint_development   the same for uvperf_tracepoint
#   tools                                see samples/tools/CMakeLists.txt
include(CMakePackageConfigHelpers)

set(UVPERF_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/uvperf)
set(UVPERF_PC_DIR ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The header of a component is installed with its libraries.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
        FILES_MATCHING PATTERN "*.h" PATTERN tracepoint.h EXCLUDE)
if(UVPERF_HAS_TRACEPOINT)
  install(FILES ${PROJECT_SOURCE_DIR}/include/uvperf/tracepoint.h
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/uvperf
          COMPONENT tracepoint_development)
endif()

# Installs the libraries of this name, and a file by which find_package finds
# them.
function(uvperf_install name export component development)
  set(targets ${name}_static)
  if(UVPERF_BUILD_SHARED)
    list(APPEND targets ${name})
  endif()
  install(TARGETS ${targets} EXPORT ${export}
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component}
                  NAMELINK_COMPONENT ${development}
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${development})
  install(EXPORT ${export} NAMESPACE uvperf::
          DESTINATION ${UVPERF_PACKAGE_DIR} COMPONENT ${development})
endfunction()

uvperf_install(uvperf uvperf-targets library development)
if(UVPERF_HAS_TRACEPOINT)
  uvperf_install(uvperf_tracepoint uvperf-tracepoint-targets
                 tracepoint tracepoint_development)
endif()
configure_file(${PROJECT_SOURCE_DIR}/lib/uvperf-config.cmake.in
               ${PROJECT_BINARY_DIR}/uvperf-config.cmake @ONLY)
# Minor versions of 0.x are not compatible.
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/uvperf-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/uvperf-config.cmake
              ${PROJECT_BINARY_DIR}/uvperf-config-version.cmake
        DESTINATION ${UVPERF_PACKAGE_DIR} COMPONENT development)
install(FILES ${PROJECT_SOURCE_DIR}/lib/libuv.cmake RENAME uvperf-libuv.cmake
        DESTINATION ${UVPERF_PACKAGE_DIR} COMPONENT development)

# A .pc file computes its prefix from its own place, so that an installation can
# be moved and --prefix can change it. This does not work if LIBDIR is absolute,
# which may be outside of the prefix. Absolute directories stay unchanged.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(UVPERF_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
else()
  file(RELATIVE_PATH UVPERF_PC_PREFIX "/prefix/${UVPERF_PC_DIR}" "/prefix")
  string(REGEX REPLACE "/$" "" UVPERF_PC_PREFIX
         "\${pcfiledir}/${UVPERF_PC_PREFIX}")
endif()
foreach(directory LIBDIR INCLUDEDIR)
  set(UVPERF_PC_${directory} "${CMAKE_INSTALL_${directory}}")
  if(NOT IS_ABSOLUTE "${UVPERF_PC_${directory}}")
    set(UVPERF_PC_${directory} "\${prefix}/${UVPERF_PC_${directory}}")
  endif()
endforeach()
function(uvperf_install_pc name template development)
  configure_file(${template} ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${UVPERF_PC_DIR}
          COMPONENT ${development})
endfunction()

uvperf_install_pc(uvperf ${PROJECT_SOURCE_DIR}/lib/uvperf.pc.in development)
if(UVPERF_HAS_TRACEPOINT)
  uvperf_install_pc(uvperf_tracepoint
    ${PROJECT_SOURCE_DIR}/lib/tracepoint/uvperf_tracepoint.pc.in
    tracepoint_development)
endif()
