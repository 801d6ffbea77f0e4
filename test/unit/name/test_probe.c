/* SPDX-License-Identifier: MIT */
/* Names of uprobes and kprobes, under a sysfs of the test's own; and live: a
 * uprobe named by its function counts each call. */
#include "make_elf.h"
#include "live.h"
#include "check_parse.h"
#include "make_host.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/elf_symbol.h"
#include "name/list.h"
#include "name/parse.h"

#define ARG  UVPERF_CAUSE_ARGUMENT
#define NONE UVPERF_CAUSE_NO_EVENT

static int probes_setup(void **state) {
  static const struct {
    const char *path;
    const char *text;
  } files[] = {
      {CHECK_PARSE_PMUS "/uprobe/type", "9\n"},
      {CHECK_PARSE_PMUS "/uprobe/format/retprobe", "config:0\n"},
      {CHECK_PARSE_PMUS "/uprobe/format/ref_ctr_offset", "config:32-63\n"},
      {CHECK_PARSE_PMUS "/kprobe/type", "8\n"},
      {CHECK_PARSE_PMUS "/kprobe/format/retprobe", "config:0\n"},
  };
  size_t i;

  if (make_host_setup(state) != 0)
    return -1;
  for (i = 0; i < COUNT_OF(files); i++)
    make_host_write(files[i].path, files[i].text);
  return 0;
}

/* The expected probe. */
typedef struct probe_s {
  const char *name;
  uint32_t type;
  uint64_t config;
  const char *string; /* NULL: config1 is 0 */
  uint64_t config2;
} probe_t;

/* By an fd. */
static void expect_file(const char *link, const char *path) {
  struct stat found, wanted;

  assert_memory_equal(link, "/proc/thread-self/fd/", 21);
  assert_int_equal(stat(link, &found), 0);
  assert_int_equal(stat(path, &wanted), 0);
  assert_true(found.st_dev == wanted.st_dev && found.st_ino == wanted.st_ino);
}

static void check(const probe_t *probe) {
  uvperf_event_list_t *list = check_parse_list(probe->name);
  const uvperf_event_item_t *item = uvperf_event_list_get(list, 0);

  assert_int_equal(uvperf_event_list_count(list), 1);
  assert_string_equal(item->label, probe->name);
  assert_int_equal(item->attr->type, probe->type);
  assert_int_equal(item->attr->config, probe->config);
  assert_int_equal(item->attr->config2, probe->config2);
  if (probe->string == NULL)
    assert_int_equal(item->attr->config1, 0);
  else if (strstr(probe->name, "symbol=") != NULL)
    expect_file((const char *)(uintptr_t)item->attr->config1, probe->string);
  else
    assert_string_equal((const char *)(uintptr_t)item->attr->config1,
                        probe->string);
  uvperf_event_list_free(list);
}

static void probes_keep_what_config1_points_to(void **state) {
  static const probe_t probes[] = {
      {"uprobe/path=/usr/bin/x,offset=0x1234/", 9, 0, "/usr/bin/x", 0x1234},
      {"uprobe/offset=16,path=/a/b/c,retprobe/u", 9, 1, "/a/b/c", 16},
      {"uprobe/path=\"/usr/bin/x\",offset=1/", 9, 0, "/usr/bin/x", 1},
      {"uprobe/path='/a, \"b\"/c',offset=1,retprobe/", 9, 1, "/a, \"b\"/c", 1},
      {"uprobe/path=/x,offset=1,ref_ctr_offset=0x10/", 9, UINT64_C(0x10) << 32,
       "/x", 1},
      {"uprobe/path=x,offset=0,period=3/", 9, 0, "x", 0},
      {"kprobe/func=do_sys_openat2/", 8, 0, "do_sys_openat2", 0},
      {"kprobe/func=do_sys_openat2,offset=0x8,retprobe/", 8, 1,
       "do_sys_openat2", 8},
      {"kprobe/addr=0xffffffff81000000/", 8, 0, NULL, 0xffffffff81000000},
  };
  size_t i;

  for (i = 0; i < COUNT_OF(probes); i++)
    check(&probes[i]);
}

static void probes_without_text_need_no_list(void **state) {
  static const name_good_t good[] = {
      {"kprobe/addr=0xffffffff81000000,retprobe/",
       {.type = 8, .config = 1, .config2 = 0xffffffff81000000}},
  };

  check_parse_good(good, COUNT_OF(good));
}

static void probes_of_a_list_stay_apart(void **state) {
  uvperf_event_list_t *list =
      check_parse_list("{uprobe/path=/a,offset=1/,uprobe/path=/b,offset=2"
                       "/,kprobe/func=f,name=mine/}:S,cs");

  assert_int_equal(uvperf_event_list_count(list), 4);
  assert_string_equal(
      (const char *)(uintptr_t)uvperf_event_list_get(list, 0)->attr->config1,
      "/a");
  assert_string_equal(
      (const char *)(uintptr_t)uvperf_event_list_get(list, 1)->attr->config1,
      "/b");
  assert_string_equal(uvperf_event_list_get(list, 2)->label, "mine");
  assert_int_equal(uvperf_event_list_get(list, 3)->attr->config1, 0);
  uvperf_event_list_free(list);
}

static void probes_that_cannot_be_right_are_refused(void **state) {
  static const name_bad_t bad[] = {
      {"uprobe/path=/usr/bin/x,offset=1/", -EINVAL, ARG, 13,
       "uvperf_event_list_parse"},
      {"kprobe/func=f/", -EINVAL, ARG, 13, "uvperf_event_list_parse"},
      {"kprobe/addr=1,config1=5/", -EINVAL, ARG, 1, "is a pointer"},
      {"type=9,config=0,config1=5", -EINVAL, ARG, 1, "is a pointer"},
      {"uprobe//", -EINVAL, ARG, 1, "needs a file"},
      {"uprobe/retprobe/", -EINVAL, ARG, 1, "needs a file"},
      {"uprobe/offset=1/", -EINVAL, ARG, 1, "needs a file"},
      {"uprobe/path=\"/x\"/", -EINVAL, ARG, 1, "needs a place"},
      {"uprobe/path=\"\",offset=1/", -EINVAL, ARG, 8, "needs a value"},
      {"uprobe/path,offset=1/", -EINVAL, ARG, 8, "needs a value"},
      {"uprobe/path=/usr/bin/x/", -EINVAL, ARG, 13, "add another term"},
      {"uprobe/path=/x/,offset=1", -EINVAL, ARG, 7, "the terms are not closed"},
      {"uprobe/path=\"/x,offset=1/", -EINVAL, ARG, 13, "is not closed"},
      {"uprobe/path=/x,offset=y/", -EINVAL, ARG, 23, "'y' is not a number"},
      {"uprobe/path=/x,func=f/", -ENOENT, NONE, 16, "no term or event 'func'"},
      {"uprobe/path=/x,ofset=1/", -ENOENT, NONE, 16, "mean 'offset'?"},
      {"uprobe/path=/nonexistent/x,symbol=f/", -ENOENT, NONE, 13, "no file"},
      {"uprobe/path=/,symbol=f/", -EISDIR, NONE, 13, "is a directory"},
      {"uprobe/path=/proc/self/status,symbol=f/", -ENOEXEC, NONE, 38,
       "not a program"},
      {"kprobe//", -EINVAL, ARG, 1, "needs a place"},
      {"kprobe/offset=1/", -EINVAL, ARG, 1, "needs a place"},
      {"kprobe/func=f,addr=1/", -EINVAL, ARG, 20,
       "addr= excludes func= and offset="},
      {"kprobe/addr=1,offset=1/", -EINVAL, ARG, 13,
       "addr= excludes func= and offset="},
      {"kprobe/addr=x/", -EINVAL, ARG, 13, "'x' is not a number"},
      {"kprobe/path=x/", -ENOENT, NONE, 8, "no term or event 'path'"},
  };

  check_parse_bad(bad, COUNT_OF(bad));
}

static uvperf_error_t error;

static void probes_of_long_names_are_refused(void **state) {
  char name[2 * PATH_MAX];
  uvperf_event_list_t *list;
  size_t length = strlen("uprobe/path=/");

  memset(name, 'x', sizeof(name));
  memcpy(name, "uprobe/path=/", length);
  strcpy(name + length + PATH_MAX - 1, ",offset=1/");
  assert_int_equal(uvperf_event_list_parse(&list, name, &error), -EINVAL);
  assert_int_equal(error.column, 13);
  strcpy(name + length + PATH_MAX - 2, ",offset=1/");
  assert_int_equal(uvperf_event_list_parse(&list, name, &error), 0);
  uvperf_event_list_free(list);
  memset(name, 'x', sizeof(name));
  memcpy(name, "kprobe/func=", 12);
  strcpy(name + 12 + 512, "/");
  assert_int_equal(uvperf_event_list_parse(&list, name, &error), -EINVAL);
  assert_int_equal(error.column, 13);
}

/* -- symbols --------------------------------------------------------------- */

static void probe_name(char *name, size_t size, const char *path,
                       const char *rest) {
  snprintf(name, size, "uprobe/path=\"%s\",%s/", path, rest);
}

static void probes_of_symbols_are_where_the_file_says(void **state) {
  static const char *const paths[] = {ELF_PIE, ELF_FIXED, ELF_DYNAMIC};
  uint64_t place;
  char name[PATH_MAX];
  size_t i;

  for (i = 0; i < COUNT_OF(paths); i++) {
    probe_t probe = {name, 9, 0, paths[i], 0};

    assert_int_equal(elf_path_symbol(paths[i], "elf_target_exported", &place),
                     0);
    probe.config2 = place;
    probe_name(name, sizeof(name), paths[i], "symbol=elf_target_exported");
    check(&probe);
    probe.config2 += 4;
    probe.config = 1;
    probe_name(name, sizeof(name), paths[i],
               "symbol=elf_target_exported,offset=4,retprobe");
    check(&probe);
  }
}

/* The kernel opens the path again: it gets the file whose symbols were read. */
static void probe_of_a_symbol_stays_in_its_file(void **state) {
  uvperf_event_list_t *list;
  make_elf_t image;
  char path[128], old[128], name[PATH_MAX];
  size_t fds = support_count_fds();

  snprintf(path, sizeof(path), "%s/program", make_host_root());
  snprintf(old, sizeof(old), "%s/old", make_host_root());
  make_elf_make_usual(&image, 1);
  make_elf_write(&image, path);
  probe_name(name, sizeof(name), path, "symbol=one");
  list = check_parse_list(name);
  assert_int_equal(rename(path, old), 0);
  make_elf_write(&image, path);
  expect_file(
      (const char *)(uintptr_t)uvperf_event_list_get(list, 0)->attr->config1,
      old);
  uvperf_event_list_free(list);
  assert_int_equal(support_count_fds(), fds);
}

static void expect_symbol_error(const char *path, const char *rest, int code,
                                const char *text) {
  uvperf_event_list_t *list;
  char name[PATH_MAX];

  probe_name(name, sizeof(name), path, rest);
  assert_int_equal(uvperf_event_list_parse(&list, name, &error), code);
  assert_int_equal(error.cause, UVPERF_CAUSE_NO_EVENT);
  assert_int_equal(error.column, strstr(name, "symbol=") - name + 8);
  assert_non_null(strstr(error.reason, text));
}

static void probes_of_unknown_symbols_suggest_the_nearest(void **state) {
  expect_symbol_error(ELF_PIE, "symbol=elf_targt_exported", -ENOENT,
                      "did you mean 'elf_target_exported'?");
  expect_symbol_error(ELF_PIE, "symbol=zzzzzzzzzzzzzzzz", -ENOENT,
                      "no function 'zzzzzzzzzzzzzzzz'");
  expect_symbol_error(ELF_STRIPPED, "symbol=elf_target_exported", -ENODATA,
                      "it is stripped");
}

/* The kernel accepts such a probe, if its offset is a multiple of 4, and counts
 * nothing. */
static void probe_of_thumb_code_is_refused(void **state) {
  make_elf_t image;
  char path[PATH_MAX];

  snprintf(path, sizeof(path), "%s/image", make_host_root());
  make_elf_make(&image, 0);
  make_elf_add(&image, MAKE_ELF_SYMTAB, "thumb", STB_GLOBAL, STT_FUNC, 0x21);
  image.header.e_machine = EM_ARM;
  make_elf_write(&image, path);
  expect_symbol_error(path, "symbol=thumb", -EILSEQ, "compile it with -marm");
}

/* perf_event_open(2) takes a negative offset, and counts nothing. */
static void probes_past_the_end_of_a_file_are_refused(void **state) {
  uvperf_event_list_t *list;
  char name[PATH_MAX];

  probe_name(name, sizeof(name), ELF_PIE,
             "symbol=elf_target_exported,offset=0x7fffffffffffffff");
  assert_int_equal(uvperf_event_list_parse(&list, name, &error), -EINVAL);
  assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
  assert_int_equal(error.column, strstr(name, "0x7f") - name + 1);
  assert_non_null(
      strstr(error.reason, "the offset from 'elf_target_exported'"));
}

static void expect_path_error(const char *path, int code, const char *text) {
  uvperf_event_list_t *list;
  char name[PATH_MAX];

  probe_name(name, sizeof(name), path, "symbol=x");
  assert_int_equal(uvperf_event_list_parse(&list, name, &error), code);
  assert_int_equal(error.cause, UVPERF_CAUSE_NO_EVENT);
  assert_int_equal(error.column, strstr(name, path) - name + 1);
  assert_non_null(strstr(error.reason, text));
}

/* A FIFO that is opened waits for a writer, a device may do anything. */
static void probes_of_symbols_in_no_regular_file_are_refused(void **state) {
  char path[128];

  expect_path_error(make_host_root(), -EISDIR, "is a directory");
  snprintf(path, sizeof(path), "%s/fifo", make_host_root());
  expect_path_error(path, -ENOENT, "there is no file");
  assert_int_equal(mkfifo(path, 0600), 0);
  expect_path_error(path, -ENXIO, "is not a regular file");
  expect_path_error("/dev/null", -ENXIO, "is not a regular file");
}

/* -- live ------------------------------------------------------------------ */

__attribute__((noinline)) void event_name_probe_target(void);

__attribute__((noinline)) void event_name_probe_target(void) {
  static volatile int calls;

  calls = calls + 1;
}

/* How often an event of this name counts while the function is called. */
static uint64_t count_calls(uv_loop_t *loop, const char *rest, int nr) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  char name[PATH_MAX], path[PATH_MAX / 2];
  uvperf_event_list_t *list;
  uvperf_count_t count;
  uvperf_event_t event;
  ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
  int i;

  assert_true(length > 0);
  path[length] = '\0';
  probe_name(name, sizeof(name), path, rest);
  list = check_parse_list(name);
  options.flags = UVPERF_EVENT_NO_RING;
  if (uvperf_event_init(loop, &event, uvperf_event_list_get(list, 0)->attr,
                        &options, &error) != 0)
    fail_msg("%s: %s", name, error.reason);
  uvperf_event_list_free(list);
  assert_int_equal(uvperf_enable(&event.handle, 0, &error), 0);
  for (i = 0; i < nr; i++)
    event_name_probe_target();
  assert_int_equal(uvperf_event_read(&event, &count, NULL), 0);
  uvperf_close(&event.handle, NULL);
  uv_run(loop, UV_RUN_DEFAULT);
  return count.value;
}

static void probes_by_name_count_each_call(void **state) {
  static const char symbol[] = "symbol=event_name_probe_target";
  static const char returned[] = "symbol=event_name_probe_target,retprobe";

  support_need_root(__func__);
  if (access(CHECK_PARSE_PMUS "/uprobe/type", R_OK) != 0)
    support_skip(__func__, "the uprobe PMU");
  assert_int_equal(count_calls(*state, symbol, 321), 321);
  assert_int_equal(count_calls(*state, returned, 123), 123);
  assert_int_equal(count_calls(*state, symbol, 0), 0);
}

#define TEST(f)                                                                \
  cmocka_unit_test_setup_teardown(f, probes_setup, make_host_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(probes_keep_what_config1_points_to),
      TEST(probes_without_text_need_no_list),
      TEST(probes_of_a_list_stay_apart),
      TEST(probes_that_cannot_be_right_are_refused),
      TEST(probes_of_long_names_are_refused),
      TEST(probes_of_symbols_are_where_the_file_says),
      TEST(probe_of_a_symbol_stays_in_its_file),
      TEST(probes_of_symbols_in_no_regular_file_are_refused),
      TEST(probes_past_the_end_of_a_file_are_refused),
      TEST(probes_of_unknown_symbols_suggest_the_nearest),
      TEST(probe_of_thumb_code_is_refused),
      support_loop_test(probes_by_name_count_each_call),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
