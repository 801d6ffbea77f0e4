/* SPDX-License-Identifier: MIT */
#include "common/lost.h"

#include <inttypes.h>
#include <unistd.h>

#include "common/output.h"
#include "common/say.h"

void common_lost_note(uint64_t lost, uint64_t *reported) {
  if (lost == *reported || !common_output_is_ready(STDERR_FILENO))
    return;
  common_say("%" PRIu64 " records were lost, %" PRIu64 " in all\n",
             lost - *reported, lost);
  *reported = lost;
}
