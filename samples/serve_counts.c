/* SPDX-License-Identifier: MIT */
/* Counts on all CPUs, and writes a line of JSON each second to every client of
 * a unix socket, until SIGINT or SIGTERM. Needs root, CAP_PERFMON or
 * perf_event_paranoid 0.
 *
 *   serve_counts PATH [EVENTS [MILLISECONDS]]         nc -U PATH
 *
 * A client that does not read loses lines; when it reads again it gets their
 * number, {"dropped":12}. Only the same user and root can connect. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <uvperf.h>

#define MOST_QUEUED (64 * 1024) /* bytes that wait for one client */

typedef struct text_s { /* one for all clients */
  unsigned int references;
  char *bytes;
  size_t size;
} text_t;

typedef struct line_s { /* one for each write */
  uv_write_t request;
  text_t *text;
  char dropped[40];
} line_t;

typedef struct client_s {
  uv_pipe_t pipe; /* its data is the client */
  unsigned long dropped;
} client_t;

static void fail(const char *what, const char *reason) {
  fprintf(stderr, "%s: %s\n", what, reason);
  exit(1);
}

static void release(text_t *text) {
  if (--text->references > 0)
    return;
  free(text->bytes);
  free(text);
}

static void put_string(const char *string, FILE *out) {
  for (; *string != '\0'; string++)
    if (*string == '"' || *string == '\\' || (unsigned char)*string < ' ')
      fprintf(out, "\\u%04x", (unsigned int)*string);
    else
      fputc(*string, out); /* the labels are expected to be UTF-8 */
}

static void on_closed(uv_handle_t *handle) {
  free(handle->data); /* the client, or NULL */
}

static void close_handle(uv_handle_t *handle, void *arg) {
  (void)arg;
  if (!uvperf_walk_close(handle) && !uv_is_closing(handle))
    uv_close(handle, on_closed);
}

static void on_written(uv_write_t *request, int status) {
  line_t *line = request->data;

  if (status != 0)
    close_handle((uv_handle_t *)request->handle, NULL);
  release(line->text);
  free(line);
}

static void send_text(uv_handle_t *handle, void *arg) {
  uv_stream_t *stream = (uv_stream_t *)handle;
  client_t *client = handle->data;
  line_t *line = NULL;
  text_t *text = arg;
  uv_buf_t bufs[2];
  unsigned int nr = 0;
  int status;

  if (handle->type != UV_NAMED_PIPE || client == NULL || uv_is_closing(handle))
    return; /* the server, or no pipe */
  if (uv_stream_get_write_queue_size(stream) <= MOST_QUEUED)
    line = malloc(sizeof(*line));
  if (line == NULL) {
    client->dropped++;
    return;
  }
  if (client->dropped > 0) {
    snprintf(line->dropped, sizeof(line->dropped), "{\"dropped\":%lu}\n",
             client->dropped);
    bufs[nr++] = uv_buf_init(line->dropped, (unsigned)strlen(line->dropped));
    client->dropped = 0;
  }
  bufs[nr++] = uv_buf_init(text->bytes, (unsigned)text->size);
  text->references++;
  line->text = text;
  line->request.data = line;
  line->request.handle = stream; /* also if uv_write fails */
  if ((status = uv_write(&line->request, stream, bufs, nr, on_written)) != 0)
    on_written(&line->request, status);
}

/* Values are in the event's unit; null if any CPU's count is not known. */
static void on_reading(uvperf_set_t *set, int status,
                       const uvperf_reading_t *reading,
                       const uvperf_reading_t *delta) {
  text_t *text = status == 0 ? calloc(1, sizeof(*text)) : NULL;
  FILE *out = text ? open_memstream(&text->bytes, &text->size) : NULL;
  const uvperf_event_item_t *item;
  uvperf_count_t count;
  size_t i;

  (void)reading; /* the same since the beginning */
  if (out == NULL)
    fail("counts", "out of memory");
  fprintf(out, "{\"time\":%.6f,\"counts\":[", /* CLOCK_MONOTONIC */
          (double)uvperf_reading_time(delta) / 1e9);
  for (i = 0; uvperf_reading_total(delta, i, &count) == 0; i++) {
    item = uvperf_set_item(set, i);
    if (item->first != i)
      continue; /* is in the sum of its event */
    fputs(i > 0 ? ",{\"event\":\"" : "{\"event\":\"", out);
    put_string(item->label, out);
    fputs("\",\"unit\":\"", out);
    put_string(item->unit, out);
    if (count.nr_counts > 0 && count.nr_missing == 0)
      fprintf(out, "\",\"value\":%.15g}", (double)count.scaled * item->scale);
    else
      fputs("\",\"value\":null}", out);
  }
  fputs("]}\n", out);
  if (fclose(out) != 0)
    fail("counts", "out of memory");
  text->references = 1;
  uv_walk(set->loop, send_text, text);
  release(text);
}

static void on_alloc(uv_handle_t *handle, size_t size, uv_buf_t *buf) {
  static char ignored[4096];

  (void)handle;
  (void)size;
  *buf = uv_buf_init(ignored, sizeof(ignored));
}

static void on_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *buf) {
  (void)buf;
  if (size < 0) /* UV_EOF, or an error */
    close_handle((uv_handle_t *)stream, NULL);
}

static void on_connection(uv_stream_t *server, int status) {
  client_t *client;

  if (status != 0) {
    fprintf(stderr, "a client: %s\n", uv_strerror(status));
    return;
  }
  if ((client = calloc(1, sizeof(*client))) == NULL)
    fail("a client", "out of memory");
  uv_pipe_init(server->loop, &client->pipe, 0);
  client->pipe.data = client;
  if (uv_accept(server, (uv_stream_t *)client) != 0 ||
      uv_read_start((uv_stream_t *)client, on_alloc, on_read) != 0)
    close_handle((uv_handle_t *)client, NULL);
}

/* Binds to a path, also to one that a daemon left when it was killed. Two must
 * not start at the same time. */
static int bind_to(uv_pipe_t *server, const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int fd, rc, is_stale;
  struct stat file;

  if (strlen(path) >= sizeof(address.sun_path))
    return UV_ENAMETOOLONG; /* libuv would cut it */
  rc = uv_pipe_bind(server, path);
  if (rc != UV_EADDRINUSE || lstat(path, &file) != 0 || !S_ISSOCK(file.st_mode))
    return rc;
  strcpy(address.sun_path, path);
  fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  is_stale = connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0 &&
             errno == ECONNREFUSED;
  close(fd);
  return is_stale && unlink(path) == 0 ? uv_pipe_bind(server, path) : rc;
}

static void on_signal(uv_signal_t *signal, int number) {
  (void)number;
  uv_walk(signal->loop, close_handle, NULL);
}

int main(int argc, char **argv) {
  const char *names = "cpu-clock,context-switches,page-faults,cycles";
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t cpus = UVPERF_TARGET_INIT;
  uv_loop_t *loop = uv_default_loop();
  uint64_t interval = argc > 3 ? strtoull(argv[3], NULL, 10) : 1000;
  uv_signal_t interrupt = {0}, terminate = {0};
  uvperf_event_list_t *events;
  uv_pipe_t server = {0};
  uvperf_error_t error;
  uvperf_set_t set;
  int rc;

  if (argc < 2)
    fail(argv[0], "give the path of a socket");
  if (uvperf_event_list_parse(&events, argc > 2 ? argv[2] : names, &error) != 0)
    fail("events", error.reason);
  cpus.type = UVPERF_TARGET_CPUS;
  options.events = events;
  options.targets = &cpus;
  options.nr_targets = 1;
  options.flags = UVPERF_SET_FOLLOW_CPUS | UVPERF_SET_ENABLED;
  if (uvperf_set_init(loop, &set, &options, &error) != 0 ||
      uvperf_set_read_start(&set, interval, on_reading, &error) != 0)
    fail("events", error.reason);
  uvperf_event_list_free(events);
  signal(SIGPIPE, SIG_IGN); /* a client may be gone */
  umask(0177);              /* the socket's mode is 0600 */
  uv_pipe_init(loop, &server, 0);
  rc = bind_to(&server, argv[1]);
  if (rc != 0 || (rc = uv_listen((uv_stream_t *)&server, 16, on_connection)))
    fail(argv[1], uv_strerror(rc));
  uv_signal_init(loop, &interrupt);
  uv_signal_init(loop, &terminate);
  uv_signal_start(&interrupt, on_signal, SIGINT);
  uv_signal_start(&terminate, on_signal, SIGTERM);
  fprintf(stderr, "%s: ready\n", argv[1]);
  uv_run(loop, UV_RUN_DEFAULT); /* closing the server removes the socket */
  return uv_loop_close(loop) != 0;
}
