/* SPDX-License-Identifier: MIT */
/* Messages between the program and its worker: a type, a body of numbers and
 * bytes, and fds. Each side checks its input, because a hostile file may
 * have taken over the worker.
 *
 * To add a request:
 *   1. here: a SYMBOLS_REQUEST_…, with what its body and its response have;
 *   2. serve.c: its function in the table `handlers`; it reads the request's
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
  /* unwind_queue.c. Mappings of a process: key, version, machine, how many, and
   * of each start, end, pgoff, number of its file; the numbers of files that
   * are not known come back, and if there are any, the request counts for
   * nothing. */
  SYMBOLS_REQUEST_UNWIND_MAP,
  /* Files: machine, how many, and of each its number, whether the next fd is
   * its, and the build id that it must have. Nothing comes back. */
  SYMBOLS_REQUEST_UNWIND_FILES,
  /* Samples: key, version, how many, and of each abi, mask, the registers, the
   * stack. Of each an unwind_end_t, ips, and bytes of is_return (unwind.h) come
   * back; nothing if the version of the mappings is not known. */
  SYMBOLS_REQUEST_UNWIND,
  SYMBOLS_NR_REQUESTS
};

typedef struct symbols_message_s {
  uint32_t type; /* a response has the type of its request */
  common_buffer_t body;
  size_t read;    /* how much of the body was read by symbols_get_… */
  int is_damaged; /* more was asked for than there is */
  size_t nr_fds;  /* the receiver owns them */
  int fds[SYMBOLS_WIRE_FDS];
} symbols_message_t;

/* An empty message; the memory of its body is kept. */
void symbols_message_begin(symbols_message_t *message, uint32_t type);
void symbols_message_free(symbols_message_t *message);

void symbols_put_number(symbols_message_t *message, uint64_t number);
/* A length and the bytes. */
void symbols_put_bytes(symbols_message_t *message, const void *bytes,
                       size_t size);
void symbols_put_text(symbols_message_t *message, const char *text);

/* 0, and is_damaged, if the message is too short. */
uint64_t symbols_get_number(symbols_message_t *message);
/* Points into the body; *size of them. */
const void *symbols_get_bytes(symbols_message_t *message, size_t *size);
/* The same for a text, which has a NUL at its end. "" if it is damaged. */
const char *symbols_get_text(symbols_message_t *message);
/* Takes an fd out of the message: -1 without one. */
int symbols_get_fd(symbols_message_t *message);

/* Called before each wait for the socket: waits for these events of poll(2).
 * Not 0 ends the transfer with this error. */
typedef int (*symbols_wire_wait_cb)(void *arg, int socket, short events);

/* Sends a message, or receives one: 0; -ECONNRESET if the other side has ended;
 * -EPROTO if that is no message; another -errno; or what `wait` returned. The
 * socket does not block. Fds to send stay the caller's. */
int symbols_wire_send(int socket, symbols_message_t *message,
                      symbols_wire_wait_cb wait, void *arg);
int symbols_wire_receive(int socket, symbols_message_t *message,
                         symbols_wire_wait_cb wait, void *arg);

#endif
