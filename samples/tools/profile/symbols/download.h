/* SPDX-License-Identifier: MIT */
/* Downloads debug files in a worker of its own: it may use the network, and
 * reads no files of others. libdebuginfod is loaded if it is installed. The
 * request has
 *
 *   bytes   the build id
 *
 * and the response has
 *
 *   text    why there is no file; "" if there is one
 *
 * and the file as an fd. */
#ifndef SYMBOLS_DOWNLOAD_H
#define SYMBOLS_DOWNLOAD_H

#include "profile/symbols/wire.h"

/* Prepares where downloads are kept. Call it before the worker drops its
 * rights. `user` will own them. */
void symbols_download_begin(unsigned user);

void symbols_download_answer(symbols_message_t *request,
                             symbols_message_t *response);

#endif
