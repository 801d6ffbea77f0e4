/* SPDX-License-Identifier: MIT */
/* Chooses the running tasks that belong to a recording. Does not know how the
 * tasks are found. */
#include "record/running.h"

#include <errno.h>
#include <signal.h>

#include "common/memory.h"
#include "common/say.h"
#include "uvperf/system.h"

/* If an id was reused, one process too many is described, which does no
 * harm. */
static void drop_ended(common_ids_t *born) {
  size_t nr = 0, i;

  for (i = 0; i < born->nr; i++) {
    if (kill(born->ids[i], 0) == 0 || errno != ESRCH)
      born->ids[nr++] = born->ids[i];
  }
  born->nr = nr;
}

/* When the list is full, processes that have ended are removed. If most are
 * alive, the list grows. */
void record_running_born(common_ids_t *born, const uvperf_record_t *record) {
  if (record->type != PERF_RECORD_FORK || record->task.pid == record->task.ppid)
    return;
  if (born->nr == born->capacity) {
    drop_ended(born);
    if (born->nr >= born->capacity / 2)
      born->ids = common_grow(born->ids, &born->capacity, sizeof(*born->ids));
  }
  common_ids_add(born, (int32_t)record->task.pid);
}

/* Lists the threads that are measured; -1 stands for all threads of CPUs. */
static void list_threads(common_ids_t *threads, const record_options_t *options,
                         pid_t command) {
  size_t i;

  if (options->all)
    common_ids_add(threads, -1);
  else if (record_options_is_command(options))
    common_ids_add(threads, command);
  for (i = 0; i < options->pids.nr; i++)
    common_threads_of(threads, options->pids.ids[i]);
  for (i = 0; i < options->tids.nr; i++)
    common_ids_add(threads, options->tids.ids[i]);
}

/* Lists the processes of the targets. A thread that has ended is left out. */
static void list_processes(common_ids_t *processes,
                           const record_options_t *options, pid_t command) {
  size_t i;

  if (record_options_is_command(options))
    common_ids_add(processes, command);
  for (i = 0; i < options->pids.nr; i++)
    common_ids_add(processes, options->pids.ids[i]);
  for (i = 0; i < options->tids.nr; i++) {
    int32_t id = common_process_of(options->tids.ids[i]);

    if (id > 0 && !common_ids_has(processes, id))
      common_ids_add(processes, id);
  }
}

static void add_born(common_ids_t *processes, common_ids_t *born) {
  size_t i;

  drop_ended(born);
  for (i = 0; i < born->nr; i++) {
    if (!common_ids_has(processes, born->ids[i]))
      common_ids_add(processes, born->ids[i]);
  }
}

static int write_maps(record_synth_t *synth, const record_options_t *options,
                      pid_t command) {
  common_ids_t threads = {0}, cpus = {0};
  int rc;

  list_threads(&threads, options, command);
  common_cpus_list(&cpus, options->cpus);
  rc = record_synth_thread_map(synth, &threads);
  if (rc == 0)
    rc = record_synth_cpu_map(synth, &cpus);
  common_ids_free(&threads);
  common_ids_free(&cpus);
  return rc;
}

static int write_tasks(record_synth_t *synth, const record_options_t *options,
                       pid_t command, common_ids_t *born) {
  common_ids_t processes = {0};
  int rc;

  if (options->all)
    return record_synth_all(synth);
  list_processes(&processes, options, command);
  if (born != NULL && !options->no_inherit)
    add_born(&processes, born);
  rc = record_synth_processes(synth, &processes);
  common_ids_free(&processes);
  return rc;
}

static int write_kernel(record_synth_t *synth,
                        const record_options_t *options) {
  int rc = record_synth_kernel(synth);

  if (synth->kernel_hidden && !synth->attr->exclude_kernel && !options->quiet)
    common_say("the kernel's addresses are hidden (kernel.kptr_restrict), so "
               "samples in\n"
               "  the kernel have no names: uvperf-doctor shows the remedy\n");
  return rc;
}

/* Tasks come first, because the name and the maps of a task are gone when it
 * has ended. Reading /proc/kallsyms takes as long as reading hundreds of
 * tasks. */
int record_running_write(const record_options_t *options, pid_t command,
                         common_ids_t *born, const struct perf_event_attr *attr,
                         record_synth_cb write, void *arg) {
  record_synth_t synth = {0};
  int rc;

  synth.write = write;
  synth.arg = arg;
  synth.attr = attr;
  synth.mmap_data = options->stack == RECORD_STACK_DWARF || options->data;
  synth.namespaces = options->namespaces;
  synth.command = born != NULL ? 0 : command;
  rc = write_tasks(&synth, options, command, born);
  if (rc == 0)
    rc = write_maps(&synth, options, command);
  if (rc == 0 && options->cgroups)
    rc = record_synth_cgroups(&synth);
  if (rc == 0)
    rc = write_kernel(&synth, options);
  if (rc == 0)
    rc = record_synth_bpf(&synth);
  common_buffer_free(&synth.build);
  return rc;
}
