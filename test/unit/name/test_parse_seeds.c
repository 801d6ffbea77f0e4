/* SPDX-License-Identifier: MIT */
/* Replays the seeds of the fuzzer, and random variants of them. */
#include "support.h"
#include "make_host.h"
#include "make_tree.h"

#include "check_name.h"
#include "make_names.h"
#include "make_seeds.h"

#define MUTATED 1000

static int tree_setup(void **state) {
  if (make_host_setup(state) != 0)
    return -1;
  return make_names_plant(make_host_root(), "tree.txt");
}

static void check(const char *name, const char *text, int *code) {
  const char *fault = event_name_check(text, code);

  if (fault != NULL)
    fail_msg("%s: '%s': %s", name, text, fault);
}

/* A seed is the text before its first zero byte. */
static void replay(seed_t *seed, void *data) {
  unsigned int *nr = data;
  int code;

  check(seed->name, (const char *)seed->bytes, &code);
  nr[code != 0]++;
}

static void seeds_parse_or_fail_with_a_column(void **state) {
  unsigned int nr[2] = {0, 0};

  seeds_each("event_name", 0, replay, nr);
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

static void try_mutated(seed_t *seed, void *data) {
  chance_t *chance = data;
  char mutated[sizeof(seed->bytes)];
  unsigned int i, times;
  int code;

  for (i = 0; i < 40; i++) {
    snprintf(mutated, sizeof(mutated), "%s", (const char *)seed->bytes);
    for (times = 1 + draw(chance, 3); times > 0; times--)
      mutate(chance, mutated);
    check(seed->name, mutated, &code);
    if (code == 0)
      chance->valid++;
    else
      chance->failed++;
  }
}

static void thousand_mutated_names_fail_with_a_column(void **state) {
  chance_t chance = {1, 0, 0};

  while (chance.failed < MUTATED)
    seeds_each("event_name", 0, try_mutated, &chance);
  print_message("%u mutated names failed, %u were names still\n", chance.failed,
                chance.valid);
}

#define TEST(f)                                                                \
  cmocka_unit_test_setup_teardown(f, tree_setup, make_host_teardown)

int main(void) {
  static const struct CMUnitTest tests[] = {
      TEST(seeds_parse_or_fail_with_a_column),
      TEST(thousand_mutated_names_fail_with_a_column),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
