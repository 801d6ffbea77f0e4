/* SPDX-License-Identifier: MIT */
/* Runs perf(1) and takes apart what it prints. Does not know what is right. */
#include "perf_dump.h"

#include <inttypes.h>

#include "tool_run.h"

void perf_dump_need(const char *test) {
  tool_run_t run = {.args = {"/bin/sh", "-c", "perf version"}};

  tool_run(&run);
  if (run.status != 0)
    support_skip(test, "perf(1)");
}

/* "Processed 7 events and lost 1 chunks!", "Check IO/CPU overload!";
 * "Processed 9 samples and lost 99.79%!" */
int perf_dump_is_of_losses(const char *text) {
  return (strstr(text, "overload!") != NULL ||
          strstr(text, "samples and lost ") != NULL) &&
         strstr(text, "rror") == NULL && strstr(text, "nknown") == NULL;
}

/* "Warning:\n12 out of order events recorded.\n" is taken out. Returns 12. */
static uint64_t take_late(char *text) {
  static const char after[] = " out of order events recorded.\n";
  char *warning = strstr(text, "Warning:\n");
  uint64_t late;
  int size;

  if (warning == NULL ||
      sscanf(warning, "Warning:\n%" SCNu64 "%n", &late, &size) != 1 ||
      strncmp(warning + size, after, strlen(after)) != 0)
    return 0;
  size += (int)strlen(after);
  size += (int)strspn(warning + size, "\n");
  memmove(warning, warning + size, strlen(warning + size) + 1);
  return late;
}

FILE *perf_dump_run(const char *words, int has_losses, uint64_t *late) {
  static tool_run_t run;
  char line[1024];
  uint64_t nr;

  memset(&run, 0, sizeof(run));
  snprintf(line, sizeof(line), "exec perf %s </dev/null", words);
  run.args[0] = "/bin/sh";
  run.args[1] = "-c";
  run.args[2] = line;
  run.file = tmpfile();
  assert_non_null(run.file);
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  nr = take_late(run.err);
  if (late != NULL)
    *late = nr;
  if (!has_losses || !perf_dump_is_of_losses(run.err)) {
    if (run.err[0] != '\0')
      print_error("perf %s: %s\n", words, run.err);
    assert_string_equal(run.err, "");
  }
  rewind(run.file);
  return run.file;
}

static perf_dump_item_t *add(perf_dump_t *dump) {
  if (dump->nr == dump->capacity) {
    dump->capacity = dump->capacity == 0 ? 256 : dump->capacity * 2;
    dump->items = realloc(dump->items, dump->capacity * sizeof(*dump->items));
    assert_non_null(dump->items);
  }
  memset(&dump->items[dump->nr], 0, sizeof(*dump->items));
  return &dump->items[dump->nr++];
}

/* "[CPU ]TIME 0xOFFSET [0xSIZE]: PERF_RECORD_…": 1 if the line is such. */
static int read_head(perf_dump_t *dump, const char *line) {
  const char *name = strstr(line, "]: PERF_RECORD_");
  uint64_t first, second, offset, size;
  perf_dump_item_t *item;
  int nr;

  if (name == NULL)
    return 0;
  nr = sscanf(line, "%" SCNu64 " %" SCNu64 " %" SCNx64 " [%" SCNx64 "]", &first,
              &second, &offset, &size);
  /* Without a CPU the second number is that of 0xOFFSET, cut at its x. */
  if (nr != 4 && sscanf(line, "%" SCNu64 " 0x%" SCNx64 " [%" SCNx64 "]", &first,
                        &offset, &size) != 3)
    return 0;
  item = add(dump);
  item->has_cpu = nr == 4;
  item->has_time = 1;
  item->cpu = nr == 4 ? first : 0;
  item->time = nr == 4 ? second : first;
  item->offset = offset;
  item->size = size;
  name += strlen("]: ");
  snprintf(item->type, sizeof(item->type), "%.*s",
           (int)strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"), name);
  sscanf(name,
         "PERF_RECORD_SAMPLE(%*[^)]): %" SCNu32 "/%" SCNu32 ": %" SCNx64
         " period: %" SCNu64 " addr: %" SCNx64,
         &item->pid, &item->tid, &item->ip, &item->period, &item->addr);
  return 1;
}

static void read_frames(perf_dump_item_t *item, FILE *file, size_t nr) {
  unsigned long long ip;
  size_t i, index;

  assert_true(nr <= PERF_DUMP_MAX_FRAMES);
  item->nr_ips = nr;
  item->ips = calloc(nr + 1, sizeof(*item->ips));
  assert_non_null(item->ips);
  for (i = 0; i < nr; i++) {
    assert_int_equal(fscanf(file, "..... %zu: %llx\n", &index, &ip), 2);
    assert_int_equal(index, i);
    item->ips[i] = ip;
  }
}

/* A line that belongs to the last record. */
static void read_rest(perf_dump_item_t *item, const char *line, FILE *file) {
  unsigned long long mask;
  unsigned bytes;
  const char *colon;
  size_t nr;

  line += strspn(line, " ");
  if (sscanf(line, "... FP chain: nr:%zu", &nr) == 1) {
    read_frames(item, file, nr);
  } else if (sscanf(line, "... user regs: mask 0x%llx", &mask) == 1) {
    item->regs_mask = mask;
  } else if (strncmp(line, ".... ", 5) == 0 && item->regs_mask != 0) {
    item->nr_regs++;
  } else if (sscanf(line, "... ustack: size %u", &bytes) == 1) {
    item->stack_bytes = bytes;
  } else if (strncmp(line, "... thread: ", 12) == 0) {
    colon = strrchr(line, ':');
    snprintf(item->comm, sizeof(item->comm), "%.*s", (int)(colon - line - 12),
             line + 12);
  }
}

static int by_offset(const void *a, const void *b) {
  const perf_dump_item_t *one = a, *other = b;

  return (one->offset > other->offset) - (one->offset < other->offset);
}

static int by_time(const void *a, const void *b) {
  const perf_dump_item_t *one = a, *other = b;

  if (one->time != other->time)
    return one->time > other->time ? 1 : -1;
  return by_offset(a, b);
}

static int is_sample(const perf_dump_item_t *item) {
  return strcmp(item->type, "PERF_RECORD_SAMPLE") == 0;
}

/* A line such as " sched:sched_switch: ". */
static void take_event(perf_dump_item_t *item, const char *line) {
  size_t size;

  assert_int_equal(sscanf(line, " %127[^ \n]", item->event), 1);
  size = strlen(item->event);
  if (item->event[size - 1] == ':')
    item->event[size - 1] = '\0';
}

static size_t count_lines(FILE *file) {
  char line[256];
  size_t nr = 0;

  while (fgets(line, sizeof(line), file) != NULL)
    nr++;
  rewind(file);
  return nr;
}

/* The names of events, which the dump lacks; samples come in the order of their
 * time. */
static void read_events(perf_dump_t *dump, const char *path, int has_losses) {
  char words[512], line[256];
  size_t nr = 0, i;
  FILE *file;

  snprintf(words, sizeof(words), "script -F event -G -i %s", path);
  file = perf_dump_run(words, has_losses, NULL);
  qsort(dump->items, dump->nr, sizeof(*dump->items), by_time);
  for (i = 0; i < dump->nr; i++)
    nr += (size_t)is_sample(&dump->items[i]);
  if (nr != count_lines(file))
    dump->nr_lines = count_lines(file);
  for (i = 0; dump->nr_lines == 0 && i < dump->nr; i++) {
    if (!is_sample(&dump->items[i]))
      continue;
    assert_non_null(fgets(line, sizeof(line), file));
    take_event(&dump->items[i], line);
  }
  fclose(file);
}

void perf_dump_open(perf_dump_t *dump, const char *path, int has_losses) {
  char words[512], line[4096];
  FILE *file;

  memset(dump, 0, sizeof(*dump));
  snprintf(words, sizeof(words), "script -D -i %s", path);
  file = perf_dump_run(words, has_losses, NULL);
  while (fgets(line, sizeof(line), file) != NULL) {
    if (!read_head(dump, line) && dump->nr > 0)
      read_rest(&dump->items[dump->nr - 1], line, file);
  }
  fclose(file);
  read_events(dump, path, has_losses);
  qsort(dump->items, dump->nr, sizeof(*dump->items), by_offset);
}

void perf_dump_close(perf_dump_t *dump) {
  size_t i;

  for (i = 0; i < dump->nr; i++)
    free(dump->items[i].ips);
  free(dump->items);
}
