/* SPDX-License-Identifier: MIT */
/* perf(1) reads the files of record without a message, and reads the same as
 * the library's decoder. */
#include "call_server.h"
#include "perf_data.h"
#include "perf_dump.h"
#include "record_run.h"

#define PERF_CHECK_TYPES 96

/* What there was in the file. */
typedef struct perf_check_s {
  size_t nr_records;
  size_t nr_of_type[PERF_CHECK_TYPES]; /* PERF_RECORD_* */
  size_t nr_of_event[16];              /* samples, by the event's index */
  size_t nr_named;                     /* samples whose task has a name */
  size_t nr_lines;                     /* of perf script */
} perf_check_t;

/* What tells of the names of tasks, in the order of time. */
typedef struct change_s {
  uint64_t time, offset;
  uint32_t type, tid, parent;
  char comm[16];
} change_t;

/* A task and what it is called at the moment. */
typedef struct task_s {
  uint32_t tid;
  char comm[16];
} task_t;

typedef struct walk_s {
  perf_check_t *check;
  const perf_data_t *data;
  const perf_dump_t *dump;
  size_t next;
  change_t *changes;
  size_t nr_changes;
  task_t *tasks;
  size_t nr_tasks;
} walk_t;

static const char *type_name(uint32_t type) {
  static const char *const names[] = {
      "HEADER_ATTR",    "EVENT_TYPE", "TRACING_DATA",  "BUILD_ID",
      "FINISHED_ROUND", "ID_INDEX",   "AUXTRACE_INFO", "AUXTRACE",
      "AUXTRACE_ERROR", "THREAD_MAP", "CPU_MAP",       "STAT_CONFIG",
      "STAT",           "STAT_ROUND", "EVENT_UPDATE",  "TIME_CONV",
      "HEADER_FEATURE", "COMPRESSED", "FINISHED_INIT"};

  if (type < 64)
    return uvperf_record_type_name(type);
  assert_true(type - 64 < COUNT_OF(names));
  return names[type - 64];
}

/* -- names of tasks -------------------------------------------------------- */

static void note_change(walk_t *walk, const perf_data_record_t *entry) {
  const uvperf_record_t *record = entry->record;
  change_t *change = &walk->changes[walk->nr_changes];

  if (entry->type != PERF_RECORD_COMM && entry->type != PERF_RECORD_FORK)
    return;
  memset(change, 0, sizeof(*change));
  change->time = record->time;
  change->offset = entry->offset;
  change->type = entry->type;
  if (entry->type == PERF_RECORD_COMM) {
    change->tid = record->comm.tid;
    snprintf(change->comm, sizeof(change->comm), "%s", record->comm.comm);
  } else {
    change->tid = record->task.tid;
    change->parent = record->task.ptid;
  }
  walk->nr_changes++;
}

static task_t *find_task(const walk_t *walk, uint32_t tid) {
  size_t i;

  for (i = 0; i < walk->nr_tasks; i++) {
    if (walk->tasks[i].tid == tid)
      return &walk->tasks[i];
  }
  return NULL;
}

static void apply(walk_t *walk, const change_t *change) {
  task_t *task = find_task(walk, change->tid);
  const task_t *parent = find_task(walk, change->parent);

  if (task == NULL)
    task = &walk->tasks[walk->nr_tasks++];
  task->tid = change->tid;
  if (change->type == PERF_RECORD_COMM)
    memcpy(task->comm, change->comm, sizeof(task->comm));
  else if (parent != NULL)
    memcpy(task->comm, parent->comm, sizeof(task->comm));
  else
    task->comm[0] = '\0';
}

static int change_by_time(const void *a, const void *b) {
  const change_t *one = a, *other = b;

  if (one->time != other->time)
    return one->time > other->time ? 1 : -1;
  return (one->offset > other->offset) - (one->offset < other->offset);
}

static int item_by_time(const void *a, const void *b) {
  const perf_dump_item_t *const *one = a, *const *other = b;

  if ((*one)->time != (*other)->time)
    return (*one)->time > (*other)->time ? 1 : -1;
  return ((*one)->offset > (*other)->offset) -
         ((*one)->offset < (*other)->offset);
}

/* perf(1) prints names as they are: those of others may have the end of a line
 * in them. */
static int is_plain(const char *comm) {
  for (; *comm > ' ' && *comm <= '~'; comm++)
    continue;
  return *comm == '\0';
}

static void expect_name(walk_t *walk, const perf_dump_item_t *item) {
  const task_t *task = find_task(walk, item->tid);

  if (task == NULL || task->comm[0] == '\0' || item->tid == 0 ||
      !is_plain(task->comm))
    return;
  if (strcmp(item->comm, task->comm) != 0)
    print_error("task %u at %#llx is %s, by perf %s\n", item->tid,
                (unsigned long long)item->offset, task->comm, item->comm);
  assert_string_equal(item->comm, task->comm);
  walk->check->nr_named++;
}

/* The name that a task has when it is sampled. */
static void compare_names(walk_t *walk) {
  const perf_dump_item_t **items = calloc(walk->dump->nr + 1, sizeof(*items));
  size_t i, next = 0;

  assert_non_null(items);
  for (i = 0; i < walk->dump->nr; i++)
    items[i] = &walk->dump->items[i];
  qsort(items, walk->dump->nr, sizeof(*items), item_by_time);
  qsort(walk->changes, walk->nr_changes, sizeof(*walk->changes),
        change_by_time);
  for (i = 0; i < walk->dump->nr; i++) {
    while (next < walk->nr_changes &&
           (walk->changes[next].time < items[i]->time ||
            (walk->changes[next].time == items[i]->time &&
             walk->changes[next].offset < items[i]->offset)))
      apply(walk, &walk->changes[next++]);
    if (strcmp(items[i]->type, "PERF_RECORD_SAMPLE") == 0)
      expect_name(walk, items[i]);
  }
  free(items);
}

/* -- records --------------------------------------------------------------- */

static void compare_sample(const walk_t *walk, const uvperf_record_t *record,
                           const perf_dump_item_t *item) {
  const uvperf_sample_t *sample = &record->sample;
  uint64_t period = record->present & PERF_SAMPLE_PERIOD
                        ? record->period
                        : record->source->attr->sample_period;

  assert_int_equal(record->pid, item->pid);
  assert_int_equal(record->tid, item->tid);
  assert_true(record->ip == item->ip);
  assert_true(record->addr == item->addr);
  assert_true(period == item->period);
  if (walk->dump->nr_lines == 0)
    assert_string_equal(perf_data_event_name(walk->data, record), item->event);
  assert_int_equal(sample->callchain.nr, item->nr_ips);
  if (item->nr_ips > 0)
    assert_memory_equal(sample->callchain.ips, item->ips,
                        item->nr_ips * sizeof(*item->ips));
  assert_true(sample->regs_user.nr == item->nr_regs);
  assert_true(sample->stack_user.dyn_size == item->stack_bytes);
}

static void compare(void *arg, const perf_data_record_t *entry) {
  walk_t *walk = arg;
  const uvperf_record_t *record = entry->record;
  const perf_dump_item_t *item = &walk->dump->items[walk->next++];
  char name[64];

  assert_true(walk->next <= walk->dump->nr);
  snprintf(name, sizeof(name), "PERF_RECORD_%s", type_name(entry->type));
  if (entry->offset != item->offset || entry->size != item->size)
    print_error("%s at %#llx, by perf %s at %#llx\n", name,
                (unsigned long long)entry->offset, item->type,
                (unsigned long long)item->offset);
  assert_true(entry->offset == item->offset);
  assert_int_equal(entry->size, item->size);
  assert_string_equal(name, item->type);
  walk->check->nr_of_type[entry->type]++;
  if (record == NULL)
    return;
  if (record->present & PERF_SAMPLE_TIME)
    assert_true(record->time == item->time);
  if ((record->present & PERF_SAMPLE_CPU) && item->has_cpu)
    assert_true(record->cpu == item->cpu);
  if (entry->type == PERF_RECORD_SAMPLE) {
    walk->check->nr_of_event[record->source->attr_index]++;
    compare_sample(walk, record, item);
  }
  note_change(walk, entry);
}

/* The commands that people use, without a word of complaint. */
static void expect_silence(const char *path, int has_losses) {
  static const char *const commands[] = {
      "report --stdio -i %s", "report --stdio --header-only -I -i %s",
      "evlist -v -i %s", "script -i %s", "script -F +sym,+dso -i %s"};
  char words[512], line[512];
  size_t i;
  FILE *file;

  for (i = 0; i < COUNT_OF(commands); i++) {
    snprintf(line, sizeof(line), "%s", commands[i]);
    *strstr(line, "%s") = '\0';
    snprintf(words, sizeof(words), "%s%s", line, path);
    file = perf_dump_run(words, has_losses, NULL);
    fclose(file);
  }
}

static int has_groups(const perf_data_t *data) {
  return (data->sources[0].attr->sample_type & PERF_SAMPLE_READ) != 0;
}

static perf_check_t check;

/* Fails the test where the two differ, and where perf script, report or evlist
 * says anything on stderr, except of losses if there may be some. Which event a
 * sample is of is compared but where samples have the counts of a group, which
 * perf(1) takes apart. */
static void check_file(const char *path, int has_losses) {
  walk_t walk = {.check = &check};
  perf_dump_t dump;
  perf_data_t data;

  memset(&check, 0, sizeof(check));
  perf_dump_open(&dump, path, has_losses);
  perf_data_open(&data, path);
  walk.data = &data;
  walk.dump = &dump;
  walk.changes = calloc(dump.nr + 1, sizeof(*walk.changes));
  walk.tasks = calloc(dump.nr + 1, sizeof(*walk.tasks));
  assert_non_null(walk.changes);
  assert_non_null(walk.tasks);
  check.nr_records = perf_data_walk(&data, compare, &walk);
  assert_int_equal(check.nr_records, dump.nr);
  check.nr_lines = dump.nr_lines;
  if (dump.nr_lines != 0)
    assert_true(has_groups(&data));
  compare_names(&walk);
  expect_silence(path, has_losses);
  free(walk.changes);
  free(walk.tasks);
  perf_data_close(&data);
  perf_dump_close(&dump);
}

/* -- the comparison itself ------------------------------------------------- */

/* A busy machine can overflow a ring of perf record, so the first file may have
 * losses. */
static void decoder_reads_of_perfs_files_what_perf_reads(void **state) {
  record_run_need_perf(__func__);
  record_run_shell("perf record -q -o @ -e cpu-clock,sched:sched_switch -g "
                   "-a -- sleep 0.1");
  check_file(record_run_path(), 1);
  assert_true(check.nr_of_event[1] > 0 && check.nr_named > 0);
  record_run_shell("perf record -q -o @ -m 4M -e page-faults -c 1 --call-graph "
                   "dwarf -- ls /");
  check_file(record_run_path(), 0);
  assert_int_equal(check.nr_of_event[0], check.nr_of_type[PERF_RECORD_SAMPLE]);
  assert_int_equal(check.nr_of_event[0], check.nr_named);
  assert_true(check.nr_named > 10);
}

/* -- every record, every field --------------------------------------------- */

static void command_is_read_by_perf(void **state) {
  record_run_need_perf(__func__);
  record_run_well("-F 2000 " TARGET_PATH " 40");
  check_file(record_run_path(), 0);
  assert_true(check.nr_of_event[0] > 0);
  assert_int_equal(check.nr_of_event[0], check.nr_named);
  record_run_well(
      "-e page-faults -c 1 --sample-cpu sh -c 'ls / >/dev/null; (:)'");
  check_file(record_run_path(), 0);
  assert_true(check.nr_of_event[0] > 100);
  assert_int_equal(check.nr_of_event[0], check.nr_named);
}

static void machine_is_read_by_perf(void **state) {
  record_run_need_perf(__func__);
  record_run_well("-a --switch-events --namespaces -F 500 sh -c '" TARGET_PATH
                  " 40; ls / >/dev/null'");
  check_file(record_run_path(), 1);
  assert_true(check.nr_of_event[0] > 0 && check.nr_named > 0);
  assert_true(check.nr_of_type[PERF_RECORD_SWITCH_CPU_WIDE] > 0);
  assert_true(check.nr_of_type[PERF_RECORD_NAMESPACES] > 0);
  assert_true(check.nr_of_type[PERF_RECORD_MMAP2] > 0);
  record_run_well(
      "-C 0 -g -F 500 -e page-faults -e cpu-clock taskset -c 0 " TARGET_PATH
      " 40");
  check_file(record_run_path(), 1);
  assert_true(check.nr_of_event[1] > 0);
}

static void end_it(tool_run_t *run) {
  call_server_calls(run->data, 777);
  call_server_end(run->data);
}

static void process_is_read_by_perf(void **state) {
  static tool_run_t run;
  call_server_t serve;
  char words[128];

  record_run_need_perf(__func__);
  call_server_start(&serve, STAT_TARGET);
  memset(&run, 0, sizeof(run));
  tool_run_calls(&run, "recording", end_it, &serve);
  snprintf(words, sizeof(words), "-v -e %s,cs -p %s", CALL_SERVER_EVENT,
           serve.id);
  record_run_run(&run, RECORD_PATH, words);
  tool_run_expect_status(&run, 0);
  check_file(record_run_path(), 0);
  assert_int_equal(check.nr_of_event[0], 777);
  /* The process's name is older than the recording. */
  assert_int_equal(check.nr_named, check.nr_of_type[PERF_RECORD_SAMPLE]);
}

static void stacks_are_read_by_perf(void **state) {
  record_run_need_perf(__func__);
  record_run_well("-g --max-stack 7 -e page-faults -c 1 " STAT_TARGET
                  " touch 100");
  check_file(record_run_path(), 0);
  assert_true(check.nr_of_event[0] > 100);
  record_run_well(
      "-m 4M --call-graph dwarf,4096 -e page-faults -c 1 " STAT_TARGET
      " touch 100");
  check_file(record_run_path(), 0);
  assert_true(check.nr_of_event[0] > 100);
}

static void data_of_samples_are_read_by_perf(void **state) {
  record_run_need_perf(__func__);
  record_run_well("-d --phys-data --data-page-size --code-page-size -W "
                  "-e page-faults -c 1 " STAT_TARGET " touch 100");
  check_file(record_run_path(), 0);
  assert_true(check.nr_of_event[0] > 100);
}

static void events_of_several_kinds_are_read_by_perf(void **state) {
  record_run_need_perf(__func__);
  record_run_well("-e " CALL_SERVER_EVENT " -e '{page-faults,cpu-clock}' -e cs "
                  "-e sched:sched_process_exit " STAT_TARGET " children 3 100");
  check_file(record_run_path(), 0);
  assert_int_equal(check.nr_of_event[0], 300);
  assert_int_equal(check.nr_of_event[4], 4);
}

static void group_that_is_read_is_read_by_perf(void **state) {
  record_run_need_perf(__func__);
  record_run_well("-e '{" CALL_SERVER_EVENT ",page-faults,cs}:S' " STAT_TARGET
                  " calls 50");
  check_file(record_run_path(), 0);
  assert_int_equal(check.nr_of_event[0], 50);
  /* perf(1) makes a line of each value that has changed. */
  assert_true(check.nr_lines > 50);
}

static void losses_are_read_by_perf(void **state) {
  record_run_need_perf(__func__);
  record_run_well("-m 1 -e " CALL_SERVER_EVENT " " STAT_TARGET
                  " threads 2 20000");
  check_file(record_run_path(), 1);
  assert_true(check.nr_of_type[PERF_RECORD_LOST] > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      record_run_test(decoder_reads_of_perfs_files_what_perf_reads),
      record_run_test(command_is_read_by_perf),
      record_run_test(machine_is_read_by_perf),
      record_run_test(process_is_read_by_perf),
      record_run_test(stacks_are_read_by_perf),
      record_run_test(data_of_samples_are_read_by_perf),
      record_run_test(events_of_several_kinds_are_read_by_perf),
      record_run_test(group_that_is_read_is_read_by_perf),
      record_run_test(losses_are_read_by_perf),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
