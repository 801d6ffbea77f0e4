/* SPDX-License-Identifier: MIT */
/* The scripts of the scripted kernel: which calls fail, and what was called.
 * Several threads may make calls at once, while no test changes the script. */
#include "support.h"

#include <stdatomic.h>
#include <unistd.h>

#include "fake_pool.h"
#include "fake_script.h"

#define RULES_MAX 64

typedef struct rule_s {
  enum fake_call call;
  unsigned first;
  unsigned last;
  int code;
} rule_t;

static struct {
  rule_t rules[RULES_MAX];
  size_t rule_count;
  atomic_uint counts[FAKE_CALLS];
  atomic_uint failures;
  pid_t home;        /* the process of the test */
  atomic_size_t end; /* of the log; beyond its size if it is full */
  char log[4096];
} script;

void fake_script_reset(void) {
  memset(&script, 0, sizeof(script));
  script.home = getpid();
  fake_pool_reset();
}

int fake_is_scripted(void) {
  return script.home != 0;
}

void fake_broken(const char *what) {
  if (script.home == 0 || script.home == getpid())
    fail_msg("%s", what);
  fprintf(stderr, "fake_kernel: %s\n", what);
  abort();
}

static void add_rule(enum fake_call call, unsigned nth, unsigned last,
                     int code) {
  rule_t *rule;

  assert_true(script.rule_count < RULES_MAX);
  assert_true(nth > 0);
  rule = &script.rules[script.rule_count++];
  rule->call = call;
  rule->first = script.counts[call] + nth;
  rule->last = last != 0 ? last : rule->first;
  rule->code = code;
}

void fake_fail(enum fake_call call, unsigned nth, int code) {
  add_rule(call, nth, 0, code);
}

void fake_fail_from(enum fake_call call, unsigned nth, int code) {
  add_rule(call, nth, UINT32_MAX, code);
}

unsigned fake_failures(void) {
  return script.failures;
}

unsigned fake_count(enum fake_call call) {
  return script.counts[call];
}

/* Each call is written with ", " before it. */
const char *fake_log(void) {
  return script.log[0] == '\0' ? script.log : script.log + 2;
}

void fake_log_clear(void) {
  memset(script.log, 0, sizeof(script.log));
  script.end = 0;
}

int fake_scripted(enum fake_call call, int *code) {
  const rule_t *rule;
  unsigned nth;
  size_t i;

  nth = atomic_fetch_add(&script.counts[call], 1) + 1;
  for (i = 0; i < script.rule_count; i++) {
    rule = &script.rules[i];
    if (rule->call != call || nth < rule->first || nth > rule->last)
      continue;
    script.failures++;
    *code = rule->code;
    return 1;
  }
  return 0;
}

/* If the log is full it is cut. All its pages are present after the first call,
 * because a live test may count page faults later. */
void fake_note(const char *call, const char *detail, int failed) {
  const size_t room = sizeof(script.log) - 1;
  char text[128];
  size_t length, begin;

  snprintf(text, sizeof(text), ", %s%s%s%s", call, *detail == '\0' ? "" : " ",
           detail, failed ? " failed" : "");
  length = strlen(text);
  begin = atomic_fetch_add(&script.end, length);
  if (begin == 0)
    script.log[room] = '\0';
  if (begin < room)
    memcpy(script.log + begin, text,
           length < room - begin ? length : room - begin);
}
