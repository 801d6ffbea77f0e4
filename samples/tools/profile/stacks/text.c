/* SPDX-License-Identifier: MIT */
/* Names are already safe to print. This file cuts them to fit. */
#include "profile/stacks/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "common/memory.h"
#include "common/tally.h"
#include "common/text.h"

/* Widths of columns: of an object or a process, of a pid, of a name without a
 * limit. */
#define WHERE_COLUMNS 20
#define PID_COLUMNS   7
#define NAME_COLUMNS  200
#define MAX_COLUMNS   1000

/* Lines that are narrower than this leave out the total, the samples, the
 * object. */
#define COLUMNS_WITH_TOTAL   32
#define COLUMNS_WITH_SAMPLES 48
#define COLUMNS_WITH_WHERE   72

static double percent(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * (double)part / (double)whole;
}

static int is_off_cpu(const stacks_t *stacks) {
  return strcmp(stacks->event, "off-cpu") == 0;
}

size_t stacks_text_cut(FILE *file, const char *text, size_t columns) {
  size_t i, bytes;

  for (i = 0; i < columns && *text != '\0'; i++) {
    bytes = common_text_printable(text);
    if (bytes == 0) {
      putc('?', file);
      bytes = 1;
    } else {
      fwrite(text, 1, bytes, file);
    }
    text += bytes;
  }
  return i;
}

/* Returns the bytes that stacks_text_cut writes as one character. */
static size_t bytes_of(const char *text) {
  size_t bytes = common_text_printable(text);

  return bytes == 0 ? 1 : bytes;
}

static size_t width_of(const char *text) {
  size_t nr;

  for (nr = 0; *text != '\0'; nr++)
    text += bytes_of(text);
  return nr;
}

static const char *skip_characters(const char *text, size_t nr) {
  for (; nr > 0; nr--)
    text += bytes_of(text);
  return text;
}

/* Writes a name in at most `columns` characters, and returns their number. A
 * long name loses its middle: names that differ often differ at the end. */
static size_t put_name(FILE *file, const char *name, size_t columns) {
  size_t width = width_of(name), head;

  if (width <= columns || columns < 8)
    return stacks_text_cut(file, name, columns);
  head = (columns - 1) / 2;
  stacks_text_cut(file, name, head);
  fputs("..", file);
  stacks_text_cut(file, skip_characters(name, width - (columns - 2 - head)),
                  columns);
  return columns;
}

/* Pads a name to `columns`, and cuts it to `most`. */
static void put_padded(FILE *file, const char *text, size_t columns,
                       size_t most) {
  size_t used = put_name(file, text, most);

  fprintf(file, "%*s ", used < columns ? (int)(columns - used) : 0, "");
}

static int has(const stacks_layout_t *layout, size_t columns) {
  return layout->columns == 0 || layout->columns >= columns;
}

static size_t where_columns(const stacks_layout_t *layout) {
  if (layout->by == STACKS_BY_CGROUP || layout->by == STACKS_BY_COMM ||
      !has(layout, COLUMNS_WITH_WHERE))
    return 0;
  return layout->by == STACKS_BY_PROCESS ? PID_COLUMNS : WHERE_COLUMNS;
}

/* If there is enough room, the pid has its own column. Otherwise it is at the
 * end. */
static int has_id_at_end(const stacks_layout_t *layout) {
  return layout->by == STACKS_BY_THREAD ||
         (layout->by == STACKS_BY_PROCESS && where_columns(layout) == 0);
}

static size_t name_columns(const stacks_layout_t *layout) {
  size_t used = 8, where = where_columns(layout);

  used += has(layout, COLUMNS_WITH_TOTAL) ? 9 : 0;
  used += has(layout, COLUMNS_WITH_SAMPLES) ? 10 : 0;
  used += 2 + where + (where > 0);
  if (layout->is_whole)
    return MAX_COLUMNS;
  if (layout->columns == 0)
    return NAME_COLUMNS;
  return layout->columns > used ? layout->columns - used : 0;
}

void stacks_text_head(FILE *file, const stacks_layout_t *layout) {
  static const char *const where[] = {"object", "process", "pid", "", ""};

  fprintf(file, "%8s", "self");
  if (has(layout, COLUMNS_WITH_TOTAL))
    fprintf(file, "%9s", "total");
  if (has(layout, COLUMNS_WITH_SAMPLES))
    fprintf(file, "%10s", layout->counted);
  fputs("  ", file);
  if (where_columns(layout) > 0)
    put_padded(file, where[layout->by], where_columns(layout),
               where_columns(layout));
  stacks_text_cut(file, stacks_by_name(layout->by), name_columns(layout));
  putc('\n', file);
}

void stacks_text_row(FILE *file, const stacks_layout_t *layout,
                     const stacks_row_t *row) {
  const char *name = row->name[0] == '\0' ? "[unknown]" : row->name;
  /* "[unknown]" is an object as well. A process and its first thread have the
   * same name. */
  const char *where =
      layout->by == STACKS_BY_FUNCTION && strcmp(row->where, row->name) == 0
          ? "-"
          : row->where;
  char number[16];
  size_t columns, used;

  fprintf(file, "%7.2f%%", percent(row->self, layout->weight));
  if (has(layout, COLUMNS_WITH_TOTAL))
    fprintf(file, " %7.2f%%", percent(row->total, layout->weight));
  if (has(layout, COLUMNS_WITH_SAMPLES))
    fprintf(file, " %9" PRIu64, row->samples);
  fputs("  ", file);
  snprintf(number, sizeof(number), "%" PRIu32, row->id);
  if (where_columns(layout) > 0)
    put_padded(file, layout->by == STACKS_BY_PROCESS ? number : where,
               where_columns(layout),
               layout->is_whole ? MAX_COLUMNS : where_columns(layout));
  columns = name_columns(layout);
  if (has_id_at_end(layout) && row->id != 0 && columns > strlen(number) + 8)
    columns -= strlen(number) + 1;
  used = put_name(file, name, columns);
  if (has_id_at_end(layout) && row->id != 0 &&
      used + 1 + strlen(number) <= name_columns(layout))
    fprintf(file, " %s", number);
  putc('\n', file);
}

/* Returns a row as it is written, for free(). */
static char *write_row(const stacks_layout_t *layout, const stacks_row_t *row) {
  stacks_row_t names = {.name = row->name, .where = row->where, .id = row->id};
  char *text = NULL;
  size_t size;
  FILE *file = common_memory_open(&text, &size);

  stacks_text_row(file, layout, &names);
  common_memory_close(file);
  return text;
}

/* Returns 1 if two rows differ only in what is cut. Equal functions of one
 * object are two rows, too. */
static int has_lookalikes(const stacks_layout_t *layout,
                          const stacks_row_t *rows, size_t nr) {
  char **texts = common_calloc(nr + 1, sizeof(*texts));
  size_t i, k;
  int found = 0;

  for (i = 0; i < nr; i++) {
    texts[i] = write_row(layout, &rows[i]);
    for (k = 0; k < i; k++)
      found |= strcmp(texts[i], texts[k]) == 0 &&
               (strcmp(rows[i].name, rows[k].name) != 0 ||
                strcmp(rows[i].where, rows[k].where) != 0);
  }
  for (i = 0; i < nr; i++)
    free(texts[i]);
  free(texts);
  return found;
}

void stacks_text_table(FILE *file, const stacks_t *stacks,
                       const stacks_view_t *view) {
  stacks_layout_t layout = {.by = view->by,
                            .columns = view->columns,
                            .counted = is_off_cpu(stacks) ? "waits" : "samples",
                            .weight = stacks->weight};
  stacks_row_t *rows;
  size_t i, nr, shown;

  rows = stacks_rank(stacks, view->by, &nr);
  stacks_rank_sort(rows, nr, view->sort);
  shown = nr < view->rows ? nr : (size_t)view->rows;
  layout.is_whole = has_lookalikes(&layout, rows, shown);
  stacks_text_head(file, &layout);
  for (i = 0; i < shown; i++)
    stacks_text_row(file, &layout, &rows[i]);
  if (nr > shown)
    fprintf(file, "%*s%zu more\n", 28, "", nr - shown);
  free(rows);
}

/* Semicolons separate frames, so semicolons in names become colons. */
static void add_part(common_buffer_t *line, const char *text) {
  size_t size = strcspn(text, ";");

  common_buffer_add(line, text, size);
  for (text += size; *text != '\0'; text += size) {
    common_buffer_add(line, ":", 1);
    size = strcspn(++text, ";");
    common_buffer_add(line, text, size);
  }
}

/* Writes the stack's names and at least one NUL, in a multiple of 8 bytes. */
static void make_line(common_buffer_t *line, const stacks_t *stacks,
                      const stacks_stack_t *stack) {
  static const char zeros[8];
  uint32_t function;
  size_t i;

  line->used = 0;
  add_part(line, stacks_get_task(stacks, stack->task)->process);
  for (i = stack->nr_frames; i > 0; i--) {
    function = stack->frames[i - 1].function;
    common_buffer_add(line, ";", 1);
    add_part(line, stacks_get_function(stacks, function)->name);
  }
  common_buffer_add(line, zeros, 8 - line->used % 8);
}

static void put_line(FILE *file, const stacks_t *stacks, const char *line,
                     uint64_t samples, uint64_t weight) {
  fprintf(file, "%s %" PRIu64 "\n", line,
          is_off_cpu(stacks) ? weight / 1000 : samples);
}

/* Stacks that differ only in addresses become one line. */
void stacks_text_folded(FILE *file, const stacks_t *stacks) {
  common_buffer_t line = {NULL, 0, 0};
  common_entry_t *entry, **entries;
  common_tally_t lines;
  stacks_stack_t *all;
  size_t i, nr;

  common_tally_init(&lines, 8);
  all = stacks_sorted(stacks, &nr);
  for (i = 0; i < nr; i++) {
    make_line(&line, stacks, &all[i]);
    entry = common_tally_get(&lines, 0, line.text, line.used / 8);
    if (entry == NULL) {
      put_line(file, stacks, line.text, all[i].samples, all[i].weight);
      continue;
    }
    entry->samples += all[i].samples;
    entry->weight += all[i].weight;
  }
  free(all);
  common_buffer_free(&line);
  entries = common_tally_sorted(&lines, &nr);
  for (i = 0; i < nr; i++)
    put_line(file, stacks, entries[i]->items, entries[i]->samples,
             entries[i]->weight);
  free(entries);
  common_tally_free(&lines);
}
