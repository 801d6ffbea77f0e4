/* SPDX-License-Identifier: MIT */
/* The worker's side: drops its rights, then answers one request after the other
 * until the program ends. */
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>

#include "profile/symbols/filter.h"
#include "profile/symbols/names.h"
#include "profile/symbols/perf_map.h"
#include "profile/symbols/symbols.h"
#include "profile/symbols/unwind_serve.h"
#include "profile/symbols/wire.h"
#include "profile/symbols/worker.h"

/* The id of the user and the group that have no rights on nearly all
 * systems. */
#define NOBODY 65534

/* Reads the body and the fds of a request, and writes the body of the response.
 * Fds that it does not take are closed afterwards. */
typedef void (*handler_t)(symbols_message_t *request,
                          symbols_message_t *response);

static const handler_t handlers[SYMBOLS_NR_REQUESTS] = {
    [SYMBOLS_REQUEST_NAMES] = symbols_names_answer,
    [SYMBOLS_REQUEST_JIT] = symbols_perf_map_answer,
    [SYMBOLS_REQUEST_UNWIND_MAP] = symbols_serve_unwind_map,
    [SYMBOLS_REQUEST_UNWIND_FILES] = symbols_serve_unwind_files,
    [SYMBOLS_REQUEST_UNWIND] = symbols_serve_unwind,
};

/* Only the socket stays open, because the worker must not have the program's
 * files. */
static void close_files(void) {
  int fd, null = open("/dev/null", O_RDWR);

  for (fd = 0; fd < SYMBOLS_WORKER_SOCKET && null >= 0; fd++) {
    if (fd != null)
      dup2(null, fd);
  }
  if (null > SYMBOLS_WORKER_SOCKET)
    close(null);
  if (syscall(SYS_close_range, SYMBOLS_WORKER_SOCKET + 1, ~0U, 0) == 0)
    return;
  for (fd = SYMBOLS_WORKER_SOCKET + 1; fd < sysconf(_SC_OPEN_MAX); fd++)
    close(fd);
}

/* Does nothing with sanitizers, because they reserve more addresses than
 * this. */
static void limit_memory(void) {
#if !defined(__SANITIZE_ADDRESS__) && UINTPTR_MAX > UINT32_MAX
  const struct rlimit memory = {UINT64_C(16) << 30, UINT64_C(16) << 30};

  setrlimit(RLIMIT_AS, &memory);
#endif
}

/* A program that is not root may have capabilities too, from its file. And in a
 * user namespace there may be no user nobody, so that root stays root. */
static int drop_rights(void) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};

  if (geteuid() == 0) {
    (void)!setgroups(0, NULL);
    (void)!setresgid(NOBODY, NOBODY, NOBODY);
    (void)!setresuid(NOBODY, NOBODY, NOBODY);
  }
  if (syscall(SYS_capset, &header, none) != 0)
    return -1;
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/* Returns 0, or -1 if rights could not be dropped. */
static int limit_rights(void) {
  const struct rlimit none = {0, 0};

  setrlimit(RLIMIT_CORE, &none);
  limit_memory();
  /* libdw would download. */
  unsetenv("DEBUGINFOD_URLS");
  setrlimit(RLIMIT_FSIZE, &none);
  prctl(PR_SET_NAME, "symbols-worker");
  if (drop_rights() != 0)
    return -1;
  /* So other processes of its user cannot inspect the worker, and it leaves no
   * core file. */
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  return symbols_filter_lack() != NULL ? 0 : symbols_filter_install();
}

static int wait_for(void *arg, int fd, short events) {
  struct pollfd item = {fd, events, 0};

  (void)arg;
  poll(&item, 1, -1);
  return 0;
}

static void serve_requests(void) {
  symbols_message_t request, response;
  int fd;

  memset(&request, 0, sizeof(request));
  memset(&response, 0, sizeof(response));
  while (symbols_wire_receive(SYMBOLS_WORKER_SOCKET, &request, wait_for,
                              NULL) == 0) {
    if (request.type >= SYMBOLS_NR_REQUESTS || handlers[request.type] == NULL)
      return;
    symbols_message_begin(&response, request.type);
    handlers[request.type](&request, &response);
    while ((fd = symbols_get_fd(&request)) >= 0)
      close(fd);
    if (symbols_wire_send(SYMBOLS_WORKER_SOCKET, &response, wait_for, NULL) !=
        0)
      return;
  }
}

void symbols_main(int argc, char **argv) {
  if (argc != 2 || strcmp(argv[1], SYMBOLS_WORKER_ARGUMENT) != 0)
    return;
  close_files();
  if (limit_rights() == 0)
    serve_requests();
  /* exit(3) would run handlers of the program. */
  _exit(0);
}
