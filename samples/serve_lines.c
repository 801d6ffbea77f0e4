/* SPDX-License-Identifier: MIT */
/* Sends each line of its standard input, a pipe, to every client of a unix
 * socket. Ends when the input ends, or at SIGINT. Does not use uvperf itself.
 *
 *   counts_to_json | serve_lines PATH          nc -U PATH
 *
 * A client that does not read loses lines. When the client reads again, it gets
 * the number of lost lines: {"dropped":12}. Only the same user and root can
 * connect.
 *
 * To send your own lines, copy everything above "this program". Call
 * start_server, then begin_line and send_line for each line, and at the end
 * close_server. agent.c is an example. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

#define MOST_QUEUED (64 * 1024) /* bytes that wait for one client */

typedef struct line_s { /* one for all clients */
  unsigned int references;
  char *bytes;
  size_t size;
  FILE *out;
} line_t;

typedef struct write_s { /* a line on its way to one client */
  uv_write_t request;
  line_t *line;
  char dropped[40];
} write_t;

typedef struct client_s {
  uv_pipe_t pipe; /* its data is the client */
  struct client_s *next;
  struct server_s *server;
  unsigned long dropped;
} client_t;

typedef struct server_s {
  uv_pipe_t pipe; /* its data is the server */
  client_t *clients;
} server_t;

static void release_line(line_t *line) {
  if (--line->references > 0)
    return;
  free(line->bytes);
  free(line);
}

/* Begins a line. Print the line into line->out. Returns NULL if out of
 * memory. */
static line_t *begin_line(void) {
  line_t *line = calloc(1, sizeof(*line));

  if (line != NULL) {
    line->references = 1;
    line->out = open_memstream(&line->bytes, &line->size);
  }
  if (line == NULL || line->out != NULL)
    return line;
  free(line);
  return NULL;
}

static void on_client_closed(uv_handle_t *handle) {
  client_t *client = handle->data, **at = &client->server->clients;

  while (*at != client)
    at = &(*at)->next;
  *at = client->next;
  free(client);
}

static void close_client(client_t *client) {
  if (!uv_is_closing((uv_handle_t *)client))
    uv_close((uv_handle_t *)client, on_client_closed);
}

static void on_written(uv_write_t *request, int status) {
  write_t *write = request->data;

  if (status != 0)
    close_client(request->handle->data);
  release_line(write->line);
  free(write);
}

static void write_line(client_t *client, line_t *line) {
  uv_stream_t *stream = (uv_stream_t *)client;
  write_t *write = NULL;
  unsigned int nr = 0;
  uv_buf_t bufs[2];
  int status;

  if (uv_is_closing((uv_handle_t *)client))
    return;
  if (uv_stream_get_write_queue_size(stream) <= MOST_QUEUED)
    write = malloc(sizeof(*write));
  if (write == NULL) {
    client->dropped++;
    return;
  }
  if (client->dropped > 0) {
    snprintf(write->dropped, sizeof(write->dropped), "{\"dropped\":%lu}\n",
             client->dropped);
    bufs[nr++] = uv_buf_init(write->dropped, (unsigned)strlen(write->dropped));
    client->dropped = 0;
  }
  bufs[nr++] = uv_buf_init(line->bytes, (unsigned)line->size);
  line->references++;
  write->line = line;
  write->request.data = write;
  write->request.handle = stream; /* also if uv_write fails */
  status = uv_write(&write->request, stream, bufs, nr, on_written);
  if (status != 0)
    on_written(&write->request, status);
}

/* Ends a line and sends it to all clients. Returns 0 or a UV_E* code. */
static int send_line(server_t *server, line_t *line) {
  int status = fclose(line->out) == 0 ? 0 : UV_ENOMEM;
  client_t *client;

  for (client = server->clients; status == 0 && client != NULL;
       client = client->next)
    write_line(client, line);
  release_line(line);
  return status;
}

static void on_alloc(uv_handle_t *handle, size_t size, uv_buf_t *buf) {
  static char buffer[65536];

  (void)handle;
  (void)size;
  *buf = uv_buf_init(buffer, sizeof(buffer));
}

static void on_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *buf) {
  (void)buf;
  if (size < 0) /* UV_EOF, or an error */
    close_client(stream->data);
}

static void on_connection(uv_stream_t *stream, int status) {
  server_t *server = stream->data;
  client_t *client;

  if (status != 0) {
    fprintf(stderr, "a client: %s\n", uv_strerror(status));
    return;
  }
  client = calloc(1, sizeof(*client));
  if (client == NULL)
    abort(); /* libuv accepts no other client before this one is taken */
  uv_pipe_init(stream->loop, &client->pipe, 0);
  client->pipe.data = client;
  client->server = server;
  client->next = server->clients;
  server->clients = client;
  if (uv_accept(stream, (uv_stream_t *)client) != 0 ||
      uv_read_start((uv_stream_t *)client, on_alloc, on_read) != 0)
    close_client(client);
}

/* Binds to a path, also if a killed daemon left its socket there. Two daemons
 * must not start at the same time. */
static int bind_to(uv_pipe_t *pipe, const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int fd, rc, is_stale;
  struct stat file;

  if (strlen(path) >= sizeof(address.sun_path))
    return UV_ENAMETOOLONG; /* libuv would cut it */
  rc = uv_pipe_bind(pipe, path);
  if (rc != UV_EADDRINUSE || lstat(path, &file) != 0 || !S_ISSOCK(file.st_mode))
    return rc;
  strcpy(address.sun_path, path);
  fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  is_stale = connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0 &&
             errno == ECONNREFUSED;
  close(fd);
  return is_stale && unlink(path) == 0 ? uv_pipe_bind(pipe, path) : rc;
}

/* Returns 0 or a UV_E* code. Close the server in either case. */
static int start_server(uv_loop_t *loop, server_t *server, const char *path) {
  mode_t mask = umask(0177); /* the socket's mode is 0600 */
  int rc;

  signal(SIGPIPE, SIG_IGN); /* a client may be gone */
  server->clients = NULL;
  uv_pipe_init(loop, &server->pipe, 0);
  server->pipe.data = server;
  rc = bind_to(&server->pipe, path);
  umask(mask);
  return rc != 0 ? rc
                 : uv_listen((uv_stream_t *)&server->pipe, 16, on_connection);
}

/* Also removes the socket. The loop must run until the server is closed. */
static void close_server(server_t *server) {
  client_t *client;

  for (client = server->clients; client != NULL; client = client->next)
    close_client(client);
  uv_close((uv_handle_t *)&server->pipe, NULL);
}

/* -- this program ---------------------------------------------------------- */

#ifndef SERVE_LINES_PART /* agent.c takes the part above only */

static struct {
  server_t server;
  uv_pipe_t input;
  uv_signal_t interrupt;
  line_t *line; /* that has not ended, or NULL */
} lines;

static void close_lines(void) {
  close_server(&lines.server);
  uv_close((uv_handle_t *)&lines.input, NULL);
  uv_close((uv_handle_t *)&lines.interrupt, NULL);
}

static void on_lines_interrupt(uv_signal_t *interrupt, int number) {
  (void)interrupt;
  (void)number;
  close_lines();
}

static void on_input(uv_stream_t *stream, ssize_t size, const uv_buf_t *buf) {
  const char *at = buf->base, *end = at + (size > 0 ? size : 0), *newline;

  (void)stream;
  if (size < 0)
    close_lines();
  for (; at < end; at = newline) {
    newline = memchr(at, '\n', (size_t)(end - at));
    newline = newline == NULL ? end : newline + 1;
    if (lines.line == NULL && (lines.line = begin_line()) == NULL)
      abort(); /* out of memory */
    fwrite(at, 1, (size_t)(newline - at), lines.line->out);
    if (newline[-1] == '\n') {
      send_line(&lines.server, lines.line);
      lines.line = NULL;
    }
  }
}

int main(int argc, char **argv) {
  uv_loop_t *loop = uv_default_loop();
  int rc;

  if (argc != 2 || uv_guess_handle(STDIN_FILENO) != UV_NAMED_PIPE) {
    fprintf(stderr, "usage: COMMAND | %s PATH\n", argv[0]);
    return 2;
  }
  rc = start_server(loop, &lines.server, argv[1]);
  if (rc != 0) {
    fprintf(stderr, "%s: %s\n", argv[1], uv_strerror(rc));
    return 1;
  }
  uv_pipe_init(loop, &lines.input, 0);
  uv_pipe_open(&lines.input, STDIN_FILENO);
  uv_read_start((uv_stream_t *)&lines.input, on_alloc, on_input);
  uv_signal_init(loop, &lines.interrupt);
  uv_signal_start(&lines.interrupt, on_lines_interrupt, SIGINT);
  fprintf(stderr, "%s: ready\n", argv[1]);
  uv_run(loop, UV_RUN_DEFAULT);
  if (lines.line != NULL) { /* the input ended within a line */
    fclose(lines.line->out);
    release_line(lines.line);
  }
  return uv_loop_close(loop) != 0;
}

#endif
