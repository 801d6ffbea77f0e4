/* SPDX-License-Identifier: MIT */
/* Makes the events by which BPF programs write, with their map, rings and
 * decoder, and frees them. */
#include "bpf/outputs.h"

#include <errno.h>
#include <string.h>

#include "bpf/outputs_impl.h"
#include "sys/fork.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/file.h"

int uvperf__bpf_outputs_check(const uvperf__bpf_outputs_t *outputs,
                              uvperf_error_t *error) {
  if (uvperf__process() == outputs->process)
    return 0;
  return uvperf__error_set(error, -EPERM, UVPERF_CAUSE_ARGUMENT,
                           "the events belong to the parent process");
}

static int no_memory(uvperf_error_t *error) {
  return uvperf__error_set(error, -ENOMEM, UVPERF_CAUSE_MEMORY,
                           "no memory for the reader of a map");
}

/* -- new ------------------------------------------------------------------ */

static int copy_cpus(uvperf__bpf_outputs_t *outputs, const char *cpus,
                     uvperf_error_t *error) {
  size_t size;

  if (cpus == NULL)
    return 0;
  size = strlen(cpus) + 1;
  outputs->cpus = uvperf__calloc(1, size);
  if (outputs->cpus == NULL)
    return no_memory(error);
  memcpy(outputs->cpus, cpus, size);
  return 0;
}

static int make_rings(uvperf__bpf_outputs_t *outputs,
                      const uvperf__bpf_outputs_options_t *options,
                      uvperf_error_t *error) {
  uvperf__cpu_rings_options_t rings;
  int rc =
      uvperf__bpf_outputs_shape_rings(&rings, options, outputs->attr, error);

  if (rc == 0 && uvperf__cpu_rings_new(&outputs->rings, &rings) != 0)
    rc = no_memory(error);
  return rc;
}

static int make_decoder(uvperf__bpf_outputs_t *outputs, uvperf_error_t *error) {
  const uvperf_source_t *source = &outputs->source;
  int rc;

  outputs->source.size = sizeof(outputs->source);
  outputs->source.attr = outputs->attr;
  outputs->source.pid = -1;
  outputs->source.cpu = -1;
  rc = uvperf_decoder_new(&outputs->decoder, &source, 1);
  if (rc == 0)
    return 0;
  if (rc == -ENOMEM)
    return no_memory(error);
  return uvperf__error_set(error, rc, UVPERF_CAUSE_ARGUMENT,
                           "records of this attr cannot be decoded");
}

/* What needs no kernel comes first. */
static int make(uvperf__bpf_outputs_t *outputs,
                const uvperf__bpf_outputs_options_t *options,
                uvperf_error_t *error) {
  int rc = uvperf__bpf_outputs_shape(&outputs->attr, options, error);

  if (rc == 0)
    rc = make_rings(outputs, options, error);
  if (rc == 0)
    rc = make_decoder(outputs, error);
  if (rc == 0)
    rc = copy_cpus(outputs, options->cpus, error);
  if (rc == 0)
    rc = uvperf__bpf_map_open(&outputs->map, options->root, options->map_fd,
                              options->path, error);
  if (rc == 0)
    rc = uvperf__bpf_outputs_plan(outputs, error);
  if (rc == 0)
    rc = uvperf__bpf_outputs_open(outputs, error);
  return rc;
}

/* One fd more would not help: what all of it needs is told, when all is closed
 * again. */
static void explain_fds(size_t nr, uvperf_error_t *error) {
  uvperf__fd_limits_t fds;
  uint64_t needed;

  if (error == NULL || error->code != -EMFILE || nr == 0)
    return;
  needed = uvperf__fds_needed(2 * (uint64_t)nr + 1);
  uvperf__fd_limits(&fds);
  uvperf__error_set(
      error, -EMFILE, UVPERF_CAUSE_FILES,
      "%zu CPUs take as many events and rings, and the map one fd "
      "more: that needs RLIMIT_NOFILE %llu, and it is %llu (hard "
      "limit %llu): raise it by setrlimit(2) or ulimit -n",
      nr, (unsigned long long)needed, (unsigned long long)fds.soft,
      (unsigned long long)fds.hard);
  error->limit = fds.soft;
  error->needed = needed;
}

int uvperf__bpf_outputs_new(uvperf__bpf_outputs_t **outputs,
                            const uvperf__bpf_outputs_options_t *options,
                            uvperf_error_t *error) {
  uvperf__bpf_outputs_t *made = uvperf__calloc(1, sizeof(*made));
  size_t nr;
  int rc;

  *outputs = NULL;
  if (made == NULL)
    return no_memory(error);
  made->root = options->root;
  made->process = uvperf__process();
  made->is_fixed = options->is_fixed;
  made->map.fd = -1;
  rc = make(made, options, error);
  if (rc == 0) {
    *outputs = made;
    return 0;
  }
  nr = uvperf__bpf_outputs_nr_to_open(made);
  uvperf__bpf_outputs_free(made);
  explain_fds(nr, error);
  return rc;
}

/* -- free ----------------------------------------------------------------- */

/* Disabled before they are closed, as others may have the files: a child that
 * was forked and runs no other program. */
void uvperf__bpf_outputs_free(uvperf__bpf_outputs_t *outputs) {
  size_t i;

  if (outputs == NULL)
    return;
  uvperf__bpf_outputs_leave_map(outputs);
  uvperf__bpf_outputs_disable(outputs);
  for (i = 0; i < outputs->nr; i++)
    uvperf__bpf_output_close(&outputs->outputs[i]);
  uvperf__free(outputs->outputs);
  uvperf_decoder_free(outputs->decoder);
  uvperf__cpu_rings_free(outputs->rings);
  uvperf__free(outputs->attr);
  uvperf__free(outputs->cpus);
  uvperf__free(outputs);
}

/* -- lost samples --------------------------------------------------------- */

void uvperf__bpf_outputs_count_lost(uvperf__bpf_outputs_t *outputs) {
  size_t i;

  for (i = 0; i < outputs->nr; i++)
    uvperf__bpf_output_count_lost(outputs, &outputs->outputs[i]);
}

/* -- getters -------------------------------------------------------------- */

uvperf__cpu_rings_t *
uvperf__bpf_outputs_rings(const uvperf__bpf_outputs_t *outputs) {
  return outputs->rings;
}

uvperf_decoder_t *
uvperf__bpf_outputs_decoder(const uvperf__bpf_outputs_t *outputs) {
  return outputs->decoder;
}

const struct perf_event_attr *
uvperf__bpf_outputs_attr(const uvperf__bpf_outputs_t *outputs) {
  return outputs->attr;
}
