# SPDX-License-Identifier: MIT
# Sourced by test/run.sh, test/vm/run.sh and samples/run.sh: checks whether
# everything that building needs is installed, installs what is missing with
# apt, and builds. Runs nothing that it has built. The sourcing script sets
# $root, the top of this project.
#
# Needs, packages and flags are lists of words:
# shellcheck shell=sh disable=SC2046,SC2086,SC2154

setup_says="Missing, or too old (cmake >= 3.16 and libuv >= 1.44 are needed)"

# Whether the compiler can make a program from standard input with the given
# flags and those of the environment.
setup_links() {
  setup_scratch=$(mktemp -d) || return 1
  ${CC:-cc} ${CFLAGS:-} ${LDFLAGS:-} -x c - -x none "$@" \
    -o "$setup_scratch/a.out" >/dev/null 2>&1
  setup_rc=$?
  rm -rf "$setup_scratch"
  return "$setup_rc"
}

# Whether cmake is version 3.16 or newer.
setup_has_cmake() {
  cmake --version 2>/dev/null | awk '
    NR == 1 { split($3, v, "."); ok = v[1] > 3 || (v[1] == 3 && v[2] >= 16) }
    END { exit !ok }'
}

# Prints where the headers of the installed node should be.
setup_node_headers() {
  node -p 'path.resolve(process.execPath, "../../include/node")' 2>/dev/null
}

setup_has() {
  case $1 in
    compiler)
      printf '%s\n' '#include <stdio.h>' '#include <linux/perf_event.h>' \
        'int main(void) { return 0; }' | setup_links ;;
    sanitizers)
      echo 'int main(void) { return 0; }' |
        setup_links -fsanitize=address,undefined ;;
    make | ninja | meson | abidiff | cpio | apt-get | dpkg-deb | qemu-system-* | *-gcc | \
      protoc-c | chromium | clang | go | perf | c++ | rustc | strace | xz | zsh | \
      doxygen | mandoc | python3)
      command -v "$1" >/dev/null ;;
    cmake) setup_has_cmake ;;
    pkg-config) command -v "${PKG_CONFIG:-pkg-config}" >/dev/null ;;
    libuv)
      "${PKG_CONFIG:-pkg-config}" --atleast-version=1.44 libuv 2>/dev/null ;;
    bash-completion) [ -r /usr/share/bash-completion/bash_completion ] ;;
    cmocka) "${PKG_CONFIG:-pkg-config}" --exists cmocka 2>/dev/null ;;
    libtraceevent)
      "${PKG_CONFIG:-pkg-config}" --atleast-version=1.5 libtraceevent \
        2>/dev/null ;;
    libbpf)
      "${PKG_CONFIG:-pkg-config}" --atleast-version=1.0 libbpf 2>/dev/null ;;
    node)
      printf '%s\n' '#include <node_api.h>' |
        ${CC:-cc} -I "$(setup_node_headers)" -fsyntax-only -x c - 2>/dev/null ;;
    libdw | libprotobuf-c | zlib | libzstd)
      "${PKG_CONFIG:-pkg-config}" --exists "$1" 2>/dev/null ;;
    libiberty)
      printf '%s\n' '#include <libiberty/demangle.h>' \
        'int main(void) { return cplus_demangle("", 0) != 0; }' |
        setup_links -liberty ;;
  esac
}

# Prints the needs that are not met, on one line.
setup_missing() {
  setup_list=
  for setup_need in "$@"; do
    setup_has "$setup_need" || setup_list="$setup_list $setup_need"
  done
  echo "${setup_list# }"
}

# Prints the packages of a distribution for needs: setup_packages debian cmake …
setup_packages() {
  setup_distribution=$1
  shift
  for setup_need in "$@"; do
    case $setup_distribution:$setup_need in
      debian:compiler) echo gcc libc6-dev ;;
      debian:sanitizers) echo gcc ;;
      debian:libuv) echo libuv1-dev ;;
      debian:qemu-system-aarch64) echo qemu-system-arm ;;
      debian:qemu-system-s390x) echo qemu-system-misc ;;
      debian:qemu-system-x86_64) echo qemu-system-x86 ;;
      debian:*-gcc) echo "gcc-${setup_need%-gcc}" | tr _ - ;;
      debian:cmocka) echo libcmocka-dev ;;
      debian:ninja | fedora:ninja) echo ninja-build ;;
      debian:libtraceevent) echo libtraceevent-dev ;;
      debian:libdw) echo libdw-dev ;;
      debian:libiberty) echo libiberty-dev ;;
      debian:libprotobuf-c) echo libprotobuf-c-dev ;;
      debian:protoc-c) echo protobuf-c-compiler ;;
      debian:zlib) echo zlib1g-dev ;;
      debian:libzstd) echo libzstd-dev ;;
      debian:go) echo golang-go ;;
      debian:c++) echo g++ ;;
      debian:xz) echo xz-utils ;;
      debian:perf) echo linux-perf ;;
      fedora:libdw) echo elfutils-devel ;;
      arch:libdw) echo libelf ;;
      alpine:libdw) echo elfutils-dev ;;
      fedora:libiberty) echo binutils-devel ;;
      arch:libiberty) echo binutils ;;
      alpine:libiberty) echo binutils-dev ;;
      fedora:libprotobuf-c) echo protobuf-c-devel ;;
      fedora:protoc-c) echo protobuf-c-compiler ;;
      arch:libprotobuf-c | arch:protoc-c) echo protobuf-c ;;
      alpine:libprotobuf-c | alpine:protoc-c) echo protobuf-c-dev ;;
      fedora:zlib) echo zlib-devel ;;
      alpine:zlib) echo zlib-dev ;;
      fedora:libzstd) echo libzstd-devel ;;
      arch:libzstd) echo zstd ;;
      alpine:libzstd) echo zstd-dev ;;
      debian:node) echo nodejs libnode-dev ;;
      debian:libbpf | alpine:libbpf) echo libbpf-dev ;;
      debian:abidiff) echo abigail-tools ;;
      *:abidiff) echo libabigail ;;
      fedora:compiler) echo gcc glibc-devel ;;
      fedora:sanitizers) echo libasan libubsan ;;
      fedora:pkg-config) echo pkgconf-pkg-config ;;
      fedora:libuv) echo libuv-devel ;;
      fedora:cmocka) echo libcmocka-devel ;;
      fedora:node) echo nodejs nodejs-devel ;;
      arch:node) echo nodejs ;;
      alpine:node) echo nodejs nodejs-dev ;;
      fedora:libbpf) echo libbpf-devel ;;
      arch:compiler | arch:sanitizers) echo gcc ;;
      alpine:compiler) echo gcc musl-dev linux-headers ;;
      # gcc has no sanitizers with musl: use CC=clang.
      alpine:sanitizers) echo clang compiler-rt ;;
      arch:pkg-config | alpine:pkg-config) echo pkgconf ;;
      alpine:libuv) echo libuv-dev ;;
      alpine:cmocka) echo cmocka-dev ;;
      *) echo "$setup_need" ;;
    esac
  done | tr ' ' '\n' | awk '!seen[$0]++' | paste -s -d ' ' -
}

# Prints what is missing if there is no apt, and exits.
setup_name_packages() {
  echo "$setup_says: $*. The packages are called"
  for setup_name in fedora arch alpine; do
    echo "  $setup_name:" $(setup_packages "$setup_name" "$@")
  done
  case " $* " in
    *" sanitizers "*) echo "  (alpine: with CC=clang, gcc has none there)" ;;
  esac
  exit 1
}

# Only this runs with more privileges than the caller's own.
setup_apt() {
  if [ "$(id -u)" -eq 0 ]; then
    DEBIAN_FRONTEND=noninteractive apt-get "$@" </dev/null
  elif [ -t 0 ]; then
    sudo DEBIAN_FRONTEND=noninteractive apt-get "$@" </dev/null
  else
    sudo -n DEBIAN_FRONTEND=noninteractive apt-get "$@" </dev/null
  fi
}

setup_try_install() {
  # A fresh machine may be updating itself: wait for that.
  setup_apt update -qq &&
    setup_apt -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0 install -y -qq \
      --no-install-recommends "$@"
}

setup_install() {
  setup_line="apt-get install -y --no-install-recommends $*"
  setup_remedy="Run this as root, then try again:
  apt-get update && $setup_line"
  if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
    echo "Installing them needs root or sudo. $setup_remedy"
    exit 1
  fi
  echo "Installing them with apt-get."
  setup_try_install "$@" && return
  echo "apt-get failed. $setup_remedy"
  exit 1
}

# Makes sure that all of the named needs are met, or prints why not and exits.
setup_require() {
  set -- $(setup_missing "$@")
  [ $# -eq 0 ] && return
  command -v apt-get >/dev/null || setup_name_packages "$@"
  echo "$setup_says: $*. The packages are:" $(setup_packages debian "$@")
  setup_install $(setup_packages debian "$@")
  set -- $(setup_missing "$@")
  [ $# -eq 0 ] && return
  echo "$setup_says, even now: $*. CC is '${CC:-cc}'."
  exit 1
}

# apt-get installs all packages or none, so this tries one after the other.
setup_wish_each() {
  [ $# -gt 1 ] || return 0
  for setup_each in "$@"; do
    setup_try_install $(setup_packages debian "$setup_each")
  done
}

# The same as setup_require for optional needs: if one is not available, says so
# and continues.
setup_wish() {
  set -- $(setup_missing "$@")
  [ $# -eq 0 ] && return
  if command -v apt-get >/dev/null &&
    { [ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null; }; then
    echo "Missing, but optional: $*. Installing" \
      "$(setup_packages debian "$@") with apt-get."
    setup_try_install $(setup_packages debian "$@") || setup_wish_each "$@"
  fi
  set -- $(setup_missing "$@")
  [ $# -eq 0 ] || echo "Continuing without $*."
}

# Runs a command that writes into the log of a build directory, which is shown
# if it fails: setup_logged directory command …
setup_logged() {
  setup_log=$1/build.log
  shift
  "$@" >>"$setup_log" 2>&1 && return
  cat "$setup_log"
  return 1
}

# Prints the launcher of the compiler: ccache, if it is there.
setup_launcher() {
  echo "${CMAKE_C_COMPILER_LAUNCHER-$(command -v ccache)}"
}

# Prints the flag for mold, which links faster, if it works here.
setup_fast_linker() {
  command -v mold >/dev/null && echo 'int main(void) { return 0; }' |
    setup_links -fuse-ld=mold && echo " -fuse-ld=mold"
}

# Configures a build directory: setup_configure directory -Doption=value …
setup_configure() {
  setup_directory=$1
  shift
  if ! mkdir -p "$setup_directory" 2>/dev/null || [ ! -w "$setup_directory" ]
  then
    echo "Cannot write to $setup_directory: set UVPERF_BUILD_DIR to another."
    return 1
  fi
  : >"$setup_directory/build.log"
  rm -f "$setup_directory/configured"
  # A directory keeps its generator.
  if [ ! -f "$setup_directory/CMakeCache.txt" ] && setup_has ninja; then
    set -- -G "${CMAKE_GENERATOR:-Ninja}" "$@"
  fi
  set -- "-DCMAKE_C_COMPILER_LAUNCHER=$(setup_launcher)" "$@"
  setup_logged "$setup_directory" cmake -S "$root" -B "$setup_directory" "$@"
}

# The same, unless it was configured with the same options and environment: what
# CMake finds in changed files needs no call of ours.
setup_configure_once() {
  setup_options=$(printf '%s\n' "$@" "${CC:-}" "${CFLAGS:-}" "${LDFLAGS:-}" \
    "${CMAKE_PREFIX_PATH:-}" "${PKG_CONFIG_LIBDIR:-}" \
    "launcher ($(setup_launcher))")
  [ "$(cat "$1/configured" 2>/dev/null)" = "$setup_options" ] && return
  setup_configure "$@" && echo "$setup_options" >"$1/configured"
}

# Builds all, or some targets: setup_make directory [target …]
setup_make() {
  setup_directory=$1
  shift
  setup_jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
  [ $# -eq 0 ] || set -- --target "$@"
  setup_logged "$setup_directory" cmake --build "$setup_directory" \
    -j "$setup_jobs" "$@"
}

# The two together: setup_build directory -Doption=value …
setup_build() {
  setup_configure "$@" && setup_make "$1"
}
