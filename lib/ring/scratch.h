/* SPDX-License-Identifier: MIT */
/* The memory into which records that wrap are copied. Only one handle of a loop
 * delivers at a time, so the handles of a loop share this memory. There is one
 * exception: a callback can flush another handle while its own record is still
 * in use. So a delivery inside another delivery gets a buffer of its own. */
#ifndef UVPERF_LIB_RING_SCRATCH_H
#define UVPERF_LIB_RING_SCRATCH_H

typedef struct uvperf__scratch_s uvperf__scratch_t;

/* Makes a scratch with one user. Returns NULL if out of memory. */
uvperf__scratch_t *uvperf__scratch_new(void);

/* Adds a user, which must call uvperf__scratch_free too. Returns the
 * scratch. */
uvperf__scratch_t *uvperf__scratch_share(uvperf__scratch_t *scratch);

/* Removes a user. The last user frees the scratch. NULL is allowed. */
void uvperf__scratch_free(uvperf__scratch_t *scratch);

/* Begins a delivery and returns its buffer of UVPERF__RING_SCRATCH_BYTES, which
 * is valid until uvperf__scratch_leave. Returns NULL if out of memory. This can
 * happen only inside another delivery, and not after
 * uvperf__scratch_reserve. */
void *uvperf__scratch_enter(uvperf__scratch_t *scratch);
void uvperf__scratch_leave(uvperf__scratch_t *scratch);

/* Makes sure that the next uvperf__scratch_enter does not fail. Returns 0 or
 * -ENOMEM. */
int uvperf__scratch_reserve(uvperf__scratch_t *scratch);

#endif
