/* SPDX-License-Identifier: MIT */
/* A scripted machine for the events of a map: its CPUs, the map, and for each
 * CPU an event and the owner of its ring. */
#ifndef UVPERF_TEST_SCRIPTED_OUTPUTS_H
#define UVPERF_TEST_SCRIPTED_OUTPUTS_H

#include "bpf/outputs.h"
#include "make_cpus.h"
#include "check_explain.h"
#include "fake_kernel.h"
#include "fake_map.h"
#include "support.h"

#define SCRIPTED_OUTPUTS_ENTRIES 16

typedef struct scripted_outputs_s {
  fake_map_t *map; /* with SCRIPTED_OUTPUTS_ENTRIES entries */
  int map_fd;      /* the caller's */
  /* In the order in which they are opened: an event, the owner of its ring… */
  fake_event_t *events[64];
  uvperf__bpf_outputs_options_t options; /* rings of a page, of this map */
  uvperf__bpf_outputs_t *outputs;
} scripted_outputs_t;

extern scripted_outputs_t scripted_outputs;

/* The setup: four CPUs, all online. The teardown frees the outputs and fails if
 * anything is left. */
int scripted_outputs_setup(void **state);
int scripted_outputs_teardown(void **state);

/* Teardown and setup, for a test of many cases. */
void scripted_outputs_again(void);

/* These CPUs are online and possible from now on. */
void scripted_outputs_cpus(const char *online, const char *possible);

/* Opens the outputs. The second fails the test unless opening fails like this,
 * with the piece in the reason, and leaves nothing; also without an error. */
void scripted_outputs_open(void);
void scripted_outputs_refused(int code, int cause, const char *piece);

/* The open event of a CPU, or NULL. */
fake_event_t *scripted_outputs_event(int cpu);

/* The keys in the map, "0 2 3"; a foreign entry is "2!". Fails the test if an
 * entry has the event of another CPU than its key. */
const char *scripted_outputs_keys(void);

#define scripted_outputs_test(f)                                               \
  cmocka_unit_test_setup_teardown(f, scripted_outputs_setup,                   \
                                  scripted_outputs_teardown)

#endif
