/* SPDX-License-Identifier: MIT */
/* The worker's answer to: which functions are at these bytes of an ELF file?
 * The request has the file as an fd, a second fd if perf has a copy with more
 * symbols, and
 *
 *   number  key of the object: the worker keeps files of several keys open
 *   number  1: find inlined functions
 *   text    path of the file, beside which a debug file may be
 *   text    where else debug files are: "" for the usual places
 *   bytes   the build id that the file must have; empty: any
 *   bytes   offsets, 64 bits each
 *
 * answer.h describes the response. */
#ifndef SYMBOLS_NAMES_H
#define SYMBOLS_NAMES_H

#include "profile/symbols/wire.h"

void symbols_names_answer(symbols_message_t *request,
                          symbols_message_t *response);

#endif
