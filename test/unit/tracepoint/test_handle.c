/* SPDX-License-Identifier: MIT */
/* Tracepoints by name: in a tracefs made by the test, and each of this machine,
 * whose fields are compared with what the test reads itself and with
 * libtraceevent's. */
#include "support.h"
#include "make_tree.h"
#include "make_tracepoint_text.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <event-parse.h>

#include "tracepoint/handle.h"

/* -- a tracefs made by the test -------------------------------------------- */

static uvperf_error_t error;

static int look_up(const make_tree_t *tree, const char *name) {
  uvperf_tracepoint_t *tracepoint = NULL;
  int rc;

  memset(&error, 0, sizeof(error));
  rc = uvperf__handle_new(&tracepoint, tree->root, name, &error);
  assert_int_equal(error.code, rc);
  uvperf_tracepoint_free(tracepoint);
  return rc;
}

static void tracepoint_is_found_by_its_name(void **state) {
  const make_tree_t *tree = *state;
  uvperf_tracepoint_t *tracepoint = NULL;

  make_tree_write(tree, "/events/sched/sched_switch/format", TEXT_SWITCH);
  assert_int_equal(
      uvperf__handle_new(&tracepoint, tree->root, "sched:sched_switch", NULL),
      0);
  assert_int_equal(uvperf_tracepoint_info(tracepoint)->id, 372);
  assert_string_equal(uvperf_tracepoint_info(tracepoint)->category, "sched");
  assert_string_equal(uvperf_tracepoint_info(tracepoint)->name, "sched_switch");
  assert_int_equal(uvperf_tracepoint_info(tracepoint)->nr_fields, 11);
  uvperf_tracepoint_free(tracepoint);
}

static void tracepoint_of_a_bad_name_is_einval(void **state) {
  static const char *const names[] = {
      "",      "sched",     ":",   "sched:",  ":sched_switch",
      "..:x",  "sched:..",  ".:x", "sched:.", "a/b:c",
      "a:b/c", "sched:x:y", "/:x", "a:/",     "::",
  };
  char name[600];
  size_t i;

  for (i = 0; i < COUNT_OF(names); i++) {
    assert_int_equal(look_up(*state, names[i]), -EINVAL);
    assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
    assert_non_null(strstr(error.reason, names[i]));
  }
  memset(name, 'x', sizeof(name));
  name[sizeof(name) - 1] = '\0';
  name[100] = ':';
  assert_int_equal(look_up(*state, name), -EINVAL);
  name[100] = 'x';
  name[400] = ':';
  assert_int_equal(look_up(*state, name), -EINVAL);
}

static void tracepoint_that_is_not_there_is_enoent(void **state) {
  const make_tree_t *tree = *state;

  make_tree_write(tree, "/events/sched/enable", "0\n");
  assert_int_equal(look_up(tree, "sched:none"), -ENOENT);
  assert_int_equal(error.cause, UVPERF_CAUSE_NO_EVENT);
  assert_non_null(strstr(error.reason, "sched:none"));
  assert_int_equal(look_up(tree, "none:none"), -ENOENT);
  assert_int_equal(look_up(tree, "sched:enable"), -ENOENT);
}

static void tracepoint_whose_format_is_damaged_is_eproto(void **state) {
  const make_tree_t *tree = *state;

  make_tree_write(tree, "/events/a/b/format", "name: b\nID: one\n");
  assert_int_equal(look_up(tree, "a:b"), -EPROTO);
  assert_int_equal(error.column, 13);
  make_tree_write(tree, "/events/a/empty/format", "");
  assert_int_equal(look_up(tree, "a:empty"), -EPROTO);
}

static void tracepoint_whose_format_is_too_long_is_efbig(void **state) {
  static char text[(256 << 10) + 2];
  const make_tree_t *tree = *state;

  memset(text, '\n', sizeof(text) - 1);
  memcpy(text, TEXT_SWITCH, strlen(TEXT_SWITCH));
  make_tree_write(tree, "/events/a/long/format", text);
  assert_int_equal(look_up(tree, "a:long"), -EFBIG);
  text[sizeof(text) - 2] = '\0';
  make_tree_write(tree, "/events/a/long/format", text);
  assert_int_equal(look_up(tree, "a:long"), 0);
}

static void tracepoint_whose_format_is_no_file_is_an_error(void **state) {
  const make_tree_t *tree = *state;

  make_tree_write(tree, "/events/a/b/format/x", "");
  assert_int_equal(look_up(tree, "a:b"), -EISDIR);
  assert_int_equal(error.cause, UVPERF_CAUSE_UNKNOWN);
}

static void tracepoint_without_arguments_is_einval(void **state) {
  uvperf_tracepoint_t *tracepoint = (void *)1;

  assert_int_equal(uvperf_tracepoint_new(&tracepoint, NULL, &error), -EINVAL);
  assert_null(tracepoint);
  assert_int_equal(uvperf_tracepoint_new(NULL, "a:b", &error), -EINVAL);
  assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
  assert_int_equal(uvperf_tracepoint_new(NULL, "a:b", NULL), -EINVAL);
}

/* -- without privileges ---------------------------------------------------- */

/* The error in a child without privileges, or 99. */
static int look_up_as_nobody(void *arg) {
  uvperf_tracepoint_t *tracepoint;
  int rc;

  if (setgid(65534) != 0 || setuid(65534) != 0)
    return 99;
  rc = uvperf_tracepoint_new(&tracepoint, "sched:sched_switch", &error);
  if (rc == -EACCES && error.cause != UVPERF_CAUSE_PERMISSION)
    return 98;
  if (rc == -EACCES && strstr(error.reason, "gid=GROUP,mode=750") == NULL)
    return 97;
  return -rc;
}

static void live_tracepoint_that_may_not_be_read_is_eacces(void **state) {
  support_need_root(__func__);
  support_need_tracefs(__func__, "sched:sched_switch");
  assert_int_equal(support_wait(support_fork(look_up_as_nobody, NULL)), EACCES);
}

/* In a child because of the limit: without an fd, then with one. */
static int look_up_without_fds(void *arg) {
  uvperf_tracepoint_t *tracepoint;

  support_limit_fds(0);
  if (uvperf_tracepoint_new(&tracepoint, "sched:sched_switch", &error) !=
      -EMFILE)
    return 1;
  if (error.cause != UVPERF_CAUSE_FILES ||
      strstr(error.reason, "RLIMIT_NOFILE") == NULL)
    return 2;
  support_limit_fds(1);
  if (uvperf_tracepoint_new(&tracepoint, "sched:sched_switch", &error) != 0)
    return 3;
  uvperf_tracepoint_free(tracepoint);
  return 0;
}

static void live_tracepoint_without_fds_is_emfile(void **state) {
  support_need_tracefs(__func__, "sched:sched_switch");
  assert_int_equal(support_wait(support_fork(look_up_without_fds, NULL)), 0);
}

/* -- each tracepoint of this machine --------------------------------------- */

typedef struct totals_s {
  unsigned tracepoints;
  unsigned fields;
  unsigned dynamic;
  unsigned strings;
} totals_t;

static const char *tracefs(void) {
  return access("/sys/kernel/tracing/events", R_OK) == 0
             ? "/sys/kernel/tracing/events"
             : "/sys/kernel/debug/tracing/events";
}

/* The text of a file: freed by the caller. */
static char *slurp(const char *path, size_t *bytes) {
  FILE *file = fopen(path, "r");
  char *text = malloc(1 << 18);

  assert_non_null(file);
  assert_non_null(text);
  *bytes = fread(text, 1, (1 << 18) - 1, file);
  text[*bytes] = '\0';
  fclose(file);
  return text;
}

/* The name and the offset, size and sign of a field line, by other means than
 * the library has. */
static void expect_line(const uvperf_field_t *field, char *line) {
  unsigned offset;
  unsigned size;
  unsigned is_signed;
  char *numbers = strstr(line, ";\toffset:");
  char *bracket;
  char *name;

  assert_non_null(numbers);
  assert_int_equal(sscanf(numbers, ";\toffset:%u;\tsize:%u;\tsigned:%u;",
                          &offset, &size, &is_signed),
                   3);
  *numbers = '\0';
  name = strrchr(line, ' ') + 1;
  bracket = strchr(name, '[');
  if (bracket != NULL)
    *bracket = '\0';
  while (*name == '*')
    name += 1;
  assert_string_equal(field->name, name);
  assert_int_equal(field->offset, offset);
  assert_int_equal(field->size, size);
  assert_int_equal((field->flags & UVPERF_FIELD_SIGNED) != 0, is_signed);
  assert_int_equal((field->flags & UVPERF_FIELD_DYNAMIC) != 0,
                   strstr(line, "__data_loc") != NULL ||
                       strstr(line, "__rel_loc") != NULL);
  assert_int_equal((field->flags & UVPERF_FIELD_COMMON) != 0,
                   strncmp(name, "common_", 7) == 0);
}

static void expect_lines(const uvperf_tracepoint_t *tracepoint, char *text) {
  size_t nr = 0;
  char *rest = text;
  char *line;

  for (line = strtok_r(text, "\n", &rest); line != NULL;
       line = strtok_r(NULL, "\n", &rest)) {
    const uvperf_field_t *field;

    if (strncmp(line, "\tfield:", 7) != 0)
      continue;
    assert_true(nr < uvperf_tracepoint_info(tracepoint)->nr_fields);
    field = &uvperf_tracepoint_info(tracepoint)->fields[nr];
    expect_line(field, line + 7);
    nr += 1;
  }
  assert_int_equal(nr, uvperf_tracepoint_info(tracepoint)->nr_fields);
}

/* The types differ by spaces. */
static void expect_type(const char *ours, const char *theirs) {
  const char *a = ours;
  const char *b = theirs;

  for (; *a != '\0' || *b != '\0'; a++, b++) {
    while (*a == ' ')
      a += 1;
    while (*b == ' ')
      b += 1;
    if (*a != *b)
      fail_msg("type %s, by libtraceevent %s", ours, theirs);
    if (*a == '\0')
      break;
  }
}

static void expect_tep_field(const uvperf_field_t *field,
                             const struct tep_format_field *tep) {
  static const struct {
    unsigned long tep;
    uint32_t flag;
  } pairs[] = {{TEP_FIELD_IS_ARRAY, UVPERF_FIELD_ARRAY},
               {TEP_FIELD_IS_POINTER, UVPERF_FIELD_POINTER},
               {TEP_FIELD_IS_SIGNED, UVPERF_FIELD_SIGNED},
               {TEP_FIELD_IS_DYNAMIC, UVPERF_FIELD_DYNAMIC},
               {TEP_FIELD_IS_RELATIVE, UVPERF_FIELD_RELATIVE}};
  size_t i;

  assert_string_equal(field->name, tep->name);
  expect_type(field->type, tep->type);
  assert_int_equal(field->offset, tep->offset);
  assert_int_equal(field->size, tep->size);
  for (i = 0; i < COUNT_OF(pairs); i++)
    assert_int_equal((field->flags & pairs[i].flag) != 0,
                     (tep->flags & pairs[i].tep) != 0);
  /* It takes u8 and unsigned char for strings, too. */
  if ((field->flags & UVPERF_FIELD_STRING) != 0)
    assert_true((tep->flags & TEP_FIELD_IS_STRING) != 0);
  if (tep->arraylen != 0)
    assert_int_equal(field->count, tep->arraylen);
  if (tep->elementsize != 0)
    assert_int_equal(field->element_size, tep->elementsize);
}

/* For the text without its "print fmt", which libtraceevent does not always
 * know. */
static void expect_tep(const uvperf_tracepoint_t *tracepoint, const char *text,
                       size_t bytes) {
  const char *print = strstr(text, "print fmt:");
  char *fields = malloc(bytes + 32);
  struct tep_handle *tep = tep_alloc();
  const struct tep_format_field *field;
  struct tep_event *event;
  size_t nr = 0;

  assert_non_null(print);
  assert_non_null(fields);
  assert_non_null(tep);
  tep_set_long_size(tep, sizeof(long));
  snprintf(fields, bytes + 32, "%.*sprint fmt: \"\"\n", (int)(print - text),
           text);
  assert_int_equal(
      tep_parse_format(tep, &event, fields, strlen(fields), "test"), 0);
  assert_int_equal(event->id, uvperf_tracepoint_info(tracepoint)->id);
  for (field = event->format.common_fields; field != NULL; field = field->next)
    expect_tep_field(&uvperf_tracepoint_info(tracepoint)->fields[nr++], field);
  for (field = event->format.fields; field != NULL; field = field->next)
    expect_tep_field(&uvperf_tracepoint_info(tracepoint)->fields[nr++], field);
  assert_int_equal(nr, uvperf_tracepoint_info(tracepoint)->nr_fields);
  tep_free(tep);
  free(fields);
}

static void add_fields(const uvperf_tracepoint_t *tracepoint,
                       totals_t *totals) {
  size_t i;

  for (i = 0; i < uvperf_tracepoint_info(tracepoint)->nr_fields; i++) {
    uint32_t flags = uvperf_tracepoint_info(tracepoint)->fields[i].flags;

    totals->fields += 1;
    totals->dynamic += (flags & UVPERF_FIELD_DYNAMIC) != 0;
    totals->strings += (flags & UVPERF_FIELD_STRING) != 0;
  }
  totals->tracepoints += 1;
}

static void check_tracepoint(const char *category, const char *name,
                             totals_t *totals) {
  uvperf_tracepoint_t *tracepoint;
  char path[1024];
  size_t bytes;
  char *text;

  snprintf(path, sizeof(path), "%s/%s/%s/format", tracefs(), category, name);
  if (access(path, R_OK) != 0)
    return; /* the files "enable" and "filter" of the category */
  text = slurp(path, &bytes);
  snprintf(path, sizeof(path), "%s:%s", category, name);
  if (uvperf_tracepoint_new(&tracepoint, path, &error) != 0)
    fail_msg("%s: %s", path, error.reason);
  assert_string_equal(uvperf_tracepoint_info(tracepoint)->category, category);
  assert_string_equal(uvperf_tracepoint_info(tracepoint)->name, name);
  expect_tep(tracepoint, text, bytes);
  expect_lines(tracepoint, text);
  add_fields(tracepoint, totals);
  uvperf_tracepoint_free(tracepoint);
  free(text);
}

static void check_category(const char *category, totals_t *totals) {
  char path[512];
  const struct dirent *entry;
  DIR *directory;

  snprintf(path, sizeof(path), "%s/%s", tracefs(), category);
  directory = opendir(path);
  if (directory == NULL)
    return;
  while ((entry = readdir(directory)) != NULL)
    if (entry->d_name[0] != '.')
      check_tracepoint(category, entry->d_name, totals);
  closedir(directory);
}

static void live_fields_of_each_tracepoint_are_those_of_its_file(void **state) {
  totals_t totals = {0, 0, 0, 0};
  const struct dirent *entry;
  DIR *directory;

  support_need_tracefs(__func__, "sched:sched_switch");
  directory = opendir(tracefs());
  assert_non_null(directory);
  while ((entry = readdir(directory)) != NULL)
    if (entry->d_name[0] != '.')
      check_category(entry->d_name, &totals);
  closedir(directory);
  printf("%u tracepoints, %u fields: %u dynamic, %u strings\n",
         totals.tracepoints, totals.fields, totals.dynamic, totals.strings);
  assert_true(totals.tracepoints > 100);
  assert_true(totals.fields > 4 * totals.tracepoints);
  assert_true(totals.strings > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      MAKE_TREE_TEST(tracepoint_is_found_by_its_name),
      MAKE_TREE_TEST(tracepoint_of_a_bad_name_is_einval),
      MAKE_TREE_TEST(tracepoint_that_is_not_there_is_enoent),
      MAKE_TREE_TEST(tracepoint_whose_format_is_damaged_is_eproto),
      MAKE_TREE_TEST(tracepoint_whose_format_is_too_long_is_efbig),
      MAKE_TREE_TEST(tracepoint_whose_format_is_no_file_is_an_error),
      cmocka_unit_test(tracepoint_without_arguments_is_einval),
      cmocka_unit_test(live_tracepoint_that_may_not_be_read_is_eacces),
      cmocka_unit_test(live_tracepoint_without_fds_is_emfile),
      cmocka_unit_test(live_fields_of_each_tracepoint_are_those_of_its_file),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
