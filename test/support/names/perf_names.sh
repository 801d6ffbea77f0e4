#!/bin/sh
# SPDX-License-Identifier: MIT
# Writes perf_names.txt anew: what perf(1) makes of event names, as far as
# `perf stat -vv` prints it. Takes half a minute. perf 6.1 wrote the table
# that is committed; later ones know more.
#
# A line is: the tree of sysfs that perf saw, a tab, the name, and for each
# event that it gives a tab and its fields that are not 0; or "refused".
#
# exclude_guest is left out where the name has no modifier G or H: perf's tools
# exclude guests on their own, whatever the name is.
#
# Names and modifiers are lists of words:
# shellcheck disable=SC2046,SC2086
set -u

here=$(cd "$(dirname "$0")" && pwd) || exit 1
table=$here/perf_names.txt
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

# Puts up the sysfs of a file of paths and texts: plant file directory
plant() {
  grep -v '^#' "$1" | while read -r path text; do
    mkdir -p "$2/$(dirname "$path")" && printf '%s\n' "$text" >"$2/$path"
  done
}

# Turns what perf prints into the fields of each event. It tries an event that
# it cannot open again, with fewer bits: only the first of each config counts.
read_dump() {
  awk -v has_guest="$1" '
    function put(name, value) { fields = fields " " name "=" value }
    function event(    key) {
      key = type " " config " " config1 " " config2
      if (!(key in seen)) {
        seen[key] = 1
        line = line "\ttype=" type fields
        found = 1
      }
    }
    /^perf_event_attr:$/ {
      inside = 1; type = 0; fields = ""
      config = config1 = config2 = 0
      next
    }
    /^----/ { if (inside) event(); inside = 0 }
    !inside { next }
    $1 == "type" { type = $2 }
    $1 == "config" { config = $2; put("config", $2) }
    $1 == "bp_type" { put("bp_type", $2) }
    $1 == "{" && $3 == "config1" { config1 = $5; put("config1", $5) }
    $1 == "{" && $3 == "config2" { config2 = $5; put("config2", $5) }
    $1 ~ /^exclude_(guest|host)$/ && !has_guest { next }
    $1 ~ /^(exclude_.*|precise_ip|pinned|exclusive)$/ { put($1, $2) }
    END { print found ? line : "\trefused" }
  '
}

# One line of the table: ask tree name modifiers
ask() {
  guest=0
  case $3 in *[GH]*) guest=1 ;; esac
  printf '%s\t%s' "$1" "$2"
  SYSFS_PATH=$scratch/$1 perf stat -vv -e "$2" true 2>&1 | read_dump "$guest"
}

# Asks for each name of standard input, and for it with modifiers behind a
# separator ("" for names that end in a slash): ask_each tree separator mods …
ask_each() {
  tree=$1
  separator=$2
  shift 2
  while read -r name; do
    [ $# -gt 0 ] || ask "$tree" "$name" ""
    for modifiers in "$@"; do
      ask "$tree" "$name$separator$modifiers" "$modifiers"
    done
  done
}

words() {
  for word in "$@"; do printf '%s\n' "$word"; done
}

hardware="cpu-cycles cycles instructions cache-references cache-misses
  branch-instructions branches branch-misses bus-cycles
  stalled-cycles-frontend idle-cycles-frontend
  stalled-cycles-backend idle-cycles-backend ref-cycles"
software="cpu-clock task-clock page-faults faults context-switches cs
  cpu-migrations migrations minor-faults major-faults alignment-faults
  emulation-faults dummy bpf-output cgroup-switches"
cache_names="L1-dcache l1-d l1d L1-data L1-icache l1-i l1i L1-instruction
  LLC L2 dTLB d-tlb Data-TLB iTLB i-tlb Instruction-TLB
  branch branches bpu btb bpc node"
first_names="L1-dcache L1-icache LLC dTLB iTLB branch node"
operations="load loads read store stores write
  prefetch prefetches speculative-read speculative-load"
results="refs Reference ops access miss misses"

caches() {
  for cache in $cache_names; do
    words "$cache" "$cache-loads" "$cache-load-misses" "$cache-store-refs" \
      "$cache-misses"
  done
  for cache in $first_names; do
    for operation in $operations; do
      words "$cache-$operation"
      for result in $results; do
        words "$cache-$operation-$result"
      done
    done
    for result in $results; do
      words "$cache-$result" "$cache-$result-loads"
    done
  done
}

numbers() {
  words r0 r1 r1a8 r1A8 rcafe r00c0 r12345678 rffffffffffffffff \
    r10000000000000000 rxyz r 0:0 0:9 1:2 1:0x9 3:65536 3:0x10102 4:0x1a8 \
    4:18446744073709551615 6:1 9:0x10 99:1 5:0 1: :1
}

breakpoints() {
  for length in "" /1 /2 /4 /8 /3; do
    words "mem:0x1000$length"
    for access in r w x rw wr rx xw rwx xwr; do
      words "mem:0x1000$length:$access"
    done
  done
  words mem:4096 mem:0x0 mem:0xffffffff81000000 mem:0xffffffffffffffff:x \
    mem:0xffffffffffffffff0 mem:01000
  words mem: mem:0x mem:0x1000: mem:0x1000/ mem:0x1000:rr mem:0x1000:y \
    mem:0x1000:rwxr mem:zzz mem:0x1000/0x8 mem:0x1000:w:u mem:0x1000:u \
    mem:0x1000/2:r:k mem:0x1000/8:u
}

pmu_events() {
  words cpu// cpu/event/ cpu/event=0x3c/ cpu/event=60/ cpu/event=0x3c,umask=1/ \
    cpu/event=0x3c,umask=0x1,inv,cmask=2,edge=1,any/ \
    cpu/event=0xff/ cpu/event=256/ cpu/event=0x100/ cpu/inv=1/ cpu/inv=2/ \
    cpu/umask=0xff,event=0xff,cmask=0xff/ cpu/ldlat=30/ cpu/ldlat=65536/ \
    cpu/offcore_rsp=0xffffffffffffffff/ cpu/event=0xb7,offcore_rsp=0x10001/ \
    cpu/frontend=0xffffff,event=1/ cpu/in_tx/ cpu/in_tx,event=0x3c/ \
    cpu/mem-loads/ cpu/mem-stores/ cpu/cpu-cycles/ cpu/slots/ \
    cpu/cycles-t/ cpu/branch-instructions/ cpu/ref-cycles/ \
    cpu/mem-loads,ldlat=30/ cpu/ldlat=30,mem-loads/ cpu/mem-stores,inv/ \
    cpu/mem-stores,umask=0x1/ cpu/topdown-total-slots/ \
    cpu/config=5/ cpu/config=5,config1=7,config2=9/ cpu/config1=0xffff/ \
    cpu/config=0xffffffffffffffff/ cpu/r1a8/ cpu/r1a8,umask=2/ \
    cpu/event=1,name=x/ cpu/event=1,period=1000/ cpu/nope/ cpu/nope=1/ \
    cpu/event=/ cpu/event=x/ cpu/=1/ cpu/event=1 cpu/event=1,/ \
    cpu/event=1,,umask=1/ cpu/event=1,umask/ cpu/event=1,event=2/ \
    nope/event=1/ nope// msr/tsc/ msr/aperf/ msr/mperf/ msr/event=0x10/ \
    msr/event=0xffffffffffffffff/ msr/tsc,event=1/ \
    uncore_imc_0/event=0x3c1/ uncore_imc_0/event=0xfff/ \
    uncore_imc_0/event=0x1000/ uncore_imc_0/event=1,umask=0xffff/ \
    uncore_imc_0/match=0xabc/ uncore_imc_0/opcode=0x123456789abcdef/ \
    uncore_imc_0/opcode=0xf,match=0xfff,event=0xfff/ \
    uncore_imc_0/clockticks/ uncore_imc_0/data_reads/ uncore_imc_0/matched/ \
    uncore_imc_1/clockticks/ uncore_imc_1/event=0x200,umask=0x100/ \
    uncore_imc_1/match=1/ uncore_imc/clockticks/ imc/event=0x3c1/ \
    uncore_imc/event=1/ uncore_imc_?/clockticks/ uncore_*/clockticks/ \
    uprobe/retprobe/ uprobe/retprobe,ref_ctr_offset=0x10/ \
    uprobe/ref_ctr_offset=0xffffffff/ software/config=2/ \
    cycles/period=1000/ cycles/name=x/ instructions// \
    cpu-clock/period=1000/ r1a8/period=1000/ page-faults/config=1/
  # Events of PMUs alone, and what is no name.
  words tsc aperf mem-loads mem-stores slots cycles-t topdown-total-slots \
    clockticks data_reads nope cycle cyclesx instructionss "" , : / cycles: \
    cycles/ cycles:x :u CYCLES Cycles L1-DCACHE-loads l1D
}

hybrid_events() {
  words cpu_core/cycles/ cpu_atom/cycles/ cpu_core/instructions/ \
    cpu_atom/branch-misses/ cpu_core/branches/ cpu_atom/ref-cycles/ \
    cpu_core/L1-dcache-load-misses/ cpu_atom/L1-dcache-load-misses/ \
    cpu_core/event=0x3c/ cpu_atom/event=0x3c,umask=1/ cpu_core/r1a8/ \
    cpu_atom/r1a8/ cpu_core/mem-stores/ cpu_atom/mem-stores/ \
    cpu_core/ldlat=3/ cpu_atom/ldlat=3/ cycles LLC-loads r1a8 mem-stores
}

# Every set of some words, written one behind the other: sets word …
sets() {
  [ $# -gt 0 ] || { echo; return; }
  first=$1
  shift
  sets "$@" | while read -r rest; do
    printf '%s\n' "$rest" "$first$rest"
  done
}

modifiers() {
  for precise in "" p pp ppp; do
    sets u k h G H | sed "s/\$/$precise/"
  done | grep .
  words P I S D e uP kI uS uD ue DeI SDe upD ukhGHpppSDeI
}

bad_modifiers() {
  words uu kk ukhu pppp upp pup ppup GG II PP SS DD ee z uz U K uPp pP \
    ukhGHpppPSDeIW W b
}

all() {
  words $hardware $software | ask_each tree ""
  caches | ask_each tree ""
  numbers | ask_each tree ""
  breakpoints | ask_each tree ""
  pmu_events | ask_each tree ""
  hybrid_events | ask_each hybrid_tree ""
  echo cycles | ask_each tree : $(modifiers) $(bad_modifiers)
  words cpu/event=0x3c,umask=1/ page-faults/period=1000/ |
    ask_each tree "" u k h ukh G H GH p ppp up pG D e I Su uu pppp
  words page-faults r1a8 LLC-loads 1:2 mem:0x1000:w mem:0x1000/8 mem-stores |
    ask_each tree : u kh uG pp D ePIkS zz
  words cpu_atom/cycles/ | ask_each hybrid_tree "" u kpp G zz
}

command -v perf >/dev/null || { echo "needs perf(1)" >&2; exit 1; }
for tree in tree hybrid_tree; do
  plant "$here/$tree.txt" "$scratch/$tree"
done
{
  echo "# Written by perf_names.sh, which explains it: $(perf version)"
  all | awk '!seen[$0]++'
} >"$scratch/table" && mv "$scratch/table" "$table"
