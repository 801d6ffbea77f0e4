/* SPDX-License-Identifier: MIT */
/* Live: a uprobe at the place that elf_symbol.c finds counts each call of the
 * function, and so does a return probe; in programs of each kind and in a
 * library. */
#include "make_elf.h"
#include "live.h"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/elf_symbol.h"
#include "host/system.h"

#define PMU "/sys/bus/event_source/devices/uprobe"

/* The bit of config that makes it a return probe: "config:0". */
static uint64_t return_bit(void) {
  char text[64];
  unsigned int bit;

  assert_int_equal(uvperf__system_line(PMU "/format/retprobe", "config:", text,
                                       sizeof(text)),
                   0);
  assert_int_equal(sscanf(text, "%u", &bit), 1);
  return UINT64_C(1) << bit;
}

/* A probe on a function by its name. */
static void uprobe_attr(struct perf_event_attr *attr, const char *path,
                        const char *name, int is_return) {
  uint64_t place;
  int64_t type;

  assert_int_equal(uvperf__system_number(PMU "/type", &type), 0);
  assert_int_equal(elf_path_symbol(path, name, &place), 0);
  uvperf_attr_init(attr, (uint32_t)type, is_return ? return_bit() : 0);
  attr->config1 = (uintptr_t)path;
  attr->config2 = place;
}

/* -- programs ------------------------------------------------------------- */

typedef struct program_s {
  const char *path;
  const char *function; /* as the program calls it */
  const char *calls;
  int go[2];
} program_t;

static int run_program(void *arg) {
  const program_t *program = arg;
  char byte;

  close(program->go[1]);
  if (read(program->go[0], &byte, 1) != 1)
    return 1;
  execl(program->path, program->path, program->function, program->calls, NULL);
  return 1;
}

/* How often a probe hits while a program calls a function of it. */
static uint64_t count_hits(uv_loop_t *loop, const char *path, const char *name,
                           int is_return, const char *function,
                           const char *calls) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  program_t program = {path, function, calls, {-1, -1}};
  struct perf_event_attr attr;
  live_collector_t collector;
  uvperf_count_t count;

  uprobe_attr(&attr, path, name, is_return);
  attr.enable_on_exec = 1;
  assert_int_equal(pipe(program.go), 0);
  options.pid = support_fork(run_program, &program);
  live_init(loop, &collector, &attr, &options);
  assert_int_equal(write(program.go[1], "", 1), 1);
  assert_int_equal(support_wait(options.pid), 0);
  close(program.go[0]);
  close(program.go[1]);
  assert_int_equal(uvperf_event_read(&collector.event, &count, NULL), 0);
  live_close(&collector);
  return count.value;
}

static void expect_hits(uv_loop_t *loop, const char *path) {
  const char *name = "elf_target_exported";

  assert_int_equal(count_hits(loop, path, name, 0, "exported", "1000"), 1000);
  assert_int_equal(count_hits(loop, path, name, 1, "exported", "777"), 777);
  assert_int_equal(count_hits(loop, path, name, 0, "own", "1000"), 0);
  assert_int_equal(count_hits(loop, path, name, 0, "exported", "0"), 0);
}

static void expect_own_hits(uv_loop_t *loop, const char *path) {
  const char *name = "elf_target_own";

  assert_int_equal(count_hits(loop, path, name, 0, "own", "321"), 321);
  assert_int_equal(count_hits(loop, path, name, 1, "own", "123"), 123);
  assert_int_equal(count_hits(loop, path, name, 0, "exported", "100"), 0);
}

static void uprobe_counts_calls_in_a_pie(void **state) {
  support_need_uprobes(__func__);
  expect_hits(*state, ELF_PIE);
  expect_own_hits(*state, ELF_PIE);
}

static void uprobe_counts_calls_in_a_program_of_fixed_place(void **state) {
  support_need_uprobes(__func__);
  expect_hits(*state, ELF_FIXED);
  expect_own_hits(*state, ELF_FIXED);
}

static void uprobe_counts_calls_with_the_dynamic_table_only(void **state) {
  support_need_uprobes(__func__);
  expect_hits(*state, ELF_DYNAMIC);
}

/* -- a library ------------------------------------------------------------ */

/* How often a probe hits while this process calls a function of a library, of
 * any type. */
static uint64_t count_calls(uv_loop_t *loop, const char *name, int is_return,
                            void *function, int nr) {
  struct perf_event_attr attr;
  live_collector_t collector;
  uvperf_count_t count;
  int (*call)(int);
  int i;

  memcpy(&call, &function, sizeof(call));
  uprobe_attr(&attr, ELF_LIBRARY, name, is_return);
  live_init(loop, &collector, &attr, NULL);
  assert_int_equal(uvperf_enable(&collector.event.handle, 0, NULL), 0);
  for (i = 0; i < nr; i++)
    call(i);
  assert_int_equal(uvperf_disable(&collector.event.handle, 0, NULL), 0);
  call(0);
  assert_int_equal(uvperf_event_read(&collector.event, &count, NULL), 0);
  live_close(&collector);
  return count.value;
}

static void uprobe_counts_calls_of_a_library(void **state) {
  void *library, *function;

  support_need_uprobes(__func__);
  library = dlopen(ELF_LIBRARY, RTLD_NOW);
  assert_non_null(library);
  function = dlsym(library, "elf_library_plain");
  assert_int_equal(count_calls(*state, "elf_library_plain", 0, function, 500),
                   500);
  assert_int_equal(count_calls(*state, "elf_library_plain", 1, function, 55),
                   55);
  assert_int_equal(count_calls(*state, "elf_library_weak", 0, function, 55), 0);
  dlclose(library);
}

/* Where the library reports a version of its function to be. */
static void *version_at(void *library, int version) {
  void *symbol = dlsym(library, "elf_library_version_at");
  uintptr_t (*at)(int);

  assert_non_null(symbol);
  memcpy(&at, &symbol, sizeof(at));
  return (void *)at(version);
}

static void uprobe_counts_calls_of_the_chosen_version(void **state) {
  const char *name = "elf_library_versioned";
  void *library, *old;

  support_need_uprobes(__func__);
  library = dlopen(ELF_LIBRARY, RTLD_NOW);
  assert_non_null(library);
  old = version_at(library, 1);
  assert_int_equal(count_calls(*state, name, 0, old, 10), 0);
  assert_int_equal(
      count_calls(*state, "elf_library_versioned@ELF_1", 0, old, 10), 10);
  dlclose(library);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(uprobe_counts_calls_in_a_pie),
      support_loop_test(uprobe_counts_calls_in_a_program_of_fixed_place),
      support_loop_test(uprobe_counts_calls_with_the_dynamic_table_only),
      support_loop_test(uprobe_counts_calls_of_a_library),
      support_loop_test(uprobe_counts_calls_of_the_chosen_version),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
