/* SPDX-License-Identifier: MIT */
/* Messages between the program and its worker. */
#include "support.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "profile/symbols/wire.h"

static int no_wait(void *arg, int fd, short events) {
  return -EAGAIN;
}

static void numbers_texts_and_files_arrive_as_they_were_sent(void **state) {
  symbols_message_t sent = {0}, received = {0};
  int fds[2], file;
  size_t size;
  char text[3] = "";

  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
  symbols_message_begin(&sent, 7);
  symbols_put_number(&sent, UINT64_MAX - 1);
  symbols_put_text(&sent, "name");
  symbols_put_bytes(&sent, NULL, 0);
  assert_int_equal(pipe(sent.fds), 0);
  sent.nr_fds = 2;
  assert_int_equal(symbols_wire_send(fds[0], &sent, no_wait, NULL), 0);
  assert_int_equal(write(sent.fds[1], "ok", 2), 2);

  assert_int_equal(symbols_wire_receive(fds[1], &received, no_wait, NULL), 0);
  assert_int_equal(received.type, 7);
  assert_true(symbols_get_number(&received) == UINT64_MAX - 1);
  assert_string_equal(symbols_get_text(&received), "name");
  symbols_get_bytes(&received, &size);
  assert_int_equal(size, 0);
  assert_int_equal(received.is_damaged, 0);
  file = symbols_get_fd(&received);
  assert_int_equal(fcntl(file, F_GETFD), FD_CLOEXEC);
  assert_int_equal(read(file, text, 2), 2);
  assert_string_equal(text, "ok");
  close(file);
  close(symbols_get_fd(&received));
  assert_int_equal(symbols_get_fd(&received), -1);

  assert_true(symbols_get_number(&received) == 0);
  assert_int_equal(received.is_damaged, 1);
  close(sent.fds[0]);
  close(sent.fds[1]);
  close(fds[0]);
  assert_int_equal(symbols_wire_receive(fds[1], &received, no_wait, NULL),
                   -ECONNRESET);
  close(fds[1]);
  symbols_message_free(&sent);
  symbols_message_free(&received);
}

static void lengths_beyond_the_message_are_damage(void **state) {
  static const uint64_t lengths[] = {9, UINT64_MAX, UINT64_MAX - 7, 1 << 20};
  symbols_message_t message = {0};
  size_t i, size;

  for (i = 0; i < 4; i++) {
    symbols_message_begin(&message, 1);
    symbols_put_number(&message, lengths[i]);
    symbols_put_number(&message, 0);
    symbols_get_bytes(&message, &size);
    assert_int_equal(size, 0);
    assert_int_equal(message.is_damaged, 1);
  }
  /* The text has no terminating NUL. */
  symbols_message_begin(&message, 1);
  symbols_put_bytes(&message, "abc", 3);
  assert_string_equal(symbols_get_text(&message), "");
  assert_int_equal(message.is_damaged, 1);
  symbols_message_free(&message);
}

static void body_that_is_too_large_is_refused_before_it_is_read(void **state) {
  const uint64_t header[] = {1, SYMBOLS_WIRE_BYTES + 1};
  symbols_message_t message = {0};
  int fds[2];

  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
  assert_int_equal(write(fds[0], header, 16), 16);
  assert_int_equal(symbols_wire_receive(fds[1], &message, no_wait, NULL),
                   -EPROTO);
  assert_null(message.body.text);
  close(fds[0]);
  close(fds[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_texts_and_files_arrive_as_they_were_sent),
      cmocka_unit_test(lengths_beyond_the_message_are_damage),
      cmocka_unit_test(body_that_is_too_large_is_refused_before_it_is_read),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
