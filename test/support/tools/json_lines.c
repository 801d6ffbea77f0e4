/* SPDX-License-Identifier: MIT */
#include "json_lines.h"

#include "support.h"

/* Room for one more. */
static char *grow(char *elements, size_t size, size_t nr, size_t *capacity) {
  if (nr == *capacity) {
    *capacity = nr == 0 ? 1024 : 2 * nr;
    elements = realloc(elements, *capacity * size);
    assert_non_null(elements);
  }
  memset(elements + nr * size, 0, size);
  return elements;
}

void *json_lines_read(FILE *file, int (*is_json)(const char *line),
                      json_lines_cb pick, size_t size, size_t *nr) {
  size_t text_size = 0, capacity = 0;
  char *text = NULL, *elements = NULL;

  *nr = 0;
  rewind(file);
  while (getline(&text, &text_size, file) > 0) {
    if (!is_json(text))
      print_error("no JSON: %s\n", text);
    assert_true(is_json(text));
    elements = grow(elements, size, *nr, &capacity);
    pick(elements + *nr * size, text);
    *nr += 1;
  }
  free(text);
  return elements;
}
