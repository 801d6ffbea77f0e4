/* SPDX-License-Identifier: MIT */
/* The test acts as the clients, and as the writer of the sample's input. It
 * decides when a line is sent, and which client reads it. */
#include "tool_run.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define LINE_SIZE 8192
#define NR_LINES  128 /* 1 MiB: more than a socket and a queue take */

typedef struct client_s {
  int fd;
  size_t size;
  char text[2 * NR_LINES * LINE_SIZE];
} client_t;

static client_t first, second, slow;

static int input[2];
static unsigned int nr_lines; /* written into it */

static char directory[] = "/tmp/uvperf-serve-XXXXXX", path[64];

static int make_directory(void **state) {
  if (mkdtemp(directory) == NULL || chmod(directory, 0777) != 0)
    return -1;
  snprintf(path, sizeof(path), "%s/lines", directory);
  return 0;
}

static int remove_directory(void **state) {
  return rmdir(directory);
}

static int open_input(void **state) {
  nr_lines = 0;
  return pipe2(input, O_CLOEXEC);
}

static int close_input(void **state) {
  close(input[0]);
  close(input[1]);
  return 0;
}

/* A sample ends with its test, also if that fails. */
static void use_input(void) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(input[0], STDIN_FILENO);
}

static int open_socket(struct sockaddr_un *address) {
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

  assert_true(fd >= 0);
  memset(address, 0, sizeof(*address));
  address->sun_family = AF_UNIX;
  strcpy(address->sun_path, path);
  return fd;
}

/* Each line has its number, from 0 on. */
static void write_line(void) {
  static char line[LINE_SIZE + 1];

  snprintf(line, sizeof(line), "{\"n\":%6u,\"more\":\"%0*d\"}\n", nr_lines++,
           LINE_SIZE - 23, 0);
  assert_int_equal(write(input[1], line, strlen(line)), strlen(line));
}

/* Returns 0 at the end of the connection. */
static int read_client(client_t *client) {
  ssize_t nr = read(client->fd, client->text + client->size,
                    sizeof(client->text) - client->size - 1);

  client->size += nr > 0 ? (size_t)nr : 0;
  client->text[client->size] = '\0';
  return nr > 0;
}

static int has_bytes(const client_t *client, int milliseconds) {
  struct pollfd fd = {client->fd, POLLIN, 0};

  return poll(&fd, 1, milliseconds) > 0;
}

/* Reads up to the end of the newest line. */
static void read_newest(client_t *client) {
  char begin[32];
  const char *at;

  snprintf(begin, sizeof(begin), "{\"n\":%6u,", nr_lines - 1);
  while ((at = strstr(client->text, begin)) == NULL || strchr(at, '\n') == NULL)
    assert_true(has_bytes(client, 5000) && read_client(client));
}

/* A client gets only lines that come after it was accepted. So this writes
 * lines until the client has one. */
static void join(client_t *client) {
  struct sockaddr_un address;

  client->size = 0;
  client->text[0] = '\0';
  client->fd = open_socket(&address);
  assert_int_equal(
      connect(client->fd, (struct sockaddr *)&address, sizeof(address)), 0);
  do
    write_line();
  while (!has_bytes(client, 20));
  read_newest(client);
}

/* Checks that no number is missing between a client's first and last line,
 * except the dropped ones. Returns how many were dropped. */
static unsigned long expect_all_lines(const client_t *client) {
  unsigned long nr, dropped, all_dropped = 0, next = 0;
  const char *line, *end;
  int is_first = 1;

  for (line = client->text; (end = strchr(line, '\n')) != NULL;
       line = end + 1) {
    if (sscanf(line, "{\"dropped\":%lu}\n", &dropped) == 1) {
      assert_true(dropped > 0 && !is_first);
      next += dropped;
      all_dropped += dropped;
      continue;
    }
    assert_int_equal(sscanf(line, "{\"n\":%lu,", &nr), 1);
    assert_int_equal(end + 1 - line, LINE_SIZE);
    if (!is_first)
      assert_int_equal(nr, next);
    is_first = 0;
    next = nr + 1;
  }
  return all_dropped;
}

static void read_all_but_one(tool_run_t *run) {
  struct stat file;
  int i;

  assert_int_equal(stat(path, &file), 0);
  assert_int_equal(file.st_mode & 0777, 0600);
  join(&slow);
  join(&first);
  join(&second);
  for (i = 0; i < NR_LINES; i++) {
    write_line();
    read_newest(&first);
    if (i < NR_LINES / 2)
      read_newest(&second);
    if (i == NR_LINES / 2) {
      shutdown(second.fd, SHUT_WR); /* the sample closes its end */
      while (read_client(&second))
        continue;
      close(second.fd);
    }
  }
  while (strstr(slow.text, "{\"dropped\":") == NULL) {
    while (has_bytes(&slow, 20))
      assert_true(read_client(&slow));
    write_line();
    read_newest(&first);
  }
  read_newest(&slow);
  assert_int_equal(expect_all_lines(&first), 0);
  assert_int_equal(expect_all_lines(&second), 0);
  assert_true(expect_all_lines(&slow) > 0);
}

static void client_that_does_not_read_gets_the_number_of_dropped(void **state) {
  static tool_run_t run = {.args = {SAMPLE_PATH, path},
                           .interrupt_at = ": ready",
                           .prepare = use_input,
                           .work = read_all_but_one};

  tool_run(&run);
  close(first.fd);
  close(slow.fd);
  tool_run_expect_status(&run, 0);
  assert_int_equal(access(path, F_OK), -1);
}

static void let_a_client_wait(tool_run_t *run) {
  join(&slow);
  while (has_bytes(&slow, 0))
    assert_true(read_client(&slow));
  write_line();
  assert_int_equal(write(input[1], "half", 4), 4);
  close(input[0]);
  close(input[1]);
}

static void end_of_the_input_ends_it(void **state) {
  static tool_run_t run = {.args = {SAMPLE_PATH, path},
                           .interrupt_at = ": ready",
                           .interrupt_with = TOOL_RUN_NO_SIGNAL,
                           .prepare = use_input,
                           .work = let_a_client_wait};

  tool_run(&run);
  while (read_client(&slow))
    continue;
  close(slow.fd);
  tool_run_expect_status(&run, 0);
  assert_int_equal(expect_all_lines(&slow), 0);
  assert_null(strstr(slow.text, "half"));
  assert_int_equal(access(path, F_OK), -1);
  assert_int_equal(open_input(state), 0); /* for the teardown */
}

static void run_another(tool_run_t *run) {
  static tool_run_t other = {.args = {SAMPLE_PATH, path}, .prepare = use_input};

  tool_run_ends(&other, 1, uv_strerror(UV_EADDRINUSE));
  join(&first);
  close(first.fd);
}

static void stale_socket_is_replaced_and_one_in_use_is_not(void **state) {
  static tool_run_t run = {.args = {SAMPLE_PATH, path},
                           .interrupt_at = ": ready",
                           .prepare = use_input,
                           .work = run_another};
  struct sockaddr_un address;
  int fd;

  fd = open_socket(&address);
  assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
  close(fd);
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  assert_int_equal(access(path, F_OK), -1);
}

static void file_that_is_no_socket_stays(void **state) {
  static tool_run_t run = {.args = {SAMPLE_PATH, path}, .prepare = use_input};
  FILE *file;

  file = fopen(path, "we");
  assert_non_null(file);
  fclose(file);
  tool_run_ends(&run, 1, uv_strerror(UV_EADDRINUSE));
  assert_int_equal(unlink(path), 0);
}

static void input_that_is_no_pipe_is_wrong_usage(void **state) {
  static tool_run_t run = {
      .args = {"/bin/sh", "-c", "exec " SAMPLE_PATH " path </dev/null"}};

  tool_run_ends(&run, 2, "usage: ");
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, open_input, close_input)
  const struct CMUnitTest tests[] = {
      TEST(client_that_does_not_read_gets_the_number_of_dropped),
      TEST(end_of_the_input_ends_it),
      TEST(stale_socket_is_replaced_and_one_in_use_is_not),
      TEST(file_that_is_no_socket_stays),
      TEST(input_that_is_no_pipe_is_wrong_usage),
  };

  return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
