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

#define WORLD_ENTRIES 16

typedef struct outputs_world_s {
  fake_map_t *map; /* of WORLD_ENTRIES */
  int map_fd;      /* the caller's */
  /* In the order in which they are opened: an event, the owner of its ring… */
  fake_event_t *events[64];
  uvperf__bpf_outputs_options_t options; /* rings of a page, of that map */
  uvperf__bpf_outputs_t *outputs;
} outputs_world_t;

extern outputs_world_t outputs_world;

/* The setup: four CPUs, all online; and the teardown, which frees the outputs
 * and fails where anything is left. */
int outputs_world_setup(void **state);
int outputs_world_teardown(void **state);

/* The end of one and the beginning of another, for a test of many cases. */
void outputs_world_again(void);

/* These CPUs are online and possible from now on. */
void outputs_world_cpus(const char *online, const char *possible);

/* Opens the outputs / fails the test unless that fails like this, with the
 * piece in the reason, and leaves nothing; also without an error. */
void outputs_world_open(void);
void outputs_world_refused(int code, int cause, const char *piece);

/* The event of a CPU that is open, or NULL. */
fake_event_t *outputs_world_event(int cpu);

/* The keys in the map, "0 2 3"; one of somebody else's as "2!". Fails the test
 * where one is of another CPU than its key. */
const char *outputs_world_keys(void);

#endif
