#!/bin/sh
# SPDX-License-Identifier: MIT
# Checks of the source and of the plain build, by compilers and nm: each header
# compiles alone, the shared library exports only public functions, the folders
# of lib/ keep their order, README.md's programs are the samples, FACTS and
# ORIGINS name tests that exist, and no line is too long.
#
#   checks.sh build-directory results
#
# writes the results to the file of results, see check.sh.
#
# Flags are lists of words, and the checks are called by name:
# shellcheck disable=SC2086,SC2317
set -u

root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
build=$1
results=$2
. "$root/test/check.sh"

# Headers of other projects are not checked strictly.
uv=$("${PKG_CONFIG:-pkg-config}" --cflags libuv | sed 's/-I/-isystem /g')
strict="-fsyntax-only -Wall -Wextra -Wpedantic -Werror"

# Compiles a program that includes one header: alone header command …
alone() {
  printf '#include "%s"\nint main(void) { return 0; }\n' "$1" >"$results.h"
  shift
  "$@" -I "$root/include" "$results.h"
}

# Compiles each public header alone: headers command …
headers() {
  rc=0
  for path in "$root"/include/uvperf.h "$root"/include/uvperf/*.h; do
    alone "${path#"$root/include/"}" "$@" $uv || rc=1
  done
  return "$rc"
}

# uv.h needs POSIX names, which strict C hides.
headers_c11() {
  headers ${CC:-cc} -x c -std=c11 -D_POSIX_C_SOURCE=200809L $strict
}

headers_gnu99() {
  headers ${CC:-cc} -x c -std=gnu99 -fsyntax-only -Wall -Wextra -Werror
}

headers_cxx11() {
  headers ${CXX:-c++} -x c++ -std=c++11 $strict
}

# Compiles the headers that need no libuv in the strictest mode, and checks that
# they do not include it.
headers_without_libuv() {
  rc=0
  for path in "$root"/include/uvperf/*.h; do
    header=${path##*/}
    case $header in
      handle.h | event.h | set.h | measure.h | bpf.h) continue ;;
    esac
    alone "uvperf/$header" ${CC:-cc} -x c -std=c11 $strict || rc=1
    alone "uvperf/$header" ${CC:-cc} -x c -M $uv >"$results.d" || rc=1
    if grep '/uv\.h' "$results.d"; then
      echo "uvperf/$header includes uv.h"
      rc=1
    fi
  done
  return "$rc"
}

# Prints the functions that the headers declare as exported, sorted:
# declared_names header …
declared_names() {
  cat "$@" | grep -v '#define' | tr '\n' ' ' |
    sed 's/UVPERF_EXTERN/\n&/g' |
    sed -n 's/^UVPERF_EXTERN [^(]*[ *]\(uvperf_[a-z0-9_]*\)(.*/\1/p' |
    LC_ALL=C sort
}

# Prints the names of a symbol map, in its order.
mapped_names() {
  sed -n 's/^    \([a-z0-9_]*\);$/\1/p' "$root/lib/$1"
}

# Prints the exports of a shared library, sorted, without the node of the map,
# which is an absolute symbol.
exported_names() {
  nm -D --defined-only "$build/$1" | awk '$2 != "A" { print $3 }' |
    sed 's/@.*//' | LC_ALL=C sort
}

# Prints which lines of a file another lacks: lacks file other "what that
# means".
lacks() {
  LC_ALL=C comm -23 "$1" "$2" | sed "s|.*|$3|" | grep .
}

# The headers, the symbol map and the shared library name the same functions:
# exports map library header …
# (The linker ignores a name in the map that is not defined.)
exports() {
  rc=0
  map=$1
  library=$2
  shift 2
  declared_names "$@" >"$results.declared"
  mapped_names "$map" >"$results.mapped"
  exported_names "$library" >"$results.exported"
  if [ ! -s "$results.declared" ] ||
    [ "$(cat "$@" | grep -c '^UVPERF_EXTERN')" -ne \
      "$(wc -l <"$results.declared")" ]; then
    echo "this check cannot read the headers"
    return 1
  fi
  if ! LC_ALL=C sort -c "$results.mapped"; then
    echo "lib/$map is not sorted"
    return 1
  fi
  lacks "$results.declared" "$results.mapped" \
    "lib/$map lacks the line '    &;'" && rc=1
  lacks "$results.mapped" "$results.declared" \
    "lib/$map has the line '    &;', but no header declares it" && rc=1
  lacks "$results.mapped" "$results.exported" \
    "lib/$map has &, but no file of lib/ defines it" && rc=1
  lacks "$results.exported" "$results.mapped" \
    "$library exports &, which lib/$map lacks" && rc=1
  return "$rc"
}

# For all headers except the component's.
core_exports() {
  set -- uvperf.map libuvperf.so
  for path in "$root"/include/uvperf/*.h; do
    [ "${path##*/}" = tracepoint.h ] || set -- "$@" "$path"
  done
  exports "$@"
}

tracepoint_exports() {
  exports tracepoint/uvperf_tracepoint.map libuvperf_tracepoint.so \
    "$root/include/uvperf/tracepoint.h"
}

# Prints the number after a name in version.h.
version_part() {
  sed -n "s/^#define UVPERF_VERSION_$1 *//p" "$root/include/uvperf/version.h"
}

# CMake and the symbol map follow version.h.
versions() {
  minor=$(version_part MAJOR).$(version_part MINOR)
  if ! grep -q "^CMAKE_PROJECT_VERSION:STATIC=$minor.$(version_part PATCH)\$" \
    "$build/CMakeCache.txt"; then
    echo "CMake found another version than $minor in version.h"
    return 1
  fi
  versions_of uvperf.map UVPERF libuvperf.so || return 1
  [ -f "$build/libuvperf_tracepoint.so" ] || return 0
  versions_of tracepoint/uvperf_tracepoint.map UVPERF_TRACEPOINT \
    libuvperf_tracepoint.so
}

# The same of one library: versions_of map node library
versions_of() {
  if ! grep -q "^$2_$minor {\$" "$root/lib/$1"; then
    echo "lib/$1 must begin with '$2_$minor {'"
    return 1
  fi
  readelf -d "$build/$3" >"$results.elf" || return 1
  if ! grep -q "SONAME.*\[$3\.$minor\]" "$results.elf"; then
    grep SONAME "$results.elf"
    echo "the soname of $3 must be $3.$minor"
    return 1
  fi
}

# The headers have the ABI of the files in test/abi/.
abi() {
  rc=0
  sh "$root/test/abi.sh" "$results.abi" || return 1
  for library in libuvperf libuvperf_tracepoint; do
    abidiff --harmless "$root/test/abi/$library.abi" \
      "$results.abi/$library.abi" || rc=1
  done
  if [ "$rc" -ne 0 ]; then
    echo "The ABI differs from test/abi/. If that is intended, run" \
      "'sh test/abi.sh', and commit what it writes there."
  fi
  return "$rc"
}

# Prints what a library or program lacks of the flags in lib/flags.cmake.
hardened() {
  rc=0
  for option in -hW -lW -dW; do readelf "$option" "$1"; done >"$results.elf" &&
    nm -D "$1" >>"$results.elf" || return 1
  for mark in 'Type: *DYN ' 'GNU_RELRO ' 'GNU_STACK .* RW ' '(FLAGS_1).* NOW' \
    'U __stack_chk_fail' 'U __[a-z]*_chk\(@.*\)*$'; do
    if ! grep -q "$mark" "$results.elf"; then
      echo "$1: readelf and nm do not print '$mark'"
      rc=1
    fi
  done
  return "$rc"
}

hardening() {
  rc=0
  for file in "$build"/libuvperf*.so "$build"/samples/tools/uvperf-*; do
    hardened "$file" || rc=1
  done
  return "$rc"
}

# The same for a program compiled with these flags, for check_hardening.
can_harden() {
  printf '%s\n' '#include <stdio.h>' 'int main(int argc, char **argv)' \
    '{ char text[9]; return sprintf(text, "%s", argv[argc - 1]) + *text; }' |
    ${CC:-cc} -O2 -fPIE -pie -fstack-protector-strong -U_FORTIFY_SOURCE \
      -D_FORTIFY_SOURCE=2 -Wl,-z,relro,-z,now,-z,noexecstack -x c - \
      -o "$results.probe" 2>/dev/null && hardened "$results.probe" >/dev/null
}

# The folders of lib/ in their order: a file includes and calls files of its own
# folder and of folders before it. Handles do not include each other.
folders="util sys attr host explain name ring decode count evlist loop event set bpf"
with_loop="loop event set bpf"
handles="event set bpf"

# Prints which lines "place folder other" are against the order.
against_order() {
  awk -v order="$folders" -v handles="$handles" '
    BEGIN {
      n = split(order, list); for (i = 1; i <= n; i++) at[list[i]] = i
      n = split(handles, list); for (i = 1; i <= n; i++) is_handle[list[i]] = 1
    }
    $2 == $3 { next }
    !($2 in at) || !($3 in at) || at[$3] > at[$2] ||
      (is_handle[$2] && is_handle[$3]) {
      print $1 ": " $2 "/ must not include or call " $3 "/"; rc = 1
    }
    END { exit rc }'
}

# Prints "file folder other" for each include in lib/, except public headers.
includes() {
  (cd "$root/lib" && grep -o '^#include "[^"]*"' -- */*.[ch]) |
    sed -n 's|^\(\([a-z]*\)/[^:]*\):#include "\(.*\)"|\1 \2 \3|p' |
    awk '$3 !~ /^uvperf(\/|\.h)/ && $2 != "tracepoint"'
}

# Includes name the folder, and keep the order.
include_order() {
  rc=0
  includes >"$results.includes"
  if ! grep -q '^ring/ring\.c ring ring/ring\.h$' "$results.includes"; then
    echo "this check does not see what lib/ring/ring.c includes"
    return 1
  fi
  if awk '$3 !~ /\//' "$results.includes" | grep .; then
    echo "these includes lack the folder"
    rc=1
  fi
  if awk '$3 ~ /internal\.h$/ && $3 !~ "^" $2 "/"' "$results.includes" |
    grep .; then
    echo "an internal header is for its own folder"
    rc=1
  fi
  sed 's|/[^/]*$||' "$results.includes" | against_order || rc=1
  if (cd "$root/lib" && grep '^#include "' tracepoint/*.[ch]) |
    grep -vE '"(uvperf|tracepoint)/'; then
    echo "a component may include only the public headers and its own"
    rc=1
  fi
  return "$rc"
}

# Only loop/ and the handles include uv.h.
libuv_order() {
  rc=0
  for path in "$root"/lib/*/*.c; do
    folder=${path%/*}
    case " $with_loop tracepoint " in *" ${folder##*/} "*) continue ;; esac
    ${CC:-cc} -D_DEFAULT_SOURCE -I "$root/include" -I "$root/lib" $uv -M \
      "$path" >"$results.d" || rc=1
    if grep '/uv\.h' "$results.d"; then
      echo "$path includes uv.h"
      rc=1
    fi
  done
  return "$rc"
}

# Runs nm on the objects of lib/ in the plain build, and prints "folder/file"
# and nm's line for each symbol. An object whose source was removed may still
# exist.
symbols() {
  objects=$(cd "$root/lib" && ls -- */*.c | grep -v '^tracepoint/' |
    sed 's/$/.o/')
  (cd "$build/CMakeFiles/uvperf_static.dir/lib" && nm -A "$@" -- $objects) |
    sed 's/\.c\.o:/ /'
}

# Prints "object other symbol" for each call from one object of lib/ to another.
object_calls() {
  symbols -g | awk '
    $2 == "U" { calls[$1 " " $3]; next }
    { home[$4] = $1 }
    END {
      for (call in calls) {
        split(call, part)
        if (part[2] in home)
          print part[1], home[part[2]], part[2]
      }
    }'
}

# Calls keep the order of the folders, and objects do not call in circles.
circles() {
  rc=0
  object_calls >"$results.calls"
  if ! grep -q '^event/.* ring/ring ' "$results.calls"; then
    echo "nm does not see that event/ calls ring/: this check does not work"
    return 1
  fi
  sed 's|^\([a-z]*\)/\([^ ]*\) \([a-z]*\)/[^ ]*|\1/\2 \1 \3|' \
    "$results.calls" | against_order || rc=1
  if cut -d ' ' -f 1,2 "$results.calls" | tsort 2>&1 >/dev/null | grep .; then
    echo "these objects of lib/ call each other in a circle"
    rc=1
  fi
  return "$rc"
}

# Prints the functions that tests replace with the linker's --wrap.
wrapped_names() {
  cat "$build"/../build.ninja "$build"/../test/CMakeFiles/*/link.txt \
    2>/dev/null | tr ' ,' '\n\n' |
    sed -n 's/^--wrap=//p' | sort -u
}

# A function that tests replace must not be called in the file that defines it:
# the linker does not see such a call, so it would not be replaced. Compiled
# without inlining, which would hide it.
wraps() {
  rc=0
  wrapped_names >"$results.wrapped"
  if ! grep -qx uvperf__sys_open "$results.wrapped"; then
    echo "this check does not find what tests wrap"
    return 1
  fi
  symbols -g --defined-only | awk '
      NR == FNR { is_wrapped[$1]; next } $4 in is_wrapped { print $1, $4 }' \
      "$results.wrapped" - >"$results.homes"
  for file in $(cut -d ' ' -f 1 "$results.homes" | sort -u); do
    ${CC:-cc} -O0 -std=c11 -D_DEFAULT_SOURCE -I "$root/include" \
      -I "$root/lib" $uv -c -o "$results.o" "$root/lib/$file.c" || rc=1
    for name in $(awk -v file="$file" '$1 == file { print $2 }' \
      "$results.homes"); do
      if objdump -r "$results.o" | grep -qE " $name([-+]|\$)"; then
        echo "lib/$file.c calls $name, which tests wrap"
        rc=1
      fi
    done
  done
  return "$rc"
}

# Prints which names of a list the objects of lib/, except some, call; fails if
# they call none. Fortified and 64-bit variants count too:
# calls "names|…" "files|…".
calls() {
  symbols -u | grep -vE "^($2) " |
    grep -E " (__)?($1)(64)?(_chk)?\$"
}

# The system calls of perf events are made only in sys/. util/file.c reads text
# files, not events, and tests do not script it.
calls_of_sys() {
  if ! calls 'ioctl' 'none' | grep -q '^sys/sys '; then
    echo "nm does not see the ioctl in sys/sys.c: this check does not work"
    return 1
  fi
  if calls 'ioctl|mmap|munmap|madvise|poll|ppoll' 'sys/sys' ||
    calls 'socket|bind|recv|recvfrom|recvmsg' 'sys/sys' ||
    calls 'syscall|open|openat|read|pread|close' 'sys/sys|sys/bpf|util/file'
  then
    echo "these belong in lib/sys/ or lib/util/file.c"
    return 1
  fi
}

# sys/opener.c opens all events, so that options.open is called for each. The
# other files only find out what the kernel knows, and not if the program opens
# events.
opens() {
  if ! calls uvperf__sys_open 'none' | grep -q '^sys/opener '; then
    echo "nm does not see the call in sys/opener.c: this check does not work"
    return 1
  fi
  if calls uvperf__sys_open \
    'sys/opener|attr/kernel_knows|explain/open|explain/open_denied'; then
    echo "call uvperf__open of lib/sys/opener.h instead"
    return 1
  fi
}

# Tools write files through common/out_file.c, which creates them for their
# owner alone and follows no link of another user. (Except the filter that
# forbids to create files.)
tool_files() (
  cd "$root/samples/tools" || exit 1
  pattern='O_CREAT|O_TRUNC|fopen\(.*"[wa]|mkstemp|creat\(|mknod\(|mkdir\('
  if ! grep -lqE "$pattern" common/out_file.c; then
    echo "common/out_file.c creates no files: this check does not work"
    exit 1
  fi
  ! grep -rnE --include='*.c' "$pattern" . | grep -v -e '^./common/out_file.c:' \
    -e '^./profile/symbols/filter.c:.*IF_ANY_BIT'
)

# All memory comes from util/alloc.c, and no function is called that allocates
# without the user's allocator, such as stdio's streams and opendir(3). (Except
# uv_queue_work, which starts libuv's pool once: see version.h. loop/threads.c
# tries to make as many threads.)
memory() {
  own='malloc|calloc|realloc|reallocarray|free|.*memalign|aligned_alloc|mallopt'
  text='.*strn?dup|v?asprintf|v?f?printf|getline|getdelim|strerror(_l)?|psignal'
  files='f(d|re|mem)?open|popen|open_memstream|tmpfile|.*opendir|scandir.*|n?ftw'
  rest='glob|fts_open|realpath|getcwd|qsort(_r)?|setenv|get(pw|gr).*|regcomp'
  libuv='uv_(strerror|err_name|fs|os|thread|spawn|cpu_info)(_.*)?'
  if ! calls 'calloc' 'none' | grep -q '^util/alloc '; then
    echo "nm does not see the calloc in util/alloc.c: this check does not work"
    return 1
  fi
  if calls "$own|$text|$files|$rest|$libuv" 'util/alloc|loop/threads'; then
    echo "these allocate memory without the allocator of uvperf_replace_allocator"
    return 1
  fi
}

# Any thread may look up names: lib/ has no writable state that outlives a call,
# except what lib/README.md lists, and calls no function that shares state in
# libc or changes the whole process. (Tables of addresses are read-only after
# relocation: .data.rel.ro.)
state() {
  kept='attr/kernel_knows uvperf__known|loop/hub table|loop/handle closed_now'
  kept="$kept|loop/threads trial"
  kept="$kept|sys/fork (last_number|no_mark|the_mark)"
  shared='strtok|strerror|strsignal|getenv|setlocale|localeconv|rand|readdir'
  shared="$shared|getmntent|(local|gm|as)?c?time|ttyname|dirname|basename"
  process='signal|sigaction|chdir|fchdir|umask|setns|unshare|setrlimit|dup2'
  symbols -f sysv --defined-only | awk -F '|' '
    $7 ~ /^ *(\.t?(data|bss)|\*COM\*)/ && $7 !~ /rel\.ro/ {
      sub(/ *$/, "", $1); print $1 }' >"$results.state"
  if ! grep -qx 'util/alloc user_calloc' "$results.state"; then
    echo "nm does not see what util/alloc.c keeps: this check does not work"
    return 1
  fi
  if grep -vxE "$kept|util/alloc user_(calloc|free)" "$results.state" ||
    calls "$shared|$process" 'loop/threads'; then
    echo "these are not safe with several threads"
    return 1
  fi
}

# Each C block of the README and of the guides is part of the sample that was
# last named before it: the whole program without the comment at its beginning,
# or consecutive lines, which may be indented less.
readme() (
  cd "$root" && awk -v top="$root/" '
    function strip(line) { sub(/^[ \t]+/, "", line); return line }
    function load(file, line) {
      nr = 0
      while ((getline line <(top file)) > 0) lines[++nr] = strip(line)
      close(top file)
    }
    function has(from, i) {
      for (i = 1; i <= blocks; i++)
        if (lines[from + i - 1] != block[i]) return 0
      return 1
    }
    function check(i) {
      for (i = 1; i + blocks <= nr + 1; i++)
        if (has(i)) { seen++; return }
      print FILENAME ":" start ": this is not in " sample
      bad = 1
    }
    FNR == 1 { sample = "no sample" }
    !on && match($0, /`samples\/[a-z0-9_\/]+\.(c|cpp|js)`/) {
      sample = substr($0, RSTART + 1, RLENGTH - 2)
    }
    !on && match($0, /\(\.\.\/[a-z0-9_\/]+\.(c|cpp|js)\)/) {
      sample = "samples/" substr($0, RSTART + 4, RLENGTH - 5)
    }
    /^```(c|cpp|js)$/ { on = 1; blocks = 0; start = FNR; next }
    /^```/ && on { on = 0; load(sample); check(); next }
    on { block[++blocks] = strip($0) }
    END {
      if (seen == 0) print "README.md has no block: this check does not work"
      exit bad || seen == 0
    }' README.md $(ls samples/guides/*.md 2>/dev/null)
)

# Whether a document has a heading, named as in a link; "" is its beginning.
has_heading() {
  [ -z "$2" ] || sed -n 's/^#* //p' "$1" | tr 'A-Z ' 'a-z-' |
    tr -d "'\`:,.()/?" | grep -qxF -- "$2"
}

# Relative links of documents lead to a file, and to a heading of it.
links() (
  cd "$root" && rc=0
  for document in $(git ls-files '*.md' 2>/dev/null || find . -name '*.md'); do
    for link in $(awk '/^ *```/ { on = !on } !on && !/^    /' "$document" |
      grep -o '](\([^)]*\))' | sed 's/^](//; s/)$//' | grep -v '^[a-z]*:'); do
      file=${link%%#*}
      [ -n "$file" ] && file=$(dirname "$document")/$file || file=$document
      case $link in *'#'*) heading=${link#*#} ;; *) heading= ;; esac
      if [ ! -e "$file" ] || ! has_heading "$file" "$heading"; then
        echo "$document: $link leads nowhere"
        rc=1
      fi
    done
  done
  return "$rc"
)

# Each function that the libraries export is called by a sample or a tool, or
# test/unsampled.txt says why not.
sampled() {
  rc=0
  cat "$root"/samples/*.c "$root"/samples/*.cpp "$root"/samples/*/*.c \
    "$root"/samples/tools/*/*.c "$root"/samples/tools/*/*/*.c |
    grep -o 'uvperf_[a-z0-9_]*' | sort -u >"$results.called"
  sed -n 's/^\(uvperf_[a-z0-9_]*\): ..*/\1/p' "$root/test/unsampled.txt" |
    sort >"$results.unsampled"
  sed -n 's/^ *\(uvperf_[a-z0-9_]*\);$/\1/p' "$root/lib/uvperf.map" \
    "$root/lib/tracepoint/uvperf_tracepoint.map" | sort >"$results.exported"
  if ! grep -qx uvperf_event_init "$results.exported"; then
    echo "lib/uvperf.map is not as expected: this check does not work"
    return 1
  fi
  comm -12 "$results.called" "$results.unsampled" >"$results.both"
  sort "$results.called" "$results.unsampled" |
    comm -23 "$results.exported" - >"$results.neither"
  comm -13 "$results.exported" "$results.unsampled" >"$results.gone"
  for list in both neither gone; do
    while read -r name; do
      case $list in
        both) echo "$name is in samples/: take it off test/unsampled.txt" ;;
        neither) echo "no sample calls $name, and test/unsampled.txt has no line" ;;
        gone) echo "test/unsampled.txt names $name, which is not exported" ;;
      esac
      rc=1
    done <"$results.$list"
  done
  return "$rc"
}

# surface.txt has each function of 0.2 and of 0.3. A function of 0.2 that is not
# exported any more has its successor, and no equal of the Go packages is lost.
surface() {
  rc=0
  sed -n 's/^ *\(uvperf_[a-z0-9_]*\);$/exported \1/p' "$root"/lib/*.map \
    "$root"/lib/tracepoint/*.map >"$results.surface"
  sed -n 's/^\(static inline .*[ *]\)*\(uvperf_[a-z0-9_]*\)(.*/inline \2/p' \
    "$root"/include/uvperf/*.h >>"$results.surface"
  sed '/^#/d; s/:/ /' "$root/test/surface.txt" | awk '
    FNR == NR { here[$2] = 1; if ($1 == "exported") exported[$2] = 1; next }
    $1 == "new" { planned[$2] = 1; next }
    { listed[$1] = 1; nr++ }
    $2 == "stays" || $2 == "inline" { successor = $1 }
    $2 == "becomes" { successor = $3 }
    $2 != "goes:" { if ($2 != "inline") planned[successor] = 1
      if (!($1 in here) && !(successor in here))
        print $1 " is gone, and so is " successor }
    END {
      for (name in exported)
        if (!(name in listed) && !(name in planned))
          print name " is not in surface.txt"
      for (name in planned) count++
      if (nr != 212) print "surface.txt has " nr " of the 212 functions of 0.2"
      if (count > 130) print "0.3 would have " count " functions" }
    ' "$results.surface" - >"$results.lost" || rc=1
  for name in AvailableTracers CurrentTracer AvailableSubsystems \
    Event.QueryBPF Event.Measure Event.MeasureGroup ResumeOutput \
    LookupEventType Set.FDs Attr.SetSamplePeriod Attr.SetWakeupEvents Group.Add \
    Remaining; do
    grep -q "^|.*\`$name\`.*| [=+][^|]*|$" "$root/test/peers/README.md" ||
      echo "test/peers/README.md has no equal for $name" >>"$results.lost"
  done
  [ ! -s "$results.lost" ] || { cat "$results.lost"; rc=1; }
  return "$rc"
}

# Each sample has a test that runs it, and a row in the index.
sample_tests() {
  rc=0
  for path in "$root"/samples/*.c "$root"/samples/*.cpp; do
    file=${path##*/}
    [ "$file" = workload.c ] && continue
    if [ ! -f "$root/test/samples/test_${file%.*}.c" ] &&
      ! grep -q "SAMPLES \"/${file%.*}\"" "$root/test/samples/test_all.c"; then
      echo "samples/$file has no test in test/samples/"
      rc=1
    fi
    if ! grep -q "| $file |" "$root/samples/README.md"; then
      echo "samples/README.md has no row for $file"
      rc=1
    fi
  done
  return "$rc"
}

# Each header of support/ is in its tour.
support_tour() {
  rc=0
  for path in "$root"/test/support/*.h "$root"/test/support/tools/*.h; do
    grep -qw "${path##*/}" "$root/test/support/README.md" || {
      echo "test/support/README.md does not name ${path##*/}"
      rc=1
    }
  done
  return "$rc"
}

# A sample that prints and can succeed reports lost output. top_functions.c does
# so after each table.
sample_output() {
  rc=0
  for path in "$root"/samples/*.c "$root"/samples/*.cpp; do
    case ${path##*/} in top_functions.c) continue ;; esac
    if grep -qE '(^|[ (:])(printf|puts)\(' "$path" &&
      ! grep -q '^  return uv_run(' "$path" &&
      ! grep -q 'ferror(stdout)' "$path"; then
      echo "samples/${path##*/} does not check ferror(stdout)"
      rc=1
    fi
  done
  return "$rc"
}

# The lines of a file with this beginning have the form "what | how | tests",
# and name tests that exist and are in the table of their program, unless how is
# "none": names_tests file beginning
names_tests() {
  rc=0
  lines=$(awk -v begin="$2" 'index($0, begin) == 1' "$root/test/$1")
  if [ -z "$lines" ]; then
    echo "test/$1 has no line that begins with $2"
    return 1
  fi
  if echo "$lines" | grep -v '^[^|]* | [^|]* | [^|]*[^| ]$'; then
    echo "test/$1 has lines without three parts"
    rc=1
  fi
  for name in $(echo "$lines" | awk -F ' [|] ' '
    $2 != "none" && $3 !~ /^none of its own:/ { print $3 }'); do
    # Once as a function, once in the table; or a row of a table.
    if [ "$(cat "$root"/test/*/test_*.c "$root"/test/*/*/test_*.c |
      sed "s/{\"$name\",/& $name/; s/PLAY($name,/& $name/" |
      grep -ow "$name" | grep -c .)" -lt 2 ]; then
      echo "test/$1 names $name, which is no test"
      rc=1
    fi
  done
  return "$rc"
}

# A line for each of these: has_lines file what …
has_lines() {
  rc=0
  file=$1
  shift
  for what in "$@"; do
    grep -q "^$what .* | .* | ." "$root/test/$file" || {
      echo "test/$file has no line for $what"
      rc=1
    }
  done
  return "$rc"
}

# FACTS has a line for each fact of polling, and names tests that exist.
facts() {
  has_lines FACTS P1 P2 P3 P4 P5 P6 P7 P8 P9 P10 P11 P12 P13 P14 P15 P16 P17 \
    P18 P19 P20 P21 P22 P23 && names_tests FACTS P &&
    names_tests FACTS R && names_tests FACTS N
}

# ORIGINS names tests that exist, for each of the systems.
origins() {
  names_tests ORIGINS "go-perf " && names_tests ORIGINS "perf-utils " &&
    names_tests ORIGINS "perf-agent " && names_tests ORIGINS "cilium " &&
    names_tests ORIGINS "libbpf "
}

# Names of the library in documents for users are in a header.
public_names() (
  cd "$root" && rc=0
  for document in README.md test/peers/README.md samples/guides/*.md; do
    for name in $(grep -v '^    ' "$document" |
      grep -oE '\b((uvperf|UVPERF)_[A-Za-z0-9_]+|UV_E[A-Z0-9]+)' | sort -u); do
      grep -qw "$name" include/uvperf/*.h CMakeLists.txt lib/*.cmake \
        samples/run.sh test/run.sh || {
        echo "$document names $name, which is neither public nor an option"
        rc=1
      }
    done
  done
  return "$rc"
)

# Tests of live/ and peers/ run on some machines only, so unit/ has the wording
# of reasons. Here a text that is looked for in a reason, or that follows a code
# or a cause, or ends a call that expects a refusal, is one word.
live_wording() (
  cd "$root/test" && awk '
    function check_file(nr, part, i) {
      gsub(/" +"/, "", text)
      nr = split(text, part, /[;{}]/)
      for (i = 1; i <= nr; i++)
        if (part[i] ~ /reason, *"[^"]* / ||
          part[i] ~ /(^|[,(]) *(UVPERF_CAUSE_|UV_E|-E)[A-Z0-9_]*, *"[^"]* / ||
          part[i] ~ /(refuse|explain_(check|expect)).*, *"[^"]* [^"]*("\)+)?$/) {
          print file ": " part[i]; bad = 1
        }
      seen += text ~ /explain_check\(/
      text = ""
    }
    FNR == 1 { check_file(); file = FILENAME }
    { gsub(/\\"/, "\047"); sub(/^ +/, ""); text = text " " $0 }
    END {
      check_file()
      if (!seen) print "this check sees no explain_check: it does not work"
      exit bad || !seen
    }' live/*.c peers/*.c
)

# EXPLANATIONS has a line for each errno that lib/explain/ looks for, and names
# tests that exist.
explanations() {
  # A list of words: shellcheck disable=SC2046
  has_lines EXPLANATIONS $(grep -oh '[{ ]-E[A-Z0-9]*[,:]' \
    "$root"/lib/explain/*.c | tr -cd 'A-Z0-9\n' | sort -u) &&
    names_tests EXPLANATIONS E
}

# Files of lib/ without a test of their name: the shared parts of a handle,
# which all its tests use; and the parts that event/, set/ and bpf/ have in
# common, which are tested there, in test_control*.c, test_drain*.c, and live.
tested_by_users="set/base evlist/base"
tested_by_users="$tested_by_users loop/stats loop/rings loop/stream_options host/ioctl"

# Whether a test is named after a file of lib/: test_named_after folder file.
# Tests that need the kernel are in live/, with the name of a handle before it.
test_named_after() {
  live="($1_)?"
  case " $handles " in *" $1 "*) live=$1_ ;; esac
  grep -qE "^(unit/$1/test_|live/test_$live)$2(_.*)?\.c\$" "$results.tests"
}

# Each file of lib/ has its test at the expected place.
own_tests() {
  rc=0
  (cd "$root/test" && ls unit/*/test_*.c live/test_*.c) >"$results.tests"
  for path in "$root"/lib/*/*.c; do
    file=${path#"$root/lib/"}
    file=${file%.c}
    case " $tested_by_users " in *" $file "*) continue ;; esac
    if ! test_named_after "${file%/*}" "${file#*/}"; then
      echo "lib/$file.c has no test/unit/${file%/*}/test_${file#*/}.c" \
        "and nothing in test/live/ that is named so"
      rc=1
    fi
  done
  for file in $tested_by_users; do
    if [ ! -f "$root/lib/$file.c" ] ||
      test_named_after "${file%/*}" "${file#*/}"; then
      echo "lib/$file.c is gone or has a test now: take it off the list"
      rc=1
    fi
  done
  return "$rc"
}

# Prints the instructions of a function for aarch64: aarch64_code file function
# (This machine may have no headers for aarch64, so its own are read first. The
# types are the same.)
aarch64_code() {
  clang -E -std=c11 -D_DEFAULT_SOURCE -I "$root/include" -I "$root/lib" \
    "$root/lib/$1" |
    clang -target aarch64-linux-gnu -O0 -S -x cpp-output -o - - |
    awk -v label="$2:" '$1 == label { on = 1 } /\.cfi_endproc/ { on = 0 } on'
}

# Looks for an instruction in a function: orders file function instruction
orders() {
  aarch64_code "$1" "$2" >"$results.s"
  if ! [ -s "$results.s" ]; then
    echo "this check does not find $2 in what clang makes of lib/$1"
    return 1
  fi
  if ! grep -qE "^[[:space:]]*($3)([[:space:]]|\$)" "$results.s"; then
    cat "$results.s"
    echo "lib/$1: $2 needs $3"
    return 1
  fi
}

# Loads and stores of aarch64 have no order unless the code requests it. On x86
# all tests pass without.
barriers() {
  orders ring/ring.c uvperf__ring_head 'ldar|ldapr' &&
    orders ring/ring.c ring_publish stlr &&
    orders ring/snapshot.c ring_held dmb
}

# The compiler may refuse to inline functions, always or into a template,
# depending on its optimization options.
optimizing() {
  rc=0
  for path in $(grep -lE 'always_inline|"(loop/drain|decode/merge)\.h"' "$root"/lib/*/*.c); do
    for level in 0 1 2 3 s; do
      ${CC:-cc} "-O$level" -std=c11 -D_DEFAULT_SOURCE -Wall -Wextra -Werror \
        -I "$root/include" -I "$root/lib" $uv -c -o "$results.o" "$path" || rc=1
    done
  done
  return "$rc"
}

# No byte of a record that may be changing is read twice: runs
# unit/decode/test_decoder_flip.c with decode/ as a compiler makes it, and with
# a call before each load: changing_bytes compiler option
changing_bytes() {
  test=$root/test
  rm -rf "$results.flip" && mkdir "$results.flip" || return 1
  (cd "$results.flip" && "$1" "$2" -g -fsanitize=thread -std=c11 \
    -D_DEFAULT_SOURCE -I "$root/include" -I "$root/lib" -c \
    "$root"/lib/decode/*.c "$root"/lib/ring/ring.c "$root/lib/util/line.c") ||
    return 1
  for program in decode/test_decoder_flip.c ring/test_ring_flip.c; do
    "$1" -g -fsanitize=address -std=c11 -D_GNU_SOURCE -DMOST=400 -DCHANGES=100 \
      -I "$root/include" -I "$root/lib" -I "$test/support" $uv \
      "$test/unit/$program" \
      "$test"/unit/decode/flipper_hooks.c "$test"/support/make_record.c \
      "$test"/support/check_bounds.c \
      "$results.flip"/*.o "$build/libuvperf.a" -o "$results.flip/flip" \
      $("${PKG_CONFIG:-pkg-config}" --cflags --libs cmocka libuv) &&
      CMOCKA_MESSAGE_OUTPUT=stdout "$results.flip/flip" || return 1
  done
}

# No line of C is longer than 80 columns, except a URL, or a lone string without
# a place to break it. Continuation bytes of UTF-8 take no column.
columns() {
  rc=0
  find "$root/include" "$root/lib" "$root/samples" "$root/test" \
    -name '*.[ch]' -type f >"$results.files" || return 1
  if ! grep -q '/lib/event/event\.c$' "$results.files"; then
    echo "find does not see lib/event/event.c: this check does not work"
    return 1
  fi
  while read -r path; do
    LC_ALL=C awk -v path="${path#"$root/"}" '
      { line = $0; gsub(/[\200-\277]/, "") }
      length() > 80 && !/:\/\// && !/^ *"[^ "]*"[,;)]*$/ {
        print path ":" NR ": " line; rc = 1 }
      END { exit rc }' "$path" || rc=1
  done <"$results.files"
  return "$rc"
}

check headers_alone_compile_as_c11 headers_c11
check headers_alone_compile_as_gnu99 headers_gnu99
check_cxx headers_alone_compile_as_cxx11 headers_cxx11
check headers_below_event_need_no_libuv headers_without_libuv
check headers_symbol_map_and_exports_are_the_same core_exports
check tracepoint_component_exports_what_its_header_declares \
  tracepoint_exports
check version_is_the_same_everywhere versions
check_abi headers_have_the_abi_that_was_written_down abi
check_hardening libraries_and_tools_are_hardened hardening
check folders_include_only_those_before_them include_order
check folders_before_loop_do_not_know_libuv libuv_order
check objects_call_in_the_order_of_folders_and_in_no_circle circles
check wrapped_functions_are_not_called_where_they_are_defined wraps
check folders_but_sys_make_no_perf_calls calls_of_sys
check options_open_is_called_for_each_event opens
check_aarch64 ring_is_read_and_freed_in_order_on_aarch64 barriers
check templates_compile_however_they_are_optimized optimizing
check_sanitizers records_that_change_are_sound_without_optimization \
  changing_bytes "${CC:-cc}" -O0
check_sanitizers records_that_change_are_sound_with_optimization \
  changing_bytes "${CC:-cc}" -O2
check_sanitizers records_that_change_are_sound_with_clang changing_bytes clang -O2
check memory_comes_from_the_allocator_alone memory
check tools_create_files_by_out_file_alone tool_files
check library_has_no_state_that_threads_share state
check readme_code_is_that_of_the_samples readme
check links_of_documents_lead_somewhere links
check each_exported_function_is_in_a_sample sampled
check functions_of_0_2_stay_or_have_a_successor surface
check each_sample_has_a_test_and_a_row sample_tests
check each_header_of_support_is_in_its_tour support_tour
check each_sample_says_when_its_output_is_lost sample_output
check each_file_of_lib_has_a_test_named_after_it own_tests
check facts_name_tests_that_exist facts
check origins_name_tests_that_exist origins
check documents_use_public_names public_names
check live_tests_compare_no_wording live_wording
check explanations_name_each_errno_and_tests_that_exist explanations
check lines_have_at_most_80_columns columns
exit $failed
