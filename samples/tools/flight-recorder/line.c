/* SPDX-License-Identifier: MIT */
/* Writes a dump down. Names come from other processes, which choose them as
 * they like. */
#include "flight-recorder/line.h"

#include "common/line.h"
#include "common/name.h"

/* -- switches -------------------------------------------------------------- */

/* A thread that has no id any more is called as its process. */
static const char *name_of(const flight_switch_t *item,
                           const flight_task_t *task,
                           const flight_names_t *names) {
  return flight_names_at(names, task->tid == UINT32_MAX ? task->pid : task->tid,
                         item->time);
}

static void put_task(shared_buffer_t *buffer, const flight_switch_t *item,
                     const flight_task_t *task, const flight_names_t *names) {
  if (task->tid == FLIGHT_NONE)
    shared_buffer_text(buffer, "-");
  else
    shared_line_task(buffer, name_of(item, task, names), task->pid, task->tid);
}

static void put_text(shared_buffer_t *buffer, const flight_switch_t *item,
                     const flight_names_t *names) {
  shared_line_begin(buffer, item->time, item->cpu);
  if (item->kind == FLIGHT_LOST) {
    shared_line_lost(buffer, item->lost);
    return;
  }
  put_task(buffer, item, &item->from, names);
  shared_buffer_text(buffer, " => ");
  put_task(buffer, item, &item->to, names);
  shared_buffer_text(buffer,
                     item->kind == FLIGHT_PREEMPTED ? " preempted\n" : "\n");
}

static void put_json_task(shared_buffer_t *buffer, const flight_switch_t *item,
                          const flight_task_t *task, const char *const keys[3],
                          const flight_names_t *names) {
  const char *comm;

  if (task->tid == FLIGHT_NONE)
    return;
  comm = name_of(item, task, names);
  shared_line_json_id(buffer, keys[0], task->pid);
  shared_line_json_id(buffer, keys[1], task->tid);
  if (comm[0] != '\0')
    shared_name_json(buffer, keys[2], comm);
}

static void put_json(shared_buffer_t *buffer, const flight_switch_t *item,
                     const flight_names_t *names) {
  static const char *const from[] = {"from_pid", "from_tid", "from_comm"};
  static const char *const to[] = {"to_pid", "to_tid", "to_comm"};

  shared_line_json(buffer, item->time,
                   item->kind == FLIGHT_LOST ? "lost" : "switch");
  shared_line_json_id(buffer, "cpu", item->cpu);
  if (item->kind == FLIGHT_LOST) {
    shared_line_json_number(buffer, "lost", item->lost);
  } else {
    put_json_task(buffer, item, &item->from, from, names);
    put_json_task(buffer, item, &item->to, to, names);
    if (item->kind != FLIGHT_SWITCH)
      shared_line_json_number(buffer, "preempted",
                              item->kind == FLIGHT_PREEMPTED);
  }
  shared_buffer_text(buffer, "}\n");
}

void flight_line_switch(shared_buffer_t *buffer, const flight_switch_t *item,
                        const flight_names_t *names, int json) {
  if (json)
    put_json(buffer, item, names);
  else
    put_text(buffer, item, names);
}

/* -- what is around them --------------------------------------------------- */

/* RFC 3339, which everybody can read, in UTC. */
static void put_date(shared_buffer_t *buffer, const struct timespec *date) {
  char text[32];
  struct tm tm;

  gmtime_r(&date->tv_sec, &tm);
  strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
  shared_buffer_text(buffer, text);
  shared_buffer_text(buffer, ".");
  shared_buffer_number(buffer, (uint64_t)date->tv_nsec / 1000000, 3);
  shared_buffer_text(buffer, "Z");
}

static void put_count(shared_buffer_t *buffer, uint64_t switches) {
  shared_buffer_number(buffer, switches, 1);
  shared_buffer_text(buffer, switches == 1 ? " switch" : " switches");
}

static void put_begin_text(shared_buffer_t *buffer, const flight_sums_t *sums) {
  shared_buffer_text(buffer, "# dump ");
  shared_buffer_number(buffer, sums->dump, 1);
  shared_buffer_text(buffer, " at ");
  shared_line_time(buffer, sums->time);
  shared_buffer_text(buffer, ", ");
  put_date(buffer, &sums->date);
  shared_buffer_text(buffer, "\n# ");
  put_count(buffer, sums->switches);
  shared_buffer_text(buffer, "; all CPUs from ");
  shared_line_time(buffer, sums->from);
  shared_buffer_text(buffer, " on, ");
  shared_line_time(buffer, sums->time - sums->from);
  shared_buffer_text(buffer, " s; records lost: ");
  shared_buffer_number(buffer, sums->lost, 1);
  shared_buffer_text(buffer, ", cut: ");
  shared_buffer_number(buffer, sums->cut, 1);
  shared_buffer_text(buffer, "\n");
}

void flight_line_begin(shared_buffer_t *buffer, const flight_sums_t *sums,
                       int json) {
  if (!json) {
    put_begin_text(buffer, sums);
    return;
  }
  shared_line_json(buffer, sums->time, "dump");
  shared_line_json_number(buffer, "dump", sums->dump);
  shared_buffer_text(buffer, ",\"date\":\"");
  put_date(buffer, &sums->date);
  shared_buffer_text(buffer, "\"");
  shared_line_json_time(buffer, "from", sums->from);
  shared_line_json_number(buffer, "switches", sums->switches);
  shared_line_json_number(buffer, "lost", sums->lost);
  shared_line_json_number(buffer, "cut", sums->cut);
  shared_buffer_text(buffer, "}\n");
}

void flight_line_cpu(shared_buffer_t *buffer, const flight_sums_t *sums,
                     uint32_t cpu, uint64_t from, uint64_t switches, int json) {
  if (json) {
    shared_line_json(buffer, sums->time, "cpu");
    shared_line_json_id(buffer, "cpu", cpu);
    shared_line_json_time(buffer, "from", from);
    shared_line_json_number(buffer, "switches", switches);
    shared_buffer_text(buffer, "}\n");
    return;
  }
  shared_buffer_text(buffer, "# CPU ");
  shared_buffer_number(buffer, cpu, 1);
  shared_buffer_text(buffer, ": ");
  put_count(buffer, switches);
  shared_buffer_text(buffer, " from ");
  shared_line_time(buffer, from);
  shared_buffer_text(buffer, " on\n");
}

void flight_line_end(shared_buffer_t *buffer, const flight_sums_t *sums,
                     int json) {
  if (json) {
    shared_line_json(buffer, sums->time, "end");
    shared_line_json_number(buffer, "dump", sums->dump);
    shared_buffer_text(buffer, "}\n");
    return;
  }
  shared_buffer_text(buffer, "# end of dump ");
  shared_buffer_number(buffer, sums->dump, 1);
  shared_buffer_text(buffer, "\n");
}
