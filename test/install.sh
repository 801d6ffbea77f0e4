#!/bin/sh
# SPDX-License-Identifier: MIT
# What `cmake --install` installs: all files and no others; a project outside of
# this tree builds and runs with it, by pkg-config, by find_package, by Meson
# and, without an installation, by FetchContent; and the ways in which libuv is
# found.
#
#   install.sh build-directory results
#
# writes the results to the file of results, see check.sh. The build must have
# both libraries, and install the tools.
#
# Flags are lists of words, and the checks are called by name:
# shellcheck disable=SC2030,SC2031,SC2046,SC2086,SC2317
set -u
unset DESTDIR

root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
build=$(cd "$1" && pwd) || exit 1
results=$2
. "$root/test/setup.sh"
. "$root/test/check.sh"

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM HUP
prefix=$scratch/prefix
consumer=$scratch/consumer
cp -R "$root/test/support/install" "$consumer" || exit 1

cached() {
  sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"
}
libdir=$(cached CMAKE_INSTALL_LIBDIR)
includedir=$(cached CMAKE_INSTALL_INCLUDEDIR)
version=$(cached CMAKE_PROJECT_VERSION)
minor=${version%.*}
libuv_includedir=$("${PKG_CONFIG:-pkg-config}" --variable=includedir libuv)
libuv_libdir=$("${PKG_CONFIG:-pkg-config}" --variable=libdir libuv)

# Runs a command, whose output is of interest only if it fails.
quietly() {
  "$@" >"$scratch/output" 2>&1 && return
  echo "this failed: $*"
  cat "$scratch/output"
  return 1
}

pkg_config() {
  PKG_CONFIG_PATH=$prefix/$libdir/pkgconfig:${PKG_CONFIG_PATH:-} \
    "${PKG_CONFIG:-pkg-config}" "$@"
}

# Prints the files under a directory, sorted; one is named for the build's type.
list() {
  (cd "$1" && find . ! -type d) |
    sed 's/-targets-[a-z]*\./-targets-type./' | LC_ALL=C sort
}

# The files needed to run a program with the library of a name.
library_files() {
  echo "./$libdir/lib$1.so.$minor"
  echo "./$libdir/lib$1.so.$version"
}

# The files needed to build one, except headers: development_files name targets
development_files() {
  for file in "lib$1.a" "lib$1.so" "pkgconfig/$1.pc" \
    "cmake/uvperf/$2.cmake" "cmake/uvperf/$2-type.cmake"; do
    echo "./$libdir/$file"
  done
}

# The copyright is installed only with a component, for packages.
copyright_of() {
  echo "./share/doc/$1/copyright"
}

# Prints the names of a list that do not belong to the component.
without_tracepoint() {
  grep -v 'tracepoint'
}

components() {
  echo library development tools tracepoint tracepoint_development
}

# Prints the files of an install component, and its copyright as a package.
component_files() {
  case $1 in
    library)
      library_files uvperf
      copyright_of "libuvperf$minor" ;;
    development)
      (cd "$root/include" && find . -name '*.h') | sed "s|^\.|./$includedir|" |
        without_tracepoint
      development_files uvperf uvperf-targets
      for file in uvperf-config.cmake uvperf-config-version.cmake \
        uvperf-libuv.cmake; do
        echo "./$libdir/cmake/uvperf/$file"
      done
      copyright_of libuvperf-dev ;;
    tracepoint)
      library_files uvperf_tracepoint
      copyright_of "libuvperf-tracepoint$minor" ;;
    tracepoint_development)
      echo "./$includedir/uvperf/tracepoint.h"
      development_files uvperf_tracepoint uvperf-tracepoint-targets
      copyright_of libuvperf-tracepoint-dev ;;
    tools)
      for name in doctor list profile record stat trace watch; do
        echo "./bin/uvperf-$name"
        echo "./share/bash-completion/completions/uvperf-$name"
      done
      echo ./share/zsh/site-functions/_uvperf
      copyright_of uvperf-tools ;;
  esac
}

expected_files() {
  for component in $(components); do
    component_files "$component"
  done | grep -v /share/doc/
}

# Prints the differences of two lists of files.
same_files() {
  diff "$1" "$2" && return
  echo "< is missing, > is unexpected"
  return 1
}

install_prefix() {
  quietly cmake --install "$build" --prefix "$prefix" || return 1
  expected_files | LC_ALL=C sort >"$scratch/expected"
  list "$prefix" >"$scratch/installed"
  same_files "$scratch/expected" "$scratch/installed"
}

# Each component alone. Together they are everything, see above.
install_components() {
  rc=0
  for component in $(components); do
    rm -rf "$scratch/component"
    quietly cmake --install "$build" --prefix "$scratch/component" \
      --component "$component" || return 1
    component_files "$component" | LC_ALL=C sort >"$scratch/expected_part"
    list "$scratch/component" >"$scratch/installed_part"
    if ! same_files "$scratch/expected_part" "$scratch/installed_part"; then
      echo "in the component $component"
      rc=1
    fi
  done
  return "$rc"
}

# The tools are installed only if requested: to install a tool that is not built
# is an error.
install_without_tools() {
  quietly cmake -S "$root" -B "$scratch/default" -DUVPERF_BUILD_TESTS=OFF &&
    quietly cmake --install "$scratch/default" --component tools
}

# A packager's way: the prefix is the system's, the files go elsewhere.
install_staged() {
  DESTDIR=$scratch/stage quietly cmake --install "$build" --prefix /opt/uvperf ||
    return 1
  list "$scratch/stage/opt/uvperf" >"$scratch/staged"
  same_files "$scratch/expected" "$scratch/staged" &&
    diff -r "$prefix" "$scratch/stage/opt/uvperf"
}

soname() {
  for library in "$prefix/$libdir"/lib*.so; do
    wanted=${library##*/}.$minor
    readelf -d "$library" >"$scratch/elf" || return 1
    if ! grep -q "(SONAME).*\[$wanted\]" "$scratch/elf" ||
      grep -E '\((RPATH|RUNPATH)\)' "$scratch/elf"; then
      echo "$library must have the soname $wanted and no path in it"
      return 1
    fi
  done
}

# Programs that link the library do not need what tests and tools need.
without_libbpf() {
  ! find "$prefix/$libdir" \( -name '*.pc' -o -name '*.cmake' \) \
    -exec grep -i bpf {} + || return 1
  for library in "$prefix/$libdir"/lib*.so; do
    readelf -d "$library" >"$scratch/elf" || return 1
    ! grep -E '\(NEEDED\).*libbpf' "$scratch/elf" || return 1
  done
}

headers() {
  rc=0
  flags=$(pkg_config --cflags uvperf) || return 1
  (cd "$prefix/$includedir" && find . -name '*.h') >"$scratch/headers"
  while read -r header; do
    printf '#include <%s>\nint main(void) { return 0; }\n' "${header#./}" \
      >"$scratch/header.c"
    quietly ${CC:-cc} -std=c11 -D_DEFAULT_SOURCE -Wall -Wextra -Wpedantic \
      -Werror -fsyntax-only $flags "$scratch/header.c" || rc=1
  done <"$scratch/headers"
  return "$rc"
}

# Prints which files contain the source, the build or the prefix: paths file …
paths() {
  if grep -rlF -e "$root" -e "$build" -e "$scratch" -- "$@"; then
    echo "these name $root, $build or $scratch"
    return 1
  fi
}

# Also before they are installed, because the build id depends on everything
# that the linker writes: a build in another directory makes the same files.
own_paths() {
  paths "$prefix" "$build"/libuvperf* "$build"/samples/tools/uvperf-*
}

# Compiles and runs a program: compile source name flag …
compile() {
  source=$consumer/$1
  name=$scratch/program_$2
  shift 2
  quietly ${CC:-cc} -o "$name" "$source" "$@" && quietly "$name"
}

program() {
  compile program.c "$@"
}

# Whether a program was linked with the shared library: uses_shared program
uses_shared() {
  readelf -d "$1" | grep -q "(NEEDED).*\[libuvperf\.so\.$minor\]"
}

pkg_config_shared() {
  flags=$(pkg_config --cflags --libs "uvperf = $version") || return 1
  program shared $flags "-Wl,-rpath,$prefix/$libdir" &&
    uses_shared "$scratch/program_shared" || return 1
  quietly ${CC:-cc} -o "$scratch/program_path" "$consumer/program.c" $flags &&
    LD_LIBRARY_PATH=$prefix/$libdir quietly "$scratch/program_path"
}

# As a file, and by its name if there is no other library of that name.
pkg_config_static() {
  archive=$(pkg_config --variable=libdir uvperf)/libuvperf.a || return 1
  flags=$(pkg_config --cflags --libs --static uvperf) || return 1
  program archive "$archive" $(pkg_config --cflags uvperf) \
    $(pkg_config --libs --static libuv) || return 1
  mkdir "$scratch/archive" && cp "$archive" "$scratch/archive" &&
    program static "-L$scratch/archive" $flags -Wl,--as-needed || return 1
  if uses_shared "$scratch/program_archive" ||
    uses_shared "$scratch/program_static"; then
    echo "a program is linked with the shared library"
    return 1
  fi
}

# Makes a C file with functions of the same names as the public ones of the
# libraries, which end the program when they are called.
other_functions() {
  {
    echo '#include <stdlib.h>'
    sed -n 's/^    \([a-z0-9_]*\);$/int \1(void) { abort(); }/p' \
      "$root/lib/uvperf.map" "$root/lib/tracepoint/uvperf_tracepoint.map"
  } >"$scratch/others.c"
  grep -q 'uvperf_version(' "$scratch/others.c"
}

# Whether a shared object neither exports nor imports a function of ours.
keeps_to_itself() {
  nm -D "$1" | grep uvperf || return 0
  echo "$1 must have no dynamic symbol of uvperf"
  return 1
}

# Links a shared object of a source and static libraries: plugin object source
# flag …
plugin() {
  object=$scratch/$1
  source=$2
  shift 2
  quietly ${CC:-cc} -shared -fPIC -o "$object" "$consumer/$source" "$@" &&
    keeps_to_itself "$object"
}

# A program with the other functions loads a plugin and calls it: in_host object
in_host() {
  quietly ${CC:-cc} -rdynamic -o "$scratch/host" "$consumer/host.c" \
    "$scratch/others.c" -ldl && quietly "$scratch/host" "$scratch/$1"
}

# The main of a program is the function that the host calls.
plugin_static() {
  other_functions &&
    plugin plugin.so program.c -Dmain=plug $(pkg_config --cflags uvperf) \
      "$prefix/$libdir/libuvperf.a" $(pkg_config --libs libuv) &&
    in_host plugin.so
}

plugin_tracepoint() {
  other_functions &&
    plugin plugin_tracepoint.so tracepoint.c -Dmain=plug \
      $(pkg_config --cflags uvperf_tracepoint) \
      "$prefix/$libdir/libuvperf_tracepoint.a" "$prefix/$libdir/libuvperf.a" \
      $(pkg_config --libs libuv) &&
    in_host plugin_tracepoint.so
}

# The add-on of samples/node/. Node.js has its own libuv: the target for it has
# the headers of node alone.
build_node_addon() {
  addon=$scratch/node/addon.node
  quietly consume node "-DNODE_ADDON=$root/samples/node/addon.c" \
    -DPKG_CONFIG_EXECUTABLE=/bin/false -DOWN_LIBUV=node_libuv \
    -DGIVEN_LIBUV=node_libuv "-DLIBUV_INCLUDEDIR=$(setup_node_headers)" && build_consumer node
}

plugin_node() {
  build_node_addon && keeps_to_itself "$addon" && other_functions &&
    quietly ${CC:-cc} -shared -fPIC -o "$scratch/others.so" \
      "$scratch/others.c" || return 1
  if readelf -d "$addon" | grep '(NEEDED).*libuv'; then
    echo "the add-on must not be linked with a libuv"
    return 1
  fi
  LD_PRELOAD=$scratch/others.so UVPERF_ADDON=$addon \
    quietly node "$root/test/samples/node/counts.js"
}

# The commands of samples/node/README.md, in a copy of the folder, build what
# its package.json names.
node_readme() (
  rm -rf "$scratch/copy" && cp -r "$root/samples/node" "$scratch/copy" &&
    cd "$scratch/copy" || return 1
  sed -n '/^    mkdir/,/libuvperf\.a$/p' README.md >build.sh
  PKG_CONFIG_PATH=$prefix/$libdir/pkgconfig:${PKG_CONFIG_PATH:-} \
    quietly sh -e build.sh && quietly node -e "require('.').count.call"
)

# Configures the consumer: consume directory option …
consume() {
  directory=$scratch/$1
  shift
  cmake -S "$consumer" -B "$directory" -DCMAKE_BUILD_TYPE=Debug \
    "-DCMAKE_PREFIX_PATH=$prefix" "-DWANTED=$minor" "$@"
}

# Builds the consumer and runs its programs: build_consumer directory program …
build_consumer() {
  directory=$scratch/$1
  shift
  quietly cmake --build "$directory" -j 2 || return 1
  for name in "$@"; do
    quietly "$directory/$name" || return 1
  done
}

find_package_c() {
  quietly consume c && build_consumer c c_uvperf c_uvperf_static &&
    uses_shared "$scratch/c/c_uvperf" &&
    ! uses_shared "$scratch/c/c_uvperf_static"
}

find_package_cxx() {
  quietly consume cxx -DWITH_CXX=ON &&
    build_consumer cxx cxx_uvperf cxx_uvperf_static
}

# A configuration that must fail and say why: refused text option …
refused() {
  text=$1
  shift
  rm -rf "$scratch/refused"
  if consume refused "$@" >"$scratch/output" 2>&1; then
    echo "cmake accepted $*"
    return 1
  fi
  # cmake breaks lines anywhere.
  if ! tr -s ' \n' ' ' <"$scratch/output" | grep -qF "$text"; then
    cat "$scratch/output"
    echo "cmake did not say: $text"
    return 1
  fi
}

# The one that exists is another target, or a package that is too old.
without_libuv() {
  refused "uvperf needs libuv >= 1.44 and does not find it. pkg-config does" \
    -DPKG_CONFIG_EXECUTABLE=/bin/false \
    -DCMAKE_DISABLE_FIND_PACKAGE_libuv=ON -DOWN_LIBUV=theirs &&
    refused "find it. The CMake package in $consumer has version 1.43.0." \
      -DPKG_CONFIG_EXECUTABLE=/bin/false "-Dlibuv_DIR=$consumer" \
      -DLIBUV_VERSION=1.43.0 &&
    refused "UVPERF_LIBUV_TARGET is mine, but there is no library target" \
      "-DUVPERF_SOURCE=$root" -DGIVEN_LIBUV=mine
}

unknown_component() {
  refused "no component shine" -DUVPERF_COMPONENTS=shine &&
    refused "no component shared beside the static uv_a" \
      -DUVPERF_COMPONENTS=shared -DOWN_LIBUV=uv_a &&
    quietly consume components "-DUVPERF_COMPONENTS=shared;static"
}

# Runs a command for which pkg-config finds nothing but libuv.
only_libuv() (
  mkdir -p "$scratch/only_libuv" &&
    cp "$("${PKG_CONFIG:-pkg-config}" --variable=pcfiledir libuv)/libuv.pc" \
      "$scratch/only_libuv" || return 1
  PKG_CONFIG_PATH='' PKG_CONFIG_LIBDIR=$scratch/only_libuv
  export PKG_CONFIG_PATH PKG_CONFIG_LIBDIR
  "$@"
)

# The archives by their names, without shared libraries.
tracepoint_pkg_config() {
  flags=$(pkg_config --cflags --libs "uvperf_tracepoint = $version") ||
    return 1
  compile tracepoint.c tracepoint $flags "-Wl,-rpath,$prefix/$libdir" &&
    uses_shared "$scratch/program_tracepoint" || return 1
  flags=$(pkg_config --cflags --libs --static uvperf_tracepoint) || return 1
  mkdir "$scratch/archives" &&
    cp "$prefix/$libdir"/lib*.a "$scratch/archives" &&
    compile tracepoint.c tracepoint_static "-L$scratch/archives" $flags &&
    ! uses_shared "$scratch/program_tracepoint_static"
}

# Only if it is requested.
tracepoint_find_package() {
  quietly consume tracepoint -DUVPERF_COMPONENTS=tracepoint &&
    build_consumer tracepoint c_uvperf c_tracepoint c_tracepoint_static &&
    uses_shared "$scratch/tracepoint/c_tracepoint" &&
    ! uses_shared "$scratch/tracepoint/c_tracepoint_static" || return 1
  quietly consume core && ! [ -e "$scratch/core/c_tracepoint" ]
}

# The answer of the package's version file to a requested version.
version_file() {
  cat >"$scratch/version.cmake" <<'END'
set(PACKAGE_FIND_VERSION ${ask})
string(REPLACE "." ";" parts ${ask})
list(GET parts 0 PACKAGE_FIND_VERSION_MAJOR)
list(GET parts 1 PACKAGE_FIND_VERSION_MINOR)
set(CMAKE_SIZEOF_VOID_P "")
include(${file})
if(NOT PACKAGE_VERSION_COMPATIBLE STREQUAL "${answer}")
  message(FATAL_ERROR "${ask}: '${PACKAGE_VERSION_COMPATIBLE}'")
endif()
END
  file=$prefix/$libdir/cmake/uvperf/uvperf-config-version.cmake
  older=${minor%.*}.$((${minor#*.} - 1))
  newer=${minor%.*}.$((${minor#*.} + 1))
  for answer in "$minor.0 TRUE" "$minor.99 FALSE" "$older.0 FALSE" \
    "$newer.0 FALSE" "9.9 FALSE"; do
    quietly cmake "-Dask=${answer% *}" "-Danswer=${answer#* }" \
      "-Dfile=$file" -P "$scratch/version.cmake" || return 1
  done
}

# Moves the whole prefix; the rest runs there.
moved() {
  mkdir "$scratch/else where" && mv "$prefix" "$scratch/else where/moved" ||
    return 1
  prefix="$scratch/else where/moved"
  quietly consume moved && build_consumer moved c_uvperf c_uvperf_static ||
    return 1
  mv "$prefix" "$scratch/moved_again" && prefix=$scratch/moved_again &&
    pkg_config_shared
}

# As part of another project, with flags and options of its own. Many define
# _GNU_SOURCE for everything that they build.
subdirectory() {
  quietly consume sub "-DUVPERF_SOURCE=$root" -DUVPERF_BUILD_SHARED=OFF \
    "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror -D_GNU_SOURCE" &&
    build_consumer sub c_uvperf_static || return 1
  quietly cmake --install "$scratch/sub" --prefix "$scratch/theirs" || return 1
  echo ./share/consumer/program.c >"$scratch/expected_theirs"
  list "$scratch/theirs" >"$scratch/installed_theirs"
  same_files "$scratch/expected_theirs" "$scratch/installed_theirs"
}

# The same, installed with the other project, without the shared library,
# without the component uvperf_tracepoint, without tools, and with assertions,
# which say where they are.
subdirectory_installed() {
  quietly consume sub -DUVPERF_INSTALL=ON -DUVPERF_TRACEPOINT=OFF \
    -DUVPERF_INSTALL_TOOLS=ON && build_consumer sub || return 1
  prefix=$scratch/static
  quietly cmake --install "$scratch/sub" --prefix "$prefix" || return 1
  grep -vF -e .so -e /bin/ -e /bash-completion/ -e /zsh/ "$scratch/expected" |
    without_tracepoint | cat - "$scratch/expected_theirs" | LC_ALL=C sort >"$scratch/expected_static"
  list "$prefix" >"$scratch/installed_static"
  same_files "$scratch/expected_static" "$scratch/installed_static" &&
    quietly consume only_static &&
    build_consumer only_static c_uvperf_static &&
    refused "no component shared" -DUVPERF_COMPONENTS=shared &&
    refused "no component tracepoint" -DUVPERF_COMPONENTS=tracepoint &&
    strip --strip-debug "$prefix/$libdir"/lib*.a && paths "$prefix" &&
    program by_name $(pkg_config --cflags --libs --static uvperf)
}

# As with Nix: the libraries are not under the prefix.
absolute_libdir() {
  libs=$scratch/libs
  quietly consume sub "-DCMAKE_INSTALL_PREFIX=$scratch/out" \
    -DUVPERF_INSTALL=ON "-DCMAKE_INSTALL_LIBDIR=$libs" && build_consumer sub &&
    quietly cmake --install "$scratch/sub" || return 1
  flags=$(PKG_CONFIG_PATH=$libs/pkgconfig:${PKG_CONFIG_PATH:-} \
    "${PKG_CONFIG:-pkg-config}" --cflags --libs uvperf) || return 1
  program absolute $flags &&
    quietly consume absolute "-Duvperf_DIR=$libs/cmake/uvperf" &&
    build_consumer absolute c_uvperf_static
}

# Builds the consumer with another libuv than before: with_libuv "target (way)"
# option …. pkg-config cannot be the way: it does not run.
with_libuv() {
  found=$1
  shift
  quietly consume sub -DPKG_CONFIG_EXECUTABLE=/bin/false \
    "-DLIBUV_INCLUDEDIR=$libuv_includedir" "-DLIBUV_LIBDIR=$libuv_libdir" \
    "$@" || return 1
  if ! grep -qF "uvperf: libuv is $found" "$scratch/output"; then
    cat "$scratch/output"
    echo "libuv must be $found"
    return 1
  fi
  build_consumer sub c_uvperf_static
}

# It is not installed with uvperf, and its name says that it is static. The
# installed files search for libuv again.
own_libuv() {
  with_libuv "uv_a (existing)" -DOWN_LIBUV=uv_a -DUVPERF_BUILD_SHARED=ON \
    "-DCMAKE_INSTALL_LIBDIR=$libdir" || return 1
  prefix=$scratch/own
  quietly cmake --install "$scratch/sub" --prefix "$prefix" || return 1
  list "$prefix" >"$scratch/installed_own"
  same_files "$scratch/expected_static" "$scratch/installed_own" &&
    grep -q '^Requires: libuv-static ' "$prefix/$libdir/pkgconfig/uvperf.pc" &&
    quietly consume package -DPKG_CONFIG_EXECUTABLE=/bin/false \
      "-Dlibuv_DIR=$consumer" "-DLIBUV_INCLUDEDIR=$libuv_includedir" \
      "-DLIBUV_LIBDIR=$libuv_libdir" &&
    build_consumer package c_uvperf_static
}

given_libuv() {
  with_libuv "mine (given)" -DOWN_LIBUV=mine -DGIVEN_LIBUV=mine
}

package_libuv() {
  with_libuv "libuv::uv (package)" -DOWN_LIBUV= -DGIVEN_LIBUV= \
    "-Dlibuv_DIR=$consumer"
}

# Builds the consumer with Meson and runs its program: mesonize directory
mesonize() {
  quietly meson setup "$scratch/$1" "$consumer" &&
    quietly meson compile -C "$scratch/$1" && quietly "$scratch/$1/program"
}

meson_pkg_config() {
  PKG_CONFIG_PATH=$prefix/$libdir/pkgconfig:${PKG_CONFIG_PATH:-} \
    mesonize meson_installed &&
    uses_shared "$scratch/meson_installed/program"
}

meson_subproject() {
  mkdir "$consumer/subprojects" &&
    ln -s "$root" "$consumer/subprojects/uvperf" && mesonize meson_source && ! uses_shared "$scratch/meson_source/program"
}

check install_puts_exactly_these_files install_prefix
check install_puts_each_file_into_its_component install_components
check install_puts_no_tools_unless_asked install_without_tools
check install_with_destdir_puts_the_same_files install_staged
check installed_library_has_its_soname soname
check installed_library_does_without_libbpf without_libbpf
check installed_headers_compile_alone headers
check installed_files_do_not_name_the_build own_paths
check pkg_config_program_runs_with_shared_library pkg_config_shared
check pkg_config_program_runs_with_static_library pkg_config_static
check plugin_with_static_library_keeps_to_its_own_functions plugin_static
check plugin_with_static_component_keeps_to_its_own_functions \
  plugin_tracepoint
check_node node_addon_with_static_library_keeps_to_its_own_functions plugin_node
check_node node_addon_is_built_as_its_readme_says node_readme
check find_package_program_runs_with_both_libraries find_package_c
check_cxx find_package_cxx_program_runs_with_both_libraries find_package_cxx
check_meson meson_program_runs_with_shared_library meson_pkg_config
check_meson meson_program_runs_with_a_cmake_subproject meson_subproject
check libuv_that_is_not_found_is_reported_with_all_ways without_libuv
check find_package_of_unknown_component_is_refused unknown_component
check tracepoint_component_is_found_by_pkg_config \
  tracepoint_pkg_config
check tracepoint_component_is_found_by_find_package \
  tracepoint_find_package
check find_package_takes_the_same_minor_version_only version_file
check moved_prefix_works_as_before moved
check subdirectory_program_runs_and_is_not_installed subdirectory
check subdirectory_is_installed_if_asked subdirectory_installed
check install_with_absolute_library_directory_works absolute_libdir
check subdirectory_takes_the_libuv_of_its_project own_libuv
check subdirectory_takes_the_libuv_that_is_given given_libuv
check subdirectory_takes_libuv_by_find_package package_libuv
exit $failed
