/* SPDX-License-Identifier: MIT */
/* Puts the events into the map and takes them out, all or none. */
#include "bpf/outputs_impl.h"

#include "explain/explain.h"
#include "sys/sys.h"

/* -- one ------------------------------------------------------------------ */

int uvperf__bpf_output_put(const uvperf__bpf_outputs_t *outputs,
                           bpf_output_t *output, uvperf_error_t *error) {
  int rc;

  if (output->fd < 0 || output->is_put)
    return 0;
  rc = uvperf__bpf_map_put(&outputs->map, (uint32_t)output->cpu, output->fd,
                           error);
  output->is_put = rc == 0;
  return rc;
}

int uvperf__bpf_output_take(const uvperf__bpf_outputs_t *outputs,
                            bpf_output_t *output, uvperf_error_t *error) {
  int rc;

  if (!output->is_put)
    return 0;
  rc = uvperf__bpf_map_take(&outputs->map, (uint32_t)output->cpu, error);
  output->is_put = rc != 0;
  return rc;
}

/* -- all ------------------------------------------------------------------ */

/* While it goes on `is_put` of each tells how far it came, and when it fails
 * that is what is undone: before, none was there, or all were that have an
 * event. */
static int move_all(uvperf__bpf_outputs_t *outputs, int put,
                    uvperf_error_t *error) {
  bpf_output_t *all = outputs->outputs;
  size_t i, undone;
  int rc = 0;

  for (i = 0; i < outputs->nr && rc == 0; i++)
    rc = put ? uvperf__bpf_output_put(outputs, &all[i], error)
             : uvperf__bpf_output_take(outputs, &all[i], error);
  if (rc == 0) {
    outputs->is_put = put;
    return 0;
  }
  for (undone = 0; undone < i; undone++) {
    if (put)
      uvperf__bpf_output_take(outputs, &all[undone], NULL);
    else
      uvperf__bpf_output_put(outputs, &all[undone], NULL);
  }
  return rc;
}

int uvperf__bpf_outputs_put(uvperf__bpf_outputs_t *outputs,
                            uvperf_error_t *error) {
  int rc = uvperf__bpf_outputs_check(outputs, error);

  if (rc != 0 || outputs->is_put)
    return rc;
  return move_all(outputs, 1, error);
}

int uvperf__bpf_outputs_take(uvperf__bpf_outputs_t *outputs,
                             uvperf_error_t *error) {
  int rc = uvperf__bpf_outputs_check(outputs, error);

  if (rc != 0 || !outputs->is_put)
    return rc;
  return move_all(outputs, 0, error);
}

int uvperf__bpf_outputs_are_put(const uvperf__bpf_outputs_t *outputs) {
  return outputs->is_put;
}

/* By hand only where closing the map does not do it: what is under a key by now
 * may be somebody else's. */
void uvperf__bpf_outputs_leave_map(uvperf__bpf_outputs_t *outputs) {
  size_t i;

  if (uvperf__bpf_outputs_check(outputs, NULL) == 0 &&
      !uvperf__bpf_map_clears(&outputs->map))
    for (i = 0; i < outputs->nr; i++)
      uvperf__bpf_output_take(outputs, &outputs->outputs[i], NULL);
  for (i = 0; i < outputs->nr; i++)
    outputs->outputs[i].is_put = 0;
  outputs->is_put = 0;
  uvperf__bpf_map_close(&outputs->map);
}
