/* SPDX-License-Identifier: MIT */
/* Messages between the program and its worker: a type, a body of numbers and
 * bytes, and fds. Each side checks its input, because a hostile file may
 * have taken over the worker.
 *
 * To add a request:
 *   1. here: a SYMBOLS_REQUEST_…, with what its body and its response have;
 *   2. serve.c: its function in a table of handlers; it reads the request's
 *      body and writes the body of the response;
 *   3. the program's side: a job (jobs.h) whose function runs on libuv's pool,
 *      fills a message and calls symbols_worker_ask (worker.h). */
#ifndef SYMBOLS_WIRE_H
#define SYMBOLS_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "common/buffer.h"

#define SYMBOLS_WIRE_FDS 64
/* The longest body. */
#define SYMBOLS_WIRE_BYTES ((size_t)64 << 20)

enum {
  SYMBOLS_REQUEST_NAMES = 1, /* names.h */
  SYMBOLS_REQUEST_JIT,       /* perf_map.h */
  /* unwind_queue.c. The mappings of a process: key, version, machine, the
   * number of mappings, then for each mapping start, end, pgoff, and the number
   * of its file. The response has the numbers of unknown files. If there are
   * unknown files, the request has no effect. */
  SYMBOLS_REQUEST_UNWIND_MAP,
  /* Files: machine, how many files, then for each file its number, whether the
   * next fd is for it, and the build id that it must have. The response is
   * empty. */
  SYMBOLS_REQUEST_UNWIND_FILES,
  /* Samples: key, version, how many samples, then for each sample abi, mask,
   * the registers, and the stack. For each sample the response has an
   * unwind_end_t, ips, and bytes of is_return (unwind.h). The response is empty
   * if the version of the mappings is not known. */
  SYMBOLS_REQUEST_UNWIND,
  SYMBOLS_NR_REQUESTS
};

typedef struct symbols_message_s {
  uint32_t type; /* a response has the type of its request */
  common_buffer_t body;
  size_t read;    /* bytes of the body read by symbols_get_… */
  int is_damaged; /* a read went past the end */
  size_t nr_fds;  /* the receiver owns them */
  int fds[SYMBOLS_WIRE_FDS];
} symbols_message_t;

/* Makes a message empty; keeps the memory of its body. */
void symbols_message_begin(symbols_message_t *message, uint32_t type);
void symbols_message_free(symbols_message_t *message);

void symbols_put_number(symbols_message_t *message, uint64_t number);
/* Puts a length and the bytes. */
void symbols_put_bytes(symbols_message_t *message, const void *bytes,
                       size_t size);
void symbols_put_text(symbols_message_t *message, const char *text);

/* Returns 0 and sets is_damaged if the message is too short. */
uint64_t symbols_get_number(symbols_message_t *message);
/* Returns a pointer into the body to *size bytes. */
const void *symbols_get_bytes(symbols_message_t *message, size_t *size);
/* Does the same for a text, which ends with a NUL. Returns "" if the text is
 * damaged. */
const char *symbols_get_text(symbols_message_t *message);
/* Removes an fd from the message and returns it, or -1 if there are no more
 * fds. */
int symbols_get_fd(symbols_message_t *message);

/* Called for each wait for the socket: it waits for these events of poll(2). If
 * this function returns an error, the error ends the transfer. */
typedef int (*symbols_wire_wait_cb)(void *arg, int socket, short events);

/* These send or receive a message. They return 0, -ECONNRESET if the other side
 * has ended, -EPROTO if the data are not a message, another -errno, or the
 * value that `wait` returned. The socket must not block. The caller still owns
 * fds that are sent. */
int symbols_wire_send(int socket, symbols_message_t *message,
                      symbols_wire_wait_cb wait, void *arg);
int symbols_wire_receive(int socket, symbols_message_t *message,
                         symbols_wire_wait_cb wait, void *arg);

#endif
