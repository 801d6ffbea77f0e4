/* SPDX-License-Identifier: MIT */
/* Reads lines from a FIFO, a pipe or a socket. The other end may be any
 * process. So lines and messages are bounded, and this program never waits for
 * the other end. This file does not run the commands. */
#include "common/control.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/options.h"
#include "common/out_file.h"
#include "common/say.h"
#include "common/text.h"

#define ACK "ack\n"

/* Bytes read in one turn of the loop. */
#define READ_BYTES 64
/* A limit, because another process could fill the terminal. */
#define MAX_MESSAGES 10

/* The value of an fd without a reader. */
#define NO_READER (-2)

/* -- the two ends ---------------------------------------------------------- */

typedef struct ends_s {
  int is_fifo;
  char names[2][PATH_MAX]; /* paths or numbers; "" for none */
} ends_t;

static int is_fd(const char *name) {
  size_t size = strlen(name);

  return size > 0 && size < 10 && strspn(name, "0123456789") == size;
}

/* Returns 0 or -1. */
static int split(ends_t *ends, const char *text) {
  const char *comma;
  size_t size;

  ends->is_fifo = strncmp(text, "fifo:", 5) == 0;
  if (!ends->is_fifo && strncmp(text, "fd:", 3) != 0)
    return -1;
  text = strchr(text, ':') + 1;
  comma = strchr(text, ',');
  size = comma == NULL ? strlen(text) : (size_t)(comma - text);
  if (size == 0 || size >= PATH_MAX ||
      (comma != NULL && (comma[1] == '\0' || strlen(comma + 1) >= PATH_MAX)))
    return -1;
  snprintf(ends->names[0], PATH_MAX, "%.*s", (int)size, text);
  snprintf(ends->names[1], PATH_MAX, "%s", comma == NULL ? "" : comma + 1);
  if (!ends->is_fifo &&
      (!is_fd(ends->names[0]) || (comma != NULL && !is_fd(ends->names[1]))))
    return -1;
  return 0;
}

int common_control_check(const char *text) {
  ends_t ends;

  if (split(&ends, text) == 0)
    return 0;
  return common_options_bad("--control wants fifo:CTL[,ACK] or fd:CTL[,ACK], "
                            "not '%s'",
                            text);
}

static int refuse(const char *name, const char *reason) {
  common_say("--control: %s: %s\n", name, reason);
  return -1;
}

/* Opens for reading and writing. So the other end need not be open yet, and may
 * be closed and opened again. */
static int open_fifo(const char *path) {
  char reason[COMMON_OUT_REASON];
  struct stat stat_of;
  int fd = common_out_file_open(path, COMMON_OUT_EXISTING, reason);

  if (fd < 0)
    return refuse(path, reason);
  if (fstat(fd, &stat_of) == 0 && S_ISFIFO(stat_of.st_mode))
    return fd;
  close(fd);
  return refuse(path, "is not a FIFO: create one with mkfifo(1)");
}

/* Opens a pipe again to get a new file description. On the old description,
 * O_NONBLOCK would also affect the other processes that use it, such as a shell
 * that waits for an answer. */
static int open_again(int number, int flags) {
  char path[32];

  snprintf(path, sizeof(path), "/proc/self/fd/%d", number);
  return open(path, flags | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
}

/* Returns an fd, -1 after a message, or NO_READER: a FIFO without a reader
 * cannot be opened for writing. */
static int open_fd(const char *name, int flags) {
  int number = atoi(name), fd = -1;
  struct stat stat_of;

  if (fstat(number, &stat_of) != 0)
    return refuse(name, strerror(errno));
  if (S_ISSOCK(stat_of.st_mode))
    fd = fcntl(number, F_DUPFD_CLOEXEC, 0);
  else if (S_ISFIFO(stat_of.st_mode) || S_ISCHR(stat_of.st_mode))
    fd = open_again(number, flags);
  else
    return refuse(name, "is neither a pipe nor a socket");
  if (fd < 0 && errno == ENXIO && flags == O_WRONLY)
    return NO_READER;
  if (fd < 0)
    return refuse(name, strerror(errno));
  if (number > STDERR_FILENO)
    fcntl(number, F_SETFD, FD_CLOEXEC);
  return fd;
}

/* If there is no reader, the answers are lost. They are also lost if the reader
 * ends later. */
static int open_ack(common_control_t *control, const ends_t *ends) {
  const char *name = ends->names[1];

  control->ack_fd = ends->is_fifo ? open_fifo(name) : open_fd(name, O_WRONLY);
  if (control->ack_fd != NO_READER)
    return control->ack_fd < 0;
  common_say("--control: ack: %s has no reader: answers are lost\n", name);
  return 0;
}

int common_control_open(common_control_t *control, const char *text) {
  ends_t ends;

  memset(control, 0, sizeof(*control));
  control->text = text;
  control->fd = control->ack_fd = -1;
  if (text == NULL)
    return 0;
  if (split(&ends, text) != 0)
    return 1;
  control->fd = ends.is_fifo ? open_fifo(ends.names[0])
                             : open_fd(ends.names[0], O_RDONLY);
  if (control->fd < 0)
    return 1;
  return ends.names[1][0] == '\0' ? 0 : open_ack(control, &ends);
}

/* -- messages -------------------------------------------------------------- */

int common_control_may_say(common_control_t *control) {
  if (control->nr_messages++ == MAX_MESSAGES)
    common_say("--control: no more messages about it\n");
  return control->nr_messages <= MAX_MESSAGES;
}

/* -- commands -------------------------------------------------------------- */

/* Drops the answer if the pipe is full, because then no process is reading. */
static void acknowledge(common_control_t *control) {
  ssize_t rc;

  if (control->ack_fd < 0)
    return;
  rc = send(control->ack_fd, ACK, strlen(ACK), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (rc < 0 && errno == ENOTSOCK)
    rc = write(control->ack_fd, ACK, strlen(ACK));
  if (rc < 0 && common_control_may_say(control))
    common_say("--control: ack: %s\n",
               errno == EAGAIN ? "nothing is read" : strerror(errno));
}

static void run_line(common_control_t *control) {
  static const char *const names[] = {[COMMON_CONTROL_ENABLE] = "enable",
                                      [COMMON_CONTROL_DISABLE] = "disable",
                                      [COMMON_CONTROL_EVLIST] = "evlist",
                                      [COMMON_CONTROL_SNAPSHOT] = "snapshot",
                                      [COMMON_CONTROL_STOP] = "stop",
                                      [COMMON_CONTROL_PING] = "ping"};
  size_t nr = sizeof(names) / sizeof(names[0]), size, i;
  char clean[64];

  while (control->used > 0 && (control->line[control->used - 1] == ' ' ||
                               control->line[control->used - 1] == '\r'))
    control->used--;
  control->line[control->used] = '\0';
  size = strcspn(control->line, " ");
  for (i = 0; i < nr && (strlen(names[i]) != size ||
                         memcmp(control->line, names[i], size) != 0);)
    i++;
  if (i < nr) {
    control->has_stopped = i == COMMON_CONTROL_STOP;
    control->on_command(control, (enum common_control_command)i,
                        control->line + size +
                            strspn(control->line + size, " "));
    acknowledge(control);
  } else if (control->used > 0 && common_control_may_say(control)) {
    common_text_clean(clean, sizeof(clean), control->line);
    common_say("--control: '%s' is not a command\n", clean);
  }
}

/* A line that is too long is skipped: `used` stays at the limit up to its
 * end. */
static void take_byte(common_control_t *control, char byte) {
  if (byte != '\n' && byte != '\0') {
    if (control->used < sizeof(control->line))
      control->line[control->used++] = byte;
    return;
  }
  if (control->has_stopped)
    return;
  if (control->used < sizeof(control->line))
    run_line(control);
  else if (common_control_may_say(control))
    common_say("--control: a command of %zu bytes or more is ignored\n",
               sizeof(control->line));
  control->used = 0;
}

static void on_readable(uv_poll_t *poll, int status, int events) {
  common_control_t *control = poll->data;
  char bytes[READ_BYTES];
  ssize_t size, i;

  (void)status; /* recv(2) returns the error */
  (void)events;
  size = recv(control->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
  if (size < 0 && errno == ENOTSOCK)
    size = read(control->fd, bytes, sizeof(bytes));
  if (size < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  if (size <= 0) {
    control->has_ended = 1;
    common_say("--control: %s: no more commands are read\n",
               size == 0 ? "the other end is closed" : strerror(errno));
    common_control_stop(control);
    return;
  }
  for (i = 0; i < size && control->is_listening; i++)
    take_byte(control, bytes[i]);
}

/* -- the handle ------------------------------------------------------------ */

/* Restores the flags of the fd: libuv makes it non-blocking, which would also
 * affect other processes that share a socket. */
int common_control_init(common_control_t *control, uv_loop_t *loop) {
  int flags, rc;

  if (control->fd < 0)
    return 0;
  flags = fcntl(control->fd, F_GETFL);
  rc = uv_poll_init(loop, &control->poll, control->fd);
  if (rc != 0) {
    common_say("--control: cannot poll %s: %s\n", control->text,
               uv_strerror(rc));
    return 1;
  }
  fcntl(control->fd, F_SETFL, flags);
  control->poll.data = control;
  return 0;
}

void common_control_start(common_control_t *control) {
  if (control->fd < 0 || control->has_ended)
    return;
  control->is_listening = 1;
  uv_poll_start(&control->poll, UV_READABLE, on_readable);
}

void common_control_stop(common_control_t *control) {
  if (control->is_listening)
    uv_poll_stop(&control->poll);
  control->is_listening = 0;
}

void common_control_close(common_control_t *control) {
  if (control->poll.data == NULL)
    return;
  common_control_stop(control);
  control->poll.data = NULL;
  uv_close((uv_handle_t *)&control->poll, NULL);
}

void common_control_free(common_control_t *control) {
  if (control->fd >= 0)
    close(control->fd);
  if (control->ack_fd >= 0)
    close(control->ack_fd);
}
