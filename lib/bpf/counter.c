/* SPDX-License-Identifier: MIT */
/* Reads one number of a BPF map of any type. A map with a value for each CPU
 * returns the values of all possible CPUs at once. */
#include "bpf/counter.h"

#include <errno.h>
#include <string.h>

#include "explain/explain.h"
#include "host/system.h"
#include "sys/bpf.h"
#include "sys/sys.h"
#include "util/alloc.h"
#include "util/bytes.h"
#include "util/error.h"

/* enum bpf_map_type in <linux/bpf.h>: maps with a value for each CPU. */
#define PERCPU_HASH           5
#define PERCPU_ARRAY          6
#define LRU_PERCPU_HASH       10
#define PERCPU_CGROUP_STORAGE 21

static const char what[] = "cannot use the map of options.lost";

/* Returns how many values a look-up returns, or -errno. */
static int count_values(uint32_t type, size_t *nr) {
  int rc;

  *nr = 0;
  if (type != PERCPU_HASH && type != PERCPU_ARRAY && type != LRU_PERCPU_HASH &&
      type != PERCPU_CGROUP_STORAGE) {
    *nr = 1;
    return 0;
  }
  rc = uvperf__system_cpus("possible", NULL, nr);
  return rc == -ENOBUFS ? 0 : rc;
}

/* A program or a link has other fields in the place of a map's sizes. Without a
 * key, the look-up fails for another reason than these, in map_lookup_elem of
 * kernel/bpf/syscall.c. */
static int is_readable_map(int fd) {
  int rc = uvperf__sys_bpf_lookup(fd, NULL, NULL);

  return rc != -EINVAL && rc != -EPERM && rc != -EOPNOTSUPP;
}

int uvperf__bpf_counter_open(uvperf__bpf_counter_t *counter,
                             const uvperf_bpf_counter_t *lost,
                             uvperf_error_t *error) {
  uvperf__bpf_map_info_t info;
  int rc = uvperf__sys_bpf_info(lost->map_fd, &info);

  memset(counter, 0, sizeof(*counter));
  counter->fd = -1;
  if (rc == 0 && !is_readable_map(lost->map_fd))
    return uvperf__error_argument(
        error,
        "options.lost.map_fd %d is no map that bpf(2) "
        "can read",
        lost->map_fd);
  if (rc == 0)
    rc = count_values(info.type, &counter->nr_values);
  if (rc != 0)
    return uvperf__explain_bpf(error, rc == -EBADFD ? -EBADF : rc, what);
  if (lost->offset > info.value_size ||
      info.value_size - lost->offset < sizeof(uint64_t))
    return uvperf__error_argument(error,
                                  "options.lost has offset %u, but the values "
                                  "of this map have %u bytes, and a counter "
                                  "has 8",
                                  lost->offset, info.value_size);
  counter->offset = lost->offset;
  counter->value_bytes = ((size_t)info.value_size + 7) & ~(size_t)7;
  counter->key = uvperf__calloc(1, (size_t)info.key_size + 1);
  counter->values = uvperf__calloc(counter->nr_values, counter->value_bytes);
  if (counter->key == NULL || counter->values == NULL)
    return uvperf__error_shortage(error, -ENOMEM, what);
  if (lost->key != NULL)
    memcpy(counter->key, lost->key, info.key_size);
  counter->fd = uvperf__sys_dup(lost->map_fd);
  return counter->fd >= 0 ? 0 : uvperf__explain_bpf(error, counter->fd, what);
}

/* A hash without the key has counted nothing yet. */
int uvperf__bpf_counter_read(const uvperf__bpf_counter_t *counter,
                             uint64_t *lost) {
  size_t i;
  int rc = uvperf__sys_bpf_lookup(counter->fd, counter->key, counter->values);

  *lost = 0;
  for (i = 0; rc == 0 && i < counter->nr_values; i++)
    *lost += uvperf__u64(counter->values + i * counter->value_bytes +
                         counter->offset);
  return rc == -ENOENT ? 0 : rc;
}

void uvperf__bpf_counter_close(uvperf__bpf_counter_t *counter) {
  if (counter->fd >= 0)
    uvperf__sys_close(counter->fd);
  uvperf__free(counter->key);
  uvperf__free(counter->values);
  memset(counter, 0, sizeof(*counter));
  counter->fd = -1;
}
