/* SPDX-License-Identifier: MIT */
/* A shared library whose functions the tests look up: one in two versions, of
 * which the second is the default; a weak one; an indirect one; and, with
 * elf_library_other.c, one that each of two files has. */
#include <stdint.h>

int elf_library_plain(int argument);
int elf_library_weak(void);
int elf_library_indirect(void);
int elf_library_other(void);

__attribute__((noinline)) int elf_library_plain(int argument) {
  static volatile int sum;

  sum = sum + argument;
  return sum;
}

int elf_library_old(void) {
  return 1;
}

int elf_library_new(void) {
  return 2;
}

__asm__(".symver elf_library_old, elf_library_versioned@ELF_1");
__asm__(".symver elf_library_new, elf_library_versioned@@ELF_2");

/* The address of one of its versions. */
uintptr_t elf_library_version_at(int version) {
  return version == 1 ? (uintptr_t)elf_library_old : (uintptr_t)elf_library_new;
}

__attribute__((weak)) int elf_library_weak(void) {
  return 3;
}

__attribute__((noinline)) static int elf_library_twin(void) {
  static volatile int value = 4;

  return value;
}

int elf_library_call_twins(void) {
  return elf_library_twin() + elf_library_other();
}

/* musl's linker knows no indirect functions. */
#ifdef __GLIBC__
__attribute__((used)) static int (*choose(void))(void) {
  return elf_library_old;
}

int elf_library_indirect(void) __attribute__((ifunc("choose")));
#endif
