/* SPDX-License-Identifier: MIT */
/* The doctor's answers match the kernel. The test opens the same events itself:
 * as the calling user, without privileges, under a seccomp filter, with few fds
 * and without tracefs. */
#include "doctor_run.h"
#include "check_explain.h"
#include "json_check.h"
#include "uvperf.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>
#include <linux/perf_event.h>

#define BIT(bit) (UINT64_C(1) << (bit))
/* Bit-fields begin at the other end on a big-endian machine. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define FLAG(bit) BIT(63 - (bit))
#else
#define FLAG(bit) BIT(bit)
#endif
#define USER (FLAG(0) | FLAG(5) | FLAG(6)) /* disabled, exclude_* */

/* An event that is opened without the library. `flags` is the word of
 * bit-fields that follows read_format in the attr. */
typedef struct question_s {
  const char *group;
  const char *key;
  uint32_t type;
  uint64_t config;
  uint64_t flags;
  uint64_t sample_type;
  uint64_t read_format;
  pid_t pid;
  int cpu;
} question_t;

static const question_t questions[] = {
    {"targets", "own_user", 1, 9, USER, 0, 0, 0, -1},
    {"targets", "own_kernel", 1, 9, FLAG(0), 0, 0, 0, -1},
    {"targets", "process_1", 1, 9, USER, 0, 0, 1, -1},
    {"targets", "cpu", 1, 9, USER, 0, 0, -1, 0},
    {"events", "cpu_clock", 1, 0, USER, 0, 0, 0, -1},
    {"events", "task_clock", 1, 1, USER, 0, 0, 0, -1},
    {"events", "page_faults", 1, 2, USER, 0, 0, 0, -1},
    {"events", "cycles", 0, 0, USER, 0, 0, 0, -1},
    {"events", "instructions", 0, 1, USER, 0, 0, 0, -1},
    {"events", "l1d_misses", 3, 0x10000, USER, 0, 0, 0, -1},
    {"events", "bpf_output", 1, 10, USER, PERF_SAMPLE_RAW, 0, -1, 0},
    {"records", "mmap2", 1, 9, USER | FLAG(8) | FLAG(23), 0, 0, 0, -1},
    {"records", "build_id", 1, 9, USER | FLAG(8) | FLAG(23) | FLAG(34), 0, 0, 0,
     -1},
    {"records", "comm", 1, 9, USER | FLAG(9), 0, 0, 0, -1},
    {"records", "task", 1, 9, USER | FLAG(13), 0, 0, 0, -1},
    {"records", "context_switch", 1, 9, USER | FLAG(26), 0, 0, 0, -1},
    {"records", "namespaces", 1, 9, USER | FLAG(28), 0, 0, 0, -1},
    {"records", "ksymbol", 1, 9, USER | FLAG(29), 0, 0, 0, -1},
    {"records", "bpf_event", 1, 9, USER | FLAG(30), 0, 0, 0, -1},
    {"records", "cgroup", 1, 9, USER | FLAG(32), 0, 0, 0, -1},
    {"records", "text_poke", 1, 9, USER | FLAG(33), 0, 0, 0, -1},
    {"fields", "callchain", 1, 0, USER, PERF_SAMPLE_CALLCHAIN, 0, 0, -1},
    {"fields", "phys_addr", 1, 0, USER, PERF_SAMPLE_PHYS_ADDR, 0, 0, -1},
    {"fields", "data_page_size", 1, 0, USER, BIT(22), 0, 0, -1},
    {"fields", "code_page_size", 1, 0, USER, BIT(23), 0, 0, -1},
    {"fields", "cgroup", 1, 0, USER, BIT(21), 0, 0, -1},
    {"fields", "weight", 0, 0, USER, PERF_SAMPLE_WEIGHT, 0, 0, -1},
    {"features", "lost", 1, 9, USER, 0, BIT(4), 0, -1},
    {"features", "sigtrap", 1, 9, USER | FLAG(36) | FLAG(37), 0, 0, 0, -1},
    {"features", "inherit_thread", 1, 9, USER | FLAG(1) | FLAG(35), 0, 0, 0,
     -1},
    {"features", "defer_callchain", 1, 0, USER | FLAG(38),
     PERF_SAMPLE_CALLCHAIN, 0, 0, -1},
};

/* Returns 0 or an errno. */
static int ask(const question_t *question) {
  struct perf_event_attr attr;
  int fd;

  memset(&attr, 0, sizeof(attr));
  attr.size = sizeof(attr);
  attr.type = question->type;
  attr.config = question->config;
  attr.sample_type = question->sample_type;
  attr.read_format = question->read_format;
  memcpy((char *)&attr + offsetof(struct perf_event_attr, read_format) + 8,
         &question->flags, sizeof(question->flags));
  fd = (int)syscall(SYS_perf_event_open, &attr, question->pid, question->cpu,
                    -1, 0);
  if (fd < 0)
    return errno;
  close(fd);
  return 0;
}

typedef struct errand_s {
  void (*prepare)(void);
  int *answers;
} errand_t;

static int ask_all(void *arg) {
  const errand_t *errand = arg;
  size_t i;

  if (errand->prepare != NULL)
    errand->prepare();
  for (i = 0; i < COUNT_OF(questions); i++)
    errand->answers[i] = ask(&questions[i]);
  return 0;
}

static tool_run_t run;

/* Compares the doctor's answers with the kernel's. If `prepare` drops
 * privileges, the doctor must have run as the user nobody. */
static void compare(void (*prepare)(void)) {
  size_t size = sizeof(int) * COUNT_OF(questions), i;
  errand_t errand = {prepare, NULL};
  char name[32];
  int code;

  errand.answers = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(errand.answers, MAP_FAILED);
  assert_int_equal(support_wait(support_fork(ask_all, &errand)), 0);
  for (i = 0; i < COUNT_OF(questions); i++) {
    const question_t *question = &questions[i];

    code = errand.answers[i];
    uv_err_name_r(-code, name, sizeof(name));
    doctor_expect(&run, question->group, question->key, "result",
                  code == 0 ? "yes" : "no");
    doctor_expect(&run, question->group, question->key, "errno",
                  code == 0 ? "" : name);
  }
  munmap(errand.answers, size);
}

static void answers_are_the_kernels(void **state) {
  doctor_run(&run, DOCTOR_PATH, NULL, 0);
  compare(NULL);
  doctor_expect_remedies(&run);
}

static void answers_without_privileges_are_the_kernels(void **state) {
  doctor_run(&run, DOCTOR_PATH, NULL, 1);
  compare(explain_drop_privileges);
  doctor_expect_remedies(&run);
}

/* A user without privileges gets these answers at paranoid 2. They are listed
 * here, so the test opens no events. */
static void unprivileged_at_paranoid_2_learns_what_works(void **state) {
  static const char *const yes[][2] = {
      {"targets", "own_user"},      {"targets", "own_process"},
      {"events", "cpu_clock"},      {"events", "page_faults"},
      {"records", "mmap2"},         {"records", "comm"},
      {"records", "task"},          {"records", "context_switch"},
      {"records", "ksymbol"},       {"records", "bpf_event"},
      {"records", "cgroup"},        {"fields", "callchain"},
      {"fields", "regs_user"},      {"fields", "stack_user"},
      {"fields", "data_page_size"}, {"fields", "cgroup"},
      {"rings", "default"},         {"rings", "overwritable"},
  };
  static const char *const no[][4] = {
      {"targets", "own_kernel", "EACCES", "kernel.perf_event_paranoid=1,"},
      {"targets", "cpu", "EACCES", "kernel.perf_event_paranoid=0,"},
      {"targets", "cgroup", "EACCES", "kernel.perf_event_paranoid=0,"},
      {"events", "bpf_output", "EACCES", "kernel.perf_event_paranoid=0,"},
      {"fields", "phys_addr", "EACCES", "kernel.perf_event_paranoid=1,"},
      {"records", "namespaces", "EACCES", "setcap cap_"},
      {"events", "uprobe", "EACCES", "setcap cap_sys_admin=ep PROGRAM"},
      {"symbols", "kernel", "EACCES", "cap_syslog=ep PROGRAM"},
  };
  size_t i;

  if (support_is_in_user_namespace())
    support_skip(__func__, "root or a user outside of user namespaces");
  explain_need_paranoid(__func__, 2, 2);
  doctor_run(&run, DOCTOR_PATH, NULL, 1);
  doctor_expect(&run, "system", "capabilities", NULL, "none");
  doctor_expect_all(&run, yes, COUNT_OF(yes), "yes", NULL, NULL, NULL);
  for (i = 0; i < COUNT_OF(no); i++) {
    /* This kernel does not have it, or it is not mounted. */
    if (strcmp(doctor_member(&run, no[i][0], no[i][1], "errno"), "ENOENT") == 0)
      continue;
    doctor_expect(&run, no[i][0], no[i][1], "errno", no[i][2]);
    doctor_expect(&run, no[i][0], no[i][1], "cause", "permission");
    doctor_expect_part(&run, no[i][0], no[i][1], "remedy", no[i][3]);
  }
}

/* Like the root of a container with CAP_PERFMON: at exec root gets the
 * capabilities of the bounding set. Since Linux 6.16 these are not enough for
 * uprobes. */
static void drop_admin(void) {
  if (prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN, 0, 0, 0) != 0 ||
      prctl(PR_CAPBSET_DROP, CAP_SYSLOG, 0, 0, 0) != 0)
    _exit(1);
}

static void perfmon_without_admin_is_enough_but_for_uprobes(void **state) {
  support_need_root(__func__);
  explain_need_paranoid(__func__, 2, 2);
  support_need_cpu_wide(__func__);
  doctor_run(&run, DOCTOR_PATH, drop_admin, 0);
  doctor_expect_part(&run, "system", "capabilities", NULL, "perfmon");
  assert_null(
      strstr(doctor_member(&run, "system", "capabilities", NULL), "sys_admin"));
  doctor_expect(&run, "targets", "cpu", "result", "yes");
  doctor_expect(&run, "records", "namespaces", "result", "yes");
  if (strcmp(doctor_member(&run, "events", "uprobe", "errno"), "EACCES") == 0)
    doctor_expect_part(&run, "events", "uprobe", "remedy",
                       "--cap-add SYS_ADMIN");
}

#if defined(__aarch64__) || defined(__arm__)
#define IS_ARM 1
#else
#define IS_ARM 0
#endif

/* ARM's PMU drivers open an event with precise_ip, but ignore precise_ip. */
static void precise_ip_is_only_what_the_kernel_heeds(void **state) {
  struct perf_event_attr attr;
  int fd;

  support_need_own_events(__func__);
  memset(&attr, 0, sizeof(attr));
  attr.size = sizeof(attr);
  attr.config = PERF_COUNT_HW_CPU_CYCLES;
  attr.exclude_kernel = attr.exclude_hv = 1;
  attr.sample_period = 1000000;
  attr.precise_ip = 1;
  fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
  if (fd >= 0)
    close(fd);
  doctor_run(&run, DOCTOR_PATH, NULL, 0);
  doctor_expect(&run, "events", "precise_1", "result",
                fd >= 0 && !IS_ARM ? "yes" : "no");
}

static void filter(void) {
  explain_filter(EPERM);
}

static void filter_is_the_reason_for_everything(void **state) {
  static const char *const some[][2] = {
      {"targets", "own_user"},   {"targets", "cpu"},   {"events", "cycles"},
      {"events", "breakpoint"},  {"records", "mmap2"}, {"fields", "callchain"},
      {"features", "group"},     {"rings", "default"}, {"rings", "largest"},
      {"rings", "overwritable"},
  };

  doctor_run(&run, DOCTOR_PATH, filter, 0);
  doctor_expect_all(&run, some, COUNT_OF(some), "no", "EPERM", "no_perf",
                    "seccomp");
  /* The names of kernel functions do not depend on events. */
  *strstr(run.out, "\"symbols\":") = '\0';
  assert_null(strstr(run.out, "\"result\":\"yes\""));
}

/* With each number of fds the doctor either fails with a message, or reports
 * that fds are missing. The loader needs one fd. */
static void few_fds_are_reported(void **state) {
  static const char *const own[][2] = {{"targets", "own_user"}};
  int lacking = 0, nr;

  for (nr = 4; nr < 24; nr++) {
    doctor_run_with_fds(&run, DOCTOR_PATH, nr);
    /* If fds were inherited, even the loader may have too few. */
    if (run.status == 127)
      continue;
    if (run.status != 0) {
      tool_run_expect_status(&run, 1);
      tool_run_expect_text(run.err, "doctor: ");
      assert_string_equal(run.out, "");
      continue;
    }
    assert_true(json_is_tree(run.out));
    if (strcmp(doctor_member(&run, "targets", "own_user", "result"), "no") != 0)
      continue;
    doctor_expect_all(&run, own, 1, "no", "EMFILE", "files", "ulimit -n");
    lacking++;
  }
  assert_true(lacking > 0);
}

/* Hides tracefs in a mount namespace of its own. */
static void hide_tracefs(void) {
  if (unshare(CLONE_NEWNS) != 0 ||
      mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
      mount("none", "/sys/kernel", "tmpfs", 0, NULL) != 0)
    _exit(1);
}

static void tracefs_that_is_not_there_is_reported(void **state) {
  static const char *const unknown[][2] = {{"events", "tracepoint_own"},
                                           {"events", "tracepoint"},
                                           {"events", "tracepoint_cpu"}};

  support_need_root(__func__);
  support_need_tracefs(__func__, "sched:sched_switch");
  doctor_run(&run, DOCTOR_PATH, hide_tracefs, 0);
  doctor_expect_all(&run, unknown, COUNT_OF(unknown), "unknown", "ENODEV", NULL,
                    "mount -t tracefs");
  doctor_expect(&run, "system", "tracefs", NULL, "null");
}

static void tracefs_that_may_not_be_read_is_reported(void **state) {
  static const char *const unknown[][2] = {{"events", "tracepoint"}};

  explain_need_paranoid(__func__, 2, 2);
  support_need_tracefs(__func__, "sched:sched_switch");
  support_need_root(__func__);
  doctor_run(&run, DOCTOR_PATH, NULL, 1);
  doctor_expect_all(&run, unknown, 1, "unknown", "EACCES", NULL,
                    "gid=GROUP,mode=750");
}

static void tracepoints_are_answered_where_tracefs_is(void **state) {
  static const char *const yes[][2] = {{"events", "tracepoint"},
                                       {"events", "tracepoint_cpu"},
                                       {"events", "breakpoint"},
                                       {"events", "breakpoint_code"},
                                       {"targets", "own_process"}};

  support_need_root(__func__);
  support_need_cpu_wide(__func__);
  support_need_tracefs(__func__, "sched:sched_switch");
  support_need_breakpoints(__func__);
  doctor_run(&run, DOCTOR_PATH, NULL, 0);
  doctor_expect_all(&run, yes, COUNT_OF(yes), "yes", NULL, NULL, NULL);
}

static void expect_number(const char *key, long long value) {
  char text[32];

  snprintf(text, sizeof(text), "%lld", value);
  doctor_expect(&run, "system", key, NULL, text);
}

static void limits_are_those_of_the_system(void **state) {
  static const char *const settings[] = {
      "perf_event_paranoid",       "perf_event_mlock_kb",
      "perf_event_max_stack",      "perf_event_max_sample_rate",
      "perf_cpu_time_max_percent", "kptr_restrict",
  };
  struct rlimit files;
  size_t i;

  doctor_run(&run, DOCTOR_PATH, NULL, 0);
  for (i = 0; i < COUNT_OF(settings); i++)
    expect_number(settings[i], doctor_setting(settings[i]));
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
  expect_number("rlimit_nofile", (long long)files.rlim_cur);
  expect_number("cpus_online", sysconf(_SC_NPROCESSORS_ONLN));
}

/* Returns the column of the value after a title of one word. */
static size_t value_column(const char *line) {
  size_t title = strspn(line, " ");

  title += strcspn(line + title, " ");
  return title + strspn(line + title, " ");
}

/* The text has as many answers as the JSON, its lines fit into a terminal, and
 * its values are in one column. */
static void text_has_what_json_has(void **state) {
  static tool_run_t json, text = {.args = {DOCTOR_PATH}};
  size_t yes = 0, no = 0, unknown = 0, column;
  char summary[64];
  const char *at;

  doctor_run(&json, DOCTOR_PATH, NULL, 1);
  text.as_nobody = 1;
  tool_run_exits(&text, 0);
  for (at = json.out; (at = strstr(at, "\"result\":\"")) != NULL; at += 10) {
    yes += strncmp(at + 10, "yes\"", 4) == 0;
    no += strncmp(at + 10, "no\"", 3) == 0;
    unknown += strncmp(at + 10, "unknown\"", 8) == 0;
  }
  assert_true(yes + no + unknown > 50);
  snprintf(summary, sizeof(summary), "\n%zu yes, %zu no, %zu not known\n", yes,
           no, unknown);
  tool_run_expect_text(text.out, summary);
  for (at = text.out; *at != '\0'; at += strcspn(at, "\n") + 1)
    assert_true(strcspn(at, "\n") < 80);
  at = strstr(text.out, "  uvperf ");
  assert_non_null(at);
  column = value_column(at);
  at = strstr(text.out, "  perf_event_max_contexts_per_stack ");
  assert_non_null(at);
  assert_int_equal(value_column(at), column);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(answers_are_the_kernels),
      cmocka_unit_test(answers_without_privileges_are_the_kernels),
      cmocka_unit_test(unprivileged_at_paranoid_2_learns_what_works),
      cmocka_unit_test(perfmon_without_admin_is_enough_but_for_uprobes),
      cmocka_unit_test(precise_ip_is_only_what_the_kernel_heeds),
      cmocka_unit_test(filter_is_the_reason_for_everything),
      cmocka_unit_test(few_fds_are_reported),
      cmocka_unit_test(tracefs_that_is_not_there_is_reported),
      cmocka_unit_test(tracefs_that_may_not_be_read_is_reported),
      cmocka_unit_test(tracepoints_are_answered_where_tracefs_is),
      cmocka_unit_test(limits_are_those_of_the_system),
      cmocka_unit_test(text_has_what_json_has),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
