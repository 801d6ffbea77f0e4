/* SPDX-License-Identifier: MIT */
/* A program whose functions the tests look up in its file: one that -rdynamic
 * exports, and one that is local to its file. "NAME NR" calls one NR times.
 * Without arguments it prints the file offset of each, as /proc/self/maps has
 * it: "name offset", in hex. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void elf_target_exported(void);

__attribute__((noinline)) void elf_target_exported(void) {
  static volatile uint64_t calls;

  calls = calls + 1;
}

__attribute__((noinline)) static void elf_target_own(void) {
  static volatile uint64_t calls;

  calls = calls + 2;
}

static const struct {
  const char *name;
  void (*volatile call)(void);
} functions[] = {
    {"exported", elf_target_exported},
    {"own", elf_target_own},
};

static int print_place(size_t i) {
  unsigned long start, end, pgoff, at = (unsigned long)functions[i].call;
  FILE *file = fopen("/proc/self/maps", "re");
  char line[512];
  int found = 0;

  if (file == NULL)
    return -1;
  while (!found && fgets(line, sizeof(line), file) != NULL)
    found = sscanf(line, "%lx-%lx %*s %lx", &start, &end, &pgoff) == 3 &&
            at >= start && at < end;
  fclose(file);
  if (found)
    printf("%s %lx\n", functions[i].name, at - start + pgoff);
  return found ? 0 : -1;
}

int main(int argc, char **argv) {
  unsigned long left;
  size_t i;

  for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
    if (argc < 3) {
      if (print_place(i) != 0)
        return 1;
    } else if (strcmp(argv[1], functions[i].name) == 0) {
      for (left = strtoul(argv[2], NULL, 10); left > 0; left--)
        functions[i].call();
    }
  }
  return 0;
}
