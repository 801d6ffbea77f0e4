/* SPDX-License-Identifier: MIT */
/* Follows processes through FORK, COMM, MMAP2 and EXIT records. */
#include "watch/timeline.h"

#include <limits.h>
#include <stdio.h>

#include "common/memory.h"
#include "common/tasks.h"
#include "common/text.h"

/* How long an exec waits for its executable, which is the first file that is
 * mapped after the exec (fs/binfmt_elf.c). The mapping follows within
 * microseconds, or later if the process has to wait for a CPU. If an exec fails
 * half-way, the process is killed and maps nothing. */
#define EXEC_WAIT_NS UINT64_C(1000000000)

/* How long an exit waits for its status, which does not come from a record. */
#define EXIT_WAIT_NS UINT64_C(200000000)

void watch_timeline_free(watch_timeline_t *timeline) {
  watch_event_t *event;

  while ((event = timeline->first) != NULL) {
    timeline->first = event->next;
    watch_event_free(event);
  }
  watch_tasks_free(&timeline->tasks);
}

static int wants(const watch_timeline_t *timeline, watch_kind_t kind) {
  return (timeline->kinds & WATCH_BIT(kind)) != 0;
}

static watch_event_t *add(watch_timeline_t *timeline, watch_kind_t kind,
                          uint32_t pid, uint32_t tid) {
  watch_event_t *event = watch_event_new(kind, timeline->now, pid, tid);

  if (timeline->last == NULL)
    timeline->first = event;
  else
    timeline->last->next = event;
  timeline->last = event;
  return event;
}

static watch_event_t *add_for(watch_timeline_t *timeline, watch_kind_t kind,
                              const watch_process_t *process, uint32_t tid) {
  watch_event_t *event = add(timeline, kind, process->pid, tid);

  event->ppid = process->ppid;
  snprintf(event->comm, sizeof(event->comm), "%s",
           watch_process_comm(process, tid));
  return event;
}

/* Call it when the last exec of the process need not wait for its executable
 * any longer. */
static void end_exec(watch_process_t *process) {
  watch_event_t *exec = process->exec;

  if (exec != NULL)
    exec->is_waiting = 0;
  process->exec = NULL;
}

static void follow_fork(watch_timeline_t *timeline,
                        const uvperf_record_t *record) {
  const uvperf_task_t *task = &record->task;
  watch_process_t *process;

  if (task->pid == task->tid) {
    process = watch_tasks_find(&timeline->tasks, task->pid);
    if (process != NULL)
      end_exec(process);
    process =
        watch_tasks_fork(&timeline->tasks, task->pid, task->ppid, task->ptid);
    process->verified = timeline->counts.lost;
    if (process->is_shown) {
      add_for(timeline, WATCH_FORK, process, task->tid);
      timeline->counts.forks++;
    }
    return;
  }
  process = watch_tasks_add(&timeline->tasks, task->pid);
  watch_process_thread(process, task->tid,
                       watch_process_comm(process, task->ptid));
  if (process->is_shown && wants(timeline, WATCH_THREAD))
    add_for(timeline, WATCH_THREAD, process, task->tid)->ppid = task->ppid;
}

static void follow_comm(watch_timeline_t *timeline,
                        const uvperf_record_t *record) {
  const uvperf_comm_t *comm = &record->comm;
  watch_process_t *process = watch_tasks_add(&timeline->tasks, comm->pid);
  watch_event_t *event;
  char name[WATCH_COMM_BYTES];

  common_text_copy(name, sizeof(name), comm->comm, comm->comm_size);
  if (uvperf_record_is_exec(record)) {
    end_exec(process);
    watch_process_exec(process, name);
    process->verified = timeline->counts.lost;
    if (!process->is_shown)
      return;
    event = add_for(timeline, WATCH_EXEC, process, comm->tid);
    event->lost = timeline->counts.lost;
    timeline->counts.execs++;
    /* An event that does not wait is freed after this record. */
    if (wants(timeline, WATCH_EXEC)) {
      event->is_waiting = 1;
      process->exec = event;
    }
    return;
  }
  watch_process_thread(process, comm->tid, name);
  if (process->is_shown &&
      (wants(timeline, WATCH_THREAD) || comm->pid == comm->tid))
    add_for(timeline, WATCH_COMM, process, comm->tid);
}

static void follow_mmap(watch_timeline_t *timeline,
                        const uvperf_record_t *record) {
  const uvperf_mmap_t *mmap = &record->mmap;
  watch_process_t *process = watch_tasks_add(&timeline->tasks, mmap->pid);
  watch_event_t *event = process->exec;
  char path[PATH_MAX];

  common_text_copy(path, sizeof(path), mmap->filename, mmap->filename_size);
  if (event != NULL && path[0] == '/' && path[1] != '/') {
    /* If records were lost, this may not be the first mapping. */
    if (event->lost == timeline->counts.lost)
      event->path = common_copy_text(path);
    end_exec(process);
  }
  /* Most records are mappings. */
  if (!process->is_shown || !wants(timeline, WATCH_MMAP))
    return;
  event = add_for(timeline, WATCH_MMAP, process, mmap->pid);
  event->path = common_copy_text(path);
  event->addr = mmap->addr;
  event->len = mmap->len;
  event->pgoff = mmap->pgoff;
  timeline->counts.maps++;
}

/* Returns 1 if the process has other threads than the thread that has just
 * ended. */
static int has_other_threads(watch_timeline_t *timeline,
                             watch_process_t *process, uint32_t tid) {
  if (watch_process_end_thread(process, tid) == 0)
    return 0;
  /* According to the records it has other threads. But this is wrong if records
   * were lost. */
  if (process->verified == timeline->counts.lost)
    return 1;
  process->verified = timeline->counts.lost;
  return timeline->is_alive(process);
}

static void add_exit(watch_timeline_t *timeline, const uvperf_record_t *record,
                     watch_process_t *process) {
  watch_event_t *event;

  event = add(timeline, WATCH_EXIT, process->pid, record->task.tid);
  event->ppid = record->task.ppid;
  snprintf(event->comm, sizeof(event->comm), "%s", process->comm);
  timeline->counts.exits++;
}

static void follow_exit(watch_timeline_t *timeline,
                        const uvperf_record_t *record) {
  const uvperf_task_t *task = &record->task;
  watch_process_t *process = watch_tasks_find(&timeline->tasks, task->pid);

  if (process == NULL) {
    /* The FORK record of the process was lost. The process probably had no
     * other threads. */
    if (task->pid != task->tid)
      return;
    process =
        watch_tasks_fork(&timeline->tasks, task->pid, task->ppid, task->ppid);
    watch_process_thread(process, task->tid, "");
  }
  if (process->has_ended)
    return;
  end_exec(process);
  if (process->is_shown && wants(timeline, WATCH_THREAD) && process->nr > 1)
    add_for(timeline, WATCH_THREAD_EXIT, process, task->tid);
  if (has_other_threads(timeline, process, task->tid))
    return;
  if (process->is_shown)
    add_exit(timeline, record, process);
  /* There may still be an EXIT for a thread that lives only in our records. */
  if (process->nr > 0)
    watch_tasks_end(&timeline->tasks, process);
  else
    watch_tasks_remove(&timeline->tasks, process);
}

static void follow_lost(watch_timeline_t *timeline,
                        const uvperf_record_t *record) {
  watch_event_t *event = add(timeline, WATCH_LOST, 0, 0);

  event->lost = record->lost.lost;
  event->cpu = record->cpu;
  timeline->counts.lost += record->lost.lost;
}

static void follow(watch_timeline_t *timeline, const uvperf_record_t *record) {
  switch (record->type) {
    case PERF_RECORD_FORK:
      if (common_tasks_has_id(record->task.pid))
        follow_fork(timeline, record);
      else
        timeline->counts.hidden++;
      break;
    case PERF_RECORD_EXIT:
      if (common_tasks_has_id(record->task.pid))
        follow_exit(timeline, record);
      break;
    case PERF_RECORD_COMM:
      if (common_tasks_has_id(record->comm.pid))
        follow_comm(timeline, record);
      break;
    case PERF_RECORD_MMAP2:
      if (common_tasks_has_id(record->mmap.pid))
        follow_mmap(timeline, record);
      break;
    case PERF_RECORD_LOST:
      follow_lost(timeline, record);
      break;
    default:
      break;
  }
}

/* Returns 1 if the event need not wait for a status: it has a status, needs
 * none, or has waited too long. */
static int has_end(watch_timeline_t *timeline, watch_event_t *event,
                   uint64_t time) {
  return event->kind != WATCH_EXIT || timeline->add_status == NULL ||
         !wants(timeline, WATCH_EXIT) ||
         timeline->add_status(timeline->arg, event) || time == UINT64_MAX ||
         event->time + EXIT_WAIT_NS <= time;
}

static void write_event(watch_timeline_t *timeline, watch_event_t *event) {
  if (event->time < timeline->written)
    timeline->counts.late++;
  else
    timeline->written = event->time;
  if (event->kind == WATCH_EXEC && timeline->add_args != NULL)
    timeline->add_args(timeline->arg, event);
  if (event->kind == WATCH_EXIT && timeline->add_status != NULL)
    timeline->counts.unknown += !event->has_status;
  watch_line(timeline->buffer, event, timeline->json);
}

/* Writes the events up to the first event that must still wait. An event stops
 * waiting after its time limit, or if the record for which it waits may be
 * lost. */
void watch_timeline_until(watch_timeline_t *timeline, uint64_t time) {
  watch_process_t *process;
  watch_event_t *event;

  while ((event = timeline->first) != NULL) {
    if (event->is_waiting) {
      if (time != UINT64_MAX && event->time + EXEC_WAIT_NS > time &&
          event->lost == timeline->counts.lost)
        return;
      process = watch_tasks_find(&timeline->tasks, event->pid);
      if (process != NULL)
        end_exec(process);
    }
    if (!has_end(timeline, event, time))
      return;
    if (wants(timeline, event->kind))
      write_event(timeline, event);
    timeline->first = event->next;
    if (timeline->first == NULL)
      timeline->last = NULL;
    watch_event_free(event);
  }
}

void watch_timeline_sweep(watch_timeline_t *timeline) {
  watch_process_t *process, *next;

  for (process = watch_tasks_next(&timeline->tasks, NULL); process != NULL;
       process = next) {
    next = watch_tasks_next(&timeline->tasks, process);
    if (!process->has_ended &&
        (!process->is_shown || process->verified == timeline->counts.lost))
      continue;
    if (!process->has_ended && timeline->is_alive(process)) {
      process->is_missing = 0;
    } else if (process->is_missing) {
      end_exec(process);
      watch_tasks_remove(&timeline->tasks, process);
    } else {
      process->is_missing = 1;
    }
  }
}

/* The losses of a LOST record happened before the record, so its line has the
 * time of the previous record. */
void watch_timeline_record(watch_timeline_t *timeline,
                           const uvperf_record_t *record) {
  if (record->type != PERF_RECORD_LOST || timeline->now == 0)
    timeline->now = record->time;
  else if (timeline->now < timeline->written)
    timeline->now = timeline->written;
  follow(timeline, record);
  watch_timeline_until(timeline, timeline->now);
}
