/* SPDX-License-Identifier: MIT */
/* Control of a handle's events, with a kind that the test makes. */
#include "support.h"

#include "loop/handle.h"

/* The last call of the kind: its letter and its attr. */
static char called[16];

static int note(char letter, size_t attr) {
  snprintf(called, sizeof(called), "%c %zd", letter, (ssize_t)attr);
  return 0;
}

static int enable(void *owner, size_t attr, uvperf_error_t *error) {
  return note('e', attr);
}

static int disable(void *owner, size_t attr, uvperf_error_t *error) {
  return note('d', attr);
}

static int reset(void *owner, size_t attr, uvperf_error_t *error) {
  return note('r', attr);
}

static int change_period(void *owner, size_t attr, uint64_t period,
                         uvperf_error_t *error) {
  assert_int_equal(period, 5);
  return note('p', attr);
}

static int apply_filter(void *owner, size_t attr, const char *filter,
                        uvperf_error_t *error) {
  assert_string_equal(filter, "fd == 3");
  return note('f', attr);
}

static int attach_bpf(void *owner, size_t attr, int prog_fd, uint64_t cookie,
                      uvperf_error_t *error) {
  assert_int_equal(prog_fd, 6);
  assert_int_equal(cookie, 7);
  return note('b', attr);
}

static int query_bpf(void *owner, size_t attr, uint32_t *ids, size_t *nr,
                     uvperf_error_t *error) {
  ids[0] = 8;
  *nr = 1;
  return note('q', attr);
}

static const uvperf_change_t *changes(const void *owner, size_t attr,
                                      size_t *nr) {
  *nr = 0;
  return NULL;
}

/* It has the attrs 0 to 8. Only whole operations are for all. */
static int check(size_t attr, int is_whole, uvperf_error_t *error) {
  return attr < 9 || (is_whole && attr == UVPERF_ALL) ? 0 : UV_EINVAL;
}

static const uvperf__control_ops_t ops = {
    check,        enable,     disable,   reset,  change_period,
    apply_filter, attach_bpf, query_bpf, changes};

/* -- the calls ------------------------------------------------------------- */

#define CALLS 7

static int call(uvperf_handle_t *it, int which, size_t attr,
                uvperf_error_t *error) {
  uint32_t ids[2] = {0, 0};
  size_t nr = 2;

  switch (which) {
    case 0:
      return uvperf_enable(it, attr, error);
    case 1:
      return uvperf_disable(it, attr, error);
    case 2:
      return uvperf_reset(it, attr, error);
    case 3:
      return uvperf_change_period(it, attr, 5, error);
    case 4:
      return uvperf_apply_filter(it, attr, "fd == 3", error);
    case 5:
      return uvperf_attach_bpf(it, attr, 6, 7, error);
    default:
      return uvperf_query_bpf(it, attr, ids, &nr, error);
  }
}

static uvperf_handle_t handle;

static void expect(int code, int cause) {
  uvperf_error_t error;
  int which;

  called[0] = '\0';
  for (which = 0; which < CALLS; which++) {
    memset(&error, 0, sizeof(error));
    assert_int_equal(call(&handle, which, 0, &error), code);
    assert_int_equal(error.code, code);
    assert_int_equal(error.cause, cause);
    assert_int_equal(call(&handle, which, 0, NULL), code);
  }
  assert_string_equal(called, "");
}

static uvperf__handle_t self;

static uvperf__handle_kind_t kind;

static void begin(uv_loop_t *loop) {
  memset(&kind, 0, sizeof(kind));
  memset(&self, 0, sizeof(self));
  kind.type = UVPERF_HANDLE_SET;
  kind.noun = "set";
  kind.control = &ops;
  uvperf__handle_init(&self, loop, &kind);
  uvperf__handle_publish(&self, &handle);
}

/* -- tests ----------------------------------------------------------------- */

static void control_reaches_the_kind_with_its_arguments(void **state) {
  static const char letters[CALLS] = {'e', 'd', 'r', 'p', 'f', 'b', 'q'};
  char wanted[16];
  int which;

  begin(*state);
  for (which = 0; which < CALLS; which++) {
    self.was_switched = 0;
    assert_int_equal(call(&handle, which, 3, NULL), 0);
    snprintf(wanted, sizeof(wanted), "%c 3", letters[which]);
    assert_string_equal(called, wanted);
    assert_int_equal(self.was_switched, which < 2);
  }
}

/* An attr that it lacks is refused. A control of one attr refuses all. */
static void control_asks_the_kind_about_the_attr_first(void **state) {
  int which;

  begin(*state);
  for (which = 0; which < CALLS; which++) {
    called[0] = '\0';
    assert_int_equal(call(&handle, which, 9, NULL), UV_EINVAL);
    assert_string_equal(called, "");
    assert_int_equal(call(&handle, which, UVPERF_ALL, NULL),
                     which < 3 ? 0 : UV_EINVAL);
    assert_int_equal(called[0] != '\0', which < 3);
  }
}

static void control_of_a_kind_without_it_is_refused(void **state) {
  size_t nr = 1;

  begin(*state);
  kind.control = NULL;
  expect(UV_EINVAL, UVPERF_CAUSE_ARGUMENT);
  assert_int_equal(self.was_switched, 0);
  assert_null(uvperf_changes(&handle, 0, &nr));
  assert_int_equal(nr, 0);
}

static void control_without_its_arguments_is_refused(void **state) {
  uvperf_error_t error;
  size_t nr = 2;

  begin(*state);
  called[0] = '\0';
  assert_int_equal(uvperf_apply_filter(&handle, 0, NULL, &error), UV_EINVAL);
  assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
  assert_int_equal(uvperf_query_bpf(&handle, 0, NULL, &nr, &error), UV_EINVAL);
  assert_int_equal(uvperf_query_bpf(&handle, 0, NULL, NULL, &error), UV_EINVAL);
  assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
  assert_string_equal(called, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(control_reaches_the_kind_with_its_arguments),
      support_loop_test(control_asks_the_kind_about_the_attr_first),
      support_loop_test(control_of_a_kind_without_it_is_refused),
      support_loop_test(control_without_its_arguments_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
