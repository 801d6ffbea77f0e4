/* SPDX-License-Identifier: MIT */
/* The tools obey the commands of another process, and ignore anything else that
 * it sends. */
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

#include "common/control.h"
#include "common/options.h"

typedef struct seen_s {
  uv_loop_t loop;
  common_control_t control;
  int ends[2], acks[2]; /* 0: tool's end, 1: sender's; pipes too */
  char text[8192];      /* a letter for each command, and its rest */
} seen_t;

static seen_t seen;

static void on_command(common_control_t *control,
                       enum common_control_command command, const char *rest) {
  seen_t *it = control->data;
  size_t used = strlen(it->text);

  assert_true(used + strlen(rest) + 3 < sizeof(it->text));
  snprintf(it->text + used, sizeof(it->text) - used, "%c%s;", "+-ltsp"[command],
           rest);
  if (command == COMMON_CONTROL_STOP)
    common_control_stop(control);
}

static void listen_to(seen_t *it) {
  it->control.data = it;
  it->control.on_command = on_command;
  assert_int_equal(uv_loop_init(&it->loop), 0);
  assert_int_equal(common_control_init(&it->control, &it->loop), 0);
  common_control_start(&it->control);
}

static void begin(seen_t *it, int is_socket) {
  static char text[32];

  memset(it, 0, sizeof(*it));
  if (is_socket) {
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, it->ends), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, it->acks), 0);
  } else {
    assert_int_equal(pipe(it->ends), 0);
    assert_int_equal(pipe(it->acks), 0);
  }
  snprintf(text, sizeof(text), "fd:%d,%d", it->ends[0], it->acks[1]);
  assert_int_equal(common_control_open(&it->control, text), 0);
  listen_to(it);
}

static void turn(seen_t *it, int times) {
  for (; times > 0; times--)
    uv_run(&it->loop, UV_RUN_NOWAIT);
}

static void put(seen_t *it, const char *bytes, size_t size) {
  assert_int_equal(write(it->ends[1], bytes, size), size);
  turn(it, 100);
}

static void expect(seen_t *it, const char *sent, const char *came) {
  it->text[0] = '\0';
  put(it, sent, strlen(sent));
  assert_string_equal(it->text, came);
}

static void end_loop(seen_t *it) {
  common_control_close(&it->control);
  uv_run(&it->loop, UV_RUN_DEFAULT);
  assert_int_equal(uv_loop_close(&it->loop), 0);
}

static void end(seen_t *it) {
  int i;

  end_loop(it);
  common_control_free(&it->control);
  for (i = 0; i < 2; i++) {
    close(it->ends[i]);
    close(it->acks[i]);
  }
}

static void expect_acks(seen_t *it, size_t expected) {
  char bytes[4096];
  ssize_t size;
  size_t nr = 0;

  fcntl(it->acks[0], F_SETFL, O_NONBLOCK);
  while ((size = read(it->acks[0], bytes, 4)) == 4) {
    assert_memory_equal(bytes, "ack\n", 4);
    nr++;
  }
  assert_int_equal(size, -1);
  assert_int_equal(nr, expected);
}

static void take_commands(int is_socket) {
  begin(&seen, is_socket);
  expect(&seen, "enable\n", "+;");
  expect(&seen, "disable cpu-clock:u\nping\n", "-cpu-clock:u;p;");
  expect(&seen, "ena", "");
  expect(&seen, "ble  two words \r\n", "+two words;");
  put(&seen, "evlist -v\0snapshot\0", 19);
  assert_string_equal(seen.text, "+two words;l-v;t;");
  expect_acks(&seen, 6);
  expect(&seen, "stop\nenable\n", "s;");
  expect_acks(&seen, 1);
  end(&seen);
}

static void commands_come_by_pipes(void **state) {
  take_commands(0);
}

static void commands_come_by_sockets(void **state) {
  take_commands(1);
}

/* perf(1) answers only commands that it knows. */
static void other_lines_are_neither_run_nor_acknowledged(void **state) {
  char bytes[3000];

  begin(&seen, 0);
  expect(&seen, "\n\n \nenabled\nStop\n enable\nstopp\nsto\n", "");
  memset(bytes, 'x', sizeof(bytes));
  put(&seen, bytes, sizeof(bytes));
  expect(&seen, "enable\n", ""); /* ends the long line */
  memset(bytes, 0xff, sizeof(bytes));
  put(&seen, bytes, sizeof(bytes));
  expect(&seen, "\nping\n", "p;");
  expect_acks(&seen, 1);
  end(&seen);
}

/* One turn of the loop reads a limited number of bytes. No command is lost. */
static void many_commands_leave_the_loop_its_turns(void **state) {
  int i;

  begin(&seen, 0);
  for (i = 0; i < 1000; i++)
    assert_int_equal(write(seen.ends[1], "ping\n", 5), 5);
  turn(&seen, 1);
  assert_true(strlen(seen.text) < 2 * 20);
  turn(&seen, 1000);
  assert_int_equal(strlen(seen.text), 2 * 1000);
  expect_acks(&seen, 1000);
  end(&seen);
}

static void acks_that_are_not_read_do_not_block(void **state) {
  int i;

  begin(&seen, 0);
  fcntl(seen.acks[1], F_SETPIPE_SZ, 4096);
  for (i = 0; i < 2000; i++) {
    seen.text[0] = '\0';
    assert_int_equal(write(seen.ends[1], "ping\n", 5), 5);
    turn(&seen, 1);
  }
  expect(&seen, "enable\n", "+;");
  end(&seen);
}

static void closed_end_is_reported_once_and_the_loop_rests(void **state) {
  begin(&seen, 1);
  expect(&seen, "ping\n", "p;");
  close(seen.ends[1]);
  seen.ends[1] = -1;
  turn(&seen, 3);
  assert_false(seen.control.is_listening);
  assert_int_equal(uv_run(&seen.loop, UV_RUN_DEFAULT), 0);
  end(&seen);
}

/* A line that begins on one loop can end on the next loop. The end of the input
 * is reported once. */
static void commands_go_on_on_another_loop(void **state) {
  begin(&seen, 1);
  expect(&seen, "enable\nena", "+;");
  end_loop(&seen);
  listen_to(&seen);
  expect(&seen, "ble x\n", "+x;");
  expect_acks(&seen, 2);
  close(seen.ends[1]);
  seen.ends[1] = -1;
  turn(&seen, 3);
  end_loop(&seen);
  listen_to(&seen);
  assert_false(seen.control.is_listening);
  end(&seen);
}

static void no_text_is_no_other_process(void **state) {
  seen = (seen_t){.ends = {-1, -1}, .acks = {-1, -1}};

  assert_int_equal(common_control_open(&seen.control, NULL), 0);
  listen_to(&seen);
  assert_int_equal(uv_run(&seen.loop, UV_RUN_DEFAULT), 0);
  end(&seen);
}

/* A shell shares the descriptors. If they became nonblocking, its read(2) would
 * fail. */
static void given_descriptors_stay_blocking(void **state) {
  int is_socket;

  for (is_socket = 0; is_socket < 2; is_socket++) {
    begin(&seen, is_socket);
    assert_false(fcntl(seen.ends[0], F_GETFL) & O_NONBLOCK);
    assert_false(fcntl(seen.acks[1], F_GETFL) & O_NONBLOCK);
    assert_true(fcntl(seen.ends[0], F_GETFD) & FD_CLOEXEC);
    assert_true(fcntl(seen.acks[1], F_GETFD) & FD_CLOEXEC);
    expect(&seen, "ping\n", "p;");
    end(&seen);
  }
}

/* -- FIFOs ----------------------------------------------------------------- */

/* The test opens and closes the other end several times. */
static void fifo_is_opened_before_its_other_end_and_after(void **state) {
  char path[] = "/tmp/uvperf_control_XXXXXX", text[64];
  int i;

  seen = (seen_t){.ends = {-1, -1}, .acks = {-1, -1}};
  close(mkstemp(path));
  snprintf(text, sizeof(text), "fifo:%s", path);
  assert_int_equal(common_control_open(&seen.control, text), 1); /* a file */
  unlink(path);
  assert_int_equal(common_control_open(&seen.control, text), 1); /* missing */
  assert_int_equal(mkfifo(path, 0600), 0);
  assert_int_equal(common_control_open(&seen.control, text), 0);
  listen_to(&seen);
  for (i = 0; i < 3; i++) {
    seen.ends[1] = open(path, O_WRONLY);
    assert_true(seen.ends[1] >= 0);
    expect(&seen, "enable x\n", "+x;");
    close(seen.ends[1]);
    turn(&seen, 3);
    assert_true(seen.control.is_listening);
  }
  seen.ends[1] = -1;
  end(&seen);
  unlink(path);
}

/* open(2) fails with ENXIO for a FIFO, but not for a pipe. */
static void ack_fifo_without_a_reader_is_done_without(void **state) {
  char directory[] = "/tmp/uvperf_control_XXXXXX", path[64], text[64];

  seen = (seen_t){.acks = {-1, -1}};
  assert_non_null(mkdtemp(directory));
  snprintf(path, sizeof(path), "%s/ack", directory);
  assert_int_equal(mkfifo(path, 0600), 0);
  seen.acks[0] = open(path, O_RDONLY | O_NONBLOCK);
  seen.acks[1] = open(path, O_WRONLY);
  assert_int_equal(pipe(seen.ends), 0);
  close(seen.acks[0]);
  seen.acks[0] = -1;
  snprintf(text, sizeof(text), "fd:%d,%d", seen.ends[0], seen.acks[1]);
  assert_int_equal(common_control_open(&seen.control, text), 0);
  listen_to(&seen);
  expect(&seen, "ping\nenable\n", "p;+;");
  end(&seen);
  unlink(path);
  rmdir(directory);
}

static void wrong_forms_are_refused(void **state) {
  static const char *const texts[] = {"",        "fd:",
                                      "fd:x",    "fd:-1",
                                      "fd:1,",   "fd:1,x",
                                      "fd:1x",   "fd:1,2,",
                                      "fifo:",   "fifo:a,",
                                      "fifo:,b", "12",
                                      "FD:1",    "fd:99999999999999999999",
                                      "fifo"};
  size_t i;

  for (i = 0; i < COUNT_OF(texts); i++) {
    if (common_control_check(texts[i]) != COMMON_EXIT_USAGE)
      fail_msg("'%s' was taken", texts[i]);
  }
  assert_int_equal(common_control_check("fd:0"), 0);
  assert_int_equal(common_control_check("fifo:a,b"), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(commands_come_by_pipes),
      cmocka_unit_test(commands_come_by_sockets),
      cmocka_unit_test(other_lines_are_neither_run_nor_acknowledged),
      cmocka_unit_test(many_commands_leave_the_loop_its_turns),
      cmocka_unit_test(acks_that_are_not_read_do_not_block),
      cmocka_unit_test(closed_end_is_reported_once_and_the_loop_rests),
      cmocka_unit_test(commands_go_on_on_another_loop),
      cmocka_unit_test(no_text_is_no_other_process),
      cmocka_unit_test(given_descriptors_stay_blocking),
      cmocka_unit_test(fifo_is_opened_before_its_other_end_and_after),
      cmocka_unit_test(ack_fifo_without_a_reader_is_done_without),
      cmocka_unit_test(wrong_forms_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
