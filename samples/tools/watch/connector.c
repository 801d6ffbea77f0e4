/* SPDX-License-Identifier: MIT */
/* Reads messages of the proc connector, and keeps them until the timeline needs
 * them. Does not use records. */
#include "watch/connector.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>

#include "common/memory.h"
#include "common/proc.h"

#define RECEIVE_BYTES (8 << 20)
#define MAX_MESSAGES  1000 /* at once */
#define MAX_NEWS      65536
#define KEEP_NS       UINT64_C(10000000000)
#define PULL_NS       UINT64_C(1000000)
#define AWAIT_MS      20

/* How long it takes to load a new program. The arguments are in /proc before
 * the program is loaded. The time of the exec in the message is after the
 * loading. */
#define LOAD_NS UINT64_C(300000)

/* proc_cn_event of include/uapi/linux/cn_proc.h; it is inside a struct in older
 * headers. */
#define EVENT_NONE 0u
#define EVENT_EXEC 0x2u
#define EVENT_EXIT 0x80000000u

struct watch_news_s {
  uint32_t what; /* EVENT_* */
  uint32_t id;   /* of the process that did exec, of the thread that ended */
  uint64_t time; /* of CLOCK_MONOTONIC, a little later than the record's */
  uint64_t read; /* EXEC: the time after /proc was read */
  uint32_t status;
  char *args; /* or NULL */
  size_t size;
  watch_news_t *next;
};

/* -- news ------------------------------------------------------------------ */

static watch_news_t **bucket_of(watch_connector_t *connector, uint32_t id) {
  return &connector->buckets[id % WATCH_NEWS_BUCKETS];
}

static watch_news_t *take(watch_connector_t *connector, watch_news_t **link) {
  watch_news_t *news = *link;

  *link = news->next;
  connector->nr--;
  return news;
}

static watch_news_t *add(watch_connector_t *connector, uint32_t what,
                         uint32_t id, uint64_t time) {
  watch_news_t **link = bucket_of(connector, id), *news;

  if (connector->nr == MAX_NEWS)
    return NULL;
  while (*link != NULL)
    link = &(*link)->next;
  news = *link = common_calloc(1, sizeof(*news));
  news->what = what;
  news->id = id;
  news->time = time;
  connector->nr++;
  return news;
}

/* Takes out the first message that is not older than its record. The caller
 * frees the message. Returns NULL if there is none. */
static watch_news_t *find(watch_connector_t *connector, uint32_t what,
                          uint32_t id, uint64_t time) {
  watch_news_t **link = bucket_of(connector, id);

  while (*link != NULL &&
         ((*link)->what != what || (*link)->id != id || (*link)->time < time))
    link = &(*link)->next;
  return *link == NULL ? NULL : take(connector, link);
}

static void forget(watch_connector_t *connector, uint64_t before) {
  watch_news_t **link, *news;
  size_t i;

  for (i = 0; i < WATCH_NEWS_BUCKETS; i++) {
    link = &connector->buckets[i];
    while (*link != NULL) {
      if ((*link)->time >= before) {
        link = &(*link)->next;
        continue;
      }
      news = take(connector, link);
      free(news->args);
      free(news);
    }
  }
}

/* -- messages -------------------------------------------------------------- */

/* Reads one byte more than is shown. This byte shows whether the arguments are
 * cut. */
static size_t read_args(uint32_t pid, char args[WATCH_ARGS_BYTES + 1]) {
  char path[64];
  ssize_t nr;
  int fd;

  snprintf(path, sizeof(path), "/proc/%u/cmdline", pid);
  fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return 0;
  nr = read(fd, args, WATCH_ARGS_BYTES + 1);
  close(fd);
  return nr > 0 ? (size_t)nr : 0;
}

/* Drops the arguments of an earlier exec if they were read so late that they
 * may belong to this exec. */
static void distrust(watch_connector_t *connector, uint32_t pid,
                     uint64_t time) {
  watch_news_t *news;

  for (news = *bucket_of(connector, pid); news != NULL; news = news->next) {
    if (news->what == EVENT_EXEC && news->id == pid &&
        time < news->read + LOAD_NS)
      news->size = 0;
  }
}

static void follow_exec(watch_connector_t *connector, uint32_t pid,
                        uint64_t time) {
  char args[WATCH_ARGS_BYTES + 1];
  watch_news_t *news;
  size_t size;

  distrust(connector, pid, time);
  size = read_args(pid, args);
  news = add(connector, EVENT_EXEC, pid, time);
  if (news == NULL || size == 0)
    return;
  news->args = common_copy(args, size);
  news->size = size;
  news->read = uv_hrtime();
}

static void follow_exit(watch_connector_t *connector, uint32_t tid,
                        uint64_t time, uint32_t status) {
  watch_news_t *news = add(connector, EVENT_EXIT, tid, time);

  if (news != NULL)
    news->status = status;
}

typedef union message_s {
  struct nlmsghdr header; /* for its alignment */
  char bytes[4096];
} message_t;

/* Returns 1 and an event, or 0 if no message is waiting. An unusable message
 * becomes EVENT_NONE with an error. */
static int receive(int fd, struct proc_event *event) {
  const size_t before = NLMSG_HDRLEN + sizeof(struct cn_msg);
  struct sockaddr_nl from;
  socklen_t size = sizeof(from);
  message_t message;
  ssize_t nr;

  memset(event, 0, sizeof(*event));
  memset(&from, 0, sizeof(from));
  nr = recvfrom(fd, message.bytes, sizeof(message), MSG_DONTWAIT,
                (struct sockaddr *)&from, &size);
  event->event_data.ack.err = EINVAL;
  if (nr < 0)
    return errno == ENOBUFS || errno == EINTR;
  if (from.nl_pid != 0 || (size_t)nr <= before)
    return 1;
  nr -= (ssize_t)before;
  memcpy(event, message.bytes + before,
         (size_t)nr < sizeof(*event) ? (size_t)nr : sizeof(*event));
  return 1;
}

static void pull(watch_connector_t *connector) {
  struct proc_event event;
  int i;

  for (i = 0; i < MAX_MESSAGES && receive(connector->fd, &event); i++) {
    if ((uint32_t)event.what == EVENT_EXEC)
      follow_exec(connector, (uint32_t)event.event_data.exec.process_tgid,
                  event.timestamp_ns);
    else if ((uint32_t)event.what == EVENT_EXIT)
      follow_exit(connector, (uint32_t)event.event_data.exit.process_pid,
                  event.timestamp_ns, event.event_data.exit.exit_code);
  }
  connector->pulled = uv_hrtime();
}

static void on_readable(uv_poll_t *poll, int status, int events) {
  (void)status;
  (void)events;
  pull(poll->data);
}

/* -- answers --------------------------------------------------------------- */

/* Reads the arguments now. The process may already run another program, so the
 * name must match. */
static void read_late(watch_event_t *event) {
  char args[WATCH_ARGS_BYTES + 1], comm[COMMON_PROC_COMM_BYTES];
  size_t size = read_args(event->pid, args);

  if (size > 0 &&
      common_proc_comm((int32_t)event->pid, (int32_t)event->pid, comm) == 0 &&
      strcmp(comm, event->comm) == 0)
    watch_event_args(event, args, size, WATCH_ARGS_BYTES);
}

/* If the loop was busy, the message may still be in the socket. */
static watch_news_t *find_or_pull(watch_connector_t *connector, uint32_t what,
                                  uint32_t id, uint64_t time) {
  watch_news_t *news = find(connector, what, id, time);

  if (news != NULL || uv_hrtime() - connector->pulled < PULL_NS)
    return news;
  pull(connector);
  return find(connector, what, id, time);
}

void watch_connector_args(void *arg, watch_event_t *event) {
  watch_connector_t *connector = arg;
  watch_news_t *news = NULL;

  if (connector->is_open)
    news = find_or_pull(connector, EVENT_EXEC, event->pid, event->time);
  if (news == NULL) {
    read_late(event);
    return;
  }
  if (news->size > 0)
    watch_event_args(event, news->args, news->size, WATCH_ARGS_BYTES);
  free(news->args);
  free(news);
}

int watch_connector_status(void *arg, watch_event_t *event) {
  watch_news_t *news = find_or_pull(arg, EVENT_EXIT, event->tid, event->time);

  if (news == NULL)
    return 0;
  event->has_status = 1;
  event->status = news->status;
  free(news);
  return 1;
}

/* A parent is informed of the end of its child slightly before the connector
 * is. */
void watch_connector_await(watch_connector_t *connector, int32_t pid) {
  struct pollfd poller = {connector->fd, POLLIN, 0};
  uint64_t end = uv_hrtime() + AWAIT_MS * UINT64_C(1000000);
  const watch_news_t *news;

  if (!connector->is_open || pid == 0)
    return;
  for (;;) {
    pull(connector);
    news = *bucket_of(connector, (uint32_t)pid);
    while (news != NULL &&
           (news->what != EVENT_EXIT || news->id != (uint32_t)pid))
      news = news->next;
    if (news != NULL || uv_hrtime() > end || poll(&poller, 1, AWAIT_MS) <= 0)
      return;
  }
}

void watch_connector_sweep(watch_connector_t *connector) {
  uint64_t now = uv_hrtime();

  if (connector->nr > 0 && now > KEEP_NS)
    forget(connector, now - KEEP_NS);
}

/* -- beginning and end ----------------------------------------------------- */

/* Like struct proc_input in include/uapi/linux/cn_proc.h since Linux 6.6. */
typedef struct request_s {
  struct nlmsghdr header;
  struct cb_id id; /* struct cn_msg begins here */
  uint32_t seq, ack;
  uint16_t len, flags;
  uint32_t op; /* the data of cn_msg begins here */
  uint32_t events;
} request_t;

/* Requests some kinds of events; 0 requests all kinds. Older kernels always
 * send all kinds. */
static int ask(int fd, uint32_t events) {
  size_t size = events != 0 ? 8 : 4;
  request_t request;

  memset(&request, 0, sizeof(request));
  request.header.nlmsg_len = (uint32_t)(offsetof(request_t, op) + size);
  request.header.nlmsg_type = NLMSG_DONE;
  request.id.idx = CN_IDX_PROC;
  request.id.val = CN_VAL_PROC;
  request.len = (uint16_t)size;
  request.op = PROC_CN_MCAST_LISTEN;
  request.events = events;
  return send(fd, &request, request.header.nlmsg_len, 0) < 0 ? -errno : 0;
}

/* The kernel answers before send(2) returns. Outside the initial namespaces the
 * kernel does not answer. */
static int expect_answer(int fd) {
  struct proc_event event;

  while (receive(fd, &event)) {
    if ((uint32_t)event.what == EVENT_NONE)
      return -(int)event.event_data.ack.err;
  }
  return -EPERM;
}

static int listen_to(int fd, uint32_t events) {
  struct sockaddr_nl address = {.nl_family = AF_NETLINK,
                                .nl_groups = CN_IDX_PROC};
  int size = RECEIVE_BYTES, rc;

  /* First try to set a size above the limit of ordinary users. */
  if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) != 0)
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
  if (bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
    return -errno;
  rc = ask(fd, 0);
  if (rc == 0)
    rc = expect_answer(fd);
  return rc == 0 ? ask(fd, events) : rc;
}

int watch_connector_open(watch_connector_t *connector, uv_loop_t *loop,
                         uint32_t kinds) {
  uint32_t events = ((kinds & WATCH_BIT(WATCH_EXEC)) != 0 ? EVENT_EXEC : 0) |
                    ((kinds & WATCH_BIT(WATCH_EXIT)) != 0 ? EVENT_EXIT : 0);
  int fd, rc;

  if (events == 0)
    return 0;
  fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
              NETLINK_CONNECTOR);
  if (fd < 0)
    return -errno;
  rc = listen_to(fd, events);
  if (rc == 0)
    rc = uv_poll_init(loop, &connector->poll, fd);
  if (rc != 0) {
    close(fd);
    return rc;
  }
  connector->fd = fd;
  connector->is_open = 1;
  connector->poll.data = connector;
  uv_poll_start(&connector->poll, UV_READABLE, on_readable);
  return 0;
}

static void on_closed(uv_handle_t *handle) {
  watch_connector_t *connector = handle->data;

  close(connector->fd);
}

void watch_connector_close(watch_connector_t *connector) {
  if (!connector->is_open)
    return;
  connector->is_open = 0;
  forget(connector, UINT64_MAX);
  uv_close((uv_handle_t *)&connector->poll, on_closed);
}
