/* SPDX-License-Identifier: MIT */
/* Formats events. */
#include "watch/line.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "common/memory.h"
#include "common/name.h"

static const char *const kinds[] = {
    "fork", "exec", "exit", "mmap", "comm", "thread", "thread_exit", "lost",
};

watch_event_t *watch_event_new(watch_kind_t kind, uint64_t time, uint32_t pid,
                               uint32_t tid) {
  watch_event_t *event = common_calloc(1, sizeof(*event));

  event->kind = kind;
  event->time = time;
  event->pid = pid;
  event->tid = tid;
  return event;
}

/* The process may have removed the last NUL, so a NUL is added. */
void watch_event_args(watch_event_t *event, const char *args, size_t size,
                      size_t max) {
  event->args_cut = size > max;
  event->args_size = size > max ? max : size;
  event->args = common_copy(args, event->args_size);
}

void watch_event_free(watch_event_t *event) {
  free(event->path);
  free(event->args);
  free(event);
}

/* -- arguments and ends ---------------------------------------------------- */

/* Returns the next argument, or NULL. */
static const char *next_arg(const watch_event_t *event, const char *arg) {
  arg += strlen(arg) + 1;
  return arg < event->args + event->args_size ? arg : NULL;
}

/* Puts all arguments except the first, which is a name of the program. */
static void put_text_args(common_buffer_t *buffer, const watch_event_t *event) {
  const char *arg = next_arg(event, event->args);

  for (; arg != NULL; arg = next_arg(event, arg)) {
    common_buffer_text(buffer, " ");
    if (arg[strcspn(arg, " \"")] != '\0' || arg[0] == '\0')
      common_name_quoted(buffer, arg);
    else
      common_name_text(buffer, arg);
  }
  if (event->args_cut)
    common_buffer_text(buffer, "...");
}

static void put_json_args(common_buffer_t *buffer, const watch_event_t *event) {
  const char *arg = event->args;
  int is_utf8 = 1;

  common_buffer_text(buffer, ",\"args\":[");
  for (; arg != NULL; arg = next_arg(event, arg)) {
    common_buffer_text(buffer, arg == event->args ? "" : ",");
    is_utf8 &= common_name_json_string(buffer, arg);
  }
  common_buffer_text(buffer, "]");
  if (!is_utf8) {
    common_buffer_text(buffer, ",\"args_hex\":\"");
    common_buffer_bytes(buffer, event->args, event->args_size);
    common_buffer_text(buffer, "\"");
  }
  if (event->args_cut)
    common_buffer_text(buffer, ",\"args_cut\":true");
}

static void put_signal(common_buffer_t *buffer, int number) {
  static const char *const names[] = {
      [SIGHUP] = "HUP",   [SIGINT] = "INT",   [SIGQUIT] = "QUIT",
      [SIGILL] = "ILL",   [SIGTRAP] = "TRAP", [SIGABRT] = "ABRT",
      [SIGBUS] = "BUS",   [SIGFPE] = "FPE",   [SIGKILL] = "KILL",
      [SIGUSR1] = "USR1", [SIGSEGV] = "SEGV", [SIGUSR2] = "USR2",
      [SIGPIPE] = "PIPE", [SIGALRM] = "ALRM", [SIGTERM] = "TERM",
      [SIGXCPU] = "XCPU", [SIGXFSZ] = "XFSZ", [SIGVTALRM] = "VTALRM",
      [SIGPROF] = "PROF", [SIGIO] = "IO",     [SIGPWR] = "PWR",
      [SIGSYS] = "SYS",
  };

  if ((size_t)number < sizeof(names) / sizeof(names[0]) &&
      names[number] != NULL)
    common_buffer_print(buffer, "SIG%s", names[number]);
  else
    common_buffer_print(buffer, "signal %d", number);
}

static void put_text_status(common_buffer_t *buffer,
                            const watch_event_t *event) {
  int status = (int)event->status;

  if (!WIFSIGNALED(status)) {
    common_buffer_print(buffer, " status %d", WEXITSTATUS(status));
    return;
  }
  common_buffer_text(buffer, " killed by ");
  put_signal(buffer, WTERMSIG(status));
  if (WCOREDUMP(status))
    common_buffer_text(buffer, ", core dumped");
}

static void put_json_status(common_buffer_t *buffer,
                            const watch_event_t *event) {
  int status = (int)event->status;

  if (!WIFSIGNALED(status)) {
    common_buffer_print(buffer, ",\"status\":%d", WEXITSTATUS(status));
    return;
  }
  common_buffer_text(buffer, ",\"signal\":\"");
  put_signal(buffer, WTERMSIG(status));
  common_buffer_print(buffer, "\",\"core\":%s",
                      WCOREDUMP(status) ? "true" : "false");
}

/* -- lines ----------------------------------------------------------------- */

/* Puts a question mark if the name is not known. */
static void put_text_name(common_buffer_t *buffer, const char *name) {
  if (name[0] == '\0')
    common_buffer_print(buffer, "?");
  else
    common_name_text(buffer, name);
}

static void put_text(common_buffer_t *buffer, const watch_event_t *event) {
  common_buffer_print(buffer, "%" PRIu64 ".%06" PRIu64 " %-6s ",
                      event->time / 1000000000, event->time / 1000 % 1000000,
                      kinds[event->kind]);
  if (event->kind == WATCH_LOST) {
    common_buffer_print(buffer, "%" PRIu64 " record%s on CPU %u", event->lost,
                        event->lost == 1 ? "" : "s", event->cpu);
    return;
  }
  if (event->kind == WATCH_FORK || event->kind == WATCH_THREAD)
    common_buffer_print(buffer, "%u -> ", event->ppid);
  common_buffer_print(buffer, "%u", event->pid);
  if (event->tid != event->pid && event->kind != WATCH_EXIT)
    common_buffer_print(buffer, "/%u", event->tid);
  common_buffer_print(buffer, " ");
  if (event->kind != WATCH_MMAP)
    put_text_name(buffer, event->comm);
  if (event->kind == WATCH_EXEC && (event->path != NULL || event->args != NULL))
    common_buffer_print(buffer, " ");
  if (event->path != NULL || event->args != NULL)
    put_text_name(buffer, event->path != NULL ? event->path : "");
  if (event->args != NULL)
    put_text_args(buffer, event);
  if (event->has_status)
    put_text_status(buffer, event);
  if (event->kind == WATCH_MMAP)
    common_buffer_print(buffer, " 0x%" PRIx64 "+0x%" PRIx64, event->addr,
                        event->len);
}

static void put_json_name(common_buffer_t *buffer, const char *key,
                          const char *name) {
  if (name != NULL && name[0] != '\0')
    common_name_json(buffer, key, name);
}

static void put_json(common_buffer_t *buffer, const watch_event_t *event) {
  common_buffer_print(
      buffer, "{\"time\":%" PRIu64 ".%09" PRIu64 ",\"type\":\"%s\"",
      event->time / 1000000000, event->time % 1000000000, kinds[event->kind]);
  if (event->kind == WATCH_LOST) {
    common_buffer_print(buffer, ",\"lost\":%" PRIu64 ",\"cpu\":%u}",
                        event->lost, event->cpu);
    return;
  }
  common_buffer_print(buffer, ",\"pid\":%u", event->pid);
  if ((event->tid != event->pid && event->kind != WATCH_EXIT) ||
      event->kind == WATCH_THREAD_EXIT)
    common_buffer_print(buffer, ",\"tid\":%u", event->tid);
  if (event->ppid != 0 && event->kind != WATCH_THREAD)
    common_buffer_print(buffer, ",\"ppid\":%u", event->ppid);
  put_json_name(buffer, "comm", event->comm);
  put_json_name(buffer, event->kind == WATCH_EXEC ? "exe" : "path",
                event->path);
  if (event->args != NULL)
    put_json_args(buffer, event);
  if (event->has_status)
    put_json_status(buffer, event);
  if (event->kind == WATCH_MMAP)
    common_buffer_print(buffer,
                        ",\"addr\":\"0x%" PRIx64 "\",\"len\":%" PRIu64
                        ",\"pgoff\":%" PRIu64,
                        event->addr, event->len, event->pgoff);
  common_buffer_print(buffer, "}");
}

void watch_line(common_buffer_t *buffer, const watch_event_t *event, int json) {
  if (json)
    put_json(buffer, event);
  else
    put_text(buffer, event);
  common_buffer_add(buffer, "\n", 1);
}
