/* SPDX-License-Identifier: MIT */
#include "profile/symbols/unwind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <elfutils/version.h>
#include <gelf.h>
#include <uv.h>

#include "common/sorted.h"

#define MS 1000000u
/* The limit for an ELF file. */
#define MAX_SEGMENTS 64
/* Words of memory that are read between two checks of the clock. */
#define READS_PER_CHECK 256
/* Bytes of all registers that a function saves. */
#define POPPED 48
/* Registers of aarch64 that have a special use. */
#define AARCH64_LINK 30
#define AARCH64_SP   31

struct unwind_file_s {
  int fd;
  Elf *elf;
  char name[32];      /* of its modules; unique for each file */
  GElf_Addr low, end; /* of all loaded segments */
  size_t nr;
  GElf_Phdr segments[MAX_SEGMENTS]; /* loaded and executable */
};

/* The state in which libdwfl begins, or begins again: registers by their DWARF
 * numbers. If ip is a return address, the byte before it is looked up. */
typedef struct start_s {
  uint64_t ip;
  int is_return, has_begun;
  uint64_t known; /* bits of registers */
  uint64_t regs[32];
} start_t;

struct unwind_process_s {
  int machine;
  Dwfl *dwfl;
  Elf *elf; /* shows libdwfl the machine; NULL before the first file */
  size_t nr;
  unwind_mapping_t *mappings; /* sorted by start */
  uint64_t address_bits;      /* bits that addresses of code use */
  /* The stack being unwound. */
  const uvperf_regs_t *regs;
  const unsigned char *copy;
  uint64_t sp;
  size_t bytes;
  start_t start;
  int begins_again;
  uint64_t deadline;
  unsigned reads;
  int is_full, is_lost, is_cut, is_slow, is_outermost, has_fp;
  unwind_stack_t *stack;
};

/* Registers: perf's number (asm/perf_regs.h of that machine) for each DWARF
 * number. */
typedef struct machine_s {
  int machine;
  const char *arch;
  int nr;
  unsigned char perf[32];
  unsigned char sp, ip; /* perf's */
  int fp;               /* DWARF's */
  uint64_t mask;
} machine_t;

static const machine_t machines[] = {
    {EM_X86_64,
     "x86_64",
     17,
     {0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8},
     7,
     8,
     6,
     0xff0fff},
    {EM_AARCH64,
     "aarch64",
     32,
     {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
      16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31},
     31,
     32,
     29,
     0x1ffffffff},
};

static const machine_t *machine_of(int machine) {
  for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
    if (machines[i].machine == machine)
      return &machines[i];
  return NULL;
}

uint64_t unwind_regs_mask(int machine) {
  const machine_t *known = machine_of(machine);
  return known != NULL ? known->mask : 0;
}

int unwind_machine(const char *arch) {
#if defined(__x86_64__) && defined(__LP64__)
  const char *own = "x86_64";
#elif defined(__aarch64__) && defined(__LP64__)
  const char *own = "aarch64";
#else
  const char *own = "";
#endif
  for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
    if (strcmp(machines[i].arch, arch != NULL ? arch : own) == 0)
      return machines[i].machine;
  return EM_NONE;
}

int unwind_ip(int machine, const uvperf_regs_t *regs, uint64_t *ip) {
  const machine_t *known = machine_of(machine);
  return known != NULL && regs->abi == PERF_SAMPLE_REGS_ABI_64
             ? uvperf_sample_regs_get(regs, known->ip, ip)
             : -1;
}

/* Reads the loaded segments. Returns 1 if they make sense. */
static int take_segments(unwind_file_t *file) {
  size_t nr;
  if (elf_getphdrnum(file->elf, &nr) != 0)
    return 0;
  file->low = 1; /* none yet: a real one is aligned to a page */
  for (size_t i = 0; i < nr && file->nr < MAX_SEGMENTS; i++) {
    GElf_Phdr phdr;
    if (gelf_getphdr(file->elf, (int)i, &phdr) == NULL)
      return 0;
    if (phdr.p_type != PT_LOAD)
      continue;
    /* In libdwfl a module begins where the first segment begins. */
    if (file->low == 1)
      file->low = phdr.p_vaddr & -phdr.p_align;
    if (phdr.p_vaddr + phdr.p_memsz < phdr.p_vaddr)
      return 0;
    if (file->end < phdr.p_vaddr + phdr.p_memsz)
      file->end = phdr.p_vaddr + phdr.p_memsz;
    if (phdr.p_flags & PF_X)
      file->segments[file->nr++] = phdr;
  }
  return file->nr != 0 && file->low < file->end;
}

/* The kernel cuts longer build ids. */
static int has_build_id(Elf *elf, const void *build_id, size_t bytes) {
  const void *own;
  return bytes == 0 || (dwelf_elf_gnu_build_id(elf, &own) >= (ssize_t)bytes &&
                        memcmp(own, build_id, bytes) == 0);
}

unwind_file_t *unwind_file_new(int fd, int machine, const void *build_id,
                               size_t build_id_bytes) {
  static unsigned serial;
  unwind_file_t *file = calloc(1, sizeof *file);
  if (file == NULL)
    return NULL;
  elf_version(EV_CURRENT);
  file->fd = fd;
  file->elf = elf_begin(fd, ELF_C_READ_MMAP_PRIVATE, NULL);
  snprintf(file->name, sizeof file->name, "%u", serial++);
  GElf_Ehdr ehdr;
  if (file->elf != NULL && elf_kind(file->elf) == ELF_K_ELF &&
      gelf_getehdr(file->elf, &ehdr) != NULL && ehdr.e_machine == machine &&
      ehdr.e_ident[EI_CLASS] == ELFCLASS64 &&
      ehdr.e_ident[EI_DATA] == ELFDATA2LSB &&
      (ehdr.e_type == ET_EXEC || ehdr.e_type == ET_DYN) &&
      take_segments(file) && has_build_id(file->elf, build_id, build_id_bytes))
    return file;
  elf_end(file->elf);
  free(file);
  return NULL;
}

void unwind_file_free(unwind_file_t *file) {
  if (file == NULL)
    return;
  elf_end(file->elf);
  close(file->fd);
  free(file);
}

/* Modules are reported with their files, so libdwfl need not find a file
 * itself. */
static int find_elf(Dwfl_Module *module, void **userdata, const char *name,
                    Dwarf_Addr base, char **path, Elf **elf) {
  (void)module;
  (void)name;
  (void)base;
  (void)path;
  const unwind_file_t *file = *userdata;
  if (file != NULL)
    *elf = elf_begin(-1, ELF_C_READ_MMAP_PRIVATE, file->elf);
  return -1;
}

/* If a file names another file, the other file is not opened. */
static int find_debuginfo(Dwfl_Module *module, void **userdata,
                          const char *name, Dwarf_Addr base, const char *path,
                          const char *link, GElf_Word crc, char **found) {
  (void)module;
  (void)userdata;
  (void)name;
  (void)base;
  (void)path;
  (void)link;
  (void)crc;
  (void)found;
  return -1;
}

static const Dwfl_Callbacks callbacks = {
    .find_elf = find_elf,
    .find_debuginfo = find_debuginfo,
};

unwind_process_t *unwind_process_new(int machine) {
  unwind_process_t *process = calloc(1, sizeof *process);
  if (process == NULL)
    return NULL;
  process->machine = machine;
  process->dwfl = dwfl_begin(&callbacks);
  if (process->dwfl == NULL) {
    free(process);
    return NULL;
  }
  return process;
}

void unwind_process_free(unwind_process_t *process) {
  if (process == NULL)
    return;
  dwfl_end(process->dwfl);
  elf_end(process->elf);
  free(process->mappings);
  free(process);
}

/* Returns the mapping of an address, or NULL. */
static const unwind_mapping_t *find(const unwind_process_t *process,
                                    uint64_t address) {
  const unwind_mapping_t *mapping = common_sorted_last(
      process->mappings, process->nr, sizeof *mapping, address);
  return mapping != NULL && address < mapping->end ? mapping : NULL;
}

/* On aarch64 a return address can have a signature in its upper bits, which an
 * address does not need. The signature is removed if the result is an address
 * of code. */
static uint64_t strip(const unwind_process_t *process, uint64_t word) {
  uint64_t address = word & process->address_bits;
  if (process->machine == EM_AARCH64 && address != word &&
      find(process, address) != NULL)
    return address;
  return word;
}

static bool file_word(const unwind_mapping_t *mapping, uint64_t address,
                      Dwarf_Word *word) {
  size_t size;
  const char *bytes =
      mapping->file != NULL ? elf_rawfile(mapping->file->elf, &size) : NULL;
  uint64_t offset = address - mapping->start + mapping->pgoff;
  if (bytes == NULL || offset > size || size - offset < sizeof *word)
    return false;
  memcpy(word, bytes + offset, sizeof *word);
  return true;
}

/* Returns 1 if the instruction before an address is a system call. If the
 * sample was taken in the kernel, that instruction is still executing. It can
 * be the last instruction of its function: __restore_rt of the C library. */
static int is_after_syscall(const unwind_process_t *process, uint64_t ip) {
  const unwind_mapping_t *mapping = find(process, ip - 1);
  const int is_x86 = process->machine == EM_X86_64;
  Dwarf_Word code;
  if (mapping == NULL || ip - mapping->start < 4 ||
      !file_word(mapping, ip - (is_x86 ? 2 : 4), &code))
    return 0;
  return is_x86 ? (code & 0xffff) == 0x050f : (code & 0xffffffff) == 0xd4000001;
}

/* Returns 1 if the sample was taken where x86-64 code pops registers, returns,
 * or makes a tail call after the pops. */
static int is_at_pop(const unwind_process_t *process) {
  uint64_t ip = process->stack->ips[0];
  const unwind_mapping_t *mapping = find(process, ip);
  Dwarf_Word code;
  if (process->machine != EM_X86_64 || mapping == NULL ||
      !file_word(mapping, ip, &code))
    return 0;
  if ((code & 0xff) == 0x41) /* r8 to r15 */
    code >>= 8;
  return (code & 0xf8) == 0x58 || (code & 0xff) == 0xc3 ||
         (code & 0xff) == 0xc2 || (code & 0xffff) == 0xc3f3 ||
         (code & 0xff) == 0xe9 || (code & 0x38ff) == 0x20ff;
}

/* Returns 1 if no file has unwind information for an address. */
static int is_without_info(const unwind_process_t *process, uint64_t ip) {
  Dwfl_Module *module = dwfl_addrmodule(process->dwfl, ip);
  Dwarf_Addr bias;
  Dwarf_Frame *frame;
  for (int i = 0; i < 2; i++) {
    Dwarf_CFI *cfi = i == 0 ? dwfl_module_eh_cfi(module, &bias)
                            : dwfl_module_dwarf_cfi(module, &bias);
    if (cfi == NULL || dwarf_cfi_addrframe(cfi, ip - bias, &frame) != 0)
      continue;
    free(frame);
    return 0;
  }
  return 1;
}

/* According to the unwind information, a popped register is still saved below
 * the stack pointer. The copy of the stack does not have this place, but the
 * register itself has the value again. */
static bool popped_word(unwind_process_t *process, uint64_t address,
                        Dwarf_Word *word) {
  uint64_t ip = process->stack->ips[0], base;
  const machine_t *machine = machine_of(process->machine);
  Dwarf_Addr bias;
  Dwarf_CFI *cfi =
      dwfl_module_eh_cfi(dwfl_addrmodule(process->dwfl, ip), &bias);
  Dwarf_Frame *frame;
  Dwarf_Op memory[3], *ops;
  size_t nr;
  bool is_found = false;
  if (cfi == NULL || dwarf_cfi_addrframe(cfi, ip - bias, &frame) != 0)
    return false;
  if (dwarf_frame_cfa(frame, &ops, &nr) == 0 && nr == 1 &&
      ops->atom == DW_OP_bregx && ops->number < (Dwarf_Word)machine->nr &&
      uvperf_sample_regs_get(process->regs, machine->perf[ops->number],
                             &base) == 0) {
    base += ops->number2;
    for (int i = 0; i < machine->nr && !is_found; i++)
      is_found =
          dwarf_frame_register(frame, i, memory, &ops, &nr) == 0 && nr == 2 &&
          ops[0].atom == DW_OP_call_frame_cfa &&
          ops[1].atom == DW_OP_plus_uconst && base + ops[1].number == address &&
          uvperf_sample_regs_get(process->regs, machine->perf[i], word) == 0;
  }
  free(frame);
  return is_found;
}

static bool read_word(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *word,
                      void *arg) {
  (void)dwfl;
  unwind_process_t *process = arg;
  if (++process->reads % READS_PER_CHECK == 0 &&
      uv_hrtime() > process->deadline)
    process->is_slow = 1;
  if (process->is_slow)
    return false;
  uint64_t offset = address - process->sp;
  if (offset < process->bytes && process->bytes - offset >= sizeof *word) {
    memcpy(word, process->copy + offset, sizeof *word);
    *word = strip(process, *word);
    return true;
  }
  if (process->stack->nr == 1 && -offset <= POPPED && is_at_pop(process) &&
      popped_word(process, address, word))
    return true;
  const unwind_mapping_t *mapping = find(process, address);
  if (mapping != NULL && mapping->end - address >= sizeof *word &&
      file_word(mapping, address, word))
    return true;
  /* The stack goes on above a copy that is full. Any other address is a
   * mistake: code without unwind information was taken to have a frame
   * pointer. */
  process->is_lost = 1;
  process->is_cut = process->is_full && address >= process->sp &&
                    offset + sizeof *word > process->bytes;
  return false;
}

static bool set_registers(Dwfl_Thread *thread, void *arg) {
  const unwind_process_t *process = arg;
  const start_t *start = &process->start;
  for (int i = 0; i < machine_of(process->machine)->nr; i++)
    if (start->known >> i & 1 &&
        !dwfl_thread_state_registers(thread, i, 1, &start->regs[i]))
      return false;
  dwfl_thread_state_register_pc(thread, start->ip - (start->is_return ? 1 : 0));
  return true;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread) {
  (void)dwfl;
  (void)tid;
  *thread = arg;
  return true;
}

/* libdwfl requires this function, but does not call it because get_thread is
 * set. */
static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread) {
  (void)dwfl;
  (void)arg;
  (void)thread;
  return 0;
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
    .next_thread = next_thread,
    .get_thread = get_thread,
    .memory_read = read_word,
    .set_initial_registers = set_registers,
};

/* -- aarch64 --------------------------------------------------------------- */

/* Returns 1 for the code in the vdso to which signal handlers return: "mov x8,
 * #__NR_rt_sigreturn", "svc #0". Since Linux 5.8 this code has no unwind
 * information. */
static int is_sigreturn(const unwind_process_t *process, uint64_t ip) {
  const unwind_mapping_t *mapping = find(process, ip);
  Dwarf_Word code;
  for (uint64_t i = 0; i <= 8 && mapping != NULL; i += 4)
    if (ip - mapping->start >= i && file_word(mapping, ip - i, &code) &&
        code == 0xd4000001d2801168)
      return process->machine == EM_AARCH64;
  return 0;
}

/* Stubs of the PLT have no unwind information and no frame. The return address
 * to their caller is in x30. */
static int is_stub(const unwind_process_t *process, const start_t *start) {
  const unwind_mapping_t *mapping = find(process, start->ip);
  return process->machine == EM_AARCH64 && !start->is_return &&
         mapping != NULL && mapping->file != NULL &&
         !is_sigreturn(process, start->ip) &&
         start->known >> AARCH64_LINK & 1 &&
         find(process, start->regs[AARCH64_LINK]) != NULL &&
         is_without_info(process, start->ip);
}

/* Begins again at the place that the signal interrupted: struct rt_sigframe. */
static int enter_sigframe(unwind_process_t *process, Dwfl_Frame *frame) {
#if _ELFUTILS_PREREQ(0, 188)
  const uint64_t siginfo = 128, ucontext = 176, fault_address = 8;
  start_t start = {.known = UINT32_MAX};
  Dwarf_Word sp;
  if (dwfl_frame_reg(frame, AARCH64_SP, &sp) != 0)
    return 0;
  sp += siginfo + ucontext + fault_address;
  for (int i = 0; i < 32; i++, sp += sizeof sp)
    if (!read_word(NULL, sp, &start.regs[i], process))
      return 0;
  if (!read_word(NULL, sp, &start.ip, process))
    return 0;
  process->start = start;
  process->begins_again = 1;
  return 1;
#else
  (void)process;
  (void)frame;
  return 0;
#endif
}

/* -- frames ---------------------------------------------------------------- */

static int take_frame(unwind_stack_t *stack, uint64_t ip, int is_return) {
  if (stack->nr == UNWIND_FRAMES) {
    stack->end = UNWIND_LONG;
    return -1;
  }
  stack->ips[stack->nr] = ip;
  stack->is_return[stack->nr++] = (unsigned char)is_return;
  return 0;
}

/* Returns 1 if a chain of frame pointers ends here with 0, as in Go's goexit. A
 * frame pointer that was 0 from the beginning has another purpose. */
static int ends_chain(unwind_process_t *process, Dwfl_Frame *frame,
                      uint64_t ip) {
#if _ELFUTILS_PREREQ(0, 188)
  Dwarf_Word fp;
  if (dwfl_frame_reg(frame, (unsigned)machine_of(process->machine)->fp, &fp) !=
      0)
    return 0;
  process->has_fp |= fp != 0;
  return fp == 0 && process->has_fp && is_without_info(process, ip - 1);
#else
  (void)process;
  (void)frame;
  (void)ip;
  return 0;
#endif
}

static int add_frame(Dwfl_Frame *frame, void *arg) {
  unwind_process_t *process = arg;
  start_t *start = &process->start;
  Dwarf_Addr ip;
  bool is_interrupted;
  process->is_lost = process->is_cut = 0;
  if (!dwfl_frame_pc(frame, &ip, &is_interrupted))
    return DWARF_CB_ABORT;
  if (!start->has_begun) {
    is_interrupted = !start->is_return;
    ip = start->ip;
  }
  start->has_begun = 1;
  const int is_end = is_sigreturn(process, ip);
  if (take_frame(process->stack, ip, !is_interrupted && !is_end) != 0 ||
      (is_end && enter_sigframe(process, frame)))
    return DWARF_CB_ABORT;
  process->is_outermost = ends_chain(process, frame, ip);
  return process->is_slow || uv_hrtime() > process->deadline ? DWARF_CB_ABORT
                                                             : DWARF_CB_OK;
}

static int is_without_file(const unwind_process_t *process) {
  const unwind_stack_t *stack = process->stack;
  const unwind_mapping_t *mapping = find(
      process, stack->ips[stack->nr - 1] - stack->is_return[stack->nr - 1]);
  return mapping != NULL && mapping->file == NULL;
}

/* Unwinds from process->start to the end, or to a place where it must begin
 * again. */
static int unwind_on(unwind_process_t *process) {
  start_t *start = &process->start;
  process->begins_again = 0;
  if (is_stub(process, start)) {
    if (take_frame(process->stack, start->ip, 0) != 0)
      return -1;
    start->ip = start->regs[AARCH64_LINK];
    start->is_return = 1;
  }
  return dwfl_getthread_frames(process->dwfl, 1, add_frame, process);
}

static void take_registers(unwind_process_t *process) {
  const machine_t *machine = machine_of(process->machine);
  start_t *start = &process->start;
  uint64_t value;
  memset(start, 0, sizeof *start);
  for (int i = 0; i < machine->nr; i++) {
    if (uvperf_sample_regs_get(process->regs, machine->perf[i], &value) != 0)
      continue;
    start->regs[i] = strip(process, value);
    start->known |= UINT64_C(1) << i;
  }
  start->ip = process->stack->ips[0];
  start->is_return = is_after_syscall(process, start->ip);
}

void unwind_stack(unwind_process_t *process, const uvperf_regs_t *regs,
                  const void *copy, size_t bytes, int is_full,
                  unwind_stack_t *stack) {
  const machine_t *machine = machine_of(process->machine);
  stack->nr = 0;
  stack->is_without_file = 0;
  stack->end = UNWIND_ABI;
  if (unwind_ip(process->machine, regs, &stack->ips[0]) != 0 ||
      uvperf_sample_regs_get(regs, machine->sp, &process->sp) != 0)
    return;
  process->regs = regs;
  process->copy = copy;
  process->bytes = bytes;
  process->is_full = is_full;
  process->deadline = uv_hrtime() + UNWIND_MS * MS;
  process->reads = 0;
  process->is_lost = process->is_cut = process->is_slow = 0;
  process->is_outermost = process->has_fp = 0;
  process->stack = stack;
  take_registers(process);
  stack->end = UNWIND_NO_INFO;
  int result = -1;
  process->begins_again = process->elf != NULL;
  while (process->begins_again) /* after at least one more frame */
    result = unwind_on(process);
  if (stack->nr == 0) {
    stack->is_return[0] = 0;
    stack->nr = 1;
  }
  stack->is_without_file = is_without_file(process);
  if (stack->end == UNWIND_LONG)
    return;
  if (process->is_slow || uv_hrtime() > process->deadline)
    stack->end = UNWIND_SLOW;
  else if (process->is_cut)
    stack->end = UNWIND_CUT;
  else if ((result == 0 && !process->is_lost) || process->is_outermost)
    stack->end = UNWIND_COMPLETE;
}

/* Reports the module of a mapping to libdwfl. Returns 0, or -1 if out of
 * memory. */
static int report(unwind_process_t *process, const unwind_mapping_t *mapping) {
  const unwind_file_t *file = mapping->file;
  for (size_t i = 0; file != NULL && i < file->nr; i++) {
    const GElf_Phdr *segment = &file->segments[i];
    if (mapping->pgoff >= segment->p_offset + segment->p_filesz ||
        mapping->pgoff + (mapping->end - mapping->start) <= segment->p_offset)
      continue;
    uint64_t bias =
        mapping->start - mapping->pgoff + segment->p_offset - segment->p_vaddr;
    if (bias + file->low >= bias + file->end)
      return 0;
    Dwfl_Module *module = dwfl_report_module(
        process->dwfl, file->name, bias + file->low, bias + file->end);
    void **userdata;
    if (module == NULL || dwfl_module_info(module, &userdata, NULL, NULL, NULL,
                                           NULL, NULL, NULL) == NULL)
      return -1;
    *userdata = (void *)(uintptr_t)file;
    if (process->elf == NULL) {
      process->elf = elf_begin(-1, ELF_C_READ_MMAP_PRIVATE, file->elf);
      if (!dwfl_attach_state(process->dwfl, process->elf, 1, &thread_callbacks,
                             process))
        return -1;
    }
    return 0;
  }
  return 0;
}

int unwind_process_map(unwind_process_t *process,
                       const unwind_mapping_t *mappings, size_t nr) {
  unwind_mapping_t *copy = calloc(nr != 0 ? nr : 1, sizeof *copy);
  if (copy == NULL)
    return -1;
  for (size_t i = 0; i < nr; i++)
    copy[i] = mappings[i];
  qsort(copy, nr, sizeof *copy, common_sorted_compare);
  free(process->mappings);
  process->mappings = copy;
  process->nr = nr;
  /* If mappings overlap, an address belongs to the one that begins last. */
  process->address_bits = 0;
  int result = 0;
  dwfl_report_begin(process->dwfl);
  for (size_t i = 0; i < nr; i++) {
    if (i + 1 < nr && copy[i].end > copy[i + 1].start)
      copy[i].end = copy[i + 1].start;
    for (uint64_t left = copy[i].end; left > process->address_bits;)
      process->address_bits = process->address_bits << 1 | 1;
    if (copy[i].start < copy[i].end && report(process, &copy[i]) != 0)
      result = -1;
  }
  return dwfl_report_end(process->dwfl, NULL, NULL) == 0 ? result : -1;
}
