/* SPDX-License-Identifier: MIT */
/* Opens two sets. One keeps only the newest switches. The other receives every
 * record that names a task. */
#include "flight-recorder/sets.h"

#include <string.h>

#define DEFAULT_RING_BYTES ((size_t)1 << 20)

static int open_set(uvperf_set_t *set, uv_loop_t *loop,
                    const uvperf_target_t *target, uint32_t flags,
                    uint32_t side_band, size_t ring_bytes,
                    uvperf_error_t *error) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;

  options.targets = target;
  options.nr_targets = 1;
  options.flags = flags | UVPERF_SET_RECORDS | UVPERF_SET_TIME_ORDER;
  options.side_band = side_band;
  options.ring_bytes = ring_bytes;
  return uvperf_set_init(loop, set, &options, error);
}

/* The default size is reduced if the limits of locked memory require it. */
static int open_switches(flight_sets_t *sets, uv_loop_t *loop,
                         const uvperf_target_t *target, size_t ring_bytes,
                         uvperf_error_t *error) {
  size_t bytes = ring_bytes != 0 ? ring_bytes : DEFAULT_RING_BYTES;
  int rc;

  rc = open_set(&sets->switches, loop, target, UVPERF_SET_OVERWRITE,
                UVPERF_SIDE_BAND_SWITCH, bytes, error);
  if (rc != 0 && ring_bytes == 0 && error->cause == UVPERF_CAUSE_LOCKED_MEMORY)
    rc = open_set(&sets->switches, loop, target, UVPERF_SET_OVERWRITE,
                  UVPERF_SIDE_BAND_SWITCH, 0, error);
  sets->has_switches = rc == 0;
  return rc;
}

/* Records the names on all CPUs, because a thread may get its name on a CPU
 * whose switches are not recorded. */
static int open_both(flight_sets_t *sets, uv_loop_t *loop,
                     const uvperf_target_t *target, const char *cpus,
                     size_t ring_bytes, uvperf_error_t *error) {
  uvperf_target_t place = *target;
  int rc;

  place.cpus = cpus;
  rc = open_switches(sets, loop, &place, ring_bytes, error);
  if (rc == 0) {
    rc = open_set(&sets->names, loop, target, 0, UVPERF_SIDE_BAND_TASKS, 0,
                  error);
    sets->has_names = rc == 0;
  }
  return rc;
}

int flight_sets_open(flight_sets_t *sets, uv_loop_t *loop,
                     const flight_options_t *options, int32_t command,
                     uvperf_error_t *error) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  int rc;

  target.type = UVPERF_TARGET_CPUS;
  rc =
      open_both(sets, loop, &target, options->cpus, options->ring_bytes, error);
  if (rc == 0 || command == 0 || sets->has_switches ||
      error->cause != UVPERF_CAUSE_PERMISSION)
    return rc;
  sets->of_command = 1;
  target.type = UVPERF_TARGET_COMMAND;
  target.pid = command;
  return open_both(sets, loop, &target, options->cpus, options->ring_bytes,
                   error);
}

void flight_sets_close(flight_sets_t *sets) {
  if (sets->has_switches)
    uvperf_close(&sets->switches.handle, NULL);
  if (sets->has_names)
    uvperf_close(&sets->names.handle, NULL);
}

uint64_t flight_sets_bytes(const flight_sets_t *sets) {
  uvperf_ring_info_t ring;
  uint64_t bytes = 0;
  size_t i;

  for (i = 0; i < uvperf_nr_rings(&sets->switches.handle); i++) {
    if (uvperf_ring(&sets->switches.handle, i, &ring) == 0)
      bytes += ring.bytes;
  }
  return bytes;
}
