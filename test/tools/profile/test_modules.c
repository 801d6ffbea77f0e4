/* SPDX-License-Identifier: MIT */
/* Modules are loaded and unloaded while a made-up kernel is profiled. */
#include "support.h"

#include "account_rows.h"
#include "profile/modules.h"
#include "profile/symbols/symbols.h"
#include "make_tree.h"

#define KERNEL "ffffffff81000000 T _stext\nffffffff82000000 T _etext\n"
#define XFS    UINT64_C(0xffffffffc0a00010)
#define SOUND  UINT64_C(0xffffffffc0b00010)

#define XFS_LINE   "xfs 8192 1 - Live 0xffffffffc0a00000\n"
#define SOUND_LINE "sound 8192 0 - Live 0xffffffffc0b00000\n"

typedef struct fixture_s {
  make_tree_t *tree;
  uv_loop_t loop;
  symbols_t *symbols;
  profile_account_t account;
  profile_modules_t modules;
  char modules_path[512], kallsyms_path[512];
} fixture_t;

static void list(const fixture_t *fixture, const char *modules,
                 const char *kallsyms) {
  make_tree_write(fixture->tree, "/modules", modules);
  make_tree_write(fixture->tree, "/kallsyms", kallsyms);
}

static fixture_t *begin(void **state, const char *modules,
                        const char *kallsyms) {
  static fixture_t fixture;
  symbols_options_t options = {.kallsyms = fixture.kallsyms_path};

  memset(&fixture, 0, sizeof(fixture));
  fixture.tree = *state;
  snprintf(fixture.modules_path, sizeof(fixture.modules_path), "%s/modules",
           fixture.tree->root);
  snprintf(fixture.kallsyms_path, sizeof(fixture.kallsyms_path), "%s/kallsyms",
           fixture.tree->root);
  list(&fixture, modules, kallsyms);
  assert_int_equal(uv_loop_init(&fixture.loop), 0);
  fixture.symbols = symbols_new(&fixture.loop, &options);
  profile_account_init(&fixture.account, STACKS_BY_FUNCTION, fixture.symbols);
  profile_modules_init(&fixture.modules, fixture.modules_path);
  return &fixture;
}

static void sample(fixture_t *fixture, uint64_t ip) {
  account_rows_sample_kernel(&fixture->account, ip, 1);
}

static void find_names(fixture_t *fixture) {
  account_rows_find_names(&fixture->account, &fixture->loop);
}

/* Checks the rows of the profile, and ends it. */
static void expect(fixture_t *fixture, const char *expected) {
  find_names(fixture);
  account_rows_expect(&fixture->account, expected);
  symbols_close(fixture->symbols, NULL, NULL);
  uv_run(&fixture->loop, UV_RUN_DEFAULT);
  profile_modules_free(&fixture->modules);
  profile_account_free(&fixture->account);
  symbols_free(fixture->symbols);
  assert_int_equal(uv_loop_close(&fixture->loop), 0);
}

static void module_that_is_loaded_later_is_named(void **state) {
  fixture_t *fixture =
      begin(state, XFS_LINE, KERNEL "ffffffffc0a00000 t read\t[xfs]\n");

  sample(fixture, XFS);
  sample(fixture, SOUND);
  find_names(fixture);
  list(fixture, XFS_LINE SOUND_LINE,
       KERNEL "ffffffffc0a00000 t read\t[xfs]\n"
              "ffffffffc0b00000 t play\t[sound]\n");
  profile_modules_check(&fixture->modules, &fixture->account);
  sample(fixture, SOUND);
  sample(fixture, SOUND);
  expect(fixture, "play [sound],0,3;read [xfs],0,1;");
}

/* The other module has the name of the first one in a list of symbols that is
 * read when the first has gone. */
static void module_that_went_leaves_no_name_to_the_next_one(void **state) {
  fixture_t *fixture = begin(state, XFS_LINE, KERNEL);

  sample(fixture, XFS);
  list(fixture, "next 8192 0 - Live 0xffffffffc0a00000\n",
       KERNEL "ffffffffc0a00000 t wrong\t[next]\n");
  profile_modules_check(&fixture->modules, &fixture->account);
  sample(fixture, XFS);
  expect(fixture, "[kernel]+0xffffffffc0a00010,0,2;");
}

/* Its name was looked up while it was there. */
static void module_that_went_keeps_its_own_name(void **state) {
  fixture_t *fixture =
      begin(state, XFS_LINE, KERNEL "ffffffffc0a00000 t read\t[xfs]\n");

  sample(fixture, XFS);
  sample(fixture, XFS);
  find_names(fixture);
  list(fixture, "next 8192 0 - Live 0xffffffffc0a00000\n",
       KERNEL "ffffffffc0a00000 t wrong\t[next]\n");
  profile_modules_check(&fixture->modules, &fixture->account);
  sample(fixture, XFS);
  sample(fixture, XFS + 1);
  expect(fixture, "read [xfs],0,2;[kernel]+0xffffffffc0a00010,0,1;"
                  "[kernel]+0xffffffffc0a00011,0,1;");
}

static void module_that_is_elsewhere_now_went(void **state) {
  fixture_t *fixture =
      begin(state, XFS_LINE, KERNEL "ffffffffc0a00000 t read\t[xfs]\n");

  list(fixture, "xfs 8192 1 - Live 0xffffffffc0c00000\n",
       KERNEL "ffffffffc0a00000 t wrong\t[next]\n"
              "ffffffffc0a01000 t wrong\t[next]\n");
  profile_modules_check(&fixture->modules, &fixture->account);
  sample(fixture, XFS);
  sample(fixture, XFS + 8191 - 0x10);
  sample(fixture, XFS + 8191 - 0x10);
  expect(fixture, "[kernel]+0xffffffffc0a01fff,0,2;"
                  "[kernel]+0xffffffffc0a00010,0,1;");
}

/* The count of users is in the same line. */
static void module_that_is_used_more_often_stays(void **state) {
  fixture_t *fixture =
      begin(state, XFS_LINE, KERNEL "ffffffffc0a00000 t read\t[xfs]\n");

  list(fixture, "xfs 8192 2 a,b, Live 0xffffffffc0a00000 (E)\n",
       KERNEL "ffffffffc0a00000 t read\t[xfs]\n");
  profile_modules_check(&fixture->modules, &fixture->account);
  sample(fixture, XFS);
  expect(fixture, "read [xfs],0,1;");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      MAKE_TREE_TEST(module_that_is_loaded_later_is_named),
      MAKE_TREE_TEST(module_that_went_leaves_no_name_to_the_next_one),
      MAKE_TREE_TEST(module_that_went_keeps_its_own_name),
      MAKE_TREE_TEST(module_that_is_elsewhere_now_went),
      MAKE_TREE_TEST(module_that_is_used_more_often_stays),
#undef TEST
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
