# SPDX-License-Identifier: MIT
# Sourced by test/vm/run.sh: fetches Debian's packages of another architecture
# into a tree, which is the sysroot of the cross compiler and the root of the
# guest. apt keeps its state in the cache, so that the host's own apt does
# not see the other architecture. The sourcing script sets $cache and $arch.
#
# shellcheck shell=sh disable=SC2154

# Packages for building the tests, and packages that run in the guest.
packages="libc6-dev libuv1-dev libcmocka-dev libtraceevent-dev libbpf-dev
  libdw-dev libiberty-dev libprotobuf-c-dev zlib1g-dev
  dash coreutils grep sed mawk util-linux mount binutils"

# Runs a program of apt with the cache's state: apt_for program argument …
apt_for() {
  apt_program=$1
  shift
  apt_state=$cache/apt/$arch
  "$apt_program" -o "APT::Architecture=$arch" -o "APT::Architectures::=$arch" \
    -o "Dir::State=$apt_state" -o "Dir::State::status=$apt_state/status" \
    -o "Dir::Cache=$apt_state/cache" -o APT::Install-Recommends=false \
    -o "APT::Sandbox::User=" -o Acquire::Retries=3 "$@"
}

# Mirrors that are being updated fail for a while, and apt continues with its
# old lists.
update_lists() {
  mkdir -p "$cache/apt/$arch/lists/partial" \
    "$cache/apt/$arch/cache/archives/partial" || return 1
  : >"$cache/apt/$arch/status"
  for wait in 2 5 0; do
    apt_for apt-get update -qq && return
    sleep "$wait"
  done
  echo "Continuing with the existing lists of packages."
}

# Downloads packages, with all their dependencies.
download() {
  rm -f "$cache/apt/$arch/cache/archives/"*.deb
  # shellcheck disable=SC2086 # a list
  apt_for apt-get install -y -qq --download-only $packages
}

# Extracts files of packages into a directory in which bin, sbin and the like
# are the ones of usr, and absolute links begin at the directory.
extract() {
  directory=$1
  shift
  mkdir -p "$directory/usr" || return 1
  for each in bin sbin lib lib64; do
    mkdir -p "$directory/usr/$each" && ln -s "usr/$each" "$directory/$each" ||
      return 1
  done
  for deb in "$@"; do
    dpkg-deb --fsys-tarfile "$deb" |
      tar -x --keep-directory-symlink -C "$directory" || return 1
  done
  find "$directory" -type l -lname '/*' | while read -r link; do
    ln -sfnr "$directory$(readlink "$link")" "$link" || return 1
  done
}

# Makes the tree of all packages.
make_tree() {
  echo "Fetching packages of $arch."
  update_lists || return 1
  download >"$cache/apt/$arch/log" 2>&1 || {
    cat "$cache/apt/$arch/log"
    return 1
  }
  rm -rf "$cache/$arch/root" "$cache/$arch/root.new" "$cache/$arch/root.cpio"
  extract "$cache/$arch/root.new" "$cache/apt/$arch/cache/archives/"*.deb ||
    return 1
  mv "$cache/$arch/root.new" "$cache/$arch/root" &&
    echo "$packages" >"$cache/$arch/packages"
}

# Downloads the newest kernel of a metapackage, and extracts it: fetch_kernel
# name. The tree may have been made long ago.
fetch_kernel() {
  update_lists || return 1
  kernel_package=$(apt_for apt-cache depends "$1" |
    sed -n 's/^ *Depends: *\(linux-image-[0-9].*\)/\1/p' | head -n 1)
  [ -n "$kernel_package" ] || {
    echo "apt knows no kernel $1 for $arch."
    return 1
  }
  echo "Fetching $kernel_package of $arch."
  rm -rf "$cache/kernels/$1.new" && mkdir -p "$cache/kernels/$1.new" || return 1
  (cd "$cache/kernels/$1.new" && apt_for apt-get download -qq "$kernel_package" &&
    dpkg-deb -x ./*.deb . && mv boot/vmlinuz-* vmlinuz &&
    echo "${kernel_package#linux-image-}" >release
    rm -rf ./*.deb boot lib usr
    [ -f vmlinuz ]) && mv "$cache/kernels/$1.new" "$cache/kernels/$1"
}
