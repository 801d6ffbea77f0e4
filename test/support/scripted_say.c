/* SPDX-License-Identifier: MIT */
#include "scripted_say.h"

#include <unistd.h>

#include "attr/attr.h"

static struct {
  char text[4096];
  size_t used;
  char verb[32];
} line;

void say_begin(void) {
  memset(&line, 0, sizeof(line));
}

const char *say_line(void) {
  return line.text;
}

size_t say_length(void) {
  return line.used;
}

void say(const char *format, ...) {
  va_list args;

  va_start(args, format);
  line.used += (size_t)vsnprintf(line.text + line.used,
                                 sizeof(line.text) - line.used, format, args);
  va_end(args);
  assert_true(line.used < sizeof(line.text));
}

void say_next(void) {
  say_verb_ends();
  if (line.used != 0)
    say(", ");
}

void say_verb(const char *verb) {
  if (strcmp(line.verb, verb) == 0)
    return;
  say_next();
  say("%s", verb);
  snprintf(line.verb, sizeof(line.verb), "%s", verb);
}

void say_verb_ends(void) {
  line.verb[0] = '\0';
}

void say_number(uint64_t nr) {
  say(nr < 10000 ? "%llu" : "%#llx", (unsigned long long)nr);
}

void say_pid(int32_t pid) {
  if (pid == (int32_t)getpid())
    say("me");
  else if (pid == (int32_t)getppid())
    say("parent");
  else
    say("%d", pid);
}

void say_place(uint32_t target, int pid, int cpu) {
  say("t%u", target);
  if (pid >= 0) {
    say(" ");
    say_pid(pid);
  }
  if (cpu >= 0)
    say(" cpu%d", cpu);
}

void say_error(const uvperf_error_t *error) {
  say("%s %s", step_code_name(error->code), uvperf_cause_name(error->cause));
}

void say_count(const uvperf_count_t *count) {
  say_next();
  if (count->state != UVPERF_COUNT_COUNTING)
    say("%s", uvperf_count_state_name(count->state));
  if (count->state == UVPERF_COUNT_GONE)
    say(" ");
  if (count->state == UVPERF_COUNT_COUNTING ||
      count->state == UVPERF_COUNT_GONE) {
    say("%llu@%llu", (unsigned long long)count->value,
        (unsigned long long)count->time_enabled);
    if (count->time_running != count->time_enabled)
      say("/%llu", (unsigned long long)count->time_running);
    if (count->scaled != count->value)
      say("=%llu", (unsigned long long)count->scaled);
  }
  if (count->lost != 0)
    say("+%llu lost", (unsigned long long)count->lost);
  if (count->code != 0)
    say(" %s", step_code_name(count->code));
  if (count->nr_missing != 0)
    say(" -%llu", (unsigned long long)count->nr_missing);
}

void say_fields(const struct perf_event_attr *attr, const step_t *step,
                size_t first) {
  uint64_t field;
  size_t i;

  for (i = first; i < step->nr; i++) {
    uvperf_attr_get(attr, step_field(step->words[i]), &field);
    if (i != first)
      say(" ");
    say_number(field);
  }
}

void say_nonzero(const struct perf_event_attr *attr) {
  uint64_t field;
  unsigned i;

  for (i = 0; i < STEP_FIELDS; i++) {
    if (uvperf_attr_get(attr, (enum uvperf_attr_field)i, &field) != 0 ||
        field == 0 || i == UVPERF_ATTR_SIZE)
      continue;
    say(line.used == 0 ? "%s=" : " %s=", uvperf__attr_field_name(i));
    say_number(field);
  }
}

void say_changes(const uvperf_change_t *changes, size_t nr) {
  size_t i;

  for (i = 0; i < nr; i++) {
    say_next();
    say("%s ", uvperf__attr_field_name(changes[i].field));
    say_number(changes[i].from);
    say(" to ");
    say_number(changes[i].to);
  }
}
