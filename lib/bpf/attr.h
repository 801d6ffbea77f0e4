/* SPDX-License-Identifier: MIT */
/* The evlist of a reader, from the reader's options. */
#ifndef UVPERF_LIB_BPF_ATTR_H
#define UVPERF_LIB_BPF_ATTR_H

#include "uvperf/bpf.h"

#include "evlist/evlist.h"

/* Checks the options. Takes the map over: its fd becomes -1, unless the call
 * fails before that. Makes a list without events. `adding` will open them: see
 * uvperf__evlist_new_adding. Returns 0, or a code and the error, as
 * uvperf_bpf_reader_init does. */
int uvperf__bpf_evlist_new(uvperf__evlist_t **evlist, uvperf__bpf_map_t *map,
                           const uvperf_bpf_reader_options_t *options,
                           uvperf__adding_t *adding, uvperf_error_t *error);

#endif
