#!/bin/sh
# SPDX-License-Identifier: MIT
# The manual: it is generated without a warning, is valid mdoc(7), has a page
# for each symbol and each tool, and is installed.
#
#   docs.sh build-directory results
#
# writes the results to the file of results, see check.sh.
#
# The checks are called by name:
# shellcheck disable=SC2317
set -u

root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
build=$(cd "$1" && pwd) || exit 1
results=$2
. "$root/test/setup.sh"
. "$root/test/check.sh"
man=$build/docs/man
output=$results.output

# Runs a command, and shows its output if that fails.
quietly() {
  "$@" >"$output" 2>&1 && return
  cat "$output"
  return 1
}

makes() {
  quietly cmake --build "$build" --target docs
}

# mandoc(1) looks for other pages only in /usr/share/man.
lint() {
  ! mandoc -Tlint "$man"/man?/*.? 2>/dev/null |
    grep -v ": referenced manual not found"
}

references() {
  code=0
  referred='s/^\.Xr \(uvperf[^ ]*\) \([137]\).*/man\2\/\1.\2/p'
  for name in $(sed -n "$referred" "$man"/man?/*.? | sort -u); do
    [ -f "$man/$name" ] || { echo "$name is referred to, but missing"; code=1; }
  done
  return $code
}

symbols() {
  code=0
  for name in $(sed -n 's/^ *\(uvperf_[a-z0-9_]*\);$/\1/p' "$root"/lib/*.map \
    "$root"/lib/*/*.map); do
    [ -f "$man/man3/$name.3" ] || { echo "$name has no page"; code=1; }
  done
  return $code
}

constants() {
  code=0
  for name in $(sed -n 's/^#define \(UVPERF_[A-Z0-9_]*\).*/\1/p
    s/^  \(UVPERF_[A-Z0-9_]*\),*\( .*\)*$/\1/p' "$root"/include/uvperf/*.h |
    grep -v -e '_H$' -e '_EXTERN$'); do
    grep -q "^\.It Dv $name\b" "$man"/man3/*.3 ||
      { echo "$name is on no page"; code=1; }
  done
  return $code
}

tools() {
  code=0
  for tool in "$build"/samples/tools/uvperf-*; do
    name=$(basename "$tool")
    for option in $("$tool" --help |
      sed -n '/^Not here/q; s/^  -\(-*[A-Za-z][A-Za-z-]*\).*/\1/p'); do
      grep -qF -- "Fl $option" "$man/man1/$name.1" ||
        { echo "$name.1 has no -$option"; code=1; }
    done
  done
  return $code
}

guides() {
  code=0
  for guide in "$root"/samples/guides/*.md; do
    name=$(basename "$guide" .md)
    [ "$name" = README ] || [ -f "$man/man7/uvperf-$name.7" ] ||
      { echo "$guide has no page"; code=1; }
    [ "$name" = README ] || [ -f "$build/docs/html/guide_$name.html" ] ||
      { echo "$guide is not in html/"; code=1; }
  done
  return $code
}

filter() {
  awk -f "$root/docs/filter.awk" >"$output" <<'END'
/* A header. */

/* Alone. */

/** Does it.
 *  @param x
 *    0  nothing.
 *    This is about x too. */
void f(int x);
END
  grep -q '@comment_before_line_4_stands_alone' "$output" &&
    grep -A1 '^ \*   \.' "$output" | grep -q 'about x'
}

# Longer texts belong in a guide.
comments() {
  ! awk '/\/\*/ { first = FNR; is_page = /@page/ }
    /\*\// {
      if (FNR - first >= 25 && !is_page)
        print FILENAME ":" first ": a comment of " FNR - first + 1 " lines"
    }' "$root"/include/*.h "$root"/include/uvperf/*.h | grep .
}

tests_of_guarantees() {
  code=0
  for tests in $(grep -o '`[a-z/]*test_[a-z_*]*\.c`' \
    "$root/samples/guides/guarantees.md" | tr -d '`' | sort -u); do
    set -- "$root/test/"$tests
    [ -f "$1" ] || { echo "guarantees.md: test/$tests does not exist"; code=1; }
  done
  return $code
}

# Whether the links of guides to files lead to one, links to symbols lead to
# one, and a name in the text of a guide is such a link.
links_of_html() (
  cd "$1" && code=0
  for link in $(grep -ho 'href="[^"#:]*["#]' guide_*.html index.html |
    sed 's/^href="//; s/["#]$//' | sort -u); do
    [ -e "$link" ] || { echo "html/: $link does not exist"; code=1; }
  done
  grep -o ' id="[^"]*"' ./*_8h.html | sed 's|^./||; s/: id="/#/; s/"$//' |
    sort -u >"$results.anchors"
  grep -ho 'href="[a-z_]*_8h.html#[^"]*"' guide_*.html ./*_8h.html |
    sed 's/^href="//; s/"$//' | sort -u >"$results.links"
  [ -s "$results.links" ] || code=1
  comm -23 "$results.links" "$results.anchors" | grep . && code=1
  grep -q '<code><a href="measure_8h[^>]*>uvperf_measure_events</a></code>' \
    guide_counting.html || { echo "names are not links"; code=1; }
  return $code
)

installed() {
  stage=$results.stage
  quietly cmake --install "$build" --prefix "$stage" --component development &&
    [ -f "$stage/share/man/man3/uvperf_set_init.3" ] &&
    [ -f "$stage/share/man/man7/uvperf-events.7" ] &&
    [ -f "$stage/share/doc/uvperf/html/index.html" ] &&
    links_of_html "$stage/share/doc/uvperf/html"
  code=$?
  rm -rf "$stage"
  return $code
}

# What port.py makes of a program for 0.2: calls in calls, casts, a name of the
# program's that is `handle`, comments and strings.
ports() {
  cat >"$results.ported.c" <<'END'
static void on_close(uvperf_set_t *set) {
  free(set->data);
}
static void on_end(uvperf_event_t *event) {
  void *handle = event->data;
  forget(event, handle);
}
void f(uvperf_set_t *set, owner_t *owner, uvperf_bpf_reader_t readers[2]) {
  /* uvperf_set_stop(set) */
  if (uvperf_set_is_closing(set) || uvperf_set_stop(&owner->sets[1]))
    uvperf_event_close(find(owner, ")"), on_end);
  uvperf_set_close((uvperf_set_t *)owner->any, on_close);
  uvperf_bpf_reader_close(&readers[0], NULL);
  uvperf_reading_count(r, 1, g(2, 3), &c);
  set->data = "uvperf_set_stop(set)";
}
END
  cat >"$results.expected" <<'END'
static void on_close(uvperf_handle_t *handle) {
  free(handle->data);
}
static void on_end(uvperf_handle_t *base) {
  uvperf_event_t *event = uvperf_handle_event(base);
  void *handle = base->data;
  forget(event, handle);
}
void f(uvperf_set_t *set, owner_t *owner, uvperf_bpf_reader_t readers[2]) {
  /* uvperf_set_stop(set) */
  if (uvperf_is_closing(&set->handle) || uvperf_stop(&owner->sets[1].handle))
    uvperf_close(&find(owner, ")")->handle, on_end);
  uvperf_close((uvperf_handle_t *)owner->any, on_close);
  uvperf_close(&readers[0].handle, NULL);
  uvperf_reading_get(r, 1, UVPERF_ALL, g(2, 3), &c);
  set->handle.data = "uvperf_set_stop(set)";
}
END
  python3 -B "$root/docs/port.py" "$results.ported.c" &&
    diff "$results.expected" "$results.ported.c"
}

missing=$(setup_missing doxygen mandoc python3)
for name in each_comment_is_of_its_own_symbol:filter \
  manual_is_made_without_a_warning:makes manual_is_right_mdoc:lint \
  manual_refers_to_pages_that_are_there:references \
  each_symbol_has_a_page:symbols each_constant_is_on_a_page:constants \
  each_comment_has_at_most_25_lines:comments \
  each_guarantee_has_tests:tests_of_guarantees \
  each_guide_has_a_page:guides each_option_of_a_tool_is_on_its_page:tools \
  manual_is_installed:installed programs_of_0_2_are_ported:ports; do
  if [ -n "$missing" ]; then
    skip "${name%:*}" "doxygen, mandoc and python3"
  else
    check "${name%:*}" "${name#*:}"
  fi
done
rm -rf "$output" "$man" "$build/docs/html" # install.sh installs from here too
exit $failed
