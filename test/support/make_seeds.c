/* SPDX-License-Identifier: MIT */
#include "make_seeds.h"

#include <dirent.h>

#include "support.h"

static void read_seed(const char *directory, seed_t *seed) {
  char path[512];
  FILE *file;

  memset(seed->bytes, 0, sizeof(seed->bytes));
  snprintf(path, sizeof(path), "%s/%s", directory, seed->name);
  file = fopen(path, "re");
  assert_non_null(file);
  seed->size = fread(seed->bytes, 1, sizeof(seed->bytes) - 256, file);
  assert_int_equal(fclose(file), 0);
}

static int is_seed(const struct dirent *entry) {
  return entry->d_name[0] != '.';
}

void seeds_each(const char *fuzzer, int least,
                void (*each)(seed_t *seed, void *arg), void *arg) {
  struct dirent **entries;
  char directory[256];
  seed_t seed;
  int nr, i;

  snprintf(directory, sizeof(directory), UVPERF_TEST_DIR "/fuzz/%s", fuzzer);
  nr = scandir(directory, &entries, is_seed, alphasort);
  assert_true(nr > least);
  for (i = 0; i < nr; i++) {
    seed.name = entries[i]->d_name;
    read_seed(directory, &seed);
    each(&seed, arg);
    free(entries[i]);
  }
  free(entries);
}
