# What libuv installs for find_package, for the machine's libuv: Debian's package
# has no such file.
add_library(libuv::uv SHARED IMPORTED)
set_target_properties(libuv::uv PROPERTIES
                      IMPORTED_LOCATION ${LIBUV_LIBDIR}/libuv.so
                      INTERFACE_INCLUDE_DIRECTORIES ${LIBUV_INCLUDEDIR})
