/* SPDX-License-Identifier: MIT */
/* Records of a file, in place of live ones. */
#ifndef TRACE_INPUT_H
#define TRACE_INPUT_H

#include "trace/hits.h"
#include "trace/notes.h"

/* Reads options.input to its end: 0, or an exit status after a message. */
int trace_input_run(trace_hits_t *hits, trace_sums_t *sums);

#endif
