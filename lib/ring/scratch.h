/* SPDX-License-Identifier: MIT */
/* The buffers into which records that wrap are copied. The handles of a loop
 * share them. Most often one buffer is enough, because only one handle delivers
 * at a time. But a callback can flush another handle while its own record is
 * still in use, and the user can keep a record of uvperf_next. So each delivery
 * takes a buffer of its own, and gives it back. */
#ifndef UVPERF_LIB_RING_SCRATCH_H
#define UVPERF_LIB_RING_SCRATCH_H

/* The buffers that are not in use. All zeros: none was made yet. */
typedef struct uvperf__scratch_s {
  struct uvperf__buffer_s *unused;
} uvperf__scratch_t;

/* Takes a buffer of UVPERF__RING_SCRATCH_BYTES. Returns NULL if out of memory,
 * which cannot happen right after uvperf__scratch_reserve. */
void *uvperf__scratch_take(uvperf__scratch_t *scratch);

/* Gives a buffer back. It is kept: a program that delivers records inside a
 * callback once will do so again. */
void uvperf__scratch_give_back(uvperf__scratch_t *scratch, void *buffer);

/* Makes a buffer if all are in use. Returns 0 or -ENOMEM. */
int uvperf__scratch_reserve(uvperf__scratch_t *scratch);

/* Frees the buffers that are not in use. */
void uvperf__scratch_free(uvperf__scratch_t *scratch);

#endif
