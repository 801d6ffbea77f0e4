/* SPDX-License-Identifier: MIT */
/* The worker's answers about stacks: see SYMBOLS_REQUEST_UNWIND_... in
 * wire.h. */
#ifndef SYMBOLS_UNWIND_SERVE_H
#define SYMBOLS_UNWIND_SERVE_H

#include "profile/symbols/wire.h"

void symbols_serve_unwind_map(symbols_message_t *request,
                              symbols_message_t *response);
void symbols_serve_unwind_files(symbols_message_t *request,
                                symbols_message_t *response);
void symbols_serve_unwind(symbols_message_t *request,
                          symbols_message_t *response);

#endif
