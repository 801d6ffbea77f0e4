/* SPDX-License-Identifier: MIT */
/* A program whose hottest place is known, for the tests of the profiler:
 * `spin` loops in one function of its own, `read` in the kernel. It first
 * prints where that function lies in the program's file, "start end" in hex,
 * and ends by SIGALRM if nobody ends it before. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A section of its own has bounds that the linker knows. */
extern const char __start_hot_spin[];
extern const char __stop_hot_spin[];

__attribute__((section("hot_spin"), noinline)) static void spin(void) {
  volatile uint64_t counter = 0;

  for (;;)
    counter = counter + 1;
}

static char buffer[1 << 20];

static void read_zeros(void) {
  int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

  while (read(fd, buffer, sizeof(buffer)) > 0)
    continue;
}

/* By what /proc says of this process, not by what the profiler would. */
static int print_place(void) {
  unsigned long start, end, pgoff, address = (unsigned long)__start_hot_spin;
  FILE *file = fopen("/proc/self/maps", "re");
  char line[512];
  int found = 0;

  if (file == NULL)
    return -1;
  while (!found && fgets(line, sizeof(line), file) != NULL) {
    if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &pgoff) == 3)
      found = start <= address && address < end;
  }
  fclose(file);
  if (!found)
    return -1;
  address = address - start + pgoff;
  printf("%lx %lx\n", address,
         address + (unsigned long)(__stop_hot_spin - __start_hot_spin));
  return fflush(stdout);
}

int main(int argc, char **argv) {
  alarm(30);
  if (argc != 2 || print_place() != 0)
    return 1;
  if (strcmp(argv[1], "spin") == 0)
    spin();
  if (strcmp(argv[1], "read") == 0)
    read_zeros();
  return 1;
}
