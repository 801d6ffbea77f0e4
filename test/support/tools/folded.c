/* SPDX-License-Identifier: MIT */
/* Names are brought to one form: the hashes of Rust and the version of a symbol
 * are cut, and an address without a name is [unknown], as profilers write it in
 * different ways.
 *
 * perf(1) takes a return address for the address of a call. Of a signal handler
 * that is the first byte of __restore_rt, which therefore counts as [unknown],
 * too; of _start it is _dl_start_user. What is further out than
 * __libc_start_call_main is what happened to be on the stack, as the C library
 * has no frame pointers. */
#include "folded.h"

#include "perf_dump.h"
#include "tool_run.h"

#define MAX_STACK_BYTES 65536
#define MAX_FRAMES      512
#define MAX_SHOWN       20

void folded_free(folded_t *folded) {
  size_t i;

  for (i = 0; i < folded->nr; i++)
    free(folded->rows[i].stack);
  free(folded->rows);
  memset(folded, 0, sizeof(*folded));
}

void folded_add(folded_t *folded, const char *stack, unsigned long samples) {
  size_t nr = folded->nr;

  if ((nr & (nr - 1)) == 0) {
    folded->rows =
        realloc(folded->rows, (nr == 0 ? 1 : nr * 2) * sizeof(*folded->rows));
    assert_non_null(folded->rows);
  }
  folded->rows[nr].stack = strdup(stack);
  assert_non_null(folded->rows[nr].stack);
  folded->rows[nr].samples = samples;
  folded->samples += samples;
  folded->nr++;
}

static int by_stack(const void *a, const void *b) {
  const folded_row_t *one = a, *other = b;

  return strcmp(one->stack, other->stack);
}

void folded_sort(folded_t *folded) {
  folded_row_t *rows = folded->rows;
  size_t i, nr = 0, kept = 0;

  if (folded->nr > 0)
    qsort(rows, folded->nr, sizeof(*rows), by_stack);
  for (i = 0; i < folded->nr; i++) {
    if (nr > 0 && strcmp(rows[nr - 1].stack, rows[i].stack) == 0) {
      rows[nr - 1].samples += rows[i].samples;
      free(rows[i].stack);
    } else {
      rows[nr++] = rows[i];
    }
  }
  /* folded_add makes room when the number is a power of two. */
  for (kept = 1; kept < nr; kept *= 2)
    continue;
  if (nr > 0)
    folded->rows = realloc(rows, kept * sizeof(*rows));
  folded->nr = nr;
}

unsigned long folded_samples(const folded_t *folded, const char *stack) {
  folded_row_t key = {.stack = (char *)(uintptr_t)stack}, *row = NULL;

  if (folded->nr > 0)
    row = bsearch(&key, folded->rows, folded->nr, sizeof(key), by_stack);
  return row != NULL ? row->samples : 0;
}

/* "name::h0123456789abcdef", "crate[0123456789abcdef]::name". */
static void cut_hash(char *name) {
  static const char digits[] = "0123456789abcdef";
  size_t length = strlen(name), nr;
  char *hash = length > 19 ? name + length - 19 : name;

  if (strncmp(hash, "::h", 3) == 0 && strspn(hash + 3, digits) == 16)
    *hash = '\0';
  for (hash = strchr(name, '['); hash != NULL; hash = strchr(hash + 1, '[')) {
    nr = strspn(hash + 1, digits);
    if (nr >= 12 && hash[1 + nr] == ']')
      memmove(hash, hash + nr + 2, strlen(hash + nr + 2) + 1);
  }
}

/* "name@@VERSION", but not "name@plt". */
static void cut_version(char *name) {
  char *at = strchr(name, '@');

  if (at != NULL && at > name && strcmp(at, "@plt") != 0)
    *at = '\0';
}

/* "libc.so.6+0x2a0b0" */
static int is_place(const char *name) {
  const char *offset = strstr(name, "+0x");

  return offset != NULL &&
         offset[3 + strspn(offset + 3, "0123456789abcdef")] == '\0';
}

static int has_no_name(const char *name) {
  return name[0] == '[' || is_place(name) || strcmp(name, "__restore_rt") == 0;
}

/* Adds a frame to those that are further out. */
static void append(char *stack, char *name) {
  size_t used = strlen(stack);

  cut_hash(name);
  cut_version(name);
  if (strcmp(name, "__libc_start_call_main") == 0)
    used = 0;
  if (strcmp(name, "_dl_start_user") == 0)
    memcpy(name, "_start", sizeof("_start"));
  snprintf(stack + used, MAX_STACK_BYTES - used, "%s%s", used > 0 ? ";" : "",
           has_no_name(name) ? "[unknown]" : name);
}

void folded_read(folded_t *folded, FILE *file, const char *process) {
  static char line[MAX_STACK_BYTES], stack[MAX_STACK_BYTES];
  char *count, *name, *rest;

  while (fgets(line, sizeof(line), file) != NULL) {
    count = strrchr(line, ' ');
    assert_non_null(count);
    *count++ = '\0';
    rest = line;
    name = strsep(&rest, ";");
    if (process != NULL && strcmp(name, process) != 0)
      continue;
    stack[0] = '\0';
    while ((name = strsep(&rest, ";")) != NULL)
      append(stack, name);
    folded_add(folded, stack, strtoul(count, NULL, 10));
  }
  folded_sort(folded);
}

/* "\t    55d0c0ffee name+0x0 (object)": the name, in place. */
static char *frame_name(char *line) {
  line[strcspn(line, "\n")] = '\0';
  line += strspn(line, "\t ");
  line += strspn(line, "0123456789abcdef");
  return line + strspn(line, " ");
}

/* The frames come innermost first. */
static void add_sample(folded_t *folded, char **names, size_t nr) {
  static char stack[MAX_STACK_BYTES];

  stack[0] = '\0';
  for (; nr > 0; nr--) {
    append(stack, names[nr - 1]);
    free(names[nr - 1]);
  }
  folded_add(folded, stack, 1);
}

/* For fclose. */
static FILE *run_perf(const char *path, const char *words) {
  static tool_run_t run;
  char line[512];

  memset(&run, 0, sizeof(run));
  snprintf(line, sizeof(line),
           "perf script --no-inline --no-demangle -F event,ip,sym %s -i %s "
           "</dev/null | c++filt -p",
           words, path);
  run.args[0] = "/bin/sh";
  run.args[1] = "-c";
  run.args[2] = line;
  run.file = tmpfile();
  assert_non_null(run.file);
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  if (!perf_dump_is_of_losses(run.err))
    assert_string_equal(run.err, "");
  rewind(run.file);
  return run.file;
}

void folded_read_perf(folded_t *folded, const char *path, const char *event,
                      const char *words) {
  char line[8192], *names[MAX_FRAMES];
  FILE *file = run_perf(path, words);
  int is_wanted = 0;
  size_t nr = 0;

  while (fgets(line, sizeof(line), file) != NULL) {
    if (line[0] == '\n') {
      if (is_wanted)
        add_sample(folded, names, nr);
      is_wanted = 0;
    } else if (line[0] != '\t') {
      line[strcspn(line, ":\n")] = '\0';
      is_wanted = event == NULL || strstr(line, event) != NULL;
      nr = 0;
    } else if (is_wanted) {
      assert_true(nr < MAX_FRAMES);
      names[nr++] = strdup(frame_name(line));
    }
  }
  fclose(file);
  folded_sort(folded);
}

void folded_leaves(const folded_t *folded, folded_t *leaves) {
  const char *leaf;
  size_t i;

  for (i = 0; i < folded->nr; i++) {
    leaf = strrchr(folded->rows[i].stack, ';');
    folded_add(leaves, leaf != NULL ? leaf + 1 : folded->rows[i].stack,
               folded->rows[i].samples);
  }
  folded_sort(leaves);
}

unsigned long folded_differ(const folded_t *a, const char *title_a,
                            const folded_t *b, const char *title_b) {
  unsigned long missing = 0, surplus = 0, in_a, in_b;
  size_t i = 0, j = 0, shown = 0;
  const char *stack;
  int order;

  while (i < a->nr || j < b->nr) {
    order = i == a->nr   ? 1
            : j == b->nr ? -1
                         : strcmp(a->rows[i].stack, b->rows[j].stack);
    stack = order <= 0 ? a->rows[i].stack : b->rows[j].stack;
    in_a = order <= 0 ? a->rows[i++].samples : 0;
    in_b = order >= 0 ? b->rows[j++].samples : 0;
    missing += in_a > in_b ? in_a - in_b : 0;
    surplus += in_b > in_a ? in_b - in_a : 0;
    if (in_a != in_b && shown++ < MAX_SHOWN)
      print_error("%s %lu, %s %lu: %s\n", title_a, in_a, title_b, in_b, stack);
  }
  return missing > surplus ? missing : surplus;
}
