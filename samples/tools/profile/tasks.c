/* SPDX-License-Identifier: MIT */
/* Keeps names and mappings of tasks. Calls come in time order, so only the
 * present state is kept, no history. Memory is bounded by the number of live
 * tasks and by MAX_MAPS for each task. Does not depend on records. */
#include "profile/tasks.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

/* A process has at most vm.max_map_count mappings, 65530 by default. munmap
 * makes no record, so more can accumulate. */
#define MAX_MAPS 65536

static profile_task_t *find(const profile_tasks_t *tasks, uint32_t tid) {
  return common_by_id_find(&tasks->threads, tid);
}

profile_task_t *profile_tasks_get(profile_tasks_t *tasks, uint32_t tid) {
  profile_task_t *task = common_by_id_get(&tasks->threads, tid, sizeof(*task));

  task->tid = tid;
  return task;
}

static void drop_maps(profile_task_t *task) {
  free(task->memory);
  task->memory = task->maps = NULL;
  task->nr_maps = task->map_capacity = 0;
  task->is_unwindable = 0;
}

static void free_task(void *task) {
  drop_maps(task);
  free(task);
}

void profile_tasks_free(profile_tasks_t *tasks) {
  common_by_id_free(&tasks->threads, free_task);
}

void profile_tasks_name(profile_tasks_t *tasks, uint32_t tid, uint32_t comm) {
  profile_task_t *task = profile_tasks_get(tasks, tid);

  task->comm = comm;
  task->has_comm = 1;
}

static void leave(profile_tasks_t *tasks, profile_task_t *thread,
                  uint64_t time) {
  profile_task_t *process = find(tasks, thread->process);

  thread->process = 0;
  if (process == NULL || process->nr_others == 0)
    return;
  process->nr_others--;
  if (process->died != 0 && time != 0)
    process->died = time;
}

void profile_tasks_thread(profile_tasks_t *tasks, uint32_t pid, uint32_t tid) {
  profile_task_t *process = profile_tasks_get(tasks, pid);
  profile_task_t *thread = profile_tasks_get(tasks, tid);

  if (thread->process == pid)
    return;
  leave(tasks, thread, 0);
  if (tid == pid)
    return;
  thread->process = pid;
  process->nr_others++;
}

int profile_tasks_comm(const profile_tasks_t *tasks, uint32_t pid, uint32_t tid,
                       uint32_t *comm) {
  const profile_task_t *task = find(tasks, tid);

  if (task == NULL || !task->has_comm)
    task = find(tasks, pid);
  if (task == NULL || !task->has_comm)
    return -1;
  *comm = task->comm;
  return 0;
}

static void begin_image(profile_tasks_t *tasks, profile_task_t *task,
                        uint64_t time) {
  task->image = ++tasks->nr_images;
  task->image_since = time;
  task->has_jit = 0;
}

static void copy_maps(profile_task_t *child, const profile_task_t *parent) {
  drop_maps(child);
  if (parent->nr_maps == 0)
    return;
  child->memory = common_calloc(parent->nr_maps, sizeof(*child->maps));
  child->maps = child->memory;
  memcpy(child->maps, parent->maps, parent->nr_maps * sizeof(*child->maps));
  child->nr_maps = child->map_capacity = parent->nr_maps;
}

void profile_tasks_fork(profile_tasks_t *tasks, uint32_t pid, uint32_t tid,
                        uint32_t ppid, uint32_t ptid, uint64_t time) {
  profile_task_t *task = profile_tasks_get(tasks, tid);
  const profile_task_t *process = find(tasks, ppid);

  /* A dead task may have had the same id. */
  task->died = 0;
  profile_tasks_thread(tasks, pid, tid);
  task->has_comm = profile_tasks_comm(tasks, ppid, ptid, &task->comm) == 0;
  if (pid == ppid || process == task)
    return;
  begin_image(tasks, task, time);
  if (process != NULL)
    copy_maps(task, process);
  else
    drop_maps(task);
}

void profile_tasks_exec(profile_tasks_t *tasks, uint32_t pid, uint64_t time) {
  profile_task_t *task = profile_tasks_get(tasks, pid);

  drop_maps(task);
  begin_image(tasks, task, time);
  task->nr_others = 0;
  task->died = 0;
}

void profile_tasks_exit(profile_tasks_t *tasks, uint32_t tid, uint64_t time) {
  profile_task_t *task = find(tasks, tid);

  if (task == NULL)
    return;
  task->died = time;
  leave(tasks, task, time);
}

/* Returns the index of the first map that ends after an address. */
static size_t first_after(const profile_task_t *task, uint64_t address) {
  size_t low = 0, high = task->nr_maps, middle;

  while (low < high) {
    middle = low + (high - low) / 2;
    if (task->maps[middle].end <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Makes room for two more maps at each end. Most maps are added at the ends:
 * the kernel maps downwards, and /proc lists upwards. */
static void make_room(profile_task_t *task) {
  size_t before = (size_t)(task->maps - task->memory);
  size_t after = task->map_capacity - before - task->nr_maps;
  profile_map_t *memory;

  if (task->memory != NULL && before >= 2 && after >= 2)
    return;
  task->map_capacity = task->nr_maps * 3 + 8;
  memory = common_calloc(task->map_capacity, sizeof(*memory));
  before = task->nr_maps + 4;
  if (task->nr_maps > 0)
    memcpy(memory + before, task->maps, task->nr_maps * sizeof(*memory));
  free(task->memory);
  task->memory = memory;
  task->maps = memory + before;
}

/* Replaces the maps from `first` up to but not including `last` by `nr` other
 * maps, at most two more than before. Moves the maps on the side that has fewer
 * maps. */
static void replace(profile_task_t *task, size_t first, size_t last,
                    const profile_map_t *maps, size_t nr) {
  size_t left = first, right = task->nr_maps - last, old = last - first;

  make_room(task);
  if (left < right) {
    memmove(task->maps + old - nr, task->maps, left * sizeof(*maps));
    task->maps = task->maps + old - nr;
  } else {
    memmove(task->maps + first + nr, task->maps + last, right * sizeof(*maps));
  }
  memcpy(task->maps + first, maps, nr * sizeof(*maps));
  task->nr_maps = left + nr + right;
}

void profile_tasks_map(profile_tasks_t *tasks, uint32_t pid,
                       const profile_map_t *map) {
  profile_task_t *task = profile_tasks_get(tasks, pid);
  profile_map_t pieces[3];
  size_t first, last, nr = 0;

  if (map->end <= map->start)
    return;
  first = first_after(task, map->start);
  /* The parts of old maps to the left and to the right of the new map stay. */
  if (first < task->nr_maps && task->maps[first].start < map->start) {
    pieces[nr] = task->maps[first];
    pieces[nr++].end = map->start;
  }
  pieces[nr++] = *map;
  for (last = first; last < task->nr_maps && task->maps[last].start < map->end;
       last++)
    continue;
  if (last > first && task->maps[last - 1].end > map->end) {
    pieces[nr] = task->maps[last - 1];
    pieces[nr].pgoff += map->end - pieces[nr].start;
    pieces[nr++].start = map->end;
  }
  /* The old maps are removed even if the new one does not fit. */
  if (task->nr_maps - (last - first) + nr > MAX_MAPS)
    nr = 0;
  replace(task, first, last, pieces, nr);
  task->is_unwindable = 0;
}

const profile_map_t *profile_tasks_find(const profile_tasks_t *tasks,
                                        uint32_t pid, uint64_t address) {
  const profile_task_t *task = find(tasks, pid);
  size_t i;

  if (task == NULL)
    return NULL;
  i = first_after(task, address);
  if (i == task->nr_maps || task->maps[i].start > address)
    return NULL;
  return &task->maps[i];
}

void profile_tasks_reap(profile_tasks_t *tasks, uint64_t before) {
  profile_task_t *task, *next;

  for (task = common_by_id_next(&tasks->threads, NULL); task != NULL;
       task = next) {
    next = common_by_id_next(&tasks->threads, task);
    if (task->died == 0 || task->died >= before || task->nr_others > 0)
      continue;
    if (tasks->on_reap != NULL)
      tasks->on_reap(tasks->arg, task->tid);
    /* Its pid may be used again, which ends the time of its map file. */
    if (task->has_jit) {
      drop_maps(task);
      task->died = 0;
      continue;
    }
    common_by_id_remove(&tasks->threads, task);
    free_task(task);
  }
}
