/* SPDX-License-Identifier: MIT */
/* The worker's answer to: which functions of a JIT compiler are at these
 * addresses? The request has the compiler's file, /tmp/perf-PID.map, as an fd,
 * and
 *
 *   number  1: the compiler has ended, so the file is complete
 *   bytes   addresses, 64 bits each
 *
 * answer.h describes the response. The offset of an address is the address
 * itself. */
#ifndef SYMBOLS_PERF_MAP_H
#define SYMBOLS_PERF_MAP_H

#include "profile/symbols/wire.h"

void symbols_perf_map_answer(symbols_message_t *request,
                             symbols_message_t *response);

#endif
