# SPDX-License-Identifier: MIT
# Sourced by checks.sh, docs.sh, install.sh and samples.sh: notes the result of
# each check. The sourcing script sets $results, to which a line "state, tab,
# name, tab, message" is appended for each check, and ends by `exit $failed`.
# Details, and "skipped: name: needs what", go to standard output.
#
# shellcheck shell=sh disable=SC2034,SC2154
failed=0

# check name command …: the check passes if the command succeeds.
check() {
  check_name=$1
  shift
  if "$@"; then
    printf 'passed\t%s\t\n' "$check_name" >>"$results"
  else
    printf 'failed\t%s\t%s\n' "$check_name" "see the output above" >>"$results"
    failed=1
  fi
}

skip() {
  printf 'skipped\t%s\t\n' "$1" >>"$results"
  echo "skipped: $1: needs $2"
}

# The same, for a check that needs a C++ compiler.
check_cxx() {
  if command -v "${CXX:-c++}" >/dev/null; then
    check "$@"
  else
    skip "$1" "a C++ compiler"
  fi
}

# The same, for a check that needs Node.js with its headers; see setup.sh.
check_node() {
  if setup_has node; then
    check "$@"
  else
    skip "$1" "Node.js and its headers"
  fi
}

# The same, for a check that needs Meson.
check_meson() {
  if setup_has meson; then
    check "$@"
  else
    skip "$1" "meson"
  fi
}

# The same, for a check with abidw(1) and abidiff(1), which must write the
# format of the files in abi/. Those are of machines with 64 bits.
check_abi() {
  abi_version=$(abidw --abixml-version 2>/dev/null)
  if [ "$(getconf LONG_BIT)" -eq 64 ] &&
    grep -q "^<abi-corpus version='${abi_version#*: }'" \
      "$root/test/abi/libuvperf.abi"; then
    check "$@"
  else
    skip "$1" "abidiff of the version that test/abi/ is of, and 64 bits"
  fi
}

# The same, for a check of files that compiler, linker and C library harden.
check_hardening() {
  if can_harden; then
    check "$@"
  else
    skip "$1" "a compiler and a C library that harden programs"
  fi
}

# The same, for a check whose first argument is a compiler that sanitizes.
check_sanitizers() {
  if echo 'int main(void) { return 0; }' |
    "$3" -fsanitize=address -x c - -o /dev/null 2>/dev/null; then
    check "$@"
  else
    skip "$1" "a compiler with sanitizers"
  fi
}

# The same, for a check of code for another architecture.
check_aarch64() {
  if echo 'int probe;' |
    clang -target aarch64-linux-gnu -x c -c - -o /dev/null 2>/dev/null; then
    check "$@"
  else
    skip "$1" "a clang that compiles for aarch64"
  fi
}
