/* SPDX-License-Identifier: MIT */
/* Prints the functions at addresses, for example at the addresses that
 * sample_thread prints. An address is of a running process or of the kernel.
 * Needs elfutils' libelf, but not uvperf:
 * cc name_addresses.c $(pkg-config --cflags --libs libelf)
 *
 *   name_addresses PID ADDRESS...
 *
 * Files are read once. The first address in a large file takes up to 100 ms, a
 * later address some microseconds. A loop should not wait for that:
 * top_functions.c shows how a thread reads the files. Only root may see the
 * kernel's addresses: see kernel.kptr_restrict in proc_sys_kernel(5). */
#include <fcntl.h>
#include <gelf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct symbol_s {
  uint64_t begin, end; /* offsets in the file; addresses in the kernel */
  uint64_t nr;         /* the caller's counter */
  const char *name;    /* in the file's elf; the kernel's own */
} symbol_t;

typedef struct file_s {
  struct file_s *next;
  unsigned long long inode;
  char *path;
  Elf *elf;
  symbol_t *symbols; /* by begin */
  size_t nr_symbols;
  symbol_t nameless; /* for addresses in no symbol */
} file_t;

typedef struct mapping_s {
  uint64_t begin, end, offset;
  file_t *file;
} mapping_t;

typedef struct process_s {
  struct process_s *next;
  uint32_t pid;
  uint64_t read_at; /* in nanoseconds */
  mapping_t *mappings;
  size_t nr_mappings;
} process_t;

/* Where an address is. */
typedef struct place_s {
  const file_t *file;
  symbol_t *symbol;
} place_t;

typedef struct names_s {
  process_t *processes;
  file_t *files, kernel, unknown;
  int has_kernel; /* its symbols were read */
} names_t;

static void *need(void *memory) {
  if (memory == NULL) {
    fprintf(stderr, "out of memory\n");
    exit(1);
  }
  return memory;
}

/* Makes room for one more element. */
static void *grow(void *array, size_t nr, size_t size) {
  if ((nr & (nr - 1)) != 0) /* not a power of two: there is room */
    return array;
  return need(realloc(array, (nr * 2 + 1) * size));
}

/* -- symbols of the kernel and of files ------------------------------------ */

static void add_symbol(file_t *file, uint64_t begin, uint64_t end,
                       const char *name) {
  symbol_t *symbol;

  file->symbols = grow(file->symbols, file->nr_symbols, sizeof(*symbol));
  symbol = &file->symbols[file->nr_symbols++];
  *symbol = (symbol_t){.begin = begin, .end = end, .name = name};
}

static int by_begin(const void *a, const void *b) {
  const symbol_t *one = a, *other = b;

  return (one->begin > other->begin) - (one->begin < other->begin);
}

static void sort_symbols(file_t *file) {
  if (file->nr_symbols > 0)
    qsort(file->symbols, file->nr_symbols, sizeof(symbol_t), by_begin);
}

static symbol_t *find_symbol(file_t *file, uint64_t at) {
  size_t low = 0, high = file->nr_symbols, middle;

  while (low < high) {
    middle = low + (high - low) / 2;
    if (file->symbols[middle].begin <= at)
      low = middle + 1;
    else
      high = middle;
  }
  return low > 0 && at < file->symbols[low - 1].end ? &file->symbols[low - 1]
                                                    : &file->nameless;
}

/* All addresses are 0 for a user who may not see them. */
static void read_kallsyms(file_t *kernel) {
  FILE *file = fopen("/proc/kallsyms", "re");
  unsigned long long address;
  char line[1024], name[512], type;

  while (file != NULL && fgets(line, sizeof(line), file) != NULL)
    if (sscanf(line, "%llx %c %511s", &address, &type, name) == 3 &&
        address != 0 && strchr("tTwW", type) != NULL)
      add_symbol(kernel, address, UINT64_MAX, need(strdup(name)));
  if (file != NULL)
    fclose(file);
  sort_symbols(kernel);
}

/* Returns the file's offset for a symbol's address, or UINT64_MAX. */
static uint64_t file_offset(Elf *elf, uint64_t address) {
  GElf_Phdr part;
  size_t nr, i;

  for (i = 0; elf_getphdrnum(elf, &nr) == 0 && i < nr; i++)
    if (gelf_getphdr(elf, (int)i, &part) != NULL && part.p_type == PT_LOAD &&
        address - part.p_vaddr < part.p_filesz)
      return address - part.p_vaddr + part.p_offset;
  return UINT64_MAX;
}

static void read_symbols(file_t *file) {
  Elf_Scn *section = NULL;
  GElf_Shdr header;
  Elf_Data *data;
  GElf_Sym symbol;
  GElf_Ehdr elf;
  uint64_t begin, is_arm = 0;
  const char *name;
  int i;

  /* On 32-bit Arm the lowest bit only says whether it is Thumb code. */
  if (gelf_getehdr(file->elf, &elf) != NULL && elf.e_machine == EM_ARM)
    is_arm = 1;
  while ((section = elf_nextscn(file->elf, section)) != NULL) {
    if (gelf_getshdr(section, &header) == NULL ||
        (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM) ||
        (data = elf_getdata(section, NULL)) == NULL)
      continue;
    for (i = 0; gelf_getsym(data, i, &symbol) != NULL; i++) {
      if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC ||
          symbol.st_shndx == SHN_UNDEF ||
          (begin = file_offset(file->elf, symbol.st_value & ~is_arm)) ==
              UINT64_MAX ||
          (name = elf_strptr(file->elf, header.sh_link, symbol.st_name)) ==
              NULL)
        continue;
      add_symbol(file, begin,
                 symbol.st_size > 0 ? begin + symbol.st_size : UINT64_MAX,
                 name);
    }
  }
  sort_symbols(file);
}

/* Opens a file that a process has mapped. The path is as the process sees it:
 * the process may be in a container. If another file has replaced it at that
 * path, `file` has no symbols. */
static void open_file(file_t *file, uint32_t pid) {
  char path[4200];
  struct stat is;
  int fd;

  snprintf(path, sizeof(path), "/proc/%u/root%s", pid, file->path);
  fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0)
    return;
  if (fstat(fd, &is) == 0 && S_ISREG(is.st_mode) && is.st_ino == file->inode &&
      is.st_size < 1 << 30) {
    elf_version(EV_CURRENT);
    file->elf = elf_begin(fd, ELF_C_READ, NULL); /* a mapping can SIGBUS */
    read_symbols(file);
  }
  close(fd);
}

/* -- mappings of processes ------------------------------------------------- */

static file_t *find_file(names_t *names, uint32_t pid, unsigned long long inode,
                         const char *path) {
  file_t *file;

  for (file = names->files; file != NULL; file = file->next)
    if (file->inode == inode && strcmp(file->path, path) == 0)
      return file;
  file = need(calloc(1, sizeof(*file)));
  file->inode = inode;
  file->path = need(strdup(path));
  file->next = names->files;
  names->files = file;
  if (path[0] == '/')
    open_file(file, pid);
  return file;
}

static void read_mappings(names_t *names, process_t *process) {
  unsigned long long begin, end, offset, inode;
  mapping_t *mapping;
  char line[4352];
  int path = 0;
  FILE *maps;

  snprintf(line, sizeof(line), "/proc/%u/maps", process->pid);
  maps = fopen(line, "re");
  process->nr_mappings = 0;
  while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "%llx-%llx %*2sx%*s %llx %*s %llu %n", &begin, &end,
               &offset, &inode, &path) != 4 ||
        line[path] == '\0')
      continue;              /* no code, or no file */
    if (line[path] == '[') { /* [vdso] */
      path++;
      line[strlen(line) - 1] = '\0';
    }
    process->mappings =
        grow(process->mappings, process->nr_mappings, sizeof(*mapping));
    mapping = &process->mappings[process->nr_mappings++];
    *mapping = (mapping_t){begin, end, offset, NULL};
    mapping->file = find_file(names, process->pid, inode, line + path);
  }
  if (maps != NULL)
    fclose(maps);
}

static process_t *find_process(names_t *names, uint32_t pid) {
  process_t *process;

  for (process = names->processes; process != NULL; process = process->next)
    if (process->pid == pid)
      return process;
  process = need(calloc(1, sizeof(*process)));
  process->pid = pid;
  process->next = names->processes;
  names->processes = process;
  return process;
}

static const mapping_t *find_mapping(names_t *names, uint32_t pid,
                                     uint64_t address, uint64_t now) {
  process_t *process = find_process(names, pid);
  size_t i;
  int tries;

  for (tries = 0; tries < 2; tries++) {
    for (i = 0; i < process->nr_mappings; i++)
      if (address >= process->mappings[i].begin &&
          address < process->mappings[i].end)
        return &process->mappings[i];
    if (process->read_at != 0 && now < process->read_at + 1000000000)
      break; /* once a second */
    process->read_at = now;
    read_mappings(names, process);
  }
  return NULL;
}

/* Forgets a process. Call it when the process has ended or has executed another
 * program. */
static void forget_process(names_t *names, uint32_t pid) {
  process_t **at = &names->processes, *process;

  while (*at != NULL && (*at)->pid != pid)
    at = &(*at)->next;
  process = *at;
  if (process == NULL)
    return;
  *at = process->next;
  free(process->mappings);
  free(process);
}

/* The kernel has the upper half of all addresses, or on 32 bits those from its
 * first symbol on. */
static int is_in_kernel(names_t *names, uint64_t address) {
  const file_t *kernel = &names->kernel;

  if (!names->has_kernel)
    read_kallsyms(&names->kernel);
  names->has_kernel = 1;
  return address >> 63 ||
         (kernel->nr_symbols > 0 && address >= kernel->symbols[0].begin);
}

/* Finds the function at an address. Reads /proc/PID/maps for the first address
 * of a process. If an address is in no known mapping, reads it again, at most
 * once a second.
 * @param now  In nanoseconds, of any clock; not 0.
 * @return The symbol's name is NULL if it is not known. The result belongs to
 *   `names` and is valid until forget_names. */
static place_t find_place(names_t *names, uint32_t pid, uint64_t address,
                          uint64_t now) {
  place_t place = {&names->unknown, &names->unknown.nameless};
  const mapping_t *mapping = NULL;

  if (address >> 63 == 0)
    mapping = find_mapping(names, pid, address, now);
  if (mapping != NULL) {
    place.file = mapping->file;
    place.symbol =
        find_symbol(mapping->file, address - mapping->begin + mapping->offset);
  } else if (is_in_kernel(names, address)) {
    place.file = &names->kernel;
    place.symbol = find_symbol(&names->kernel, address);
  }
  return place;
}

/* Writes "function [file]", or "[file]". */
static void print_place(place_t place, char *text, size_t size) {
  const char *name = place.symbol->name;
  const char *file = strrchr(place.file->path, '/');

  snprintf(text, size, "%s%s[%s]", name == NULL ? "" : name,
           name == NULL ? "" : " ", file == NULL ? place.file->path : file + 1);
}

static void init_names(names_t *names) {
  memset(names, 0, sizeof(*names));
  names->kernel.path = "kernel";
  names->unknown.path = "unknown";
}

/* Forgets all processes and files, which may have been replaced. */
static void forget_names(names_t *names) {
  file_t *file;

  while (names->processes != NULL)
    forget_process(names, names->processes->pid);
  while ((file = names->files) != NULL) {
    names->files = file->next;
    elf_end(file->elf);
    free(file->symbols);
    free(file->path);
    free(file);
  }
}

static void free_names(names_t *names) {
  size_t i;

  forget_names(names);
  for (i = 0; i < names->kernel.nr_symbols; i++)
    free((char *)names->kernel.symbols[i].name);
  free(names->kernel.symbols);
}

/* -- this program ---------------------------------------------------------- */

#ifndef NAME_ADDRESSES_PART /* top_functions.c takes the part above only */

int main(int argc, char **argv) {
  char text[1024];
  names_t names;
  int i;

  if (argc < 3) {
    fprintf(stderr, "usage: %s PID ADDRESS...\n", argv[0]);
    return 2;
  }
  init_names(&names);
  for (i = 2; i < argc; i++) {
    print_place(find_place(&names, (uint32_t)strtoul(argv[1], NULL, 10),
                           strtoull(argv[i], NULL, 16), 1),
                text, sizeof(text));
    puts(text);
  }
  free_names(&names);
  if (fflush(stdout) != 0 || ferror(stdout)) {
    fprintf(stderr, "stdout could not be written\n");
    return 1;
  }
  return 0;
}

#endif
