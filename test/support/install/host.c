/* SPDX-License-Identifier: MIT */
/* A program of a user that loads a plugin, calls its function, and exits with
 * the result. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  int (*function)(void);
  void *plugin;
  void *found;

  if (argc != 2)
    return 64;
  plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (plugin == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 65;
  }
  found = dlsym(plugin, "plug");
  if (found == NULL)
    return 66;
  memcpy(&function, &found, sizeof(function));
  return function();
}
