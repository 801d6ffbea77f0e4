/* SPDX-License-Identifier: MIT */
/* Scripted: labels of attrs without names, why tracepoints cannot be opened,
 * and how often tracefs is read for both. Every file that the library opens is
 * counted. */
#include "fake_host.h"
#include "fake_kernel.h"
#include "make_host.h"
#include "scripted_evlist.h"
#include "scripted_evlist_run.h"
#include "scripted_handles.h"
#include "scripted_kernel.h"

#define NAMES 10

/* -- the words of the rows ------------------------------------------------- */

static struct {
  size_t ids; /* files of ids that were opened */
  int code;   /* result of opening one; 0: the real one */
} files;

static int count_ids(const char *path) {
  size_t length = strlen(path);

  if (length < 3 || strcmp(path + length - 3, "/id") != 0)
    return 0;
  files.ids++;
  return files.code;
}

/* So many, with the ids 100, 101…: c0:n0 to c0:n9, c1:n0… */
static void do_tracepoints(const step_t *step) {
  uint64_t nr = step_value(step, 1), i;
  char path[128], text[16];

  for (i = 0; i < nr; i++) {
    snprintf(path, sizeof(path), "/sys/kernel/tracing/events/c%u/n%u/id",
             (unsigned)(i / NAMES), (unsigned)(i % NAMES));
    snprintf(text, sizeof(text), "%u\n", (unsigned)(100 + i));
    make_host_write(path, text);
  }
  memset(&files, 0, sizeof(files));
  fake_host_opens = count_ids;
}

/* How many were opened since the last time: so many, or in a range. */
static void do_ids(const step_t *step) {
  uint64_t least = step_value(step, 1);

  assert_in_range(files.ids, least, step->nr > 2 ? step_value(step, 2) : least);
  files.ids = 0;
}

static void do_no_ids(const step_t *step) {
  files.code = step_code(step_word(step, 1));
}

/* Events with odd ids are refused, and those without an id. */
static int refuse(struct perf_event_attr *attr) {
  return attr->config % 2 == 1 || attr->config >= 5000 ? -EINVAL : 0;
}

static void do_refuse_odd(const step_t *step) {
  fake_on_open(refuse);
}

/* Of a record of an event. */
static void do_source_label(const step_t *step) {
  uint64_t id = kernel_event(step_word(step, 1))->id;

  say("%s", evlist_source(evlist_run.evlist, id)->item->label);
}

/* A uprobe, whose string need not outlive init. */
static void do_open_probe(const step_t *step) {
  struct perf_event_attr *attr = &evlist_run.make.attrs[0];
  char path[] = "/bin/true";

  make_host_write("/sys/bus/event_source/devices/uprobe/type", "7\n");
  attr->type = 7;
  attr->config = 0;
  attr->config1 = (uintptr_t)path;
  attr->config2 = 16;
  row_step("open");
  memset(path, 'x', sizeof(path) - 1);
}

static const scripted_verb_t verbs[] = {{"tracepoints", do_tracepoints},
                                        {"ids", do_ids},
                                        {"no_ids", do_no_ids},
                                        {"refuse_odd", do_refuse_odd},
                                        {"source_label", do_source_label},
                                        {"open_probe", do_open_probe},
                                        {NULL, NULL}};

/* -- rows ------------------------------------------------------------------ */

static const scripted_row_t rows[] = {
    {"open_of_tracepoints_reads_no_ids",
     "tracepoints 40; attrs 3; attr 0 type=2 config=100; attr 1 type=2 "
     "config=105; attr 2 type=2 config=135; cpus 0; open; ids 0\n"},
    /* Each label is also parsed, which reads the one id. */
    {"labels_of_many_tracepoints_take_one_walk",
     "tracepoints 40; attrs 3; attr 0 type=2 config=100; attr 1 type=2 "
     "config=105; attr 2 type=2 config=135; cpus 0; open; item 0 -> c0:n0\n"
     "item 1 -> c0:n5\n"
     "item 2 -> c3:n5\n"
     "ids 1 43; item 0 -> still c0:n0\n"
     "item 2 -> still c3:n5\n"
     "ids 0\n"},
    {"labels_of_one_tracepoint_twice_are_the_same",
     "tracepoints 40; attrs 3; attr 0 type=2 config=100; attr 1 type=2 "
     "config=105; attr 2 type=2 config=135; attr 1 config=100; attr 2 "
     "config=100 exclude_user=1; cpus 0; open; item 0 -> c0:n0\n"
     "item 1 -> c0:n0\n"
     "item 2 -> c0:n0:kh\n"},
    {"labels_of_other_ids_are_numbers",
     "tracepoints 40; attrs 3; attr 0 type=2 config=100; attr 1 type=2 "
     "config=105; attr 2 type=2 config=135; attr 1 config=99; attr 2 type=1 "
     "config=9; cpus 0; open; item 2 -> dummy\n"
     "item 1 -> type=2,config=0x63\n"
     "ids 1 43\n"},
    {"label_of_the_side_band_of_a_list_is_made_too",
     "tracepoints 40; names c1:n2; ids 1 43; flags records; side_band tasks; "
     "cpus 0; open; item 0 -> c1:n2\n"
     "item 1 -> dummy:u\n"
     "ids 0\n"},
    /* A record's source has its label before anybody asks for it. */
    {"labels_of_records_are_made_with_the_set",
     "tracepoints 40; attrs 3; attr 0 type=2 config=100; attr 1 type=2 "
     "config=105; attr 2 type=2 config=135; flags records; cpus 0; no_ids "
     "EMFILE; open -> EMFILE files a0 t0\n"
     "no_ids 0; open; ids 1 86; source_label e0 -> c0:n0\n"
     "source_label e2 -> c3:n5\n"
     "item 2 -> c3:n5\n"
     "ids 0\n"},
    {"label_without_fds_is_brief_until_there_are_some",
     "tracepoints 40; attrs 3; attr 0 type=2 config=100; attr 1 type=2 "
     "config=105; attr 2 type=2 config=135; cpus 0; open; no_ids EMFILE; item "
     "1 -> type=2,config=0x69\n"
     "no_ids 0; item 0 -> c0:n0\n"
     "item 1 -> c0:n5\n"},
    /* Each makes one only when it is asked for. */
    {"label_without_memory_is_brief_until_there_is_some",
     "tracepoints 40; attrs 3; attr 0 type=2 config=100; attr 1 type=2 "
     "config=105; attr 2 type=2 config=135; cpus 0; open; fail calloc 1 "
     "ENOMEM; item 2 -> type=2,config=0x87\n"
     "item 2 -> c3:n5\n"
     "fail calloc 1 ENOMEM; item 1 -> c0:n5\n"
     "item 1 -> still c0:n5\n"},
    {"label_without_memory_at_any_place_is_made_later",
     "each calloc ENOMEM; tracepoints 40; attrs 3; attr 0 type=2 config=100; "
     "attr 1 type=2 config=105; attr 2 type=2 config=135; cpus 0; open; sweep; "
     "item 2; item 2; item 0\n"},
    {"label_of_a_probe_is_made_while_its_string_is_there",
     "attrs 1; cpus 0; open_probe; item 0 -> "
     "uprobe/path=\"/bin/true\",offset=0x10/\n"},
    /* -- tracepoints that cannot be opened --------------------------------- */
    /* At each CPU one that exists is refused, and two that do not. */
    {"failures_of_many_ids_at_many_places_take_one_walk",
     "tracepoints 40; attrs 4; attr 0 type=2 config=100; attr 1 type=2 "
     "config=105; attr 2 type=2 config=5003; attr 3 type=2 config=5004; "
     "refuse_odd; cpus 0-1; open; failures -> a1 t0 cpu0 EINVAL unknown, a2 t0 "
     "cpu0 EINVAL no_event, a3 t0 cpu0 EINVAL no_event, a1 t0 cpu1 EINVAL "
     "unknown, a2 t0 cpu1 EINVAL no_event, a3 t0 cpu1 EINVAL no_event\n"
     "failure 0 'rejects this combination'\n"
     "failure 1 'no tracepoint has this id'\n"
     "failure 2 'no tracepoint has this id'\n"
     "failure 3 'rejects this combination'\n"
     "failure 4 'no tracepoint has this id'\n"
     "ids 40\n"},
    {"failures_of_a_later_call_take_a_walk_of_their_own",
     "tracepoints 40; attrs 4; attr 0 type=2 config=100; attr 1 type=2 "
     "config=105; attr 2 type=2 config=5003; attr 3 type=2 config=5004; "
     "refuse_odd; cpus 0; open; file /sys/kernel/tracing/events/c9/late/id "
     "5003; ids 40; add cpus 1; ids 41\n"
     "failure 4 'rejects this combination'\n"
     "failure 5 'no tracepoint has this id'\n"},
    {"failures_at_a_cpu_that_comes_take_one_walk",
     "tracepoints 40; attrs 4; attr 0 type=2 config=100; attr 1 type=2 "
     "config=105; attr 2 type=2 config=5003; attr 3 type=2 config=5004; "
     "refuse_odd; cpus 0-1; open; ids 40; gone 1; returns EINVAL come 1; ids "
     "40\n"
     "failures -> a1 t0 cpu0 EINVAL unknown, a2 t0 cpu0 EINVAL no_event, a3 t0 "
     "cpu0 EINVAL no_event, a1 t0 cpu1 EINVAL unknown, a2 t0 cpu1 EINVAL "
     "no_event, a3 t0 cpu1 EINVAL no_event\n"},
    /* A walk that is cut short is not tried again by the same call. */
    {"failures_without_fds_for_a_walk_are_not_sure",
     "tracepoints 40; attrs 4; attr 0 type=2 config=100; attr 1 type=2 "
     "config=105; attr 2 type=2 config=5003; attr 3 type=2 config=5004; "
     "refuse_odd; cpus 0-1; no_ids EMFILE; open; ids 1\n"
     "failure 0 'probably no tracepoint has this id'\n"
     "failure 5 'probably no tracepoint has this id'\n"},
    {"failure_of_a_strict_set_takes_one_walk",
     "tracepoints 40; attrs 4; attr 0 type=2 config=100; attr 1 type=2 "
     "config=105; attr 2 type=2 config=5003; attr 3 type=2 config=5004; "
     "refuse_odd; flags strict; cpus 0; open -> open e0@0 @0 EINVAL, close e0, "
     "EINVAL unknown a1 t0\n"
     "says 'rejects this combination'\n"
     "ids 40\n"},
};

/* Each fallback that does not help is a failure too. */
static const scripted_row_t event_rows[] = {
    {"failures_of_an_event_and_its_fallbacks_take_one_walk",
     "tracepoints 40; refuse_odd; fallbacks precise; attr tracepoint "
     "config=9999; "
     "returns EINVAL init; ids 40; attr tracepoint config=9999 precise_ip=3; "
     "returns EINVAL init; ids 40\n"},
};

int main(void) {
  scripted_subject_t evlist = scripted_evlist, handles = scripted_handles;
  int failed;

  evlist.verbs[2] = handles.verbs[3] = verbs;
  failed = SCRIPTED_ROWS(&evlist, rows);
  return failed + SCRIPTED_ROWS(&handles, event_rows);
}
