/* SPDX-License-Identifier: MIT */
/* Names of C++, Rust and D functions as in their sources, like perf report:
 * without parameters and without a hash. */
#ifndef SYMBOLS_DEMANGLE_H
#define SYMBOLS_DEMANGLE_H

#include <stddef.h>

/* Writes the name in its readable form, cut to fit. If the name is not mangled,
 * writes it unchanged. Call it only in the worker, because a hostile name may
 * take long or crash it. */
void symbols_demangle(char *text, size_t size, const char *name);

#endif
