/* SPDX-License-Identifier: MIT */
#include "make_tree.h"
#include "support.h"

#include <ftw.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

static int remove_one(const char *path, const struct stat *status, int type,
                      struct FTW *ftw) {
  return remove(path);
}

int make_tree_setup(void **state) {
  make_tree_t *tree = calloc(1, sizeof(*tree));

  if (tree == NULL)
    return -1;
  snprintf(tree->root, sizeof(tree->root), "/tmp/uvperf-XXXXXX");
  *state = tree;
  return mkdtemp(tree->root) == NULL ? -1 : 0;
}

int make_tree_teardown(void **state) {
  make_tree_t *tree = *state;
  int rc = nftw(tree->root, remove_one, 8, FTW_DEPTH | FTW_PHYS);

  free(tree);
  return rc;
}

/* The full path, after making its directories. */
static void make_way(const make_tree_t *tree, const char *path,
                     char full[PATH_MAX]) {
  char *slash;

  snprintf(full, PATH_MAX, "%s%s", tree->root, path);
  slash = full + strlen(tree->root);
  while ((slash = strchr(slash + 1, '/')) != NULL) {
    *slash = '\0';
    assert_true(mkdir(full, 0755) == 0 || errno == EEXIST);
    *slash = '/';
  }
}

void make_tree_write(const make_tree_t *tree, const char *path,
                     const char *text) {
  make_tree_write_bytes(tree, path, text, strlen(text));
}

void make_tree_write_bytes(const make_tree_t *tree, const char *path,
                           const void *bytes, size_t size) {
  char full[PATH_MAX];
  FILE *file;

  make_way(tree, path, full);
  file = fopen(full, "we");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

void make_tree_link(const make_tree_t *tree, const char *path,
                    const char *target) {
  char full[PATH_MAX];

  make_way(tree, path, full);
  assert_int_equal(symlink(target, full), 0);
}
