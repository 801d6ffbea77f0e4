/* SPDX-License-Identifier: MIT */
#include "fake_uevents.h"

#include "support.h"

#include <sys/socket.h>
#include <unistd.h>

#include "sys/sys.h"

/* The first byte of a message says who has sent it. */
#define FROM_KERNEL  'k'
#define FROM_PROCESS 'p'

static struct {
  int is_fake;
  int code;    /* why there is no socket */
  int ends[2]; /* the test's end, the library's end */
  int has_overrun;
  unsigned reads;
} uevents;

int __real_uvperf__sys_uevents_open(void);
ssize_t __real_uvperf__sys_uevents_read(int fd, void *buffer, size_t size,
                                        int *from_kernel);

int __wrap_uvperf__sys_uevents_open(void) {
  int fd = uevents.ends[1];

  if (!uevents.is_fake)
    return __real_uvperf__sys_uevents_open();
  if (uevents.code != 0)
    return uevents.code;
  uevents.ends[1] = -1;
  assert_true(fd >= 0);
  return fd;
}

ssize_t __wrap_uvperf__sys_uevents_read(int fd, void *buffer, size_t size,
                                        int *from_kernel) {
  char message[4096];
  ssize_t got;

  uevents.reads++;
  if (!uevents.is_fake)
    return __real_uvperf__sys_uevents_read(fd, buffer, size, from_kernel);
  *from_kernel = 0;
  if (uevents.has_overrun) {
    uevents.has_overrun = 0;
    return -ENOBUFS;
  }
  got = recv(fd, message, sizeof(message), MSG_DONTWAIT);
  if (got <= 0)
    return got < 0 ? -errno : 0;
  *from_kernel = message[0] == FROM_KERNEL;
  got--;
  if ((size_t)got > size)
    got = (ssize_t)size;
  memcpy(buffer, message + 1, (size_t)got);
  return got;
}

void fake_uevents_begin(void) {
  memset(&uevents, 0, sizeof(uevents));
  uevents.is_fake = 1;
  assert_int_equal(
      socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, uevents.ends), 0);
}

void fake_uevents_refuse(int code) {
  memset(&uevents, 0, sizeof(uevents));
  uevents.is_fake = 1;
  uevents.code = code;
  uevents.ends[0] = uevents.ends[1] = -1;
}

void fake_uevents_end(void) {
  int i;

  for (i = 0; i < 2 && uevents.is_fake; i++)
    if (uevents.ends[i] >= 0)
      close(uevents.ends[i]);
  memset(&uevents, 0, sizeof(uevents));
}

static void send_as(char sender, const void *bytes, size_t size) {
  char message[4096];

  assert_true(size < sizeof(message));
  message[0] = sender;
  memcpy(message + 1, bytes, size);
  assert_int_equal(send(uevents.ends[0], message, size + 1, 0), size + 1);
}

void fake_uevents_send(const char *text) {
  send_as(FROM_KERNEL, text, strlen(text) + 1);
}

void fake_uevents_say(const char *action, int cpu) {
  char text[64];

  snprintf(text, sizeof(text), "%s@/devices/system/cpu/cpu%d", action, cpu);
  fake_uevents_send(text);
}

void fake_uevents_send_bytes(const void *bytes, size_t size) {
  send_as(FROM_KERNEL, bytes, size);
}

void fake_uevents_send_from_process(const char *text) {
  send_as(FROM_PROCESS, text, strlen(text) + 1);
}

void fake_uevents_overrun(void) {
  uevents.has_overrun = 1;
  /* So that the loop wakes. */
  send_as(FROM_PROCESS, "", 0);
}

unsigned fake_uevents_reads(void) {
  return uevents.reads;
}
