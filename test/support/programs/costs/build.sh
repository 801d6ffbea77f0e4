#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds a program of functions of known cost: build.sh VARIANT DIR makes
# DIR/costs. Prints what is missing, and nothing if it is built.
#
#   c          with frame pointers and DWARF
#   c-bare     without frame pointers; its stacks are in .eh_frame alone
#   c-static   without shared objects
#   c-debug    stripped, its symbols are in files that .gnu_debuglink names
#   c-clang    as c, by clang
#   cxx, rust, go
set -e

here=$(cd "$(dirname "$0")" && pwd)
variant=$1
cd "$2"

need() {
  command -v "$1" >/dev/null 2>&1 && return
  echo "$2"
  exit
}

c_flags='-O2 -g -fno-optimize-sibling-calls -Wall'
fp=-fno-omit-frame-pointer

# compile_c COMPILER FLAG…
compile_c() {
  cc=$1
  shift
  # shellcheck disable=SC2086
  "$cc" $c_flags "$@" -fPIC -shared -o libcosts.so "$here/library.c"
  # shellcheck disable=SC2086
  "$cc" $c_flags "$@" -o costs "$here/program.c" -L. -lcosts \
    -Wl,-rpath,"$PWD"
}

# split FILE: its symbols and DWARF go to FILE.debug.
split() {
  objcopy --only-keep-debug "$1" "$1.debug"
  strip --strip-all "$1"
  objcopy --add-gnu-debuglink="$1.debug" "$1"
}

case $variant in
  c-clang) need clang clang && compile_c clang $fp ;;
  c*) need "${CC:-cc}" "a compiler" ;;
esac
case $variant in
  c) compile_c "${CC:-cc}" $fp ;;
  c-bare) compile_c "${CC:-cc}" -fomit-frame-pointer ;;
  c-static)
    # shellcheck disable=SC2086
    "${CC:-cc}" $c_flags $fp -static -DCOSTS_STATIC -o costs "$here/program.c"
    ;;
  c-debug)
    need objcopy binutils
    compile_c "${CC:-cc}" $fp
    split costs
    split libcosts.so
    ;;
  cxx)
    need "${CXX:-c++}" "a C++ compiler"
    # shellcheck disable=SC2086
    "${CXX:-c++}" $c_flags $fp -o costs "$here/program.cc"
    ;;
  rust)
    need rustc rustc
    rustc --edition 2021 --crate-name costs -C opt-level=2 -g \
      -C force-frame-pointers=yes -o costs "$here/program.rs"
    ;;
  go)
    need go "a Go compiler"
    GOCACHE=$PWD/.cache GOFLAGS='' GO111MODULE=off go build -o costs \
      "$here/program.go"
    ;;
esac
