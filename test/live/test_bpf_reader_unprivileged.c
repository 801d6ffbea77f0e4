/* SPDX-License-Identifier: MIT */
/* A BPF reader without privileges, at perf_event_paranoid 2: measuring CPUs is
 * refused with a reason; CAP_PERFMON and an fd of the map are enough. */
#include "live_bpf_reader.h"
#include "live_unprivileged.h"

#include <unistd.h>

/* Root's: a map that is handed down, and one who runs programs. */
static live_bpf_reader_t owner;
static live_worker_t programs;
/* And a directory that no other user may enter. */
static char directory[] = "/tmp/uvperf-root-XXXXXX";

static void send_five(void *arg) {
  live_bpf_reader_send_all(arg, 0, 5);
}

static void begin(const char *test) {
  live_bpf_reader_make(test, &owner, 0);
  live_worker_fork(&programs, send_five, &owner);
}

static void end(void) {
  live_worker_end(&programs);
  live_bpf_reader_unmake(&owner);
}

static void refuse(live_unprivileged_report_t *report, int map_fd,
                   const char *path, int code, const char *piece) {
  uvperf_bpf_reader_options_t options = live_bpf_reader_options();
  uvperf_bpf_reader_t reader;
  uvperf_error_t error;
  uv_loop_t loop;
  size_t fds;
  int rc;

  memset(&error, 0, sizeof(error));
  options.path = path;
  uv_loop_init(&loop);
  fds = support_count_fds();
  rc = uvperf_bpf_reader_init(&loop, &reader, map_fd, &options, &error);
  if (rc != code || error.code != code ||
      error.cause != UVPERF_CAUSE_PERMISSION ||
      strstr(error.reason, piece) == NULL)
    live_unprivileged_wrong(report, "%d, %s, without \"%s\": %s", rc,
                            uvperf_cause_name(error.cause), piece,
                            error.reason);
  if (support_count_fds() != fds)
    live_unprivileged_wrong(report, "fds were left");
  uv_run(&loop, UV_RUN_DEFAULT);
  if (uv_loop_close(&loop) != 0)
    live_unprivileged_wrong(report, "the loop was not empty");
}

static void cpus_are_refused(live_unprivileged_report_t *report) {
  refuse(report, owner.array, NULL, UV_EACCES, "CAP_PERFMON");
}

/* As bpffs is by default. */
static void
path_below_a_directory_of_root_is_refused(live_unprivileged_report_t *report) {
  char path[sizeof(directory) + 16];

  snprintf(path, sizeof(path), "%s/events", directory);
  refuse(report, -1, path, UV_EACCES, path);
}

static void unprivileged_reader_is_refused_with_the_reason(void **state) {
  static const live_unprivileged_line_t lines[] = {
      {"CPUs", cpus_are_refused},
      {"a path", path_below_a_directory_of_root_is_refused},
  };

  support_need_root(__func__);
  begin(__func__);
  assert_non_null(mkdtemp(directory));
  live_unprivileged_run(__func__, lines, 2);
  assert_int_equal(rmdir(directory), 0);
  end();
}

/* Its file of the map is the caller's, as BPF_MAP_GET_FD_BY_ID takes
 * CAP_SYS_ADMIN. */
static void map_is_read(live_unprivileged_report_t *report) {
  live_bpf_reader_t live;
  uvperf_error_t error;
  uv_loop_t loop;
  int rc;

  memset(&live, 0, sizeof(live));
  live.reader.handle.data = &live;
  uv_loop_init(&loop);
  rc = uvperf_bpf_reader_init(&loop, &live.reader, owner.array, NULL, &error);
  if (rc != 0) {
    live_unprivileged_wrong(report, "init: %d: %s", rc, error.reason);
    return;
  }
  rc = uvperf_start(&live.reader.handle, NULL, live_bpf_reader_on_sample,
                    &error);
  if (rc != 0)
    live_unprivileged_wrong(report, "start: %d: %s", rc, error.reason);
  live_worker_do(&programs);
  if (rc == 0 && !live_run_until(&loop, &live.samples, 5))
    live_unprivileged_wrong(report, "%d samples came", (int)live.samples);
  uvperf_close(&live.reader.handle, live_bpf_reader_on_close);
  uv_run(&loop, UV_RUN_DEFAULT);
  if (uv_loop_close(&loop) != 0 || live.closed != 1 || live.strange != 0)
    live_unprivileged_wrong(report,
                            "it was not closed, or samples were strange");
}

static void reader_with_perfmon_and_an_fd_of_the_map_works(void **state) {
  static const live_unprivileged_line_t lines[] = {{"a map", map_is_read}};

  begin(__func__);
  live_unprivileged_run_with_perfmon(__func__, lines, 1);
  /* It has removed the entries of a file that is still open. */
  assert_true(live_bpf_reader_send(&owner, 0, 24) < 0);
  end();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(unprivileged_reader_is_refused_with_the_reason),
      cmocka_unit_test(reader_with_perfmon_and_an_fd_of_the_map_works),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
