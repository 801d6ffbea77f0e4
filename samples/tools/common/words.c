/* SPDX-License-Identifier: MIT */
#include "common/words.h"

#include <string.h>

#define LINE_COLUMNS 79

void common_words_put(FILE *file, size_t column, size_t indent,
                      const char *words) {
  int is_first = 1;
  size_t size;

  for (; *words != '\0'; words += size + strspn(words + size, " ")) {
    size = strcspn(words, " ");
    if (!is_first && column + 1 + size > LINE_COLUMNS) {
      fprintf(file, "\n%*s", (int)indent, "");
      column = indent;
    } else if (!is_first) {
      fputc(' ', file);
      column++;
    }
    fprintf(file, "%.*s", (int)size, words);
    column += size;
    is_first = 0;
  }
  fputc('\n', file);
}
