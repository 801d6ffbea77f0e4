/* SPDX-License-Identifier: MIT */
#include "common/lost.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "common/output.h"

void common_lost_note(uint64_t lost, uint64_t *told) {
  if (lost == *told || !common_output_is_ready(STDERR_FILENO))
    return;
  fprintf(stderr, "%s: %" PRIu64 " records were lost, %" PRIu64 " in all\n",
          program_invocation_short_name, lost - *told, lost);
  *told = lost;
}
