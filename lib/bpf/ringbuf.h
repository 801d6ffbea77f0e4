/* SPDX-License-Identifier: MIT */
/* The reader of a BPF ring buffer (BPF_MAP_TYPE_RINGBUF): uvperf_bpf_reader_t
 * for another type of map. */
#ifndef UVPERF_LIB_BPF_RINGBUF_H
#define UVPERF_LIB_BPF_RINGBUF_H

#include "uvperf/bpf.h"

#include "ring/bpf_map.h"

/* Does what uvperf_bpf_reader_init does, for a map that is a ring buffer. The
 * options are a full copy. On success the handle owns the map's fd, and
 * map->fd is -1. */
int uvperf__ringbuf_init(uv_loop_t *loop, uvperf_bpf_reader_t *reader,
                         uvperf__bpf_map_t *map,
                         const uvperf_bpf_reader_options_t *options,
                         uvperf_error_t *error);

/* Whether the reader was made by uvperf__ringbuf_init. */
int uvperf__ringbuf_is(const uvperf_bpf_reader_t *reader);

#endif
