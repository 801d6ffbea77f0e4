/* SPDX-License-Identifier: MIT */
#include "scripted_hotplug_rows.h"

#include "fake_uevents.h"
#include "scripted_hotplug.h"
#include "scripted_kernel.h"

#define OWNERS 3

static struct {
  hotplug_owner_t owners[OWNERS];
  int is_closed[OWNERS];
  size_t nr;
} run;

static hotplug_owner_t *owner_of(const step_t *step) {
  const char *name = step_word(step, 1);
  uint64_t nr = *name == 'o' ? step_number(name + 1) : OWNERS;

  if (nr >= run.nr)
    step_fail(name, "is no owner");
  return &run.owners[nr];
}

/* Prints what it has seen last. */
static void on_cpu(hotplug_owner_t *owner) {
  size_t before;

  say_next();
  before = say_length();
  say("o%zu %s", (size_t)(owner - run.owners), owner->seen);
  owner->seen[0] = '\0';
  row_callback(before);
}

static void do_make(const step_t *step) {
  hotplug_owner_t *owner = &run.owners[run.nr++];

  assert_true(run.nr <= OWNERS);
  hotplug_make(&kernel_loop, owner);
  owner->hook = on_cpu;
}

static void do_start(const step_t *step) {
  row_returned(hotplug_try(owner_of(step)));
}

static void do_begin(const step_t *step) {
  do_make(step);
  hotplug_start(&kernel_loop, &run.owners[run.nr - 1]);
}

static void do_stop(const step_t *step) {
  uvperf__hotplug_stop(owner_of(step)->hotplug);
}

static void close_owner(size_t nr) {
  if (!run.is_closed[nr])
    hotplug_close(&run.owners[nr]);
  run.is_closed[nr] = 1;
}

static void do_close(const step_t *step) {
  close_owner((size_t)(owner_of(step) - run.owners));
}

static void do_closed(const step_t *step) {
  say("%d", owner_of(step)->closed);
}

static void do_look(const step_t *step) {
  hotplug_look(&kernel_loop, run.owners[0].teardown.hub);
}

static void do_uevent(const step_t *step) {
  fake_uevents_say(step_word(step, 1), (int)step_value(step, 2));
}

static void do_lost(const step_t *step) {
  fake_uevents_overrun();
}

static void do_from_process(const step_t *step) {
  fake_uevents_send_from_process(step_word(step, 1));
}

static void do_no_socket(const step_t *step) {
  fake_uevents_end();
  fake_uevents_refuse(step_code(step_word(step, 1)));
}

static const scripted_verb_t hotplug_verbs[] = {
    {"make", do_make},           {"start", do_start},
    {"begin", do_begin},         {"stop", do_stop},
    {"close", do_close},         {"closed", do_closed},
    {"look", do_look},           {"uevent", do_uevent},
    {"lost", do_lost},           {"from_process", do_from_process},
    {"no_socket", do_no_socket}, {NULL, NULL}};

static void begin(void) {
  memset(&run, 0, sizeof(run));
}

static int is_open(void) {
  return run.nr != 0;
}

static void close_all(void) {
  size_t i;

  for (i = 0; i < run.nr; i++)
    close_owner(i);
}

static void end(void) {
  size_t i;

  for (i = 0; i < run.nr; i++)
    assert_int_equal(run.owners[i].closed, 1);
}

const scripted_subject_t scripted_hotplugs = {
    {hotplug_verbs, NULL}, NULL, begin, NULL, is_open, close_all, end};
