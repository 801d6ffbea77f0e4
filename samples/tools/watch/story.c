/* SPDX-License-Identifier: MIT */
/* Follows processes through FORK, COMM, MMAP2 and EXIT records. */
#include "watch/story.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/tasks.h"

/* How long an exec waits for its executable, the first file that is mapped
 * after it (fs/binfmt_elf.c). The mapping follows within microseconds, unless
 * the process has to wait for a CPU. A process whose exec fails half-way is
 * killed and maps nothing. */
#define EXEC_WAIT_NS UINT64_C(1000000000)

/* How long an exit waits for its status, which does not come from a record. */
#define EXIT_WAIT_NS UINT64_C(200000000)

void watch_story_free(watch_story_t *story) {
  watch_event_t *event;

  while ((event = story->first) != NULL) {
    story->first = event->next;
    watch_event_free(event);
  }
  watch_tasks_free(&story->tasks);
}

static int wants(const watch_story_t *story, watch_kind_t kind) {
  return (story->kinds & WATCH_BIT(kind)) != 0;
}

static watch_event_t *tell(watch_story_t *story, watch_kind_t kind,
                           uint32_t pid, uint32_t tid) {
  watch_event_t *event = watch_event_new(kind, story->now, pid, tid);

  if (story->last == NULL)
    story->first = event;
  else
    story->last->next = event;
  story->last = event;
  return event;
}

static watch_event_t *tell_of(watch_story_t *story, watch_kind_t kind,
                              const watch_process_t *process, uint32_t tid) {
  watch_event_t *event = tell(story, kind, process->pid, tid);

  event->ppid = process->ppid;
  watch_event_name(event, watch_process_comm(process, tid));
  return event;
}

/* The last exec of the process waits no longer for its executable. */
static void end_exec(watch_process_t *process) {
  watch_event_t *exec = process->exec;

  if (exec != NULL)
    exec->is_waiting = 0;
  process->exec = NULL;
}

static void follow_fork(watch_story_t *story, const uvperf_record_t *record) {
  const uvperf_task_t *task = &record->task;
  watch_process_t *process;

  if (task->pid == task->tid) {
    process = watch_tasks_find(&story->tasks, task->pid);
    if (process != NULL)
      end_exec(process);
    process =
        watch_tasks_fork(&story->tasks, task->pid, task->ppid, task->ptid);
    process->verified = story->counts.lost;
    if (process->is_shown) {
      tell_of(story, WATCH_FORK, process, task->tid);
      story->counts.forks++;
    }
    return;
  }
  process = watch_tasks_add(&story->tasks, task->pid);
  watch_process_thread(process, task->tid,
                       watch_process_comm(process, task->ptid));
  if (process->is_shown && wants(story, WATCH_THREAD))
    tell_of(story, WATCH_THREAD, process, task->tid)->ppid = task->ppid;
}

static void follow_comm(watch_story_t *story, const uvperf_record_t *record) {
  const uvperf_comm_t *comm = &record->comm;
  watch_process_t *process = watch_tasks_add(&story->tasks, comm->pid);
  watch_event_t *event;

  if (uvperf_record_is_exec(record)) {
    end_exec(process);
    watch_process_exec(process, comm->comm);
    process->verified = story->counts.lost;
    if (!process->is_shown)
      return;
    event = tell_of(story, WATCH_EXEC, process, comm->tid);
    event->lost = story->counts.lost;
    story->counts.execs++;
    /* An event that does not wait is freed after this record. */
    if (wants(story, WATCH_EXEC)) {
      event->is_waiting = 1;
      process->exec = event;
    }
    return;
  }
  watch_process_thread(process, comm->tid, comm->comm);
  if (process->is_shown &&
      (wants(story, WATCH_THREAD) || comm->pid == comm->tid))
    tell_of(story, WATCH_COMM, process, comm->tid);
}

static void follow_mmap(watch_story_t *story, const uvperf_record_t *record) {
  const uvperf_mmap_t *mmap = &record->mmap;
  watch_process_t *process = watch_tasks_add(&story->tasks, mmap->pid);
  watch_event_t *event = process->exec;

  if (event != NULL && mmap->filename[0] == '/' && mmap->filename[1] != '/') {
    /* After a loss this is perhaps not the first mapping. */
    if (event->lost == story->counts.lost)
      watch_event_path(event, mmap->filename);
    end_exec(process);
  }
  /* Most records are mappings. */
  if (!process->is_shown || !wants(story, WATCH_MMAP))
    return;
  event = tell_of(story, WATCH_MMAP, process, mmap->pid);
  watch_event_path(event, mmap->filename);
  event->addr = mmap->addr;
  event->len = mmap->len;
  event->pgoff = mmap->pgoff;
  story->counts.maps++;
}

/* Whether the process has other threads than the one that has just ended. */
static int goes_on(watch_story_t *story, watch_process_t *process,
                   uint32_t tid) {
  if (watch_process_end_thread(process, tid) == 0)
    return 0;
  /* The records say that it has, but are wrong if some were lost. */
  if (process->verified == story->counts.lost)
    return 1;
  process->verified = story->counts.lost;
  return story->is_alive(process);
}

static void tell_exit(watch_story_t *story, const uvperf_record_t *record,
                      watch_process_t *process) {
  watch_event_t *event;

  event = tell(story, WATCH_EXIT, process->pid, record->task.tid);
  event->ppid = record->task.ppid;
  watch_event_name(event, process->comm);
  story->counts.exits++;
}

static void follow_exit(watch_story_t *story, const uvperf_record_t *record) {
  const uvperf_task_t *task = &record->task;
  watch_process_t *process = watch_tasks_find(&story->tasks, task->pid);

  if (process == NULL) {
    /* Its FORK was lost. It probably had no other threads. */
    if (task->pid != task->tid)
      return;
    process =
        watch_tasks_fork(&story->tasks, task->pid, task->ppid, task->ppid);
    watch_process_thread(process, task->tid, "");
  }
  if (process->is_over)
    return;
  end_exec(process);
  if (process->is_shown && wants(story, WATCH_THREAD) && process->nr > 1)
    tell_of(story, WATCH_THREAD_EXIT, process, task->tid);
  if (goes_on(story, process, task->tid))
    return;
  if (process->is_shown)
    tell_exit(story, record, process);
  /* There may still be an EXIT for a thread that lives only in our records. */
  if (process->nr > 0)
    watch_tasks_end(&story->tasks, process);
  else
    watch_tasks_remove(&story->tasks, process);
}

static void follow_lost(watch_story_t *story, const uvperf_record_t *record) {
  watch_event_t *event = tell(story, WATCH_LOST, 0, 0);

  event->lost = record->lost.lost;
  event->cpu = record->cpu;
  story->counts.lost += record->lost.lost;
}

static void follow(watch_story_t *story, const uvperf_record_t *record) {
  switch (record->type) {
    case PERF_RECORD_FORK:
      if (common_tasks_has_id(record->task.pid))
        follow_fork(story, record);
      else
        story->counts.hidden++;
      break;
    case PERF_RECORD_EXIT:
      if (common_tasks_has_id(record->task.pid))
        follow_exit(story, record);
      break;
    case PERF_RECORD_COMM:
      if (common_tasks_has_id(record->comm.pid))
        follow_comm(story, record);
      break;
    case PERF_RECORD_MMAP2:
      if (common_tasks_has_id(record->mmap.pid))
        follow_mmap(story, record);
      break;
    case PERF_RECORD_LOST:
      follow_lost(story, record);
      break;
    default:
      break;
  }
}

/* Whether the event need not wait for a status: it has one, needs none, or has
 * waited too long. */
static int has_end(watch_story_t *story, watch_event_t *event, uint64_t time) {
  return event->kind != WATCH_EXIT || story->add_status == NULL ||
         !wants(story, WATCH_EXIT) || story->add_status(story->arg, event) ||
         time == UINT64_MAX || event->time + EXIT_WAIT_NS <= time;
}

static void write_event(watch_story_t *story, watch_event_t *event) {
  if (event->time < story->told)
    story->counts.late++;
  else
    story->told = event->time;
  if (event->kind == WATCH_EXEC && story->add_args != NULL)
    story->add_args(story->arg, event);
  if (event->kind == WATCH_EXIT && story->add_status != NULL)
    story->counts.unknown += !event->has_status;
  watch_line(story->buffer, event, story->json);
}

/* Writes the events up to the first that must still wait. An event stops
 * waiting after its time limit, or if the record it waits for may be lost. */
static void write_until(watch_story_t *story, uint64_t time) {
  watch_process_t *process;
  watch_event_t *event;

  while ((event = story->first) != NULL) {
    if (event->is_waiting) {
      if (time != UINT64_MAX && event->time + EXEC_WAIT_NS > time &&
          event->lost == story->counts.lost)
        return;
      process = watch_tasks_find(&story->tasks, event->pid);
      if (process != NULL)
        end_exec(process);
    }
    if (!has_end(story, event, time))
      return;
    if (wants(story, event->kind))
      write_event(story, event);
    story->first = event->next;
    if (story->first == NULL)
      story->last = NULL;
    watch_event_free(event);
  }
}

void watch_story_sweep(watch_story_t *story) {
  watch_process_t *process, *next;

  for (process = watch_tasks_next(&story->tasks, NULL); process != NULL;
       process = next) {
    next = watch_tasks_next(&story->tasks, process);
    if (!process->is_over &&
        (!process->is_shown || process->verified == story->counts.lost))
      continue;
    if (!process->is_over && story->is_alive(process)) {
      process->is_missing = 0;
    } else if (process->is_missing) {
      end_exec(process);
      watch_tasks_remove(&story->tasks, process);
    } else {
      process->is_missing = 1;
    }
  }
}

/* The losses of a LOST record happened before it, so its line has the time of
 * the record before. */
void watch_story_record(watch_story_t *story, const uvperf_record_t *record) {
  if (record->type != PERF_RECORD_LOST || story->now == 0)
    story->now = record->time;
  else if (story->now < story->told)
    story->now = story->told;
  follow(story, record);
  write_until(story, story->now);
}

void watch_story_until(watch_story_t *story, uint64_t time) {
  write_until(story, time);
}
