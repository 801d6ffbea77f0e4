# SPDX-License-Identifier: MIT
# Sourced by test/run.sh, test/run_one.sh, test/vm/run.sh and test/vm/guest.sh:
# lists the test programs, runs one, evaluates and sums up the results. $root
# is the top of this project. Before `run` the sourcing script sets
#
#   results         a directory; each program gets a directory of its name there
#   skips           a file that lists what may be missing: see skips.txt
#   started         when the run began, in seconds since the epoch
#   run_seconds     how long all of them may take together
#   program_seconds how long one may take
#
# shellcheck shell=sh disable=SC2154

# Prints all tests in the order in which they run: the path below test/, and the
# name of the program in CMakeLists.txt.
all_tests() {
  (cd "$root/test" && ls checks.sh docs.sh install.sh samples.sh &&
    ls unit/*/test_*.c live/test_*.c samples/test_*.c tools/*/test_*.c \
      tools/profile/*/test_*.c peers/test_*.c) | awk '{
      name = $0; sub("/test_", "/", name); sub(/\.[a-z]*$/, "", name)
      gsub("/", "_", name); print $0, name }'
}

# Prints the tests that match a pattern by their path, with or without "test_",
# or by the name of their program.
matching() {
  all_tests | while read -r path name; do
    # shellcheck disable=SC2254 # a pattern
    case "$path ${path%test_*}${path##*test_} $name" in
      *$1*) echo "$path $name" ;;
    esac
  done
}

# Prints the requested tests, or which pattern matches none.
asked_for() {
  for pattern in "$@"; do
    matches=$(matching "$pattern")
    if [ -z "$matches" ]; then
      echo "$0: no test has '$pattern' in its path: see" \
        "ls test/unit/*/ test/live/ test/samples/ test/tools/*/ test/peers/" >&2
      exit 2
    fi
    echo "$matches"
  done
}

# One line per test: passed, failed or skipped, its name, why, and its program,
# with tabs between them.
note() {
  printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$program" >>"$notes"
}

# Prints the counts and exits. Everything else has been printed before.
finish() {
  awk -F '\t' '
    $1 == "skipped" { skips = skips "\n  " $2 ": " $3 }
    $1 == "failed" { failures = failures "\n  " $4 ", " $2 ": " $3 }
    { n[$1]++ }
    END {
      if (failures != "") print "failed:" failures
      if (skips != "") print "skipped:" skips
      printf "%d passed, %d failed, %d skipped\n", \
        n["passed"], n["failed"], n["skipped"]
      exit n["failed"] > 0 || n["passed"] == 0
    }' "$results/all"
  exit $?
}

# Prints the skipped tests of $results/all with the machine of test/vm/run.sh
# that has what they need, "nowhere", or "host" if the host should have it:
# machine, program, test and reason, with tabs between them.
skipped_tests() {
  awk -F '\t' '
    NR == FNR {
      if (match($0, /^@[^ ]* /)) {
        at = substr($0, 2, RLENGTH - 2)
        sub(/,.*/, "", at)
        where["needs " substr($0, RLENGTH + 1)] = at == "all" ? "aarch64" : at
      }
      next
    }
    $1 == "skipped" {
      print ($3 in where ? where[$3] : "host") "\t" $4 "\t" $2 "\t" $3
    }' "$skips" "$results/all"
}

# Runs a command in a process group of its own, and ends what is left of it
# afterwards. A hang ends with SIGSEGV, so that ASan shows where it was.
run_in_group() {
  # shellcheck disable=SC2016 # for the inner shell
  sh -c 'echo $$ >"$0" && exec timeout "$@"' "$directory/pid" \
    -s SEGV -k 5 "$limit" "$@" >"$output" 2>&1 </dev/null
  rc=$?
  kill -s KILL -- "-$(cat "$directory/pid")" 2>/dev/null
  rm -f "$directory/pid"
}

# Turns cmocka's XML into lines of state, tab, name, tab and message. If a suite
# has more errors than its tests, its group setup failed.
read_xml() {
  awk '
    function attribute(name) {
      if (!match($0, " " name "=\"[^\"]*"))
        return ""
      return substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3)
    }
    function add_message(text) {
      in_message = !sub(/\]\]>.*/, "", text)
      gsub(/\t/, " ", text)
      message = message (message == "" ? "" : " | ") text
    }
    in_message { add_message($0); next }
    /^ *<testsuite / {
      suite = attribute("name")
      bad = attribute("failures") + attribute("errors")
    }
    /^ *<testcase / {
      name = attribute("name"); state = "passed"; message = ""
    }
    /^ *<failure/ { state = "failed"; bad-- }
    /^ *<failure><!\[CDATA\[/ { add_message(substr($0, index($0, "CDATA[") + 6)) }
    /^ *<skipped/ { state = "skipped" }
    /^ *<\/testcase>/ { print state "\t" name "\t" message }
    /^ *<\/testsuite>/ { if (bad > 0) print "failed\t" suite "\tgroup setup" }
  ' "$1"
}

# Root in a user namespace has the privileges of a user.
is_root() {
  [ "$(id -u)" -eq 0 ] &&
    case $(readlink /proc/self/ns/user) in
      '' | 'user:[4026531837]') ;;
      *) false ;;
    esac
}

# Notes a skip, if it is allowed: for root by a line of $skips.
note_skip() {
  if [ -z "$2" ]; then
    note failed "$1" "skipped without a reason"
  elif is_root &&
    ! sed 's/^@[^ ]* //; s/^/needs /' "$skips" | grep -qxF -e "$2"; then
    note failed "$1" "skipped, and is not in ${skips##*/}: $2"
  else
    note skipped "$1" "$2"
  fi
}

# The reason is in the test's output: "skipped: name: needs what".
judge_skip() {
  note_skip "$1" "$(sed -n "s/^skipped: $1: //p" "$output" | head -n 1)"
}

# Notes the results of a program: of its tests, and how it ended. 99 is the exit
# code of the sanitizers here, higher ones are from timeout and signals.
judge() {
  while IFS='	' read -r state test message; do
    if [ "$state" = skipped ]; then
      judge_skip "$test"
    else
      note "$state" "$test" "$message"
    fi
  done <"$directory/tests"
  if [ "$rc" -eq 124 ]; then
    note failed "$1" "hung: ended by SIGSEGV after $limit seconds"
  elif [ "$rc" -ge 99 ]; then
    note failed "$1" "died or leaked (exit code $rc)"
  elif [ ! -s "$directory/tests" ]; then
    note failed "$1" "ended without a result (exit code $rc)"
  elif [ "$rc" -ne 0 ] && ! grep -q '^failed' "$directory/tests"; then
    note failed "$1" "exit code $rc, though no test failed"
  fi
}

# Prints the notes of a program, with its output if a test failed. At once,
# because others print too.
say() {
  text=$(awk -F '\t' -v program="$1" -v seconds="$2" '
    { n[$1]++ }
    END {
      line = sprintf("%-36s %3d passed", program, n["passed"])
      if (n["failed"]) line = line ", " n["failed"] " failed"
      if (n["skipped"]) line = line ", " n["skipped"] " skipped"
      if (seconds >= 5) line = line ", " seconds " s"
      print line
    }' "$notes"
  if grep -q '^failed' "$notes"; then
    tail -n 200 "$output" | sed 's/^/    /'
  fi)
  printf '%s\n' "$text"
}

# Sets the files of a program, which are empty.
begin() {
  program=$1
  directory=$results/$program
  notes=$directory/notes
  output=$directory/output
  mkdir -p "$directory" && : >"$notes" && : >"$output" && : >"$directory/tests"
}

# Runs and evaluates one program within the time that is left: run name command
# …
run() {
  begin "$1"
  shift
  began=$(date +%s)
  limit=$((started + run_seconds - began))
  [ "$limit" -gt "$program_seconds" ] && limit=$program_seconds
  if [ "$limit" -le 0 ]; then
    note failed "$program" "not run: $run_seconds seconds are over"
    say "$program" 0
    return
  fi
  export CMOCKA_XML_FILE="$directory/xml"
  rm -f "$CMOCKA_XML_FILE"
  run_in_group "$@"
  [ -f "$CMOCKA_XML_FILE" ] && read_xml "$CMOCKA_XML_FILE" >"$directory/tests"
  judge "$program"
  say "$program" $(($(date +%s) - began))
}

# Prints why a program was not built: what may be missing.
lacks() {
  case $1 in
    unit_tracepoint_handle)
      echo "needs libtraceevent" ;;
    samples_node)
      echo "needs Node.js and its headers" ;;
    samples_agent | samples_name_addresses | samples_top_functions)
      echo "needs libelf" ;;
    samples_raii)
      echo "needs a C++ compiler" ;;
  esac
}

# Notes and prints that a program was not built: skip_program name
skip_program() {
  begin "$1"
  note_skip "$1" "$(lacks "$1")"
  say "$1" 0
}
