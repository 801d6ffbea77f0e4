/* SPDX-License-Identifier: MIT */
/* Formats a dump. Names come from other processes, which may choose any
 * bytes. */
#include "flight-recorder/line.h"

#include "common/line.h"
#include "common/name.h"

/* -- switches -------------------------------------------------------------- */

/* Returns the name of a switch's task. If the thread has lost its id, returns
 * the name of its process. */
static const char *name_of(const flight_switch_t *item,
                           const flight_task_t *task,
                           const flight_names_t *names) {
  return flight_names_at(names, task->tid == UINT32_MAX ? task->pid : task->tid,
                         item->time);
}

static void put_task(common_buffer_t *buffer, const flight_switch_t *item,
                     const flight_task_t *task, const flight_names_t *names) {
  if (task->tid == FLIGHT_NONE)
    common_buffer_text(buffer, "-");
  else
    common_line_task(buffer, name_of(item, task, names), task->pid, task->tid);
}

static void put_text(common_buffer_t *buffer, const flight_switch_t *item,
                     const flight_names_t *names) {
  common_line_begin(buffer, item->time, item->cpu);
  if (item->kind == FLIGHT_LOST) {
    common_line_lost(buffer, item->lost);
    return;
  }
  put_task(buffer, item, &item->from, names);
  common_buffer_text(buffer, " => ");
  put_task(buffer, item, &item->to, names);
  common_buffer_text(buffer,
                     item->kind == FLIGHT_PREEMPTED ? " preempted\n" : "\n");
}

static void put_json_task(common_buffer_t *buffer, const flight_switch_t *item,
                          const flight_task_t *task, const char *const keys[3],
                          const flight_names_t *names) {
  const char *comm;

  if (task->tid == FLIGHT_NONE)
    return;
  comm = name_of(item, task, names);
  common_line_json_id(buffer, keys[0], task->pid);
  common_line_json_id(buffer, keys[1], task->tid);
  if (comm[0] != '\0')
    common_name_json(buffer, keys[2], comm);
}

static void put_json(common_buffer_t *buffer, const flight_switch_t *item,
                     const flight_names_t *names) {
  static const char *const from[] = {"from_pid", "from_tid", "from_comm"};
  static const char *const to[] = {"to_pid", "to_tid", "to_comm"};

  common_line_json(buffer, item->time,
                   item->kind == FLIGHT_LOST ? "lost" : "switch");
  common_line_json_id(buffer, "cpu", item->cpu);
  if (item->kind == FLIGHT_LOST) {
    common_line_json_number(buffer, "lost", item->lost);
  } else {
    put_json_task(buffer, item, &item->from, from, names);
    put_json_task(buffer, item, &item->to, to, names);
    if (item->kind != FLIGHT_SWITCH)
      common_line_json_number(buffer, "preempted",
                              item->kind == FLIGHT_PREEMPTED);
  }
  common_buffer_text(buffer, "}\n");
}

void flight_line_switch(common_buffer_t *buffer, const flight_switch_t *item,
                        const flight_names_t *names, int json) {
  if (json)
    put_json(buffer, item, names);
  else
    put_text(buffer, item, names);
}

/* -- begin, CPUs and end --------------------------------------------------- */

/* Puts a date in the format of RFC 3339, in UTC. */
static void put_date(common_buffer_t *buffer, const struct timespec *date) {
  char text[32];
  struct tm tm;

  gmtime_r(&date->tv_sec, &tm);
  strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
  common_buffer_text(buffer, text);
  common_buffer_text(buffer, ".");
  common_buffer_number(buffer, (uint64_t)date->tv_nsec / 1000000, 3);
  common_buffer_text(buffer, "Z");
}

static void put_count(common_buffer_t *buffer, uint64_t switches) {
  common_buffer_number(buffer, switches, 1);
  common_buffer_text(buffer, switches == 1 ? " switch" : " switches");
}

static void put_begin_text(common_buffer_t *buffer, const flight_sums_t *sums) {
  common_buffer_text(buffer, "# dump ");
  common_buffer_number(buffer, sums->dump, 1);
  common_buffer_text(buffer, " at ");
  common_line_time(buffer, sums->time);
  common_buffer_text(buffer, ", ");
  put_date(buffer, &sums->date);
  common_buffer_text(buffer, "\n# ");
  put_count(buffer, sums->switches);
  common_buffer_text(buffer, "; all CPUs from ");
  common_line_time(buffer, sums->from);
  common_buffer_text(buffer, " on, ");
  common_line_time(buffer, sums->time - sums->from);
  common_buffer_text(buffer, " s; records lost: ");
  common_buffer_number(buffer, sums->lost, 1);
  common_buffer_text(buffer, ", cut: ");
  common_buffer_number(buffer, sums->cut, 1);
  common_buffer_text(buffer, "\n");
}

void flight_line_begin(common_buffer_t *buffer, const flight_sums_t *sums,
                       int json) {
  if (!json) {
    put_begin_text(buffer, sums);
    return;
  }
  common_line_json(buffer, sums->time, "dump");
  common_line_json_number(buffer, "dump", sums->dump);
  common_buffer_text(buffer, ",\"date\":\"");
  put_date(buffer, &sums->date);
  common_buffer_text(buffer, "\"");
  common_line_json_time(buffer, "from", sums->from);
  common_line_json_number(buffer, "switches", sums->switches);
  common_line_json_number(buffer, "lost", sums->lost);
  common_line_json_number(buffer, "cut", sums->cut);
  common_buffer_text(buffer, "}\n");
}

void flight_line_cpu(common_buffer_t *buffer, const flight_sums_t *sums,
                     uint32_t cpu, uint64_t from, uint64_t switches, int json) {
  if (json) {
    common_line_json(buffer, sums->time, "cpu");
    common_line_json_id(buffer, "cpu", cpu);
    common_line_json_time(buffer, "from", from);
    common_line_json_number(buffer, "switches", switches);
    common_buffer_text(buffer, "}\n");
    return;
  }
  common_buffer_text(buffer, "# CPU ");
  common_buffer_number(buffer, cpu, 1);
  common_buffer_text(buffer, ": ");
  put_count(buffer, switches);
  common_buffer_text(buffer, " from ");
  common_line_time(buffer, from);
  common_buffer_text(buffer, " on\n");
}

void flight_line_end(common_buffer_t *buffer, const flight_sums_t *sums,
                     int json) {
  if (json) {
    common_line_json(buffer, sums->time, "end");
    common_line_json_number(buffer, "dump", sums->dump);
    common_buffer_text(buffer, "}\n");
    return;
  }
  common_buffer_text(buffer, "# end of dump ");
  common_buffer_number(buffer, sums->dump, 1);
  common_buffer_text(buffer, "\n");
}
