#!/bin/sh
# SPDX-License-Identifier: MIT
# Writes the ABI of both shared libraries, as abidw(1) of libabigail reads it:
#
#   abi.sh [directory]
#
# makes libuvperf.abi and libuvperf_tracepoint.abi there, or in test/abi/, where
# checks.sh compares them with the present headers.
#
# It follows from the public headers and the symbol maps: each exported function
# gets an empty body here. Types of libuv and the kernel are only declared, and
# those of stdint.h are the compiler's, so that the files are the same on all
# machines with 64 bits.
#
# CC may be several words: shellcheck disable=SC2086
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-$root/test/abi}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$out" "$scratch/uvperf" "$scratch/linux"

cat >"$scratch/uv.h" <<'END'
#include <stddef.h>
#include <stdint.h>
typedef struct uv_loop_s uv_loop_t;
typedef struct uv_handle_s uv_handle_t;
END
cat >"$scratch/linux/perf_event.h" <<'END'
#include <stdint.h>
struct perf_event_attr;
struct perf_branch_entry;
END
# For inline functions.
: >"$scratch/errno.h"
: >"$scratch/string.h"

# Adds a body to each function, and leaves inline ones out.
for path in "$root"/include/uvperf.h "$root"/include/uvperf/*.h; do
  awk '
    /^static inline/ { is_inline = 1 }
    /^UVPERF_EXTERN/ { is_function = 1 }
    is_function && sub(/;$/, " { __builtin_trap(); }") { is_function = 0 }
    !is_inline
    /^}/ { is_inline = 0 }' "$path" >"$scratch/${path#"$root/include/"}"
done

minor=$(sed -n 's/^#define UVPERF_VERSION_M[AI][JN]OR *//p' \
  "$root/include/uvperf/version.h" | paste -s -d . -)

# library name header map
library() {
  ${CC:-cc} -std=c11 -ffreestanding -nostdlib -g -shared -fPIC \
    -I "$scratch" -include "$2" "-Wl,-soname,$1.so.$minor" \
    "-Wl,--version-script=$root/lib/$3" -x c /dev/null \
    -o "$scratch/$1.so"
  abidw --no-corpus-path --no-comp-dir-path --no-show-locs --no-architecture \
    --no-elf-needed --no-write-default-sizes --no-parameter-names \
    --type-id-style hash "$scratch/$1.so" |
    sed -E "s/^ +//; s/ (visibility|access|mangled-name)='[^']*'//g" \
      >"$out/$1.abi"
}

library libuvperf uvperf.h uvperf.map
library libuvperf_tracepoint uvperf/tracepoint.h \
  tracepoint/uvperf_tracepoint.map
