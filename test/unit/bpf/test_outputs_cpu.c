/* SPDX-License-Identifier: MIT */
/* CPUs that come and go, and the events of a map, on a scripted machine. */
#include "support.h"

#include <errno.h>

#include "attr/kernel_knows.h"
#include "scripted_outputs.h"
#include "uvperf.h"

#define scripted scripted_outputs

static uvperf__cpu_rings_t *rings(void) {
  return uvperf__bpf_outputs_rings(scripted.outputs);
}

static int status(int cpu) {
  return uvperf__bpf_outputs_cpu_status(scripted.outputs, cpu);
}

static void open_and_start(void) {
  scripted_outputs_open();
  assert_int_equal(uvperf__bpf_outputs_enable(scripted.outputs, NULL), 0);
  assert_int_equal(uvperf__bpf_outputs_put(scripted.outputs, NULL), 0);
}

static void come(int cpu) {
  uvperf_error_t error;

  if (uvperf__bpf_outputs_cpu_come(scripted.outputs, cpu, &error) != 0)
    fail_msg("%s", error.reason);
}

/* -- gone ----------------------------------------------------------------- */

static void cpu_that_goes_is_taken_out(void **state) {
  uvperf__cpu_ring_t *ring;

  open_and_start();
  ring = uvperf__cpu_rings_find(rings(), 2);
  scripted_outputs_cpus("0-1,3\n", "0-3\n");
  uvperf__bpf_outputs_cpu_gone(scripted.outputs, 2);
  assert_string_equal(scripted_outputs_keys(), "0 1 3");
  assert_null(scripted_outputs_event(2));
  assert_int_equal(status(2), -ENODEV);
  assert_ptr_equal(uvperf__cpu_rings_find(rings(), 2), ring);
  assert_int_equal(ring->nr_events, 0);
  assert_non_null(ring->ring.page);
  /* Again, and one that has no event. */
  uvperf__bpf_outputs_cpu_gone(scripted.outputs, 2);
  uvperf__bpf_outputs_cpu_gone(scripted.outputs, 9);
  uvperf__bpf_outputs_cpu_gone(scripted.outputs, -1);
  assert_true(uvperf__bpf_outputs_are_put(scripted.outputs));
}

static void cpu_that_is_away_is_no_failure(void **state) {
  open_and_start();
  uvperf__bpf_outputs_cpu_gone(scripted.outputs, 0);
  assert_int_equal(uvperf__bpf_outputs_take(scripted.outputs, NULL), 0);
  uvperf__bpf_outputs_disable(scripted.outputs);
  assert_int_equal(uvperf__bpf_outputs_enable(scripted.outputs, NULL), 0);
  assert_int_equal(uvperf__bpf_outputs_put(scripted.outputs, NULL), 0);
  assert_string_equal(scripted_outputs_keys(), "1 2 3");
}

/* The event is closed all the same. */
static void entry_that_cannot_be_deleted_does_not_hold_the_event(void **state) {
  open_and_start();
  scripted.map->is_frozen = 1;
  uvperf__bpf_outputs_cpu_gone(scripted.outputs, 1);
  assert_null(scripted_outputs_event(1));
  assert_int_equal(status(1), -ENODEV);
}

static void entry_that_could_not_be_deleted_is_tried_again(void **state) {
  open_and_start();
  scripted.map->is_frozen = 1;
  uvperf__bpf_outputs_cpu_gone(scripted.outputs, 1);
  scripted.map->is_frozen = 0;
  assert_string_equal(scripted_outputs_keys(), "0 1 2 3");
  assert_int_equal(uvperf__bpf_outputs_take(scripted.outputs, NULL), 0);
  assert_string_equal(scripted_outputs_keys(), "");
  assert_int_equal(uvperf__bpf_outputs_put(scripted.outputs, NULL), 0);
  assert_string_equal(scripted_outputs_keys(), "0 2 3");
}

/* -- come ----------------------------------------------------------------- */

static void cpu_that_comes_back_has_a_new_event_in_its_ring(void **state) {
  uvperf__cpu_ring_t *ring;

  open_and_start();
  ring = uvperf__cpu_rings_find(rings(), 2);
  uvperf__bpf_outputs_cpu_gone(scripted.outputs, 2);
  come(2);
  assert_ptr_equal(scripted.events[8], scripted_outputs_event(2));
  assert_int_equal(scripted.events[8]->enabled, 1);
  assert_int_equal(ring->nr_events, 1);
  assert_int_equal(uvperf__cpu_rings_nr(rings()), 4);
  assert_string_equal(scripted_outputs_keys(), "0 1 2 3");
  assert_int_equal(status(2), 0);
}

static void cpu_that_comes_is_as_the_others(void **state) {
  scripted_outputs_open();
  uvperf__bpf_outputs_cpu_gone(scripted.outputs, 2);
  come(2);
  assert_int_equal(scripted_outputs_event(2)->enabled, 0);
  assert_string_equal(scripted_outputs_keys(), "");
  assert_int_equal(uvperf__bpf_outputs_enable(scripted.outputs, NULL), 0);
  uvperf__bpf_outputs_cpu_gone(scripted.outputs, 2);
  come(2);
  assert_int_equal(scripted_outputs_event(2)->enabled, 1);
  assert_string_equal(scripted_outputs_keys(), "");
  assert_int_equal(uvperf__bpf_outputs_put(scripted.outputs, NULL), 0);
  assert_string_equal(scripted_outputs_keys(), "0 1 2 3");
  assert_int_equal(uvperf__bpf_outputs_take(scripted.outputs, NULL), 0);
  uvperf__bpf_outputs_disable(scripted.outputs);
  uvperf__bpf_outputs_cpu_gone(scripted.outputs, 2);
  come(2);
  assert_int_equal(scripted_outputs_event(2)->enabled, 0);
  assert_string_equal(scripted_outputs_keys(), "");
}

static void cpu_that_is_new_has_a_ring_of_its_own(void **state) {
  scripted_outputs_cpus("0,3\n", "0-11\n");
  open_and_start();
  assert_int_equal(status(11), -ENODEV);
  scripted_outputs_cpus("0,3,11\n", "0-11\n");
  come(11);
  assert_int_equal(uvperf__cpu_rings_nr(rings()), 3);
  assert_int_equal(uvperf__cpu_rings_at(rings(), 2)->cpu, 11);
  assert_string_equal(scripted_outputs_keys(), "0 3 11");
  assert_int_equal(scripted_outputs_event(11)->enabled, 1);
  assert_int_equal(status(11), 0);
}

/* A CPU that is reported to come, but had not gone, continues without a gap. */
static void
cpu_that_comes_twice_is_put_before_the_old_one_is_closed(void **state) {
  open_and_start();
  fake_log_clear();
  come(1);
  assert_string_equal(fake_log(), "open, ioctl SET_OUTPUT, ioctl ENABLE, "
                                  "bpf update 1, close");
  assert_ptr_equal(scripted.events[8], scripted_outputs_event(1));
  assert_int_equal(uvperf__cpu_rings_find(rings(), 1)->nr_events, 1);
  assert_string_equal(scripted_outputs_keys(), "0 1 2 3");
}

/* The ring has the losses of the old event, which PERF_FORMAT_LOST counts. */
static void losses_of_an_event_that_is_replaced_stay_counted(void **state) {
  uint64_t words[2] = {0, 5};
  fake_event_t *old;

  uvperf__known[UVPERF__WORD_READ_FORMAT].yes = UVPERF_FORMAT_LOST;
  uvperf__known[UVPERF__WORD_READ_FORMAT].no = 0;
  open_and_start();
  old = scripted_outputs_event(1);
  assert_true(old->attr.read_format == UVPERF_FORMAT_LOST);
  old->read_data = words;
  old->read_size = sizeof(words);
  come(1);
  assert_int_equal(uvperf__cpu_rings_find(rings(), 1)->lost, 5);
  old = scripted_outputs_event(1);
  old->read_data = words;
  old->read_size = sizeof(words);
  uvperf__bpf_outputs_cpu_gone(scripted.outputs, 1);
  assert_int_equal(uvperf__cpu_rings_find(rings(), 1)->lost, 10);
}

static void cpu_without_the_event_gets_none(void **state) {
  scripted.map->info.max_entries = 3;
  scripted.options.cpus = "0,2";
  open_and_start();
  come(1);
  come(3);
  come(-1);
  assert_int_equal(status(1), -ENOENT);
  assert_string_equal(scripted_outputs_keys(), "0 2");
  scripted_outputs_again();
  scripted.map->info.max_entries = 2;
  open_and_start();
  come(2);
  come(3);
  assert_int_equal(status(2), -E2BIG);
  assert_int_equal(uvperf__cpu_rings_nr(rings()), 2);
}

static void cpu_of_the_list_that_was_offline_comes(void **state) {
  scripted_outputs_cpus("0\n", "0-3\n");
  scripted.options.cpus = "0,2";
  open_and_start();
  scripted_outputs_cpus("0,2\n", "0-3\n");
  come(2);
  assert_int_equal(status(2), 0);
  assert_string_equal(scripted_outputs_keys(), "0 2");
}

static void fixed_cpus_stay_as_they_are(void **state) {
  scripted_outputs_cpus("0-1\n", "0-3\n");
  scripted.options.is_fixed = 1;
  open_and_start();
  assert_int_equal(status(2), -ENODEV);
  scripted_outputs_cpus("0-2\n", "0-3\n");
  come(2);
  assert_int_equal(status(2), -ENOENT);
  assert_int_equal(uvperf__cpu_rings_nr(rings()), 2);
  scripted_outputs_cpus("0,2\n", "0-3\n");
  uvperf__bpf_outputs_cpu_gone(scripted.outputs, 1);
  assert_int_equal(status(1), -ENODEV);
  scripted_outputs_cpus("0-2\n", "0-3\n");
  come(1);
  assert_int_equal(status(1), -ENOENT);
}

/* -- failures ------------------------------------------------------------- */

/* Whatever fails is reported, the CPU has no event, and the next time works. */
static void cpu_that_fails_to_come_is_reported(void **state) {
  const struct {
    enum fake_call call;
    unsigned nth;
    int code;
    int status;
  } cases[] = {
      {FAKE_OPEN, 1, -EMFILE, -EMFILE},     {FAKE_OPEN, 1, -ENODEV, -ENODEV},
      {FAKE_OPEN, 2, -EMFILE, -EMFILE},     {FAKE_MMAP, 1, -EPERM, -EPERM},
      {FAKE_IOCTL, 1, -EINVAL, -EINVAL},    {FAKE_IOCTL, 2, -EPERM, -EPERM},
      {FAKE_BPF_UPDATE, 1, -EPERM, -EPERM}, {FAKE_CALLOC, 1, 0, -ENOMEM},
  };
  uvperf_error_t error;
  size_t i, fds;
  int is_new, cpu, rc;

  for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
    for (is_new = 0; is_new < 2; is_new++) {
      /* One that had a ring takes no second one, and no memory. */
      if (!is_new && (cases[i].call == FAKE_MMAP ||
                      cases[i].call == FAKE_CALLOC || cases[i].nth == 2))
        continue;
      cpu = is_new ? 3 : 1;
      scripted_outputs_cpus("0-2\n", "0-3\n");
      open_and_start();
      uvperf__bpf_outputs_cpu_gone(scripted.outputs, cpu);
      fds = support_count_fds();
      fake_fail(cases[i].call, cases[i].nth, cases[i].code);
      scripted_outputs_cpus("0-3\n", "0-3\n");
      rc = uvperf__bpf_outputs_cpu_come(scripted.outputs, cpu, &error);
      assert_int_equal(fake_failures(), 1);
      assert_int_equal(rc, cases[i].status);
      assert_int_equal(error.code, rc);
      assert_true(error.reason[0] != '\0');
      assert_int_equal(status(cpu), rc);
      assert_int_equal(support_count_fds(), fds);
      assert_int_equal(uvperf__cpu_rings_nr(rings()), 3);
      assert_string_equal(scripted_outputs_keys(), is_new ? "0 1 2" : "0 2");
      come(cpu);
      assert_int_equal(status(cpu), 0);
      assert_string_equal(scripted_outputs_keys(),
                          is_new ? "0 1 2 3" : "0 1 2");
      scripted_outputs_again();
    }
}

/* The old one, which may be dead, is not left in the map then. */
static void come_that_fails_takes_the_old_one_out(void **state) {
  open_and_start();
  fake_fail(FAKE_OPEN, 1, -EMFILE);
  assert_int_equal(uvperf__bpf_outputs_cpu_come(scripted.outputs, 1, NULL),
                   -EMFILE);
  assert_string_equal(scripted_outputs_keys(), "0 2 3");
  assert_null(scripted_outputs_event(1));
  assert_int_equal(status(1), -EMFILE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      scripted_outputs_test(cpu_that_goes_is_taken_out),
      scripted_outputs_test(cpu_that_is_away_is_no_failure),
      scripted_outputs_test(
          entry_that_cannot_be_deleted_does_not_hold_the_event),
      scripted_outputs_test(entry_that_could_not_be_deleted_is_tried_again),
      scripted_outputs_test(cpu_that_comes_back_has_a_new_event_in_its_ring),
      scripted_outputs_test(cpu_that_comes_is_as_the_others),
      scripted_outputs_test(cpu_that_is_new_has_a_ring_of_its_own),
      scripted_outputs_test(
          cpu_that_comes_twice_is_put_before_the_old_one_is_closed),
      scripted_outputs_test(losses_of_an_event_that_is_replaced_stay_counted),
      scripted_outputs_test(cpu_without_the_event_gets_none),
      scripted_outputs_test(cpu_of_the_list_that_was_offline_comes),
      scripted_outputs_test(fixed_cpus_stay_as_they_are),
      scripted_outputs_test(cpu_that_fails_to_come_is_reported),
      scripted_outputs_test(come_that_fails_takes_the_old_one_out),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
