/* SPDX-License-Identifier: MIT */
/* The loop writes the frames, so that a blocked terminal (Ctrl-S, a broken
 * connection) does not stop the sampling. */
#include "profile/terminal.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* enter_text switches to the alternate screen, without a cursor and without
 * wrapped lines. leave_text switches back. The first byte of leave_text cancels
 * a sequence that was only partly written. */
static const char enter_text[] = "\033[?1049h\033[?25l\033[?7l\033[2J";
static const char leave_text[] = "\030\033[?7h\033[?25h\033[?1049l";

#define LEAVE_MS 200

/* -- restoring the terminal ------------------------------------------------ */

static volatile sig_atomic_t is_entered;

/* Async-signal-safe. */
static void leave(void) {
  struct pollfd fd = {STDOUT_FILENO, POLLOUT, 0};
  ssize_t rc;

  if (!is_entered)
    return;
  is_entered = 0;
  if (poll(&fd, 1, LEAVE_MS) == 1 && (fd.revents & POLLOUT) != 0) {
    rc = write(STDOUT_FILENO, leave_text, sizeof(leave_text) - 1);
    (void)rc;
  }
  uv_tty_reset_mode();
}

static void on_crash(int number) {
  leave();
  raise(number);
}

/* Called for the signals of a crash. The session handles the signals that ask
 * the program to end. */
static void leave_at_crash(void) {
  static const int numbers[] = {SIGABRT, SIGBUS,  SIGFPE,
                                SIGILL,  SIGQUIT, SIGSEGV};
  struct sigaction action, before;
  size_t i;

  memset(&action, 0, sizeof(action));
  action.sa_handler = on_crash;
  action.sa_flags = (int)SA_RESETHAND | SA_NODEFER;
  for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
    if (sigaction(numbers[i], NULL, &before) == 0 &&
        before.sa_handler == SIG_DFL)
      sigaction(numbers[i], &action, NULL);
  }
}

/* -- frames ---------------------------------------------------------------- */

int profile_terminal_is_there(void) {
  const char *kind = getenv("TERM");

  return uv_guess_handle(STDOUT_FILENO) == UV_TTY && kind != NULL &&
         kind[0] != '\0' && strcmp(kind, "dumb") != 0;
}

static void on_written(uv_write_t *write, int status) {
  profile_terminal_t *terminal = write->data;

  terminal->is_writing = 0;
  if (!terminal->is_open) {
    common_buffer_free(&terminal->frame);
  } else if (status != 0 && !terminal->is_lost) {
    terminal->is_lost = 1;
    terminal->on_lost(terminal);
  }
}

static void write_frame(profile_terminal_t *terminal) {
  uv_buf_t buffer =
      uv_buf_init(terminal->frame.text, (unsigned int)terminal->frame.used);

  terminal->is_writing = 1;
  terminal->write.data = terminal;
  if (uv_write(&terminal->write, (uv_stream_t *)&terminal->out, &buffer, 1,
               on_written) != 0)
    on_written(&terminal->write, UV_EIO);
}

/* Lines are overwritten and not cleared first, so nothing flickers. */
void profile_terminal_draw(profile_terminal_t *terminal, const char *text) {
  common_buffer_t *frame = &terminal->frame;
  const char *end;
  size_t i;

  if (!terminal->is_open || terminal->is_writing || terminal->is_lost)
    return;
  frame->used = 0;
  common_buffer_text(frame, terminal->is_new ? enter_text : "");
  terminal->is_new = 0;
  common_buffer_text(frame, "\033[H");
  for (i = 0; (end = strchr(text, '\n')) != NULL; i++) {
    common_buffer_text(frame, i == 0 ? "" : "\r\n");
    common_buffer_text(frame, i == 1 ? "\033[7m" : "");
    common_buffer_add(frame, text, (size_t)(end - text));
    common_buffer_text(frame, "\033[K\033[m");
    text = end + 1;
  }
  common_buffer_text(frame, "\033[J");
  write_frame(terminal);
}

/* Sets the mode twice, because the terminal may have another mode after the
 * program was stopped, and libuv skips a mode that it has already set. */
static void enter(profile_terminal_t *terminal) {
  is_entered = 1;
  terminal->is_new = 1;
  if (terminal->has_in) {
    uv_tty_set_mode(&terminal->in, UV_TTY_MODE_NORMAL);
    uv_tty_set_mode(&terminal->in, UV_TTY_MODE_RAW);
  }
  terminal->on_resize(terminal);
}

static void on_resize(uv_signal_t *handle, int number) {
  profile_terminal_t *terminal = handle->data;

  (void)number;
  terminal->on_resize(terminal);
}

static void on_resume(uv_signal_t *handle, int number) {
  (void)number;
  enter(handle->data);
}

static void on_allocate(uv_handle_t *handle, size_t size, uv_buf_t *buffer) {
  static char bytes[64];

  (void)handle;
  (void)size;
  *buffer = uv_buf_init(bytes, sizeof(bytes));
}

/* If the terminal is gone, keys are not read any more. */
static void on_read(uv_stream_t *stream, ssize_t nr, const uv_buf_t *buffer) {
  profile_terminal_t *terminal = stream->data;
  ssize_t i;

  if (nr < 0)
    uv_read_stop(stream);
  for (i = 0; i < nr && terminal->is_open; i++)
    terminal->on_key(terminal, (unsigned char)buffer->base[i]);
}

static void open_keys(profile_terminal_t *terminal, uv_loop_t *loop) {
  terminal->has_in = uv_guess_handle(STDIN_FILENO) == UV_TTY &&
                     uv_tty_init(loop, &terminal->in, STDIN_FILENO, 1) == 0;
  if (!terminal->has_in)
    return;
  terminal->in.data = terminal;
  uv_read_start((uv_stream_t *)&terminal->in, on_allocate, on_read);
}

static void listen_to(profile_terminal_t *terminal, uv_signal_t *handle,
                      uv_signal_cb call, int number) {
  uv_signal_init(terminal->out.loop, handle);
  handle->data = terminal;
  uv_signal_start(handle, call, number);
  uv_unref((uv_handle_t *)handle);
}

int profile_terminal_open(profile_terminal_t *terminal, uv_loop_t *loop) {
  int rc = uv_tty_init(loop, &terminal->out, STDOUT_FILENO, 0);

  if (rc != 0)
    return rc;
  terminal->is_open = 1;
  open_keys(terminal, loop);
  listen_to(terminal, &terminal->resized, on_resize, SIGWINCH);
  listen_to(terminal, &terminal->resumed, on_resume, SIGCONT);
  leave_at_crash();
  atexit(leave);
  enter(terminal);
  return 0;
}

void profile_terminal_size(const profile_terminal_t *terminal, size_t *columns,
                           size_t *lines) {
  int width = 0, height = 0;

  if (uv_tty_get_winsize((uv_tty_t *)(uintptr_t)&terminal->out, &width,
                         &height) != 0 ||
      width <= 0 || height <= 0) {
    width = 80;
    height = 24;
  }
  *columns = (size_t)width;
  *lines = (size_t)height;
}

void profile_terminal_suspend(profile_terminal_t *terminal) {
  leave();
  kill(0, SIGTSTP);
  enter(terminal);
}

void profile_terminal_close(profile_terminal_t *terminal) {
  if (!terminal->is_open)
    return;
  terminal->is_open = 0;
  leave();
  uv_close((uv_handle_t *)&terminal->resized, NULL);
  uv_close((uv_handle_t *)&terminal->resumed, NULL);
  if (terminal->has_in)
    uv_close((uv_handle_t *)&terminal->in, NULL);
  uv_close((uv_handle_t *)&terminal->out, NULL);
  if (!terminal->is_writing)
    common_buffer_free(&terminal->frame);
}
