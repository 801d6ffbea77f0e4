/* SPDX-License-Identifier: MIT */
/* A scripted machine for the events of a map: its CPUs, the map, and an event
 * and the owner of a ring for each CPU. */
#ifndef UVPERF_TEST_SCRIPTED_OUTPUTS_H
#define UVPERF_TEST_SCRIPTED_OUTPUTS_H

#include "bpf/outputs.h"
#include "cpu_tree.h"
#include "explain_check.h"
#include "fake_kernel.h"
#include "fake_map.h"
#include "support.h"

#define SCRIPTED_OUTPUTS_ENTRIES 16

typedef struct scripted_outputs_s {
  fake_map_t *map; /* of SCRIPTED_OUTPUTS_ENTRIES */
  int map_fd;      /* the caller's */
  /* In the order in which they are opened: an event, the owner of its ring… */
  fake_event_t *events[64];
  uvperf__bpf_outputs_options_t options; /* rings of a page, of that map */
  uvperf__bpf_outputs_t *outputs;
} scripted_outputs_t;

extern scripted_outputs_t scripted_outputs;

/* The setup: four CPUs, all online; and the teardown, which frees the outputs
 * and fails where anything is left. */
int scripted_outputs_setup(void **state);
int scripted_outputs_teardown(void **state);

/* The end of one and the beginning of another, for a test of many cases. */
void scripted_outputs_again(void);

/* These CPUs are online and possible from now on. */
void scripted_outputs_cpus(const char *online, const char *possible);

/* Opens the outputs / fails the test unless that fails like this, with the
 * piece in the reason, and leaves nothing; also without an error. */
void scripted_outputs_open(void);
void scripted_outputs_refused(int code, int cause, const char *piece);

/* The event of a CPU that is open, or NULL. */
fake_event_t *scripted_outputs_event(int cpu);

/* The keys in the map, "0 2 3"; one of somebody else's as "2!". Fails the test
 * where one is of another CPU than its key. */
const char *scripted_outputs_keys(void);

#define scripted_outputs_test(f)                                               \
  cmocka_unit_test_setup_teardown(f, scripted_outputs_setup,                   \
                                  scripted_outputs_teardown)

#endif
