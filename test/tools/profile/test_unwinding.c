/* SPDX-License-Identifier: MIT */
/* --call-graph dwarf: all stacks of a program without frame pointers are
 * complete. */
#include "tool_run.h"

#include <elf.h>
#include <unistd.h>

#include "profile/symbols/unwind.h"

/* Counts the samples in folded stacks, and the samples of stacks with a
 * text. */
static void count(const char *path, const char *text, unsigned long *all,
                  unsigned long *with) {
  char line[8192];
  FILE *file = fopen(path, "re");

  assert_non_null(file);
  *all = *with = 0;
  while (fgets(line, sizeof line, file) != NULL) {
    unsigned long nr = strtoul(strrchr(line, ' ') + 1, NULL, 10);

    *all += nr;
    if (strstr(line, text) != NULL)
      *with += nr;
  }
  fclose(file);
}

static void profile(tool_run_t *run, const char *call_graph, const char *path) {
  const char *args[] = {PROFILE_PATH,  "--call-graph", call_graph, "-F",
                        "499",         "--folded",     path,       "--",
                        UNWIND_TARGET, "1500"};

  memset(run, 0, sizeof *run);
  memcpy(run->args, args, sizeof args);
  tool_run_exits(run, 0);
}

static void stacks_without_frame_pointers_are_whole(void **state) {
  char path[] = "/tmp/uvperf-unwinding-XXXXXX";
  unsigned long all, whole;
  static tool_run_t run;
  int fd;

  if (unwind_machine(NULL) == EM_NONE)
    support_skip(__func__, "x86-64 or aarch64");
  support_need_own_events(__func__);
  fd = mkstemp(path);
  assert_true(fd >= 0);
  close(fd);
  profile(&run, "dwarf", path);
  count(path, ";main;work", &all, &whole);
  /* Some samples are from before or after main. There are few samples of a
   * busy machine. */
  print_message("%lu of %lu samples are whole\n", whole, all);
  assert_true(all > 10);
  assert_true(whole + 2 + all / 20 >= all);
  assert_null(strstr(run.err, "--call-graph dwarf"));
  /* By frame pointers the stacks are not complete. This is seen on x86-64. On
   * aarch64 the register still has the frame of the C library's function that
   * called main, so that only the callers in between are missing. */
  profile(&run, "fp", path);
  count(path, ";main;work", &all, &whole);
  assert_true(whole < all / 2);
  if (unwind_machine(NULL) == EM_X86_64)
    tool_run_expect_text(run.err, "--call-graph dwarf");
  /* The copy of the stack is too short to reach main. */
  profile(&run, "dwarf,48", path);
  count(path, ";main;work", &all, &whole);
  assert_true(whole < all / 2);
  tool_run_expect_text(run.err, " 48 bytes");
  unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stacks_without_frame_pointers_are_whole),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
