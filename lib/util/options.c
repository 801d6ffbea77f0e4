/* SPDX-License-Identifier: MIT */
/* Reads option structs of older and newer callers, as the kernel does with
 * struct perf_event_attr: copy_struct_from_user() in include/linux. */
#include "util/options.h"

#include <errno.h>
#include <string.h>

#include "util/bytes.h"

/* If the size is larger, the struct was probably never initialized. The kernel
 * also reads no more than a page (perf_copy_attr and similar functions). */
#define MOST_BYTES 4096

int uvperf__options_copy(void *own, size_t own_size, size_t least,
                         const void *options) {
  size_t size;

  if (options == NULL)
    return 0;
  memcpy(&size, options, sizeof(size));
  if (size < least)
    return -EINVAL;
  if (size > MOST_BYTES)
    return -E2BIG;
  if (size > own_size &&
      !uvperf__is_zero((const char *)options + own_size, size - own_size))
    return -E2BIG;
  memcpy(own, options, size < own_size ? size : own_size);
  return 0;
}
