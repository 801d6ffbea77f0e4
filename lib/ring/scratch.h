/* SPDX-License-Identifier: MIT */
/* Where records that wrap are put together, shared by all who deliver
 * on one loop, since they do so one at a time. Not quite: a callback can have
 * another handle deliver while its own record is still in use. So each delivery
 * inside of a delivery has a room of its own. */
#ifndef UVPERF_LIB_RING_SCRATCH_H
#define UVPERF_LIB_RING_SCRATCH_H

typedef struct uvperf__scratch_s uvperf__scratch_t;

/* A scratch for one user; or NULL, out of memory. */
uvperf__scratch_t *uvperf__scratch_new(void);

/* One user more, who will call uvperf__scratch_free too. Gives the scratch. */
uvperf__scratch_t *uvperf__scratch_share(uvperf__scratch_t *scratch);

/* Frees it with its last user. NULL is allowed. */
void uvperf__scratch_free(uvperf__scratch_t *scratch);

/* The room of a delivery that begins now, UVPERF__RING_SCRATCH_BYTES, until it
 * calls uvperf__scratch_leave. NULL where memory ran out: never outside of
 * another delivery, nor after uvperf__scratch_reserve. */
void *uvperf__scratch_enter(uvperf__scratch_t *scratch);
void uvperf__scratch_leave(uvperf__scratch_t *scratch);

/* Sees to it that the next uvperf__scratch_enter gives a room: 0 or -ENOMEM. */
int uvperf__scratch_reserve(uvperf__scratch_t *scratch);

#endif
