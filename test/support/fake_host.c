/* SPDX-License-Identifier: MIT */
#include "fake_host.h"

#include <limits.h>
#include <stdio.h>

#include "util/file.h"

#define FULL_BYTES (PATH_MAX + 256)

/* The linker gives the functions of the library these names. */
int __real_uvperf__file_open(const char *path);
int __real_uvperf__file_link(const char *path, char *text, size_t size);
int __real_uvperf__file_inode(const char *path, uint64_t *inode);
int __real_uvperf__directory_open(const char *path);

int (*fake_host_opens)(const char *path);

static char host[256];

void fake_host_set(const char *root) {
  snprintf(host, sizeof(host), "%s", root != NULL ? root : "");
}

int fake_host_empty(void **state) {
  fake_host_set("/nonexistent");
  return 0;
}

int fake_host_real(void **state) {
  fake_host_set(NULL);
  return 0;
}

static const char *on_host(const char *path, char full[FULL_BYTES]) {
  snprintf(full, FULL_BYTES, "%s%s", host, path);
  return full;
}

int __wrap_uvperf__file_open(const char *path) {
  char full[FULL_BYTES];
  int code = fake_host_opens != NULL ? fake_host_opens(path) : 0;

  return code != 0 ? code : __real_uvperf__file_open(on_host(path, full));
}

int __wrap_uvperf__file_link(const char *path, char *text, size_t size) {
  char full[FULL_BYTES];

  return __real_uvperf__file_link(on_host(path, full), text, size);
}

int __wrap_uvperf__file_inode(const char *path, uint64_t *inode) {
  char full[FULL_BYTES];

  return __real_uvperf__file_inode(on_host(path, full), inode);
}

int __wrap_uvperf__directory_open(const char *path) {
  char full[FULL_BYTES];

  return __real_uvperf__directory_open(on_host(path, full));
}
