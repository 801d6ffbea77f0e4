/* SPDX-License-Identifier: MIT */
/* Replays the seeds of the fuzzer, and random variants of them. */
#include "support.h"
#include "make_host.h"
#include "make_tree.h"

#include <dirent.h>

#include "check_name.h"
#include "make_names.h"

#define SEEDS    UVPERF_TEST_DIR "/fuzz/event_name"
#define MUTATED  1000
#define MAX_SEED 4096

static int tree_setup(void **state) {
  if (make_host_setup(state) != 0)
    return -1;
  return make_names_plant(make_host_root(), "tree.txt");
}

/* The text of a seed, without the part after a zero byte. The caller frees
 * it. */
static char *read_seed(const char *name) {
  char path[512];
  char *text = calloc(1, MAX_SEED + 1);
  FILE *file;

  assert_non_null(text);
  snprintf(path, sizeof(path), SEEDS "/%s", name);
  file = fopen(path, "re");
  assert_non_null(file);
  assert_true(fread(text, 1, MAX_SEED, file) > 0 || feof(file));
  assert_int_equal(fclose(file), 0);
  return text;
}

static void check(const char *name, const char *text, int *code) {
  const char *fault = event_name_check(text, code);

  if (fault != NULL)
    fail_msg("%s: '%s': %s", name, text, fault);
}

static int is_seed(const struct dirent *entry) {
  return entry->d_name[0] != '.';
}

/* Calls a function with each seed, in the order of the alphabet. */
static void each_seed(void (*each)(const char *name, const char *text,
                                   void *data),
                      void *data) {
  struct dirent **seeds;
  int nr = scandir(SEEDS, &seeds, is_seed, alphasort);
  char *text;
  int i;

  assert_true(nr > 0);
  for (i = 0; i < nr; i++) {
    text = read_seed(seeds[i]->d_name);
    each(seeds[i]->d_name, text, data);
    free(text);
    free(seeds[i]);
  }
  free(seeds);
}

static void replay(const char *name, const char *text, void *data) {
  unsigned int *nr = data;
  int code;

  check(name, text, &code);
  nr[code != 0]++;
}

static void seeds_parse_or_fail_with_a_column(void **state) {
  unsigned int nr[2] = {0, 0};

  each_seed(replay, nr);
  print_message("%u seeds parse, %u do not\n", nr[0], nr[1]);
  assert_true(nr[0] > 30 && nr[1] > 15);
}

/* A generator of its own, so that the names are the same everywhere. */
typedef struct chance_s {
  uint64_t state;
  unsigned int valid;
  unsigned int failed;
} chance_t;

static unsigned int draw(chance_t *chance, size_t below) {
  chance->state = chance->state * UINT64_C(6364136223846793005) +
                  UINT64_C(1442695040888963407);
  return (unsigned int)((chance->state >> 33) % below);
}

static char draw_byte(chance_t *chance) {
  static const char likely[] = ":/,={}-_.*?'\" 09xaukp";

  if (draw(chance, 4) != 0)
    return likely[draw(chance, sizeof(likely) - 1)];
  return (char)(1 + draw(chance, 255));
}

/* Inserts, deletes, swaps or replaces one byte of a text with room for one
 * more. */
static void mutate(chance_t *chance, char *text) {
  size_t length = strlen(text);
  size_t at = draw(chance, length + 1);
  char byte = text[at];

  switch (draw(chance, 4)) {
    case 0:
      memmove(text + at + 1, text + at, length - at + 1);
      text[at] = draw_byte(chance);
      return;
    case 1:
      if (at < length)
        memmove(text + at, text + at + 1, length - at);
      return;
    case 2:
      if (at + 1 < length) {
        text[at] = text[at + 1];
        text[at + 1] = byte;
      }
      return;
    default:
      if (at < length)
        text[at] = draw_byte(chance);
  }
}

static void try_mutated(const char *name, const char *text, void *data) {
  chance_t *chance = data;
  char mutated[MAX_SEED + 8];
  unsigned int i, times;
  int code;

  for (i = 0; i < 40; i++) {
    snprintf(mutated, sizeof(mutated), "%s", text);
    for (times = 1 + draw(chance, 3); times > 0; times--)
      mutate(chance, mutated);
    check(name, mutated, &code);
    if (code == 0)
      chance->valid++;
    else
      chance->failed++;
  }
}

static void thousand_mutated_names_fail_with_a_column(void **state) {
  chance_t chance = {1, 0, 0};

  while (chance.failed < MUTATED)
    each_seed(try_mutated, &chance);
  print_message("%u mutated names failed, %u were names still\n", chance.failed,
                chance.valid);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(seeds_parse_or_fail_with_a_column,
                                      tree_setup, make_host_teardown),
      cmocka_unit_test_setup_teardown(thousand_mutated_names_fail_with_a_column,
                                      tree_setup, make_host_teardown),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
