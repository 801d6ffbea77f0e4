# What `cmake --install` puts where: headers, libraries, and what pkg-config and
# find_package read. Included by CMakeLists.txt.
include(CMakePackageConfigHelpers)

set(UVPERF_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/uvperf)
set(UVPERF_PC_DIR ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

set(UVPERF_INSTALLED uvperf_static)
if(UVPERF_BUILD_SHARED)
  list(APPEND UVPERF_INSTALLED uvperf)
endif()
install(TARGETS ${UVPERF_INSTALLED} EXPORT uvperf-targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})

install(EXPORT uvperf-targets NAMESPACE uvperf::
        DESTINATION ${UVPERF_PACKAGE_DIR})
configure_file(${PROJECT_SOURCE_DIR}/lib/uvperf-config.cmake.in
               ${PROJECT_BINARY_DIR}/uvperf-config.cmake @ONLY)
# 0.x promises nothing between minor versions.
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/uvperf-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/uvperf-config.cmake
              ${PROJECT_BINARY_DIR}/uvperf-config-version.cmake
        DESTINATION ${UVPERF_PACKAGE_DIR})

# The prefix of uvperf.pc is found from where that file lies, so that it may be
# moved and --prefix may change it; not so where the libraries have a place of
# their own, outside of the prefix. An absolute directory stays as it is.
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
configure_file(${PROJECT_SOURCE_DIR}/lib/uvperf.pc.in
               ${PROJECT_BINARY_DIR}/uvperf.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/uvperf.pc DESTINATION ${UVPERF_PC_DIR})
