# It fits all wishes, and may lie.
set(PACKAGE_VERSION "${LIBUV_VERSION}")
set(PACKAGE_VERSION_COMPATIBLE TRUE)
