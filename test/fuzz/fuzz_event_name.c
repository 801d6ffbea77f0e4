/* SPDX-License-Identifier: MIT */
/* libFuzzer's target for the parser of event names and for their labels, which
 * see the sysfs of support/names/tree.txt:
 *
 *   CC=clang cmake -S . -B build/fuzz -DUVPERF_FUZZ=ON
 *   make -C build/fuzz fuzz_event_name
 *   mkdir -p build/corpus
 *   build/fuzz/test/fuzz/fuzz_event_name -max_total_time=300 build/corpus \
 *     test/fuzz/event_name
 *
 * Its findings go into build/corpus. An interrupted run leaves its tree
 * in /tmp. */
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_name.h"
#include "fake_host.h"
#include "make_names.h"

static char root[] = "/tmp/uvperf-fuzz-XXXXXX";

static int remove_one(const char *path, const struct stat *status, int type,
                      struct FTW *ftw) {
  return remove(path);
}

static void remove_tree(void) {
  nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  if (mkdtemp(root) == NULL || make_names_plant(root, "tree.txt") != 0)
    abort();
  fake_host_set(root);
  return atexit(remove_tree);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  const char *fault;
  int code;

  if (text == NULL)
    return 0;
  memcpy(text, data, size);
  text[size] = '\0';
  fault = event_name_check(text, &code);
  if (fault != NULL) {
    fprintf(stderr, "%s: '%s'\n", fault, text);
    abort();
  }
  free(text);
  return 0;
}
