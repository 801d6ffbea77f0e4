/* SPDX-License-Identifier: MIT */
/* Moves messages through a stream socket. Does not depend on the meaning of the
 * messages. */
#include "profile/symbols/wire.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct symbols_header_s {
  uint32_t type;
  uint32_t nr_fds;
  uint64_t size;
} symbols_header_t;

typedef union symbols_control_u {
  struct cmsghdr align;
  char bytes[CMSG_SPACE(sizeof(int) * SYMBOLS_WIRE_FDS)];
} symbols_control_t;

void symbols_message_begin(symbols_message_t *message, uint32_t type) {
  message->type = type;
  message->body.used = 0;
  message->read = 0;
  message->is_damaged = 0;
  message->nr_fds = 0;
}

void symbols_message_free(symbols_message_t *message) {
  common_buffer_free(&message->body);
}

void symbols_put_number(symbols_message_t *message, uint64_t number) {
  common_buffer_add(&message->body, (const char *)&number, sizeof(number));
}

void symbols_put_bytes(symbols_message_t *message, const void *bytes,
                       size_t size) {
  symbols_put_number(message, size);
  if (size > 0)
    common_buffer_add(&message->body, bytes, size);
}

void symbols_put_text(symbols_message_t *message, const char *text) {
  symbols_put_bytes(message, text, strlen(text) + 1);
}

uint64_t symbols_get_number(symbols_message_t *message) {
  uint64_t number;

  if (message->body.used - message->read < sizeof(number)) {
    message->read = message->body.used;
    message->is_damaged = 1;
    return 0;
  }
  memcpy(&number, message->body.text + message->read, sizeof(number));
  message->read += sizeof(number);
  return number;
}

const void *symbols_get_bytes(symbols_message_t *message, size_t *size) {
  uint64_t length = symbols_get_number(message);
  const char *bytes;

  *size = 0;
  if (length > message->body.used - message->read) {
    message->read = message->body.used;
    message->is_damaged = 1;
    return "";
  }
  if (length == 0)
    return "";
  *size = (size_t)length;
  bytes = message->body.text + message->read;
  message->read += *size;
  return bytes;
}

const char *symbols_get_text(symbols_message_t *message) {
  size_t size;
  const char *text = symbols_get_bytes(message, &size);

  if (size > 0 && memchr(text, '\0', size) == text + size - 1)
    return text;
  message->is_damaged = 1;
  return "";
}

int symbols_get_fd(symbols_message_t *message) {
  int fd;

  if (message->nr_fds == 0)
    return -1;
  fd = message->fds[0];
  message->nr_fds--;
  memmove(message->fds, message->fds + 1, message->nr_fds * sizeof(int));
  return fd;
}

/* Handles an errno, and waits if necessary. Returns 0 if the call must be tried
 * again, or the error. */
static int wait_after(int error, int fd, short events,
                      symbols_wire_wait_cb wait, void *arg) {
  if (error == EINTR)
    return 0;
  if (error == EPIPE)
    return -ECONNRESET;
  if (error != EAGAIN)
    return -error;
  return wait(arg, fd, events);
}

/* The fds are sent with the first byte of the header. */
static int send_all(int fd, struct msghdr *msg, symbols_wire_wait_cb wait,
                    void *arg) {
  struct iovec *part = msg->msg_iov;
  ssize_t nr;
  int rc;

  while (part->iov_len > 0) {
    nr = sendmsg(fd, msg, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (nr < 0) {
      rc = wait_after(errno, fd, POLLOUT, wait, arg);
      if (rc != 0)
        return rc;
      continue;
    }
    part->iov_base = (char *)part->iov_base + nr;
    part->iov_len -= (size_t)nr;
    msg->msg_control = NULL;
    msg->msg_controllen = 0;
  }
  return 0;
}

int symbols_wire_send(int fd, symbols_message_t *message,
                      symbols_wire_wait_cb wait, void *arg) {
  symbols_header_t header = {message->type, (uint32_t)message->nr_fds,
                             message->body.used};
  struct iovec part = {&header, sizeof(header)};
  symbols_control_t control;
  struct msghdr msg = {.msg_iov = &part, .msg_iovlen = 1};
  struct cmsghdr *cmsg;
  int rc;

  if (message->body.used > SYMBOLS_WIRE_BYTES)
    return -EMSGSIZE;
  if (message->nr_fds > 0) {
    memset(&control, 0, sizeof(control));
    msg.msg_control = control.bytes;
    msg.msg_controllen = CMSG_SPACE(sizeof(int) * message->nr_fds);
    cmsg = CMSG_FIRSTHDR(&msg);
    cmsg->cmsg_level = SOL_SOCKET;
    cmsg->cmsg_type = SCM_RIGHTS;
    cmsg->cmsg_len = CMSG_LEN(sizeof(int) * message->nr_fds);
    memcpy(CMSG_DATA(cmsg), message->fds, sizeof(int) * message->nr_fds);
  }
  rc = send_all(fd, &msg, wait, arg);
  part.iov_base = message->body.text;
  part.iov_len = message->body.used;
  return rc == 0 ? send_all(fd, &msg, wait, arg) : rc;
}

/* If fds did not fit, the kernel has closed them. */
static void take_fds(symbols_message_t *message, struct msghdr *msg) {
  struct cmsghdr *cmsg;
  size_t i, nr;
  int fd;

  for (cmsg = CMSG_FIRSTHDR(msg); cmsg != NULL; cmsg = CMSG_NXTHDR(msg, cmsg)) {
    if (cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SCM_RIGHTS)
      continue;
    nr = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (i = 0; i < nr; i++) {
      memcpy(&fd, CMSG_DATA(cmsg) + i * sizeof(int), sizeof(int));
      if (message->nr_fds < SYMBOLS_WIRE_FDS)
        message->fds[message->nr_fds++] = fd;
      else
        close(fd);
    }
  }
}

static int receive_all(int fd, symbols_message_t *message, void *bytes,
                       size_t size, symbols_wire_wait_cb wait, void *arg) {
  symbols_control_t control;
  struct iovec part = {bytes, size};
  struct msghdr msg;
  ssize_t nr;
  int rc;

  while (part.iov_len > 0) {
    memset(&msg, 0, sizeof(msg));
    msg.msg_iov = &part;
    msg.msg_iovlen = 1;
    msg.msg_control = control.bytes;
    msg.msg_controllen = sizeof(control.bytes);
    nr = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (nr == 0)
      return -ECONNRESET;
    if (nr < 0) {
      rc = wait_after(errno, fd, POLLIN, wait, arg);
      if (rc != 0)
        return rc;
      continue;
    }
    take_fds(message, &msg);
    part.iov_base = (char *)part.iov_base + nr;
    part.iov_len -= (size_t)nr;
  }
  return 0;
}

int symbols_wire_receive(int fd, symbols_message_t *message,
                         symbols_wire_wait_cb wait, void *arg) {
  symbols_header_t header;
  int rc;

  symbols_message_begin(message, 0);
  rc = receive_all(fd, message, &header, sizeof(header), wait, arg);
  if (rc == 0 && header.size > SYMBOLS_WIRE_BYTES)
    rc = -EPROTO;
  if (rc == 0) {
    message->type = header.type;
    common_buffer_reserve(&message->body, (size_t)header.size);
    rc = receive_all(fd, message, message->body.text, (size_t)header.size, wait,
                     arg);
  }
  if (rc == 0 && message->nr_fds != header.nr_fds)
    rc = -EPROTO;
  if (rc == 0)
    message->body.used = (size_t)header.size;
  while (rc != 0 && message->nr_fds > 0)
    close(message->fds[--message->nr_fds]);
  return rc;
}
