# Finds libuv. Included by CMakeLists.txt and by uvperf-config.cmake, with which
# it is installed. It sets
#
#   UVPERF_LIBUV      the target to link, empty if libuv was not found
#   UVPERF_LIBUV_WAY  how it was found: given, existing, package or pkg-config
#   UVPERF_LIBUV_WHY  why it was not found
#   UVPERF_LIBUV_IS_STATIC
#                     whether it is static: a program that also links a shared
#                     uvperf would have two libuvs
set(UVPERF_LIBUV_LEAST 1.44)
set(UVPERF_LIBUV "")
set(UVPERF_LIBUV_WAY "")
set(UVPERF_LIBUV_WHY "")

# Takes the first of these names that is a library, and notes how it was found.
macro(uvperf_take_libuv way)
  foreach(uvperf_name ${ARGN})
    if(NOT UVPERF_LIBUV AND TARGET ${uvperf_name})
      get_target_property(uvperf_type ${uvperf_name} TYPE)
      if(uvperf_type MATCHES "^(STATIC|SHARED|INTERFACE|UNKNOWN)_LIBRARY$")
        set(UVPERF_LIBUV ${uvperf_name})
        set(UVPERF_LIBUV_WAY ${way})
      endif()
    endif()
  endforeach()
endmacro()

# Decides by the target's type or, for an alias or an interface, by its name.
macro(uvperf_ask_static)
  set(UVPERF_LIBUV_IS_STATIC OFF)
  if(UVPERF_LIBUV)
    get_target_property(uvperf_type ${UVPERF_LIBUV} TYPE)
    if(uvperf_type STREQUAL "STATIC_LIBRARY" OR UVPERF_LIBUV MATCHES "uv_a$" OR
       "${UVPERF_LIBUV_WAY} ${UVPERF_LIBUV_MODULE_NAME}" STREQUAL
       "pkg-config libuv-static")
      set(UVPERF_LIBUV_IS_STATIC ON)
    endif()
  endif()
endmacro()

# Needed for other uses of pkg-config too: its commands find nothing without it.
find_package(PkgConfig QUIET)

if(UVPERF_LIBUV_TARGET)
  uvperf_take_libuv(given ${UVPERF_LIBUV_TARGET})
  if(NOT UVPERF_LIBUV)
    string(CONCAT UVPERF_LIBUV_WHY
      "UVPERF_LIBUV_TARGET is ${UVPERF_LIBUV_TARGET}, but there is no library "
      "target of that name here. Define it first, or unset the variable.")
  endif()
  uvperf_ask_static()
  return()
endif()

# A libuv in the same build has the target uv_a and usually uv. From 1.49 on
# libuv::libuv is the one that the project wants, by the same rule as here.
if(BUILD_SHARED_LIBS)
  set(uvperf_names uv uv_a)
else()
  set(uvperf_names uv_a uv)
endif()
uvperf_take_libuv(existing libuv::libuv libuv::uv libuv::uv_a ${uvperf_names})

# The namespace is new in 1.45 and the version file came later, so no version is
# requested. vcpkg and Conan have either uv or uv_a.
if(NOT UVPERF_LIBUV)
  find_package(libuv CONFIG QUIET)
  if(libuv_VERSION AND libuv_VERSION VERSION_LESS UVPERF_LIBUV_LEAST)
    string(CONCAT UVPERF_LIBUV_WHY
      " The CMake package in ${libuv_DIR} has version ${libuv_VERSION}.")
  else()
    uvperf_take_libuv(package libuv::uv libuv::uv_a uv uv_a)
  endif()
endif()

if(NOT UVPERF_LIBUV AND COMMAND pkg_search_module)
  pkg_search_module(UVPERF_LIBUV QUIET IMPORTED_TARGET
                    libuv>=${UVPERF_LIBUV_LEAST}
                    libuv-static>=${UVPERF_LIBUV_LEAST})
  uvperf_take_libuv(pkg-config PkgConfig::UVPERF_LIBUV)
endif()

if(NOT UVPERF_LIBUV)
  if(NOT PKG_CONFIG_FOUND)
    string(APPEND UVPERF_LIBUV_WHY " pkg-config does not run.")
  endif()
  string(CONCAT UVPERF_LIBUV_WHY
    "uvperf needs libuv >= ${UVPERF_LIBUV_LEAST} and does not find it."
    "${UVPERF_LIBUV_WHY} Do one of these: "
    "set UVPERF_LIBUV_TARGET to a target of yours; "
    "define libuv::uv, libuv::uv_a, uv or uv_a before uvperf is added; "
    "put the prefix of libuv's CMake package into CMAKE_PREFIX_PATH; "
    "or put the directory of libuv.pc into PKG_CONFIG_PATH. The packages are "
    "libuv1-dev (Debian), libuv-devel (Fedora), libuv (Arch) and libuv-dev "
    "(Alpine).")
endif()

uvperf_ask_static()
