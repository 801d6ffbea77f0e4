/* SPDX-License-Identifier: MIT */
/* Names are safe to print already; here they are cut. */
#include "common/stacks/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"

/* What fits into a terminal beside the numbers; a function comes last. */
#define WHERE_BYTES 20
#define NAME_BYTES  200

static double percent(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * (double)part / (double)whole;
}

static int is_off_cpu(const stacks_t *stacks) {
  return strcmp(stacks->event, "off-cpu") == 0;
}

static void print_head(FILE *file, const stacks_t *stacks, stacks_by_t by) {
  static const char *const where[] = {"object", "process", "pid", ""};

  fprintf(file, "%8s %8s %9s  ", "self", "total",
          is_off_cpu(stacks) ? "waits" : "samples");
  if (by != STACKS_BY_CGROUP)
    fprintf(file, "%-*s ", by == STACKS_BY_PROCESS ? 7 : WHERE_BYTES,
            where[by]);
  fprintf(file, "%s\n", stacks_by_name(by));
}

static void print_row(FILE *file, const stacks_t *stacks, stacks_by_t by,
                      const stacks_row_t *row) {
  char where[WHERE_BYTES + 1], name[NAME_BYTES + 1];

  common_text_clean(where, sizeof(where), row->where);
  common_text_clean(name, sizeof(name), row->name);
  fprintf(file, "%7.2f%% %7.2f%% %9" PRIu64 "  ",
          percent(row->self, stacks->weight),
          percent(row->total, stacks->weight), row->samples);
  if (by == STACKS_BY_PROCESS)
    fprintf(file, "%-7" PRIu32 " ", row->id);
  else if (by != STACKS_BY_CGROUP)
    fprintf(file, "%-*s ", WHERE_BYTES, where);
  fputs(name[0] == '\0' ? "[unknown]" : name, file);
  if (by == STACKS_BY_THREAD && row->id != 0)
    fprintf(file, " %" PRIu32, row->id);
  putc('\n', file);
}

void stacks_text_table(FILE *file, const stacks_t *stacks, stacks_by_t by,
                       size_t most_rows) {
  stacks_row_t *rows;
  size_t i, nr;

  rows = stacks_rank(stacks, by, &nr);
  print_head(file, stacks, by);
  for (i = 0; i < nr && i < most_rows; i++)
    print_row(file, stacks, by, &rows[i]);
  if (nr > most_rows)
    fprintf(file, "%*s%zu more\n", 28, "", nr - most_rows);
  free(rows);
}

/* A semicolon is what separates frames. */
static void put_part(FILE *file, const char *text) {
  for (; *text != '\0'; text++)
    putc(*text == ';' ? ':' : *text, file);
}

static void put_stack(FILE *file, const stacks_t *stacks,
                      const stacks_stack_t *stack) {
  uint64_t count = stack->samples;
  size_t i;

  put_part(file, stacks_get_task(stacks, stack->task)->process);
  for (i = stack->nr_frames; i > 0; i--) {
    putc(';', file);
    put_part(file,
             stacks_get_function(stacks, stack->frames[i - 1].function)->name);
  }
  if (is_off_cpu(stacks))
    count = stack->weight / 1000;
  fprintf(file, " %" PRIu64 "\n", count);
}

void stacks_text_folded(FILE *file, const stacks_t *stacks) {
  stacks_stack_t *all;
  size_t i, nr;

  all = stacks_sorted(stacks, &nr);
  for (i = 0; i < nr; i++)
    put_stack(file, stacks, &all[i]);
  free(all);
}
