/* SPDX-License-Identifier: MIT */
/* The second file of elf_library.c. */

__attribute__((noinline)) static int elf_library_twin(void) {
  static volatile int value = 5;

  return value;
}

int elf_library_other(void) {
  return elf_library_twin();
}
