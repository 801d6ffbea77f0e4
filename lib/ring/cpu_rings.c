/* SPDX-License-Identifier: MIT */
/* Opens a dummy event for each ring and maps the ring with it. Chooses the size
 * and the watermark, and opens a spare when the dummy hangs up. */
#include "ring/cpu_rings.h"

#include <errno.h>
#include <sys/ioctl.h>

#include "attr/attr.h"
#include "explain/explain.h"
#include "ring/bpf_ring.h"
#include "sys/fork.h"
#include "sys/sys.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/grow.h"

struct uvperf__cpu_rings_s {
  uvperf__cpu_rings_options_t options;
  uint32_t process; /* the one that opened them */
  size_t try_bytes; /* tried first for the next ring */
  int has_no_lock;  /* no size of the last ring could be locked */
  uvperf__cpu_ring_t **rings;
  size_t nr;
  size_t room;
};

/* -- sizes ---------------------------------------------------------------- */

/* Returns the size that is tried first, or 0 if there is no such size. */
static size_t first_bytes(const uvperf__cpu_rings_options_t *options) {
  return uvperf__ring_round(options->ring_bytes != 0
                                ? options->ring_bytes
                                : UVPERF__RING_DEFAULT_BYTES);
}

/* Whether a ring is large enough for the requested watermark. With a watermark
 * near its size, a ring would drop records before the wakeup. */
static int has_room(const uvperf__cpu_rings_options_t *options, size_t bytes) {
  return options->wakeup_bytes <= bytes / 2;
}

static int is_above(const uvperf__cpu_rings_options_t *options, size_t bytes) {
  return options->above_bytes == 0 || bytes > options->above_bytes;
}

int uvperf__cpu_rings_fit(const uvperf__cpu_rings_options_t *options) {
  return is_above(options, first_bytes(options));
}

int uvperf__cpu_rings_check(const uvperf__cpu_rings_options_t *options,
                            uvperf_error_t *error) {
  size_t bytes = first_bytes(options);

  if (bytes == 0)
    return uvperf__error_set(error, -EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "options.ring_bytes %zu is too large; lower it",
                             options->ring_bytes);
  if (!has_room(options, bytes))
    return uvperf__error_set(
        error, -EINVAL, UVPERF_CAUSE_ARGUMENT,
        "options.wakeup_bytes %u is more than half of the ring's %zu bytes, so "
        "the ring could fill before the wakeup; lower it",
        options->wakeup_bytes, bytes);
  return 0;
}

/* -- one ring ------------------------------------------------------------- */

/* The watermark of a ring is the watermark of the event that is used to map it:
 * ring_buffer_init() in kernel/events/ring_buffer.c. There it is a signed long,
 * and at most the ring's size. So even an overwritable ring, which wakes no
 * reader, causes one interrupt each time it is filled. */
static uint32_t watermark_of(const uvperf__cpu_rings_options_t *options,
                             size_t bytes) {
  size_t quarter = bytes / 4;

  if (options->overwrite)
    return INT32_MAX;
  if (options->wakeup_bytes != 0)
    return options->wakeup_bytes;
  return quarter < UINT32_MAX ? (uint32_t)quarter : UINT32_MAX;
}

static void shape_owner(const uvperf__cpu_rings_options_t *options,
                        size_t bytes, struct perf_event_attr *attr) {
  uvperf_attr_init(attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
  attr->disabled = 1;
  attr->exclude_kernel = 1;
  attr->exclude_hv = 1;
  attr->write_backward = options->overwrite != 0;
  attr->watermark = 1;
  attr->wakeup_watermark = watermark_of(options, bytes);
  uvperf__attr_set_clock(attr, options->clockid);
}

/* Opens a dummy of the first thread. If the first thread has ended, opens a
 * dummy of the calling thread: the first is still in the thread group then, but
 * find_get_context() in kernel/events/core.c returns -ESRCH for it. */
static int open_dummy(const uvperf__opener_t *opener,
                      struct perf_event_attr *attr, int cpu) {
  int fd = uvperf__open(opener, attr, uvperf__sys_getpid(), cpu, -1,
                        PERF_FLAG_FD_CLOEXEC);

  return fd == -ESRCH
             ? uvperf__open(opener, attr, 0, cpu, -1, PERF_FLAG_FD_CLOEXEC)
             : fd;
}

static int open_owner(const uvperf__cpu_rings_options_t *options,
                      uvperf__cpu_ring_t *ring, struct perf_event_attr *attr,
                      uvperf_error_t *error) {
  uvperf__open_call_t call = {
      .error = error,
      .attr = attr,
      .asked_size = attr->size,
      .cpu = ring->cpu,
      .cgroup = -1,
      .is_by_program = options->opener.open != NULL,
  };

  ring->fd = open_dummy(&options->opener, attr, ring->cpu);
  if (ring->fd >= 0)
    return 0;
  call.code = ring->fd;
  return uvperf__explain_open(&call);
}

static int can_be_halved(const uvperf__cpu_rings_options_t *options,
                         size_t bytes) {
  return options->ring_bytes == 0 && bytes / 2 >= uvperf__ring_round(1) &&
         has_room(options, bytes / 2) && is_above(options, bytes / 2);
}

/* perf_mmap returns EPERM above perf_event_mlock_kb. A smaller ring gets a new
 * owner, because the owner's watermark is a quarter of the ring. So this does
 * not use uvperf__ring_map_default, which keeps the event. */
static int open_ring(const uvperf__cpu_rings_options_t *options, size_t bytes,
                     uvperf__cpu_ring_t *ring, uvperf_error_t *error) {
  struct perf_event_attr attr;
  int rc;

  for (;;) {
    shape_owner(options, bytes, &attr);
    rc = open_owner(options, ring, &attr, error);
    if (rc != 0)
      return rc;
    rc = uvperf__ring_map(&ring->ring, ring->fd, bytes, options->overwrite);
    if (rc == 0)
      return 0;
    uvperf__sys_close(ring->fd);
    if (rc != -EPERM || !can_be_halved(options, bytes))
      return uvperf__explain_map(error, rc, &attr, ring->cpu, bytes);
    bytes /= 2;
  }
}

static void close_spare(int fd) {
  if (fd >= 0)
    uvperf__sys_close(fd);
}

static void give_up(uvperf__cpu_ring_t *ring, int is_forked,
                    uvperf__leftovers_t *leftovers) {
  if (!is_forked || ring->ring.is_bpf)
    uvperf__ring_give_up(&ring->ring, leftovers);
  uvperf__leftovers_add(leftovers, NULL, 0, ring->spare);
  uvperf__leftovers_add(leftovers, NULL, 0, ring->old_spare);
  uvperf__leftovers_add(leftovers, NULL, 0, ring->fd);
  ring->spare = ring->old_spare = ring->fd = -1;
}

static void close_ring(uvperf__cpu_ring_t *ring, int is_forked) {
  give_up(ring, is_forked, NULL);
  uvperf__free(ring);
}

/* -- all of them ---------------------------------------------------------- */

int uvperf__cpu_rings_new(uvperf__cpu_rings_t **rings,
                          const uvperf__cpu_rings_options_t *options) {
  *rings = uvperf__calloc(1, sizeof(**rings));
  if (*rings == NULL)
    return -ENOMEM;
  (*rings)->options = *options;
  (*rings)->process = uvperf__process();
  (*rings)->try_bytes = first_bytes(options);
  return 0;
}

int uvperf__cpu_rings_shrink(uvperf__cpu_rings_t *rings, size_t nr) {
  int can_shrink = rings->has_no_lock && nr > 0 &&
                   can_be_halved(&rings->options, rings->try_bytes);

  rings->has_no_lock = 0;
  rings->try_bytes =
      can_shrink ? rings->try_bytes / 2 : first_bytes(&rings->options);
  return can_shrink;
}

void uvperf__cpu_rings_cut(uvperf__cpu_rings_t *rings, size_t nr) {
  int is_forked = uvperf__process() != rings->process;

  while (rings->nr > nr)
    close_ring(rings->rings[--rings->nr], is_forked);
}

void uvperf__cpu_rings_give_up(uvperf__cpu_rings_t *rings,
                               uvperf__leftovers_t *leftovers) {
  int is_forked = uvperf__process() != rings->process;
  size_t i;

  for (i = 0; i < rings->nr; i++)
    give_up(rings->rings[i], is_forked, leftovers);
}

void uvperf__cpu_rings_free(uvperf__cpu_rings_t *rings) {
  if (rings == NULL)
    return;
  uvperf__cpu_rings_cut(rings, 0);
  uvperf__free(rings->rings);
  uvperf__free(rings);
}

uvperf__cpu_ring_t *uvperf__cpu_rings_find(const uvperf__cpu_rings_t *rings,
                                           int cpu) {
  size_t i;

  for (i = 0; i < rings->nr; i++)
    if (rings->rings[i]->cpu == cpu)
      return rings->rings[i];
  return NULL;
}

static int no_memory(uvperf_error_t *error) {
  return uvperf__error_shortage(error, -ENOMEM, "cannot add a ring");
}

/* Makes a ring that is not open, and room for it. */
static uvperf__cpu_ring_t *cpu_rings_make(uvperf__cpu_rings_t *rings, int cpu) {
  uvperf__cpu_ring_t **grown =
      uvperf__grow(rings->rings, rings->nr, &rings->room, 4, sizeof(*grown));
  uvperf__cpu_ring_t *made;

  if (grown == NULL)
    return NULL;
  rings->rings = grown;
  made = uvperf__calloc(1, sizeof(*made));
  if (made == NULL)
    return NULL;
  made->index = rings->nr;
  made->cpu = cpu;
  made->fd = -1;
  made->spare = -1;
  made->old_spare = -1;
  return made;
}

/* Makes room first, so that nothing can fail once the ring is open. */
static int cpu_rings_add(uvperf__cpu_rings_t *rings, int cpu,
                         uvperf__cpu_ring_t **ring, uvperf_error_t *error) {
  uvperf__cpu_ring_t *made = cpu_rings_make(rings, cpu);
  int rc;

  if (made == NULL)
    return no_memory(error);
  rc = open_ring(&rings->options, rings->try_bytes, made, error);
  /* If the owner was opened, it was the mapping that failed. */
  rings->has_no_lock = rc == -EPERM && made->fd >= 0;
  if (rc != 0) {
    uvperf__free(made);
    return rc;
  }
  rings->rings[rings->nr++] = made;
  *ring = made;
  return 0;
}

int uvperf__cpu_rings_add_map(uvperf__cpu_rings_t *rings, int fd,
                              size_t bytes) {
  uvperf__cpu_ring_t *made = cpu_rings_make(rings, -1);
  int rc;

  if (made == NULL)
    return -ENOMEM;
  rc = uvperf__bpf_ring_map(&made->ring, fd, bytes);
  if (rc != 0) {
    uvperf__free(made);
    return rc;
  }
  made->fd = fd;
  rings->rings[rings->nr++] = made;
  return 0;
}

int uvperf__cpu_rings_get(uvperf__cpu_rings_t *rings, int cpu,
                          uvperf__cpu_ring_t **ring, uvperf_error_t *error) {
  *ring = uvperf__cpu_rings_find(rings, cpu);
  return *ring != NULL ? 0 : cpu_rings_add(rings, cpu, ring, error);
}

size_t uvperf__cpu_rings_nr(const uvperf__cpu_rings_t *rings) {
  return rings->nr;
}

uvperf__cpu_ring_t *uvperf__cpu_rings_at(const uvperf__cpu_rings_t *rings,
                                         size_t index) {
  return rings->rings[index];
}

/* -- one record after the other -------------------------------------------- */

/* The ring *index is read up to its known head. Its head is read again after
 * all other rings. */
int uvperf__cpu_rings_next(uvperf__cpu_rings_t *rings, size_t *index,
                           void *scratch, const void **bytes, size_t *size) {
  uvperf__cpu_ring_t *ring;
  size_t i;
  int rc;

  for (i = 0; i <= rings->nr && rings->nr != 0; i++) {
    ring = rings->rings[*index];
    rc = 0;
    if (i != 0 && ring->status == 0)
      rc = uvperf__ring_begin(&ring->ring);
    if (rc == 0 && ring->status == 0)
      rc = uvperf__ring_next(&ring->ring, scratch, bytes, size);
    if (rc != 0)
      return rc;
    if (ring->status == 0)
      uvperf__ring_end(&ring->ring);
    *index = (*index + 1) % rings->nr;
  }
  return 0;
}

int uvperf__cpu_rings_have_ended(const uvperf__cpu_rings_t *rings) {
  size_t i;

  for (i = 0; i < rings->nr; i++)
    if (rings->rings[i]->status == 0)
      return 0;
  return rings->nr != 0;
}

/* -- spares --------------------------------------------------------------- */

/* Closes the spare before the last spare, because it is not polled any more. */
int uvperf__cpu_rings_spare(uvperf__cpu_rings_t *rings, size_t index) {
  uvperf__cpu_ring_t *ring = rings->rings[index];
  struct perf_event_attr attr;
  int fd, rc;

  if (uvperf__process() != rings->process)
    return -EPERM;
  shape_owner(&rings->options, ring->ring.size, &attr);
  fd = open_dummy(&rings->options.opener, &attr, ring->cpu);
  if (fd < 0)
    return fd;
  rc = uvperf__sys_ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd);
  if (rc < 0) {
    uvperf__sys_close(fd);
    return rc;
  }
  close_spare(ring->old_spare);
  ring->old_spare = ring->spare;
  ring->spare = fd;
  return fd;
}

/* -- events --------------------------------------------------------------- */

int uvperf__cpu_ring_join(uvperf__cpu_ring_t *ring, int fd) {
  int rc = uvperf__sys_ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd);

  if (rc < 0)
    return rc;
  ring->nr_events++;
  return 0;
}

void uvperf__cpu_ring_leave(uvperf__cpu_ring_t *ring) {
  ring->nr_events--;
}

void uvperf__cpu_ring_add_source(uvperf__cpu_ring_t *ring,
                                 const uvperf_source_t *source) {
  ring->nr_sources++;
  ring->sources ^= (uintptr_t)source;
}

void uvperf__cpu_ring_remove_source(uvperf__cpu_ring_t *ring,
                                    const uvperf_source_t *source) {
  ring->nr_sources--;
  ring->sources ^= (uintptr_t)source;
}

const uvperf_source_t *uvperf__cpu_ring_alone(const uvperf__cpu_ring_t *ring) {
  return ring->nr_sources == 1 ? (const uvperf_source_t *)ring->sources : NULL;
}
