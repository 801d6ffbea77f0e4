/* SPDX-License-Identifier: MIT */
/* Work whose effect on perf events is known exactly: page faults, writes to one
 * word, calls of one function, one system call. The places where work is done
 * are in live_place.c. */
#include "live.h"

#include <fcntl.h>
#include <link.h>
#include <linux/hw_breakpoint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* A section of its own, for which the linker makes these two symbols, shows
 * where the code of a function ends. The sanitizer's shadow memory would cause
 * page faults of its own. */
#define TOUCH_SECTION                                                          \
  __attribute__((noinline, section("live_touch_code"),                         \
                 no_sanitize("address", "undefined", "thread")))
extern const char __start_live_touch_code[];
extern const char __stop_live_touch_code[];

TOUCH_SECTION static void touch(volatile char *region, size_t page,
                                size_t pages) {
  size_t i;

  for (i = 0; i < pages; i++)
    region[i * page + i * 8] = 1;
}

static size_t page_size(void) {
  return (size_t)sysconf(_SC_PAGESIZE);
}

static char *map_region(void) {
  char *region;

  region = mmap(NULL, LIVE_PAGES * page_size(), PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(region, MAP_FAILED);
  /* A huge page would be one fault for all pages. EINVAL: the kernel has
   * none. */
  madvise(region, LIVE_PAGES * page_size(), MADV_NOHUGEPAGE);
  return region;
}

/* Reads each page of a library's code and constants, so that they fault nowhere
 * later. Which pages the kernel maps at one fault depends on the address. */
TOUCH_SECTION static int read_pages(struct dl_phdr_info *info, size_t size,
                                    void *unused) {
  size_t i, at;

  for (i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];

    if (part->p_type != PT_LOAD || (part->p_flags & PF_W) != 0)
      continue;
    for (at = 0; at < part->p_memsz; at += page_size())
      (void)*(volatile char *)(info->dlpi_addr + part->p_vaddr + at);
  }
  return 0;
}

char *live_region(void) {
  char *scratch;

  dl_iterate_phdr(read_pages, NULL);
  scratch = map_region();
  live_touch(scratch);
  live_region_free(scratch);
  return map_region();
}

void live_region_free(char *region) {
  assert_int_equal(munmap(region, LIVE_PAGES * page_size()), 0);
}

void live_touch(char *region) {
  touch(region, page_size(), LIVE_PAGES);
}

uint64_t live_touched(const char *region, uint64_t i) {
#if defined(__s390x__) /* reports only the page */
  return (uintptr_t)region + i * page_size();
#else
  return (uintptr_t)region + i * page_size() + i * 8;
#endif
}

int live_is_in_touch(uint64_t ip) {
  return ip >= (uintptr_t)__start_live_touch_code &&
         ip < (uintptr_t)__stop_live_touch_code;
}

volatile unsigned long live_word;

void live_write(uint64_t nr) {
  uint64_t i;

  for (i = 0; i < nr; i++)
    live_word = (unsigned long)i;
}

__attribute__((noinline)) void live_called(uint64_t argument) {
  /* Not empty: otherwise the compiler drops the calls. */
  __asm__ volatile("" : : "r"(argument) : "memory");
}

void live_syscall(uint64_t nr) {
  uint64_t i;

  for (i = 0; i < nr; i++)
    syscall(SYS_getpgid, LIVE_PGID);
}

uint64_t live_now(void) {
  struct timespec now;

  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint32_t live_tid(void) {
  return (uint32_t)syscall(SYS_gettid);
}

static void sample_each(struct perf_event_attr *attr, uint64_t sample_type) {
  attr->sample_type = sample_type;
  attr->exclude_kernel = 1;
  attr->exclude_hv = 1;
  uvperf_attr_set_period(attr, 1);
  uvperf_attr_set_wakeup_bytes(attr, 1);
}

void live_touch_attr(struct perf_event_attr *attr, uint64_t sample_type) {
  uvperf_attr_software(attr, PERF_COUNT_SW_PAGE_FAULTS);
  sample_each(attr, sample_type);
}

void live_write_attr(struct perf_event_attr *attr, uint64_t sample_type) {
  uvperf_attr_breakpoint(attr, HW_BREAKPOINT_W, (uintptr_t)&live_word,
                         sizeof(live_word));
  sample_each(attr, sample_type);
}

/* A 32-bit program can run under a 64-bit kernel. */
static uint64_t kernel_long(void) {
  struct utsname name;

  if (uname(&name) != 0)
    abort();
  return strcmp(name.machine, "x86_64") == 0 ? 8 : sizeof(long);
}

void live_called_attr(struct perf_event_attr *attr, uint64_t sample_type) {
  uvperf_attr_breakpoint(attr, HW_BREAKPOINT_X, (uintptr_t)live_called,
                         kernel_long());
  sample_each(attr, sample_type);
}

uvperf_event_list_t *live_called_list(void) {
  uvperf_event_list_t *events;
  uvperf_error_t error;
  char path[512], name[600];
  ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

  assert_true(length > 0);
  path[length] = '\0';
  snprintf(name, sizeof(name), "uprobe/path=\"%s\",symbol=live_called/", path);
  if (uvperf_event_list_parse(&events, name, &error) != 0)
    fail_msg("%s", error.reason);
  return events;
}

void live_syscall_attr(struct perf_event_attr *attr, uint64_t tracepoint,
                       uint64_t sample_type) {
  uvperf_attr_tracepoint(attr, tracepoint);
  sample_each(attr, sample_type);
}

void live_need_syscall(const char *test, struct perf_event_attr *attr,
                       uint64_t sample_type) {
  live_syscall_attr(attr, support_need_tracepoint(test, LIVE_SYSCALL),
                    sample_type);
}

uint64_t live_physical(const volatile void *address) {
  uint64_t virtual = (uintptr_t)address;
  uint64_t entry;
  int fd;

  fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  assert_true(fd >= 0);
  assert_int_equal(pread(fd, &entry, 8, (off_t)(virtual / page_size() * 8)), 8);
  close(fd);
  assert_true(entry >> 63); /* present */
  return (entry & ((UINT64_C(1) << 55) - 1)) * page_size() +
         virtual % page_size();
}
