/* SPDX-License-Identifier: MIT */
/* Packs a profile for page.js, and writes it into page.html.
 *
 * The data, before it is deflated:
 *
 *   size of the JSON, as a varint
 *   JSON: title, event, unit, objects, functions, tasks, sizes of the columns
 *   the columns, of varints, one after the other
 *
 * A stack is a path of steps: its task, then its frames from the outermost on.
 * Paths are sorted, so that each path shares its first steps with the previous
 * path. For each path, `drops` is the number of further steps of the previous
 * path, `steps` is the number of new steps, and `keys` has the new steps. The
 * key of a task is its index. The key of a frame is twice the number of its
 * function, plus 1 if it is inlined. Functions are numbered from 1 in the order
 * in which they appear. But the first time that a function appears, its key has
 * the number 0. `samples` and `weights` have the counts of the path itself. A
 * weight of 0 means samples times `each`. All other weights are stored plus
 * 1. */
#include "profile/page/page.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "common/buffer.h"
#include "common/memory.h"
#include "common/text.h"
#include "profile/page/parts.h"

enum {
  DROPS,
  STEPS,
  KEYS,
  SAMPLES,
  WEIGHTS,
  NR_COLUMNS
};

typedef struct page_s {
  const stacks_t *stacks;
  const char *title;
  common_buffer_t columns[NR_COLUMNS];
  uint32_t *functions; /* in the order in which they appear */
  uint32_t *numbers;   /* by function; 0: it has not appeared */
  uint32_t nr_functions;
  uint64_t each;
  size_t nr_paths, nr_steps;
} page_t;

static void put_varint(common_buffer_t *buffer, uint64_t value) {
  char bytes[10];
  size_t nr = 0;

  for (; value >= 0x80; value >>= 7)
    bytes[nr++] = (char)(value | 0x80);
  bytes[nr++] = (char)value;
  common_buffer_add(buffer, bytes, nr);
}

/* Returns the number of steps of a path: its task and its frames. */
static size_t nr_steps(const stacks_stack_t *stack) {
  return stack->nr_frames + 1;
}

static uint64_t key_at(const stacks_stack_t *stack, size_t step) {
  const stacks_frame_t *frame;

  if (step == 0)
    return stack->task;
  frame = &stack->frames[stack->nr_frames - step];
  return (uint64_t)frame->function * 2 + (frame->is_inlined != 0);
}

/* Returns the number of steps that two paths share at their start. */
static size_t nr_shared(const stacks_stack_t *a, const stacks_stack_t *b) {
  size_t least = nr_steps(a) < nr_steps(b) ? nr_steps(a) : nr_steps(b);
  size_t i = 0;

  while (i < least && key_at(a, i) == key_at(b, i))
    i++;
  return i;
}

static int compare_paths(const void *left, const void *right) {
  const stacks_stack_t *a = left, *b = right;
  size_t i = nr_shared(a, b);

  if (i == nr_steps(a) || i == nr_steps(b))
    return (nr_steps(a) > nr_steps(b)) - (nr_steps(a) < nr_steps(b));
  return key_at(a, i) < key_at(b, i) ? -1 : 1;
}

static void put_key(page_t *page, const stacks_stack_t *stack, size_t step) {
  uint64_t key = key_at(stack, step);
  uint32_t function, number;

  if (step > 0) {
    function = (uint32_t)(key / 2);
    number = page->numbers[function];
    if (number == 0) {
      page->functions[page->nr_functions++] = function;
      page->numbers[function] = page->nr_functions;
    }
    key = (uint64_t)number * 2 + key % 2;
  }
  put_varint(&page->columns[KEYS], key);
}

static void put_path(page_t *page, const stacks_stack_t *last,
                     const stacks_stack_t *stack) {
  size_t shared = last == NULL ? 0 : nr_shared(last, stack), i;

  put_varint(&page->columns[DROPS], last == NULL ? 0 : nr_steps(last) - shared);
  put_varint(&page->columns[STEPS], nr_steps(stack) - shared);
  for (i = shared; i < nr_steps(stack); i++)
    put_key(page, stack, i);
  page->nr_steps += nr_steps(stack) - shared;
  page->nr_paths++;
}

static void put_sums(page_t *page, uint64_t samples, uint64_t weight) {
  put_varint(&page->columns[SAMPLES], samples);
  if (samples > 0 ? weight / samples == page->each && weight % samples == 0
                  : weight == 0)
    weight = 0;
  else if (weight < UINT64_MAX)
    weight++;
  put_varint(&page->columns[WEIGHTS], weight);
}

/* Stacks that differ only in addresses become one path. */
static void pack_stacks(page_t *page) {
  stacks_stack_t *sorted, *last = NULL;
  uint64_t samples = 0, weight = 0;
  size_t nr, i;

  sorted = stacks_sorted(page->stacks, &nr);
  /* All samples of a clock have the same weight. */
  if (nr > 0 && sorted[0].samples > 0)
    page->each = sorted[0].weight / sorted[0].samples;
  if (nr > 0)
    qsort(sorted, nr, sizeof(sorted[0]), compare_paths);
  for (i = 0; i < nr; i++) {
    if (last == NULL || compare_paths(last, &sorted[i]) != 0) {
      if (last != NULL)
        put_sums(page, samples, weight);
      put_path(page, last, &sorted[i]);
      last = &sorted[i];
      samples = weight = 0;
    }
    samples += sorted[i].samples;
    weight += sorted[i].weight;
  }
  if (last != NULL)
    put_sums(page, samples, weight);
  free(sorted);
}

/* Writes a JSON string that is safe to display: see common/text.h. */
static void put_string(common_buffer_t *buffer, const char *text) {
  char json[COMMON_TEXT_JSON_BYTES];
  size_t bytes;

  common_buffer_text(buffer, "\"");
  while (*text != '\0') {
    bytes = common_text_json(json, text);
    if (common_text_printable(text) == 0) {
      bytes = 1;
      snprintf(json, sizeof(json), "?");
    }
    common_buffer_text(buffer, json);
    text += bytes;
  }
  common_buffer_text(buffer, "\"");
}

static void put_member(common_buffer_t *buffer, const char *name,
                       const char *text) {
  common_buffer_print(buffer, "\"%s\":", name);
  put_string(buffer, text == NULL ? "" : text);
  common_buffer_text(buffer, ",");
}

static void put_objects(common_buffer_t *buffer, const stacks_t *stacks) {
  size_t i;

  common_buffer_text(buffer, "\"objects\":[");
  for (i = 0; i < stacks_nr_objects(stacks); i++) {
    common_buffer_text(buffer, i > 0 ? "," : "");
    put_string(buffer, stacks_get_object(stacks, (uint32_t)i)->name);
  }
  common_buffer_text(buffer, "],");
}

/* Writes names in one array and objects in another, because that compresses
 * better. */
static void put_functions(common_buffer_t *buffer, const page_t *page) {
  const stacks_t *stacks = page->stacks;
  size_t i;

  common_buffer_text(buffer, "\"functions\":[");
  for (i = 0; i < page->nr_functions; i++) {
    common_buffer_text(buffer, i > 0 ? "," : "");
    put_string(buffer, stacks_get_function(stacks, page->functions[i])->name);
  }
  common_buffer_text(buffer, "],\"homes\":[");
  for (i = 0; i < page->nr_functions; i++)
    common_buffer_print(
        buffer, "%s%" PRIu32, i > 0 ? "," : "",
        stacks_get_function(stacks, page->functions[i])->object);
  common_buffer_text(buffer, "],");
}

static void put_tasks(common_buffer_t *buffer, const stacks_t *stacks) {
  const stacks_task_t *task;
  size_t i;

  common_buffer_text(buffer, "\"tasks\":[");
  for (i = 0; i < stacks_nr_tasks(stacks); i++) {
    task = stacks_get_task(stacks, (uint32_t)i);
    common_buffer_print(buffer, "%s{\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",",
                        i > 0 ? "," : "", task->pid, task->tid);
    put_member(buffer, "thread", task->thread);
    put_member(buffer, "process", task->process);
    common_buffer_text(buffer, "\"cgroup\":");
    put_string(buffer, task->cgroup);
    common_buffer_text(buffer, "}");
  }
  common_buffer_text(buffer, "],");
}

static void put_json(common_buffer_t *buffer, const page_t *page) {
  const stacks_t *stacks = page->stacks;
  size_t i;

  common_buffer_text(buffer, "{");
  put_member(buffer, "event", stacks->event);
  put_member(buffer, "unit", stacks->unit);
  put_objects(buffer, stacks);
  put_functions(buffer, page);
  put_tasks(buffer, stacks);
  common_buffer_print(buffer,
                      "\"duration\":%" PRIu64 ",\"start\":%" PRIu64
                      ",\"each\":%" PRIu64 ",\"paths\":%zu,\"steps\":%zu"
                      ",\"columns\":[",
                      stacks->duration_ns, stacks->start_ns, page->each,
                      page->nr_paths, page->nr_steps);
  for (i = 0; i < NR_COLUMNS; i++)
    common_buffer_print(buffer, "%s%zu", i > 0 ? "," : "",
                        page->columns[i].used);
  common_buffer_text(buffer, "]}");
}

static void put_base64(FILE *file, const unsigned char *bytes, size_t nr) {
  static const char digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  unsigned group;
  size_t i;

  for (i = 0; i < nr; i += 3) {
    group = (unsigned)bytes[i] << 16;
    group |= i + 1 < nr ? (unsigned)bytes[i + 1] << 8 : 0;
    group |= i + 2 < nr ? bytes[i + 2] : 0;
    putc(digits[group >> 18], file);
    putc(digits[group >> 12 & 63], file);
    putc(i + 1 < nr ? digits[group >> 6 & 63] : '=', file);
    putc(i + 2 < nr ? digits[group & 63] : '=', file);
  }
}

static int put_data(FILE *file, page_t *page) {
  size_t nr = stacks_nr_functions(page->stacks), i;
  common_buffer_t json = {0}, data = {0};
  unsigned char *packed;
  uLongf packed_bytes;
  int rc;

  page->functions = common_calloc(nr, sizeof(uint32_t));
  page->numbers = common_calloc(nr, sizeof(uint32_t));
  pack_stacks(page);
  put_json(&json, page);
  free(page->functions);
  free(page->numbers);
  put_varint(&data, json.used);
  common_buffer_add(&data, json.text, json.used);
  common_buffer_free(&json);
  for (i = 0; i < NR_COLUMNS; i++) {
    if (page->columns[i].used > 0)
      common_buffer_add(&data, page->columns[i].text, page->columns[i].used);
    common_buffer_free(&page->columns[i]);
  }
  packed_bytes = compressBound((uLong)data.used);
  packed = common_calloc(packed_bytes, 1);
  rc = compress2(packed, &packed_bytes, (const Bytef *)data.text,
                 (uLong)data.used, Z_BEST_COMPRESSION);
  common_buffer_free(&data);
  if (rc == Z_OK)
    put_base64(file, packed, packed_bytes);
  free(packed);
  return rc == Z_OK ? 0 : -ENOMEM;
}

/* Writes HTML text, with a character reference for each ASCII character that is
 * neither a letter nor a digit. */
static void put_title(FILE *file, const char *title) {
  size_t bytes;

  for (; *title != '\0'; title += bytes == 0 ? 1 : bytes) {
    bytes = common_text_printable(title);
    if (bytes == 0)
      putc('?', file);
    else if (bytes > 1 || isalnum((unsigned char)*title))
      fwrite(title, 1, bytes, file);
    else
      fprintf(file, "&#%d;", *title);
  }
}

/* Writes the text that replaces a mark in page.html. */
static int put_mark(FILE *file, page_t *page, const char *mark, size_t bytes) {
  static const struct {
    const char *mark;
    const page_part_t *part;
  } parts[] = {{"style", &page_style},
               {"style_hash", &page_style_hash},
               {"script", &page_script},
               {"script_hash", &page_script_hash}};
  size_t i;

  for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
    if (strlen(parts[i].mark) == bytes &&
        memcmp(parts[i].mark, mark, bytes) == 0) {
      fwrite(parts[i].part->text, 1, parts[i].part->bytes, file);
      return 0;
    }
  }
  if (bytes == strlen("data") && memcmp(mark, "data", bytes) == 0)
    return put_data(file, page);
  put_title(file, page->title);
  return 0;
}

int page_write(FILE *file, const stacks_t *stacks, const char *title) {
  const char *at = page_html.text, *end = at + page_html.bytes, *from, *to;
  page_t page = {0};
  int rc = 0;

  page.stacks = stacks;
  page.title = title;
  errno = 0;
  while (rc == 0 && (from = memchr(at, '@', (size_t)(end - at))) != NULL) {
    to = memchr(from + 1, '@', (size_t)(end - from - 1));
    fwrite(at, 1, (size_t)(from - at), file);
    rc = put_mark(file, &page, from + 1, (size_t)(to - from - 1));
    at = to + 1;
  }
  fwrite(at, 1, (size_t)(end - at), file);
  if (rc == 0 && (fflush(file) != 0 || ferror(file)))
    rc = errno != 0 ? -errno : -EIO;
  return rc;
}
