/* SPDX-License-Identifier: MIT */
#include "profile/symbols/download.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* From elfutils/debuginfod.h, which is rarely installed. */
typedef struct debuginfod_client debuginfod_client_t;

typedef struct library_s {
  debuginfod_client_t *(*begin)(void);
  int (*find)(debuginfod_client_t *client, const unsigned char *build_id,
              int bytes, char **path);
  debuginfod_client_t *client;
} library_t;

/* The worker cannot write to root's own cache when it has dropped its rights.
 * Only root can make a directory here. */
static const char cache[] = "/var/cache/uvperf-debuginfod";

void symbols_download_begin(unsigned user) {
  struct stat info;
  int fd;

  if (getenv("DEBUGINFOD_CACHE_PATH") != NULL)
    return;
  mkdir(cache, 0700);
  fd = open(cache, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0 && fstat(fd, &info) == 0 && info.st_uid == 0)
    (void)!fchown(fd, user, user);
  if (fd >= 0)
    close(fd);
  setenv("DEBUGINFOD_CACHE_PATH", cache, 1);
}

static int load_library(library_t *library) {
  void *handle = dlopen("libdebuginfod.so.1", RTLD_NOW);

  if (handle == NULL)
    return -1;
  *(void **)&library->begin = dlsym(handle, "debuginfod_begin");
  *(void **)&library->find = dlsym(handle, "debuginfod_find_debuginfo");
  if (library->begin != NULL && library->find != NULL)
    library->client = library->begin();
  return library->client != NULL ? 0 : -1;
}

void symbols_download_answer(symbols_message_t *request,
                             symbols_message_t *response) {
  static library_t library;
  const void *build_id;
  size_t size;
  int fd;

  build_id = symbols_get_bytes(request, &size);
  if (library.client == NULL && load_library(&library) != 0) {
    symbols_put_text(response, "libdebuginfod is not installed");
    return;
  }
  fd = library.find(library.client, build_id, (int)size, NULL);
  symbols_put_text(response, fd >= 0 ? "" : strerror(-fd));
  if (fd >= 0)
    response->fds[response->nr_fds++] = fd;
}
