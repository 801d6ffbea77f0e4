/* SPDX-License-Identifier: MIT */
/* Measures all CPUs without privileges: a broker opens the events.
 *
 *   as root:  broker SOCKET UID     opens events for that user
 *   as UID:   broker SOCKET EVENT   counts and samples EVENT for a second
 *
 * EVENT is "cpu-clock:u" or another event of the user side. The user's process
 * never calls perf_event_open(2), so a seccomp filter may forbid it. Both must
 * be in one PID namespace. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>
#include <uvperf.h>

typedef struct request_s {
  int32_t pid;
  int32_t cpu;
  struct perf_event_attr attr;
} request_t;

/* -- both: a message with an fd; -1: without an fd ------------------------- */

typedef union control_u {
  struct cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(int))];
} control_t;

static int send_fd(int peer, void *data, size_t size, int fd) {
  control_t control;
  struct iovec part = {data, size};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

  memset(&control, 0, sizeof(control));
  if (fd >= 0) {
    message.msg_control = &control;
    message.msg_controllen = sizeof(control);
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN(sizeof(fd));
    memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
  }
  return sendmsg(peer, &message, MSG_NOSIGNAL) == (ssize_t)size ? 0 : -EPROTO;
}

static int receive_fd(int peer, void *data, size_t size, int *fd) {
  control_t control;
  struct iovec part = {data, size};
  /* With CMSG_SPACE a second fd would fit, and would be leaked. */
  struct msghdr message = {.msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = &control,
                           .msg_controllen = CMSG_LEN(sizeof(*fd))};
  ssize_t got = recvmsg(peer, &message, MSG_CMSG_CLOEXEC);
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);

  *fd = -1;
  if (got >= 0 && header != NULL && header->cmsg_type == SCM_RIGHTS)
    memcpy(fd, CMSG_DATA(header), sizeof(*fd));
  return got == (ssize_t)size ? 0 : -EPROTO;
}

/* Each event has a connection of its own, so threads need no lock. */
static int unix_socket(const char *path, struct sockaddr_un *address) {
  if (strlen(path) >= sizeof(address->sun_path)) {
    errno = ENAMETOOLONG; /* if cut, it would be another file */
    return -1;
  }
  memset(address, 0, sizeof(*address));
  address->sun_family = AF_UNIX;
  snprintf(address->sun_path, sizeof(address->sun_path), "%s", path);
  return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
}

/* -- the broker ------------------------------------------------------------ */

/* The policy. It allows software and hardware events of whole CPUs: user side
 * only, up to 1000 samples a second with address and time. It also allows the
 * dummy event that owns a set's ring: it measures the user's own process and
 * writes nothing. An attr in which any other field is set is refused. */
static int is_allowed(const request_t *request, pid_t peer) {
  const uint64_t fields = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                          PERF_SAMPLE_ID | PERF_SAMPLE_CPU |
                          PERF_SAMPLE_PERIOD | PERF_SAMPLE_IDENTIFIER;
  const struct perf_event_attr *attr = &request->attr;
  struct perf_event_attr known;
  int is_dummy =
      attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY;

  memset(&known, 0, sizeof(known));
  known.type = attr->type;
  known.size = sizeof(known);
  known.config = attr->config;
  known.sample_period = attr->sample_period;
  known.sample_type = attr->sample_type & fields;
  known.read_format = attr->read_format;
  known.disabled = attr->disabled;
  known.exclude_kernel = 1;
  known.exclude_hv = attr->exclude_hv;
  known.freq = attr->sample_period != 0;
  known.watermark = attr->watermark;
  known.wakeup_events = attr->wakeup_events;
  known.sample_id_all = attr->sample_id_all;
  known.use_clockid = attr->use_clockid;
  known.clockid = attr->clockid;
  return memcmp(&known, attr, sizeof(known)) == 0 &&
         attr->sample_freq <= 1000 &&
         ((attr->type == PERF_TYPE_SOFTWARE &&
           attr->config <= PERF_COUNT_SW_DUMMY) ||
          (attr->type == PERF_TYPE_HARDWARE &&
           attr->config < PERF_COUNT_HW_MAX)) &&
         request->cpu >= 0 &&
         (request->pid == -1 || (is_dummy && request->pid == peer));
}

static void answer(int peer, uid_t uid) {
  const struct timeval second = {1, 0};
  struct ucred who;
  socklen_t size = sizeof(who);
  int32_t code = -EPERM;
  int leader = -1;
  int fd = -1;
  request_t request;

  setsockopt(peer, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof(second));
  if (receive_fd(peer, &request, sizeof(request), &leader) == 0 &&
      getsockopt(peer, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 &&
      who.uid == uid && is_allowed(&request, who.pid)) {
    fd = (int)syscall(SYS_perf_event_open, &request.attr, request.pid,
                      request.cpu, leader, PERF_FLAG_FD_CLOEXEC);
    code = fd < 0 ? -errno : 0;
  }
  send_fd(peer, &code, sizeof(code), fd);
  /* The event would not end while the broker had it open. */
  if (fd >= 0)
    close(fd);
  if (leader >= 0)
    close(leader);
}

/* Removes the socket of an earlier broker, but no other file. */
static void remove_socket(const char *path) {
  struct stat file;

  if (lstat(path, &file) == 0 && S_ISSOCK(file.st_mode))
    unlink(path);
}

/* Changes the owner of the socket by an fd. Another user who may write to the
 * directory could put a link, or another name of root's file, at the path
 * meanwhile. */
static int give_socket(const char *path, uid_t uid) {
  int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  struct stat file;
  int rc = -1;

  if (fd < 0 || fstat(fd, &file) != 0)
    return -1;
  errno = EEXIST;
  if (S_ISSOCK(file.st_mode) && file.st_nlink == 1 && file.st_uid == geteuid())
    rc = fchownat(fd, "", uid, (gid_t)-1, AT_EMPTY_PATH);
  close(fd);
  return rc;
}

static int serve(const char *path, uid_t uid) {
  struct sockaddr_un address;
  int server = unix_socket(path, &address);
  int peer;

  umask(0177);
  if (server >= 0)
    remove_socket(path);
  if (server < 0 ||
      bind(server, (struct sockaddr *)&address, sizeof(address)) != 0 ||
      give_socket(path, uid) != 0 || listen(server, 64) != 0) {
    perror(path);
    return 1;
  }
  printf("ready\n");
  fflush(stdout);
  for (;;) {
    peer = accept4(server, NULL, NULL, SOCK_CLOEXEC);
    if (peer < 0)
      continue;
    answer(peer, uid);
    close(peer);
  }
}

/* -- the user's process ---------------------------------------------------- */

/* A uvperf_open_fn. */
static int ask_broker(const struct perf_event_attr *attr, int32_t pid,
                      int32_t cpu, int group_fd, unsigned long flags,
                      void *arg) {
  struct sockaddr_un address;
  request_t request = {.pid = pid, .cpu = cpu};
  int broker = unix_socket(arg, &address);
  int fd = -1;
  int32_t code;
  int rc;

  if (broker < 0)
    return -errno;
  memcpy(&request.attr, attr,
         attr->size < sizeof(*attr) ? attr->size : sizeof(*attr));
  request.attr.size = sizeof(*attr);
  if (attr->size > sizeof(*attr) || flags != PERF_FLAG_FD_CLOEXEC)
    rc = -EINVAL;
  else if (connect(broker, (struct sockaddr *)&address, sizeof(address)) != 0)
    rc = errno == ENOENT ? -ECONNREFUSED : -errno; /* ENOENT: unknown event */
  else
    rc = send_fd(broker, &request, sizeof(request), group_fd);
  if (rc == 0)
    rc = receive_fd(broker, &code, sizeof(code), &fd);
  close(broker);
  if (rc == 0) /* a number above 0 would be an fd that is not the broker's */
    rc = code <= 0 && (code < 0 || fd >= 0) ? code : -EPROTO;
  if (rc != 0 && fd >= 0)
    close(fd);
  return rc == 0 ? fd : rc;
}

static uint64_t samples;

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  (void)handle;
  samples += status == 0 && record->type == PERF_RECORD_SAMPLE;
}

static void on_closed(uv_handle_t *timer) {
  uvperf_close(timer->data, NULL);
}

/* A callback of the set may not flush it. */
static void on_timer(uv_timer_t *timer) {
  uvperf_set_t *set = timer->data;
  uvperf_reading_t *reading = NULL;
  uvperf_count_t count;

  uvperf_flush(&set->handle);
  if (uvperf_reading_new(&reading) == 0 &&
      uvperf_set_read(set, reading, NULL) == 0 &&
      uvperf_reading_total(reading, 0, &count) == 0)
    printf("%s: %llu on all CPUs, %llu samples\n",
           uvperf_set_item(set, 0)->label, (unsigned long long)count.value,
           (unsigned long long)samples);
  uvperf_reading_free(reading);
  uv_close((uv_handle_t *)timer, on_closed);
}

static int measure(const char *path, const char *event) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t cpus = UVPERF_TARGET_INIT;
  struct perf_event_attr attr;
  const struct perf_event_attr *attrs[] = {&attr};
  uvperf_error_t error;
  uvperf_set_t set;
  uv_timer_t timer;

  if (uvperf_attr_parse(&attr, event, &error) != 0)
    goto failed;
  attr.exclude_hv = 1;
  uvperf_attr_set_frequency(&attr, 99);
  attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  cpus.type = UVPERF_TARGET_CPUS;
  options.attrs = attrs;
  options.nr_attrs = 1;
  options.targets = &cpus;
  options.nr_targets = 1;
  options.flags = UVPERF_SET_RECORDS | UVPERF_SET_STRICT;
  options.open = ask_broker;
  options.open_arg = (void *)path;
  if (uvperf_set_init(uv_default_loop(), &set, &options, &error) != 0 ||
      uvperf_start(&set.handle, NULL, on_record, &error) != 0)
    goto failed;
  uv_timer_init(uv_default_loop(), &timer);
  timer.data = &set;
  uv_timer_start(&timer, on_timer, 1000, 0);
  uv_run(uv_default_loop(), UV_RUN_DEFAULT);
  if (fflush(stdout) != 0 || ferror(stdout)) {
    fprintf(stderr, "stdout could not be written\n");
    return 1;
  }
  return 0;
failed:
  fprintf(stderr, "%s\n", error.reason);
  return 1;
}

int main(int argc, char **argv) {
  char *end;
  long uid;

  if (argc != 3) {
    fprintf(stderr, "usage: broker SOCKET UID | broker SOCKET EVENT\n");
    return 1;
  }
  uid = strtol(argv[2], &end, 10);
  return *end == '\0' ? serve(argv[1], (uid_t)uid) : measure(argv[1], argv[2]);
}
