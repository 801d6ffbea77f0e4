/* SPDX-License-Identifier: MIT */
/* Randomly damaged files, made by hand and by the linker: at worst an error. */
#include "make_elf.h"
#include "model_run.h"
#include "support.h"
#include "make_tree.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "host/elf_symbol.h"

static char path[PATH_MAX];

static int setup(void **state) {
  int rc = make_tree_setup(state);

  snprintf(path, sizeof(path), "%s/image", ((make_tree_t *)*state)->root);
  return rc;
}

/* -- damage at random ----------------------------------------------------- */

/* Damages a file of `size` bytes: sets some bytes, some of them to critical
 * values, and restores them. */
static void damage(model_run_t *run, int fd, const uint8_t *bytes, size_t size,
                   size_t *at, size_t nr) {
  static const uint8_t tempting[] = {0, 1, 0x7f, 0x80, 0xff};
  size_t i;

  for (i = 0; i < nr; i++) {
    uint8_t byte;

    at[i] = (size_t)model_run_draw(run, size);
    byte = (uint8_t)(bytes[at[i]] ^ (1u << model_run_draw(run, 8)));
    if (model_run_draw(run, 2) == 0)
      byte = tempting[model_run_draw(run, sizeof(tempting))];
    assert_int_equal(pwrite(fd, &byte, 1, (off_t)at[i]), 1);
  }
}

/* The results that the header of the functions promises. */
static int is_promised(int rc) {
  return rc == 0 || rc == -ENOENT || rc == -ENOEXEC || rc == -EBADMSG ||
         rc == -EFBIG || rc == -ENODATA || rc == -ENOTUNIQ || rc == -ENOTSUP;
}

/* Damages the first `dense` bytes of a file again and again. Returns how many
 * searches failed. */
static unsigned int damage_often(model_run_t *run, const uint8_t *bytes,
                                 size_t size, size_t dense, const char *name,
                                 int times) {
  unsigned int failed = 0;
  size_t at[8];
  int fd;

  make_elf_write_bytes(path, bytes, size);
  fd = open(path, O_WRONLY | O_CLOEXEC);
  assert_true(fd >= 0);
  for (run->step = 0; run->step < times; run->step++) {
    size_t nr = 1 + (size_t)model_run_draw(run, 8), i;
    int rc;

    damage(run, fd, bytes, dense, at, nr);
    rc = make_elf_search(path, name);
    model_run_expect(run, is_promised(rc), "another error", rc);
    failed += rc != 0;
    for (i = 0; i < nr; i++)
      assert_int_equal(pwrite(fd, bytes + at[i], 1, (off_t)at[i]), 1);
  }
  close(fd);
  assert_int_equal(make_elf_search(path, name), 0);
  return failed;
}

static void damage_of_a_made_file_at_random_is_an_error_at_most(void **state) {
  unsigned int failed;
  model_run_t run;
  make_elf_t image;
  int is_64;

  for (is_64 = 0; is_64 <= 1; is_64++) {
    memset(&run, 0, sizeof(run));
    run.call = "a search";
    model_run_seed(&run, 41 + (uint64_t)is_64);
    make_elf_make_usual(&image, is_64);
    make_elf_write(&image, path);
    /* The tables and the headers next to each other: every byte counts. */
    failed = damage_often(&run, image.bytes, sizeof(image.bytes), 0x400,
                          "two@V_1", 2000);
    assert_in_range(failed, 40, 1960);
    failed = damage_often(&run, image.bytes, sizeof(image.bytes),
                          sizeof(image.bytes), "two@V_1", 2000);
    assert_in_range(failed, 40, 1960);
    model_run_check(&run, 41 + (uint64_t)is_64);
  }
}

static void
damage_of_a_linked_file_at_random_is_an_error_at_most(void **state) {
  static uint8_t bytes[1 << 20];
  FILE *file = fopen(ELF_LIBRARY, "re");
  model_run_t run;
  size_t size;

  assert_non_null(file);
  size = fread(bytes, 1, sizeof(bytes), file);
  assert_in_range(size, 1000, sizeof(bytes) - 1);
  assert_int_equal(fclose(file), 0);
  memset(&run, 0, sizeof(run));
  run.call = "a search";
  model_run_seed(&run, 43);
  damage_often(&run, bytes, size, 0x1000, "elf_library_versioned@ELF_1", 2000);
  damage_often(&run, bytes, size, size, "elf_library_versioned@ELF_1", 2000);
  model_run_check(&run, 43);
}

#define WITH_TREE(test)                                                        \
  cmocka_unit_test_setup_teardown(test, setup, make_tree_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      WITH_TREE(damage_of_a_made_file_at_random_is_an_error_at_most),
      WITH_TREE(damage_of_a_linked_file_at_random_is_an_error_at_most),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
