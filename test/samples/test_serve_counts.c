/* SPDX-License-Identifier: MIT */
/* The clients are in the test's own process, and read when the test says. */
#include "json_check.h"
#include "live.h"
#include "tool_run.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define MANY_BYTES ((size_t)1 << 20) /* more than a socket and a queue take */

#define MOST_LINE 16384

typedef struct client_s {
  int fd;
  size_t size;
  char text[8 * MANY_BYTES];
} client_t;

static client_t clients[3];

static char directory[] = "/tmp/uvperf-serve-XXXXXX", path[64];

static int make_directory(void **state) {
  (void)state;
  if (mkdtemp(directory) == NULL || chmod(directory, 0777) != 0)
    return -1;
  snprintf(path, sizeof(path), "%s/counts", directory);
  return 0;
}

static int remove_directory(void **state) {
  (void)state;
  return rmdir(directory);
}

static int open_socket(struct sockaddr_un *address) {
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

  assert_true(fd >= 0);
  memset(address, 0, sizeof(*address));
  address->sun_family = AF_UNIX;
  strcpy(address->sun_path, path);
  return fd;
}

static void join(client_t *client) {
  struct sockaddr_un address;

  client->size = 0;
  client->text[0] = '\0';
  client->fd = open_socket(&address);
  assert_int_equal(
      connect(client->fd, (struct sockaddr *)&address, sizeof(address)), 0);
}

/* Reads what arrives at two clients, which may be the same. Returns 0 when one
 * has reached its end. */
static int take(client_t *a, client_t *b) {
  struct pollfd fds[2] = {{a->fd, POLLIN, 0}, {b->fd, POLLIN, 0}};
  client_t *both[2] = {a, b};
  ssize_t nr = 1;
  int i, nr_fds = a == b ? 1 : 2;

  assert_true(poll(fds, (nfds_t)nr_fds, 5000) > 0);
  for (i = 0; i < nr_fds && nr > 0; i++) {
    if (fds[i].revents == 0)
      continue;
    nr = read(both[i]->fd, both[i]->text + both[i]->size,
              sizeof(both[i]->text) - both[i]->size - 1);
    both[i]->size += nr > 0 ? (size_t)nr : 0;
    both[i]->text[both[i]->size] = '\0';
  }
  return nr > 0;
}

/* How many lines from here to there, which are JSON. */
static unsigned long count_lines(const char *text, const char *end) {
  unsigned long nr = 0;
  const char *next;
  char line[MOST_LINE];

  for (; text < end; text = next, nr++) {
    next = strchr(text, '\n') + 1;
    assert_in_range(next - text, 1, sizeof(line) - 1);
    memcpy(line, text, (size_t)(next - text));
    line[next - text] = '\0';
    if (!json_is_tree(line))
      fail_msg("%s", line);
  }
  return nr;
}

/* Where a line of another client is in the text of this one. */
static const char *find_line(const client_t *client, const char *line) {
  char copy[MOST_LINE];

  snprintf(copy, sizeof(copy), "%.*s", (int)(strchr(line, '\n') + 1 - line),
           line);
  return strstr(client->text, copy);
}

/* All that a later client got is in the text of the first. */
static void expect_same_lines(const client_t *first, const client_t *later) {
  const char *begin = find_line(first, later->text);
  size_t size;

  assert_non_null(begin);
  size = first->size - (size_t)(begin - first->text);
  if (size > later->size)
    size = later->size;
  assert_true(size > MANY_BYTES / 2);
  assert_memory_equal(begin, later->text, size);
}

/* What the slow one missed is between its lines before and after the message
 * in the text of the first. */
static void expect_dropped_lines(client_t *first, const client_t *slow) {
  const char *dropped = strstr(slow->text, "{\"dropped\":");
  const char *before = dropped - 1, *after = strchr(dropped, '\n') + 1;
  unsigned long nr;

  while (before > slow->text && before[-1] != '\n')
    before--;
  while (find_line(first, after) == NULL)
    assert_true(take(first, first));
  assert_non_null(find_line(first, before));
  assert_int_equal(sscanf(dropped, "{\"dropped\":%lu}\n", &nr), 1);
  assert_true(nr > 0);
  assert_int_equal(
      count_lines(find_line(first, before), find_line(first, after)), nr + 1);
  assert_true(count_lines(slow->text, after) > 2);
}

static void read_all_but_one(tool_run_t *run) {
  client_t *first = &clients[0], *second = &clients[1], *slow = &clients[2];
  const char *dropped, *after;
  struct stat file;

  (void)run;
  assert_int_equal(stat(path, &file), 0);
  assert_int_equal(file.st_mode & 0777, 0600);
  join(first);
  while (strchr(first->text, '\n') == NULL)
    assert_true(take(first, first));
  join(slow);
  join(second);
  while (first->size < MANY_BYTES || second->size < MANY_BYTES)
    assert_true(take(first, second));
  expect_same_lines(first, second);
  tool_run_expect_text(first->text, "{\"event\":\"a\\u0022\\u005c");
  tool_run_expect_text(first->text, "\"value\":null}");
  shutdown(second->fd, SHUT_WR); /* the sample closes its end */
  while (take(second, second))
    continue;
  close(second->fd);
  do {
    assert_true(take(first, slow));
    dropped = strstr(slow->text, "{\"dropped\":");
    after = dropped != NULL ? strchr(dropped, '\n') : NULL;
  } while (after == NULL || strchr(after + 1, '\n') == NULL);
  expect_dropped_lines(first, slow);
}

/* A test that fails leaves none behind. */
static void end_with_the_test(void) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static void client_that_does_not_read_gets_the_number_of_dropped(void **state) {
  char events[8192];
  tool_run_t run = {.args = {SAMPLE_PATH, path, events, "5"},
                    .interrupt_at = ": ready",
                    .prepare = end_with_the_test,
                    .work = read_all_but_one};

  (void)state;
  support_need_cpu_wide(__func__);
  snprintf(events, sizeof(events),
           "context-switches/name=a\"\\%06000d/,software/config=99/", 0);
  tool_run(&run);
  close(clients[0].fd);
  close(clients[2].fd);
  tool_run_expect_status(&run, 0);
  assert_int_equal(access(path, F_OK), -1);
}

static void run_another(tool_run_t *run) {
  tool_run_t other = {.args = {SAMPLE_PATH, path}, .interrupt_at = ": ready"};

  (void)run;
  tool_run_ends(&other, 1, "address already in use");
  join(&clients[0]);
  while (strchr(clients[0].text, '\n') == NULL)
    assert_true(take(&clients[0], &clients[0]));
  close(clients[0].fd);
}

static void stale_socket_is_replaced_and_one_in_use_is_not(void **state) {
  tool_run_t run = {.args = {SAMPLE_PATH, path, "cpu-clock", "20"},
                    .interrupt_at = ": ready",
                    .prepare = end_with_the_test,
                    .interrupt_with = SIGTERM,
                    .work = run_another};
  struct sockaddr_un address;
  int fd;

  (void)state;
  support_need_cpu_wide(__func__);
  fd = open_socket(&address);
  assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
  close(fd);
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  assert_int_equal(access(path, F_OK), -1);
}

static void file_that_is_no_socket_stays(void **state) {
  tool_run_t run = {.args = {SAMPLE_PATH, path}, .interrupt_at = ": ready"};
  FILE *file;

  (void)state;
  support_need_cpu_wide(__func__);
  file = fopen(path, "we");
  assert_non_null(file);
  fclose(file);
  tool_run_ends(&run, 1, "address already in use");
  assert_int_equal(unlink(path), 0);
}

static void serve_counts_as_nobody_says_why_not(void **state) {
  tool_run_t run = {
      .args = {SAMPLE_PATH, path}, .interrupt_at = ": ready", .as_nobody = 1};

  (void)state;
  if (tool_run_paranoid() < 1)
    support_skip(__func__, "needs perf_event_paranoid of at least 1");
  tool_run_ends(&run, 1, "perf_event_paranoid");
  assert_int_equal(access(path, F_OK), -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(client_that_does_not_read_gets_the_number_of_dropped),
      cmocka_unit_test(stale_socket_is_replaced_and_one_in_use_is_not),
      cmocka_unit_test(file_that_is_no_socket_stays),
      cmocka_unit_test(serve_counts_as_nobody_says_why_not),
  };

  return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
