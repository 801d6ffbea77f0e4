/* SPDX-License-Identifier: MIT */
/* The names of a program of a gigabyte with millions of symbols need limited
 * memory and time. The loop keeps running meanwhile. */
#include "support.h"

#include <elf.h>
#include <time.h>
#include <unistd.h>

#include "ask_names.h"
#include "common/small_file.h"
#include "profile/symbols/jobs.h"

#define NR_SYMBOLS   4000000u
#define NAME_BYTES   24u
#define FUNCTION     224u
#define TEXT         0x10000u
#define TEXT_BYTES   ((uint64_t)NR_SYMBOLS * FUNCTION)
#define SYMBOLS      (TEXT + TEXT_BYTES)
#define SYMBOL_BYTES (((uint64_t)NR_SYMBOLS + 1) * sizeof(Elf64_Sym))
#define STRINGS      (SYMBOLS + SYMBOL_BYTES)
#define STRING_BYTES (1 + (uint64_t)NR_SYMBOLS * NAME_BYTES)
#define SECTIONS     ((STRINGS + STRING_BYTES + 63) / 64 * 64)
#define NR_WANTED    20000

static void write_symbols(FILE *file) {
  Elf64_Sym symbol = {0};
  uint32_t i;

  assert_int_equal(fseeko(file, (off_t)SYMBOLS, SEEK_SET), 0);
  fwrite(&symbol, sizeof(symbol), 1, file);
  symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
  symbol.st_shndx = 1;
  symbol.st_size = FUNCTION;
  for (i = 0; i < NR_SYMBOLS; i++) {
    /* The numbers are in random order. */
    uint32_t number = (uint32_t)((uint64_t)i * 2654435761u % NR_SYMBOLS);

    symbol.st_name = 1 + number * NAME_BYTES;
    symbol.st_value = TEXT + (uint64_t)number * FUNCTION;
    fwrite(&symbol, sizeof(symbol), 1, file);
  }
  fputc('\0', file);
  for (i = 0; i < NR_SYMBOLS; i++)
    fprintf(file, "function_number_%07u%c", i, '\0');
}

static void write_file(const char *path) {
  const char names[] = "\0.text\0.symtab\0.strtab\0.names";
  Elf64_Ehdr header = {.e_type = ET_EXEC,
                       .e_machine = EM_X86_64,
                       .e_version = EV_CURRENT,
                       .e_phoff = sizeof(header),
                       .e_shoff = SECTIONS,
                       .e_ehsize = sizeof(header),
                       .e_phentsize = sizeof(Elf64_Phdr),
                       .e_phnum = 1,
                       .e_shentsize = sizeof(Elf64_Shdr),
                       .e_shnum = 5,
                       .e_shstrndx = 4};
  const Elf64_Phdr text = {.p_type = PT_LOAD,
                           .p_flags = PF_R | PF_X,
                           .p_offset = TEXT,
                           .p_vaddr = TEXT,
                           .p_filesz = TEXT_BYTES,
                           .p_memsz = TEXT_BYTES};
  const Elf64_Shdr sections[] = {
      {0},
      {1, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT, TEXT, TEXT_BYTES, 0, 0,
       16, 0},
      {7, SHT_SYMTAB, 0, 0, SYMBOLS, SYMBOL_BYTES, 3, 1, 8, sizeof(Elf64_Sym)},
      {15, SHT_STRTAB, 0, 0, STRINGS, STRING_BYTES, 0, 0, 1, 0},
      {23, SHT_STRTAB, 0, 0, SECTIONS + 5 * sizeof(Elf64_Shdr), sizeof(names),
       0, 0, 1, 0}};
  FILE *file = fopen(path, "w");

  assert_non_null(file);
  memcpy(header.e_ident, ELFMAG "\x02\x01\x01", 7);
  fwrite(&header, sizeof(header), 1, file);
  fwrite(&text, sizeof(text), 1, file);
  write_symbols(file);
  assert_int_equal(fseeko(file, (off_t)SECTIONS, SEEK_SET), 0);
  fwrite(sections, sizeof(sections), 1, file);
  fwrite(names, sizeof(names), 1, file);
  assert_int_equal(fclose(file), 0);
}

typedef struct watch_s {
  uv_timer_t timer;
  const symbols_worker_t *worker;
  uint64_t last, longest; /* CPU time between two turns, in ns */
  unsigned long anon;     /* largest memory of the worker, in KiB */
  int turns;
} watch_t;

static unsigned long memory_of(pid_t pid, const char *name) {
  char path[48], *text, *line;
  unsigned long nr = 0;
  size_t size;

  snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
  text = pid > 0 ? common_file_read(path, &size) : NULL;
  if (text == NULL)
    return 0;
  line = strstr(text, name);
  if (line != NULL)
    nr = strtoul(line + strlen(name), NULL, 10);
  free(text);
  return nr;
}

/* Returns the CPU time of this thread. Wall clock time would include other
 * processes. */
static uint64_t thread_time(void) {
  struct timespec time;

  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void on_timer(uv_timer_t *timer) {
  watch_t *watch = timer->data;
  uint64_t now = thread_time();
  unsigned long anon;

  if (now - watch->last > watch->longest)
    watch->longest = now - watch->last;
  if (++watch->turns % 10 == 0) {
    anon = memory_of(watch->worker->pid, "RssAnon:");
    if (anon > watch->anon)
      watch->anon = anon;
  }
  watch->last = thread_time();
}

static uint64_t offset_of(uint64_t i) {
  return TEXT + i * 7919 % NR_SYMBOLS * FUNCTION + i % FUNCTION;
}

static void check(const ask_names_t *ask, uint32_t object) {
  const symbols_place_t *place;
  char name[32];
  uint64_t i;

  for (i = 0; i < NR_WANTED; i++) {
    place = symbols_find(ask->symbols, object, offset_of(i));
    assert_non_null(place);
    assert_int_equal(place->nr, 1);
    snprintf(name, sizeof(name), "function_number_%07u",
             (unsigned)(i * 7919 % NR_SYMBOLS));
    assert_string_equal(place->names[0].name, name);
  }
}

static void large_program_has_names_while_the_loop_runs(void **state) {
  watch_t watch = {.turns = 0};
  const char *path = ask_names_in("large");
  unsigned long before, after;
  ask_names_t ask;
  uint32_t object;
  uint64_t begin, i;

  write_file(path);
  ask_names_begin(&ask, NULL);
  object = ask_names_file(&ask, path);
  for (i = 0; i < NR_WANTED; i++)
    symbols_want(ask.symbols, object, offset_of(i));
  before = memory_of(getpid(), "RssAnon:");
  uv_timer_init(ask.loop, &watch.timer);
  watch.timer.data = &watch;
  watch.worker = &symbols_jobs(ask.symbols)->worker;
  begin = uv_hrtime();
  watch.last = thread_time();
  uv_timer_start(&watch.timer, on_timer, 1, 1);
  ask_names_wait(&ask);
  begin = uv_hrtime() - begin;
  after = memory_of(getpid(), "RssAnon:");
  check(&ask, object);
  print_message("%d places of %u symbols in %.2f s; the loop's longest turn "
                "%.1f ms; memory in MiB: worker %lu, this process %lu more\n",
                NR_WANTED, NR_SYMBOLS, (double)begin / 1e9,
                (double)watch.longest / 1e6, watch.anon >> 10,
                (after - before) >> 10);
  assert_string_equal(symbols_reason(ask.symbols, object), "");
  assert_in_range(watch.anon, 0, 200 << 10);
  assert_true(watch.turns > 20);
  uv_close((uv_handle_t *)&watch.timer, NULL);
  ask_names_end(&ask);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(large_program_has_names_while_the_loop_runs),
  };

  symbols_main(argc, argv);
  return cmocka_run_group_tests(tests, ask_names_setup, ask_names_teardown);
}
