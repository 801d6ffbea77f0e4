/* SPDX-License-Identifier: MIT */
/* The bytes of a page: they are few, the same in each run, and contain names
 * only in the data. test_browser.c opens pages in a browser. */
#include "support.h"

#include <zlib.h>

#include "common/text.h"
#include "models.h"
#include "profile/page/page.h"
#include "profile/stacks/text.h"

#define TITLE "uvperf-profile -a on host"

static char *write_page(const stacks_t *it, const char *title, size_t *bytes) {
  char *text = NULL;
  FILE *file = open_memstream(&text, bytes);

  assert_non_null(file);
  assert_int_equal(page_write(file, it, title), 0);
  assert_int_equal(fclose(file), 0);
  return text;
}

/* Removes the text between two marks, wherever they occur. */
static void cut(char *text, const char *from, const char *to) {
  char *at, *end;

  for (at = text; (at = strstr(at, from)) != NULL;) {
    at += strlen(from);
    end = strstr(at, to);
    assert_non_null(end);
    memmove(at, end, strlen(end) + 1);
  }
}

/* Returns the page without its data and titles. */
static char *write_frame(const stacks_t *it, const char *title) {
  size_t bytes;
  char *text = write_page(it, title, &bytes);

  assert_int_equal(strlen(text), bytes);
  cut(text, "<script type=\"text/plain\" id=\"data\">", "<");
  cut(text, "<title>", "<");
  cut(text, "<h1>", "<");
  return text;
}

static size_t gzipped_bytes(const stacks_t *it) {
  char *text = NULL;
  size_t bytes;
  FILE *file = open_memstream(&text, &bytes);
  uLongf packed_bytes;
  Bytef *packed;

  assert_non_null(file);
  stacks_text_folded(file, it);
  fclose(file);
  packed_bytes = compressBound(bytes);
  packed = malloc(packed_bytes);
  assert_int_equal(compress2(packed, &packed_bytes, (const Bytef *)text, bytes,
                             Z_BEST_COMPRESSION),
                   Z_OK);
  free(packed);
  free(text);
  return packed_bytes;
}

static void expect_small(stacks_t *it, const char *what) {
  size_t bytes, folded;

  free(write_page(it, TITLE, &bytes));
  folded = gzipped_bytes(it);
  print_message("%s: %zu bytes, folded and gzipped %zu\n", what, bytes, folded);
  assert_true(bytes <= folded + folded / 2 + 60000);
  stacks_free(it);
}

static stacks_t stacks;

static void page_is_as_small_as_its_folded_stacks(void **state) {
  models_empty(&stacks);
  expect_small(&stacks, "no stacks");
  models_small(&stacks);
  expect_small(&stacks, "small");
  models_hostile(&stacks);
  expect_small(&stacks, "hostile");
  models_deep(&stacks, 20000, 0);
  expect_small(&stacks, "deep");
  models_random(&stacks, "ns", 20000, 3000);
  expect_small(&stacks, "20,000 stacks of a clock");
  models_random(&stacks, "cycles", 20000, 3000);
  expect_small(&stacks, "20,000 stacks of cycles");
  models_random(&stacks, "cycles", 1000, 10000);
  expect_small(&stacks, "more functions than stacks");
}

static void page_is_the_same_in_each_run(void **state) {
  char *first, *second;
  size_t bytes;

  models_small(&stacks);
  first = write_page(&stacks, TITLE, &bytes);
  stacks_free(&stacks);
  models_small(&stacks);
  second = write_page(&stacks, TITLE, &bytes);
  stacks_free(&stacks);
  assert_string_equal(first, second);
  free(first);
  free(second);
}

static void page_allows_its_own_script_and_no_request(void **state) {
  char *text;
  size_t i, bytes;
  static const char *const parts[] = {
      "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "script-src 'sha256-",
      "; style-src 'sha256-", "; base-uri 'none'; form-action 'none'; "};
  static const char *const never[] = {
      "unsafe-", "innerHTML",   "outerHTML", "insertAdj",
      "eval(",   "http:",       "https:",    "src=",
      "href=",   "document.wr", "fetch(",    "new Function"};

  models_small(&stacks);
  text = write_page(&stacks, TITLE, &bytes);
  stacks_free(&stacks);
  for (i = 0; i < COUNT_OF(parts); i++)
    assert_non_null(strstr(text, parts[i]));
  for (i = 0; i < COUNT_OF(never); i++)
    assert_null(strstr(text, never[i]));
  free(text);
}

static void hostile_names_are_nowhere_but_in_the_data(void **state) {
  stacks_t hostile, harmless;
  char *one, *other;

  models_hostile(&hostile);
  models_small(&harmless);
  one = write_frame(&hostile, TITLE);
  other = write_frame(&harmless, TITLE);
  assert_string_equal(one, other);
  free(one);
  free(other);
  stacks_free(&hostile);
  stacks_free(&harmless);
}

/* Decodes a title in HTML: its letters and its character references. */
static void unescape(char *text) {
  char *to = text;
  long code;

  for (; *text != '\0'; *to++ = (char)code) {
    code = (unsigned char)*text;
    if (strncmp(text, "&#", 2) == 0) {
      code = strtol(text + 2, &text, 10);
      assert_int_equal(*text, ';');
    } else {
      assert_true(code >= 0x80 || code == '?' || (code >= '0' && code <= '9') ||
                  (code >= 'A' && code <= 'Z') || (code >= 'a' && code <= 'z'));
    }
    text++;
  }
  *to = '\0';
}

static void expect_title(const stacks_t *it, const char *title,
                         const char *frame) {
  size_t bytes;
  char *text = write_page(it, title, &bytes), *from, *clean;

  from = strstr(text, "<title>");
  assert_non_null(from);
  from += strlen("<title>");
  *strchr(from, '<') = '\0';
  unescape(from);
  clean = calloc(1, strlen(title) + 1);
  common_text_clean(clean, strlen(title) + 1, title);
  assert_string_equal(from, clean);
  free(clean);
  free(text);
  text = write_frame(it, title);
  assert_string_equal(text, frame);
  free(text);
}

static void hostile_title_is_text(void **state) {
  char *frame;
  size_t i;

  models_small(&stacks);
  frame = write_frame(&stacks, TITLE);
  for (i = 0; models_hostile_names[i] != NULL; i++)
    expect_title(&stacks, models_hostile_names[i], frame);
  free(frame);
  stacks_free(&stacks);
}

static void full_disk_is_an_error(void **state) {
  FILE *file = fopen("/dev/full", "w");

  assert_non_null(file);
  models_small(&stacks);
  assert_int_equal(page_write(file, &stacks, TITLE), -ENOSPC);
  fclose(file);
  stacks_free(&stacks);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(page_is_as_small_as_its_folded_stacks),
      cmocka_unit_test(page_is_the_same_in_each_run),
      cmocka_unit_test(page_allows_its_own_script_and_no_request),
      cmocka_unit_test(hostile_names_are_nowhere_but_in_the_data),
      cmocka_unit_test(hostile_title_is_text),
      cmocka_unit_test(full_disk_is_an_error),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
