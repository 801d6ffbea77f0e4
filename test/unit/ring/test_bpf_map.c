/* SPDX-License-Identifier: MIT */
/* Maps on a scripted machine: which file holds them, and the reason for each
 * errno. */
#include "support.h"

#include <errno.h>
#include <fcntl.h>

#include "ring/bpf_map.h"
#include "check_explain.h"
#include "fake_kernel.h"
#include "fake_map.h"
#include "make_host.h"
#include "uvperf.h"

/* In <linux/bpf.h>. */
#define PRESERVE_ELEMS 0x800
#define RINGBUF        27

static fake_map_t *scripted;
static int given;

static int setup(void **state) {
  fake_kernel_reset();
  scripted = fake_map_add(4);
  given = fake_map_open(scripted);
  return make_host_machine_setup(state);
}

static int teardown(void **state) {
  if (given >= 0)
    fake_map_close(given);
  fake_assert_clean();
  fake_kernel_reset();
  return make_host_teardown(state);
}

static void opens(uvperf__bpf_map_t *map) {
  uvperf_error_t error;

  if (uvperf__bpf_map_open(map, given, NULL, 0, &error) != 0)
    fail_msg("%s", error.reason);
  assert_int_equal(map->max_entries, 4);
}

static void refuses_of(int may_be_ring, int code, int cause,
                       const char *piece) {
  uvperf__bpf_map_t map;
  uvperf_error_t error;

  memset(&error, 0, sizeof(error));
  assert_int_equal(uvperf__bpf_map_open(&map, given, NULL, may_be_ring, &error),
                   code);
  explain_check(&error, code, cause, piece);
  assert_int_equal(map.fd, -1);
  assert_int_equal(scripted->files, 1);
}

static void refuses(int code, int cause, const char *piece) {
  refuses_of(0, code, cause, piece);
}

static void refuses_path(const char *path, int errno_of_kernel, int cause,
                         const char *piece) {
  uvperf__bpf_map_t map;
  uvperf_error_t error;

  memset(&error, 0, sizeof(error));
  fake_fail(FAKE_BPF_PINNED, 1, errno_of_kernel);
  assert_int_equal(uvperf__bpf_map_open(&map, -1, path, 0, &error),
                   errno_of_kernel);
  explain_check(&error, errno_of_kernel, cause, piece);
  assert_int_equal(map.fd, -1);
}

/* -- files ---------------------------------------------------------------- */

static void map_is_held_by_a_file_of_its_own(void **state) {
  uvperf__bpf_map_t map;

  opens(&map);
  assert_true(map.is_own);
  assert_true(uvperf__bpf_map_clears(&map));
  assert_int_equal(scripted->files, 2);
  assert_string_equal(fake_log(), "bpf info, bpf map by id");
  uvperf__bpf_map_close(&map);
  uvperf__bpf_map_close(&map);
  assert_int_equal(fake_count(FAKE_CLOSE), 1);
}

static void map_without_an_own_file_shares_the_callers(void **state) {
  static const int codes[] = {-EPERM, -EACCES, -EINVAL, -ENOENT, -ENOSYS};
  uvperf__bpf_map_t map;
  size_t i;

  for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
    fake_fail(FAKE_BPF_MAP_BY_ID, 1, codes[i]);
    opens(&map);
    assert_false(map.is_own);
    assert_false(uvperf__bpf_map_clears(&map));
    assert_int_not_equal(map.fd, given);
    assert_int_equal(scripted->files, 1);
    uvperf__bpf_map_close(&map);
  }
}

static void own_file_has_the_access_of_the_callers(void **state) {
  static const int accesses[] = {O_RDONLY, O_WRONLY, O_RDWR};
  uvperf__bpf_map_t map;
  size_t i;

  for (i = 0; i < 3; i++) {
    fake_map_close(given);
    given = fake_map_open_as(scripted, accesses[i]);
    opens(&map);
    assert_int_equal(uvperf__sys_access(map.fd), accesses[i]);
    uvperf__bpf_map_close(&map);
  }
}

static void map_that_preserves_clears_nothing(void **state) {
  uvperf__bpf_map_t map;

  scripted->info.map_flags = PRESERVE_ELEMS;
  opens(&map);
  assert_true(map.is_own);
  assert_false(uvperf__bpf_map_clears(&map));
  uvperf__bpf_map_close(&map);
}

static void path_is_a_file_of_its_own(void **state) {
  uvperf__bpf_map_t map;

  scripted->path = "/bpf/events";
  assert_int_equal(uvperf__bpf_map_open(&map, -1, "/bpf/events", 0, NULL), 0);
  assert_true(uvperf__bpf_map_clears(&map));
  assert_int_equal(scripted->files, 2);
  assert_string_equal(fake_log(), "bpf pinned, bpf info");
  uvperf__bpf_map_close(&map);
}

/* -- refusals ------------------------------------------------------------- */

static void map_of_another_type_is_named(void **state) {
  scripted->info.type = 1;
  refuses(-EINVAL, UVPERF_CAUSE_ARGUMENT, "BPF_MAP_TYPE_HASH (1)");
  scripted->info.type = 33;
  refuses(-EINVAL, UVPERF_CAUSE_ARGUMENT, "BPF_MAP_TYPE_ARENA (33)");
  scripted->info.type = 27;
  refuses(-EINVAL, UVPERF_CAUSE_ARGUMENT, "BPF_MAP_TYPE_RINGBUF (27)");
  scripted->info.type = 4000000000u;
  refuses(-EINVAL, UVPERF_CAUSE_ARGUMENT, "(4000000000)");
}

/* A program: BPF_PROG_TYPE_SCHED_ACT is 4 too. */
static void object_whose_type_is_the_same_is_no_map(void **state) {
  scripted->info.key_size = 0x12345678;
  scripted->info.value_size = 0x9abcdef0;
  refuses(-EINVAL, UVPERF_CAUSE_ARGUMENT, "PERF_EVENT_ARRAY (4)");
  /* And BTF, which is no map of type 0. */
  scripted->info.type = 0;
  refuses(-EINVAL, UVPERF_CAUSE_ARGUMENT,
          "is a BPF program, link or BTF, not a map");
}

static void ring_buffer_is_accepted_if_it_may_be_one(void **state) {
  uvperf__bpf_map_t map;
  uvperf_error_t error;

  scripted->info.type = RINGBUF;
  scripted->info.max_entries = 8192;
  assert_int_equal(uvperf__bpf_map_open(&map, given, NULL, 0, &error), -EINVAL);
  assert_int_equal(uvperf__bpf_map_open(&map, given, NULL, 1, &error), -EINVAL);
  scripted->info.key_size = 0;
  scripted->info.value_size = 0;
  assert_int_equal(uvperf__bpf_map_open(&map, given, NULL, 0, &error), -EINVAL);
  assert_int_equal(uvperf__bpf_map_open(&map, given, NULL, 1, &error), 0);
  assert_true(map.is_ring && !map.is_overwritten);
  assert_int_equal(map.max_entries, 8192);
  uvperf__bpf_map_close(&map);
  scripted->info.map_flags = 1u << 19; /* BPF_F_RB_OVERWRITE */
  assert_int_equal(uvperf__bpf_map_open(&map, given, NULL, 1, &error), 0);
  assert_true(map.is_overwritten);
  uvperf__bpf_map_close(&map);
  scripted->info.type = 31;
  refuses_of(1, -EINVAL, UVPERF_CAUSE_ARGUMENT,
             "USER_RINGBUF (31), not BPF_MAP_TYPE_PERF_EVENT_ARRAY (4) or "
             "BPF_MAP_TYPE_RINGBUF (27)");
}

static void array_is_accepted_if_it_may_be_a_ring_buffer(void **state) {
  uvperf__bpf_map_t map;
  uvperf_error_t error;

  scripted->info.map_flags = 1u << 19;
  assert_int_equal(uvperf__bpf_map_open(&map, given, NULL, 1, &error), 0);
  assert_false(map.is_ring || map.is_overwritten);
  uvperf__bpf_map_close(&map);
}

static void path_of_another_type_is_closed_again(void **state) {
  uvperf__bpf_map_t map;
  uvperf_error_t error;

  scripted->path = "/bpf/events";
  scripted->info.type = 2;
  assert_int_equal(uvperf__bpf_map_open(&map, -1, "/bpf/events", 0, &error),
                   -EINVAL);
  explain_check(&error, -EINVAL, UVPERF_CAUSE_ARGUMENT, "/bpf/events");
  assert_int_equal(scripted->files, 1);
  assert_int_equal(map.fd, -1);
}

static void fd_that_is_invalid_is_reported(void **state) {
  fake_fail(FAKE_BPF_INFO, 1, -EBADFD);
  refuses(-EBADF, UVPERF_CAUSE_ARGUMENT, "not an open fd");
  fake_fail(FAKE_BPF_INFO, 1, -EINVAL);
  refuses(-EINVAL, UVPERF_CAUSE_ARGUMENT, "not the fd of a BPF map");
}

static void bpf_that_is_refused_has_its_cause(void **state) {
  fake_fail(FAKE_BPF_INFO, 1, -ENOSYS);
  refuses(-ENOSYS, UVPERF_CAUSE_NOT_SUPPORTED, "CONFIG_BPF_SYSCALL");
  make_host_write("/proc/sys/kernel/unprivileged_bpf_disabled", "2\n");
  fake_fail(FAKE_BPF_INFO, 1, -EPERM);
  refuses(-EPERM, UVPERF_CAUSE_PERMISSION,
          "kernel.unprivileged_bpf_disabled is 2");
  fake_fail(FAKE_BPF_INFO, 1, -ENOSYS);
  refuses(-ENOSYS, UVPERF_CAUSE_NOT_SUPPORTED,
          "this kernel has bpf(2), but a seccomp filter or a sandbox hides it");
  fake_fail(FAKE_BPF_INFO, 1, -EFAULT);
  refuses(-EFAULT, UVPERF_CAUSE_UNKNOWN, "errno 14");
  make_host_write("/proc/self/status",
                  "CapEff:\t0000000000000000\nSeccomp:\t2\n");
  fake_fail(FAKE_BPF_INFO, 1, -EPERM);
  refuses(-EPERM, UVPERF_CAUSE_PERMISSION, "--cap-add BPF");
  make_host_write("/proc/self/status",
                  "CapEff:\t0000008000000000\nSeccomp:\t2\n");
  fake_fail(FAKE_BPF_INFO, 1, -EPERM);
  refuses(-EPERM, UVPERF_CAUSE_PERMISSION,
          "denied despite CAP_BPF by a seccomp filter");
  make_host_write("/proc/self/status",
                  "CapEff:\t0000000000200000\nSeccomp:\t0\n");
  fake_fail(FAKE_BPF_INFO, 1, -EACCES);
  refuses(-EACCES, UVPERF_CAUSE_PERMISSION, "security module");
  make_host_write("/proc/self/uid_map", "0 1000 1\n");
  fake_fail(FAKE_BPF_INFO, 1, -EPERM);
  refuses(-EPERM, UVPERF_CAUSE_PERMISSION,
          "bpf(2) needs CAP_BPF outside this user namespace");
}

static void lack_of_fds_and_memory_is_reported(void **state) {
  fake_fail(FAKE_BPF_MAP_BY_ID, 1, -EMFILE);
  refuses(-EMFILE, UVPERF_CAUSE_FILES, "RLIMIT_NOFILE");
  fake_fail(FAKE_BPF_MAP_BY_ID, 1, -ENOMEM);
  refuses(-ENOMEM, UVPERF_CAUSE_MEMORY, "memory");
  fake_fail(FAKE_BPF_MAP_BY_ID, 1, -EPERM);
  fake_fail(FAKE_DUP, 1, -EMFILE);
  refuses(-EMFILE, UVPERF_CAUSE_FILES, "RLIMIT_NOFILE");
}

static void path_that_cannot_be_opened_has_its_cause(void **state) {
  char longest[400];

  refuses_path("/bpf/x", -ENOENT, UVPERF_CAUSE_ARGUMENT,
               "/bpf/x: nothing is pinned");
  refuses_path("/bpf/x", -ENOTDIR, UVPERF_CAUSE_ARGUMENT, "pinned");
  refuses_path("/bpf/x", -EACCES, UVPERF_CAUSE_PERMISSION, "bpffs");
  refuses_path("/bpf/x", -EPERM, UVPERF_CAUSE_PERMISSION, "CAP_BPF");
  refuses_path("/bpf/x", -EMFILE, UVPERF_CAUSE_FILES, "RLIMIT_NOFILE");
  memset(longest, 'x', sizeof(longest));
  longest[sizeof(longest) - 1] = '\0';
  refuses_path(longest, -ENAMETOOLONG, UVPERF_CAUSE_ARGUMENT, "pinned");
  refuses_path(longest, -EACCES, UVPERF_CAUSE_PERMISSION, "bpffs");
  refuses_path(longest, -EPERM, UVPERF_CAUSE_PERMISSION, "bpf(2)");
  refuses_path(longest, -EMFILE, UVPERF_CAUSE_FILES, "RLIMIT_NOFILE");
}

/* -- entries -------------------------------------------------------------- */

static void entry_that_cannot_be_set_has_its_cause(void **state) {
  const struct {
    int code;
    int cause;
    const char *piece;
  } cases[] = {
      {-EPERM, UVPERF_CAUSE_PERMISSION, "CAP_BPF"},
      {-ENOMEM, UVPERF_CAUSE_MEMORY, "out of memory"},
      {-EOPNOTSUPP, UVPERF_CAUSE_NOT_SUPPORTED,
       "the kernel does not put events with attr.inherit into maps; clear it"},
      {-E2BIG, UVPERF_CAUSE_UNKNOWN, "errno 7"},
      {-ENOSYS, UVPERF_CAUSE_NOT_SUPPORTED, "CONFIG_BPF_SYSCALL"},
  };
  uvperf__bpf_map_t map;
  uvperf_error_t error;
  size_t i;

  opens(&map);
  for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    fake_fail(FAKE_BPF_UPDATE, 1, cases[i].code);
    assert_int_equal(uvperf__bpf_map_put(&map, 3, -1, &error), cases[i].code);
    explain_check(&error, cases[i].code, cases[i].cause, cases[i].piece);
    assert_non_null(strstr(error.reason, "cannot set entry 3 of the map"));
    fake_fail(FAKE_BPF_UPDATE, 1, cases[i].code);
    assert_int_equal(uvperf__bpf_map_put(&map, 3, -1, NULL), cases[i].code);
  }
  uvperf__bpf_map_close(&map);
}

static void entry_that_may_only_be_read_says_so(void **state) {
  uvperf__bpf_map_t map;
  uvperf_error_t error;

  fake_map_close(given);
  given = fake_map_open_as(scripted, O_RDONLY);
  opens(&map);
  assert_int_equal(uvperf__bpf_map_put(&map, 3, -1, &error), -EPERM);
  explain_check(&error, -EPERM, UVPERF_CAUSE_PERMISSION,
                "it was opened for reading only (BPF_F_RDONLY); open it for");
  assert_int_equal(uvperf__bpf_map_take(&map, 3, &error), -EPERM);
  explain_check(&error, -EPERM, UVPERF_CAUSE_PERMISSION,
                "cannot delete entry 3 of the map");
  uvperf__bpf_map_close(&map);
}

static void take_of_a_missing_event_is_fine(void **state) {
  uvperf__bpf_map_t map;

  opens(&map);
  assert_int_equal(uvperf__bpf_map_take(&map, 3, NULL), 0);
  fake_map_put_foreign(scripted, 3);
  assert_int_equal(uvperf__bpf_map_take(&map, 3, NULL), 0);
  assert_int_equal(fake_map_count(scripted), 0);
  uvperf__bpf_map_close(&map);
}

#define map_test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      map_test(map_is_held_by_a_file_of_its_own),
      map_test(map_without_an_own_file_shares_the_callers),
      map_test(own_file_has_the_access_of_the_callers),
      map_test(map_that_preserves_clears_nothing),
      map_test(path_is_a_file_of_its_own),
      map_test(map_of_another_type_is_named),
      map_test(object_whose_type_is_the_same_is_no_map),
      map_test(path_of_another_type_is_closed_again),
      map_test(ring_buffer_is_accepted_if_it_may_be_one),
      map_test(array_is_accepted_if_it_may_be_a_ring_buffer),
      map_test(fd_that_is_invalid_is_reported),
      map_test(bpf_that_is_refused_has_its_cause),
      map_test(lack_of_fds_and_memory_is_reported),
      map_test(path_that_cannot_be_opened_has_its_cause),
      map_test(entry_that_cannot_be_set_has_its_cause),
      map_test(entry_that_may_only_be_read_says_so),
      map_test(take_of_a_missing_event_is_fine),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
