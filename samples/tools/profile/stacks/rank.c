/* SPDX-License-Identifier: MIT */
/* Equal names have equal addresses, because a profile stores each name once. */
#include "profile/stacks/rank.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/tally.h"

static const char *const words[] = {"function", "thread", "process", "cgroup",
                                    "comm"};
static const char *const orders[] = {"self", "total", "samples"};

const char *stacks_by_name(stacks_by_t by) {
  return words[by];
}

/* Returns the index of a name, or `nr`. */
static size_t index_of(const char *const *names, size_t nr, const char *name) {
  size_t i = 0;

  while (i < nr && strcmp(names[i], name) != 0)
    i++;
  return i;
}

int stacks_by_parse(const char *name, stacks_by_t *by) {
  size_t i = index_of(words, sizeof(words) / sizeof(words[0]), name);

  if (i == sizeof(words) / sizeof(words[0]))
    return -1;
  *by = (stacks_by_t)i;
  return 0;
}

int stacks_sort_parse(const char *name, stacks_sort_t *sort) {
  size_t i = index_of(orders, sizeof(orders) / sizeof(orders[0]), name);

  if (i == sizeof(orders) / sizeof(orders[0]))
    return -1;
  *sort = (stacks_sort_t)i;
  return 0;
}

/* A recursive function is in a stack several times. For each function,
 * last_seen has the last stack that was counted for it. */
static void add_stack(stacks_row_t *rows, size_t *last_seen, size_t which,
                      const stacks_stack_t *stack) {
  uint32_t function;
  size_t i;

  for (i = 0; i < stack->nr_frames; i++) {
    function = stack->frames[i].function;
    if (i == 0) {
      rows[function].samples += stack->samples;
      rows[function].self += stack->weight;
    }
    if (last_seen[function] != which)
      rows[function].total += stack->weight;
    last_seen[function] = which;
  }
}

static stacks_row_t *rank_functions(const stacks_t *stacks,
                                    const stacks_stack_t *all, size_t nr_stacks,
                                    size_t *nr) {
  size_t i, nr_functions = stacks_nr_functions(stacks);
  size_t *last_seen = common_calloc(nr_functions, sizeof(*last_seen));
  stacks_row_t *rows = common_calloc(nr_functions, sizeof(*rows));
  const stacks_function_t *function;

  for (i = 0; i < nr_functions; i++) {
    function = stacks_get_function(stacks, (uint32_t)i);
    rows[i].name = function->name;
    rows[i].where = stacks_get_object(stacks, function->object)->name;
  }
  for (i = 0; i < nr_stacks; i++)
    add_stack(rows, last_seen, i + 1, &all[i]);
  free(last_seen);
  *nr = nr_functions;
  return rows;
}

static stacks_row_t row_of_task(const stacks_task_t *task, stacks_by_t by) {
  stacks_row_t row = {.name = task->cgroup, .where = ""};

  if (by == STACKS_BY_THREAD) {
    row.name = task->thread;
    row.where = task->process;
    row.id = task->tid;
  } else if (by != STACKS_BY_CGROUP) {
    row.name = task->process;
    row.id = by == STACKS_BY_PROCESS ? task->pid : 0;
  }
  return row;
}

static stacks_row_t *rank_tasks(const stacks_t *stacks, stacks_by_t by,
                                const stacks_stack_t *all, size_t nr_stacks,
                                size_t *nr) {
  size_t i, nr_tasks = stacks_nr_tasks(stacks);
  stacks_row_t *rows = common_calloc(nr_tasks, sizeof(*rows)), row;
  const common_entry_t *entry;
  common_tally_t tally;
  uint64_t key[3];

  *nr = 0;
  common_tally_init(&tally, sizeof(uint64_t));
  for (i = 0; i < nr_stacks; i++) {
    row = row_of_task(stacks_get_task(stacks, all[i].task), by);
    key[0] = (uintptr_t)row.name;
    key[1] = (uintptr_t)row.where;
    key[2] = row.id;
    /* Never NULL: the tasks themselves are in a tally. */
    entry = common_tally_get(&tally, 0, key, 3);
    if (entry->index == *nr)
      rows[(*nr)++] = row;
    rows[entry->index].samples += all[i].samples;
    rows[entry->index].self += all[i].weight;
    rows[entry->index].total += all[i].weight;
  }
  common_tally_free(&tally);
  return rows;
}

/* Returns the first key of the order. If this key is equal, self, total and the
 * names decide. */
static uint64_t key_of(const stacks_row_t *row, stacks_sort_t sort) {
  const uint64_t keys[] = {row->self, row->total, row->samples};

  return keys[sort];
}

static int compare_by(const stacks_row_t *left, const stacks_row_t *right,
                      stacks_sort_t sort) {
  const stacks_sort_t sorts[] = {sort, STACKS_SORT_SELF, STACKS_SORT_TOTAL};
  uint64_t one, other;
  size_t i;
  int order;

  for (i = 0; i < sizeof(sorts) / sizeof(sorts[0]); i++) {
    one = key_of(left, sorts[i]);
    other = key_of(right, sorts[i]);
    if (one != other)
      return one > other ? -1 : 1;
  }
  order = strcmp(left->name, right->name);
  if (order == 0)
    order = strcmp(left->where, right->where);
  return order != 0 ? order : (left->id > right->id) - (left->id < right->id);
}

static int compare_self(const void *a, const void *b) {
  return compare_by(a, b, STACKS_SORT_SELF);
}

static int compare_total(const void *a, const void *b) {
  return compare_by(a, b, STACKS_SORT_TOTAL);
}

static int compare_samples(const void *a, const void *b) {
  return compare_by(a, b, STACKS_SORT_SAMPLES);
}

const char *stacks_sort_name(stacks_sort_t sort) {
  return orders[sort];
}

void stacks_rank_sort(stacks_row_t *rows, size_t nr, stacks_sort_t sort) {
  int (*const compare[])(const void *, const void *) = {
      compare_self, compare_total, compare_samples};

  qsort(rows, nr, sizeof(*rows), compare[sort]);
}

stacks_row_t *stacks_rank(const stacks_t *stacks, stacks_by_t by, size_t *nr) {
  stacks_stack_t *all;
  stacks_row_t *rows;
  size_t nr_stacks;

  all = stacks_sorted(stacks, &nr_stacks);
  if (by == STACKS_BY_FUNCTION)
    rows = rank_functions(stacks, all, nr_stacks, nr);
  else
    rows = rank_tasks(stacks, by, all, nr_stacks, nr);
  free(all);
  stacks_rank_sort(rows, *nr, STACKS_SORT_SELF);
  /* Drop functions that no stack has any more, and [other]. */
  while (*nr > 0 && rows[*nr - 1].total == 0)
    --*nr;
  return rows;
}
