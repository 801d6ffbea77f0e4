/* SPDX-License-Identifier: MIT */
/* The scripted kernel: scripted events, and the wrapped functions that use
 * them. It does not know what the library does with it. Scripts and the log are
 * in fake_script.c, memory in fake_memory.c, rings in fake_ring.c, bpf(2) in
 * fake_map.c. */
#include "fake_kernel.h"
#include "support.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fake_script.h"
#include "sys/bpf.h"
#include "sys/fork.h"
#include "sys/sys.h"

#define EVENTS_MAX 512

/* The linker gives the functions of the library these names. */
int __real_uvperf__sys_open(struct perf_event_attr *attr, pid_t pid, int cpu,
                            int group_fd, unsigned long flags);
int __real_uvperf__sys_ioctl(int fd, unsigned long request, long arg);
int __real_uvperf__sys_ioctl_ptr(int fd, unsigned long request, void *arg);
int __real_uvperf__sys_mmap(void **address, size_t size, int prot, int fd,
                            off_t offset);
int __real_uvperf__sys_munmap(void *address, size_t size);
int __real_uvperf__sys_poll(int fd, short events);
ssize_t __real_uvperf__sys_read(int fd, void *buffer, size_t size);
int __real_uvperf__sys_close(int fd);
int __real_uvperf__sys_bpf_link(int prog_fd, int event_fd, uint64_t cookie);
int __real_uvperf__sys_membarrier(void);
pid_t __real_uvperf__sys_getpid(void);
int __real_uvperf__sys_thread(void);
uint32_t __real_uvperf__process(void);
int __real_uvperf__process_is_marked(void);
pid_t __real_uvperf__sys_gettid(void);
int __real_uvperf__sys_has_task(pid_t process, pid_t task);
uint64_t __real_uvperf__sys_rdpmc(uint32_t counter);
uint64_t __real_uvperf__sys_cycles(void);

static struct {
  fake_event_t events[EVENTS_MAX];
  size_t added;
  size_t given;
  int (*on_open)(struct perf_event_attr *attr);
  void (*on_membarrier)(void);
  uint64_t (*on_rdpmc)(uint32_t counter);
  uint64_t (*on_cycles)(void);
  void (*on_call)(const fake_seen_t *seen);
  uint32_t process; /* returned by uvperf__process; 0: the real one */
  int thread;       /* uvperf__sys_thread in all threads; 0: the real one */
} kernel;

void fake_kernel_reset(void) {
  fake_event_t *fake;
  size_t i;

  for (i = 0; i < kernel.added; i++) {
    fake = &kernel.events[i];
    if (fake->fd >= 0)
      close(fake->fd);
    if (fake->link >= 0)
      close(fake->link);
    if (fake->region != NULL)
      munmap(fake->region, fake->region_size);
  }
  fake_map_reset();
  fake_memory_reset();
  fake_script_reset();
  memset(&kernel, 0, sizeof(kernel));
}

int fake_kernel_setup(void **state) {
  fake_kernel_reset();
  return 0;
}

int fake_kernel_loop_setup(void **state) {
  fake_kernel_reset();
  return support_loop_setup(state);
}

int fake_kernel_loop_teardown(void **state) {
  int rc = support_loop_teardown(state);

  fake_kernel_reset();
  return rc;
}

int fake_kernel_clean_teardown(void **state) {
  int passed = support_loop_passed(state);
  int rc = support_loop_teardown(state);

  if (passed)
    fake_assert_clean();
  fake_kernel_reset();
  return rc;
}

fake_event_t *fake_event_add(uint64_t id) {
  fake_event_t *fake;

  assert_true(kernel.added < EVENTS_MAX);
  fake = &kernel.events[kernel.added++];
  fake->id = id;
  fake->fd = -1;
  fake->old_fd = -1;
  fake->link = -1;
  fake->old_link = -1;
  return fake;
}

void fake_on_open(int (*on_open)(struct perf_event_attr *attr)) {
  kernel.on_open = on_open;
}

void fake_on_membarrier(void (*on_membarrier)(void)) {
  kernel.on_membarrier = on_membarrier;
}

void fake_on_rdpmc(uint64_t (*on_rdpmc)(uint32_t counter)) {
  kernel.on_rdpmc = on_rdpmc;
}

void fake_on_cycles(uint64_t (*on_cycles)(void)) {
  kernel.on_cycles = on_cycles;
}

void fake_on_call(void (*on_call)(const fake_seen_t *seen)) {
  kernel.on_call = on_call;
}

void fake_see(fake_seen_t seen) {
  fake_note(seen.call, seen.detail, seen.code < 0);
  if (kernel.on_call != NULL &&
      (seen.fake != NULL || strcmp(seen.call, "open") == 0 ||
       strncmp(seen.call, "bpf ", 4) == 0))
    kernel.on_call(&seen);
}

void fake_process(uint32_t process) {
  kernel.process = process;
}

void fake_thread(int number) {
  kernel.thread = number;
}

void fake_assert_clean(void) {
  size_t i;

  for (i = 0; i < kernel.added; i++) {
    if (kernel.events[i].fd >= 0)
      fail_msg("scripted event %zu is still open", i);
    if (kernel.events[i].page != NULL)
      fail_msg("scripted event %zu is still mapped", i);
    if (kernel.events[i].link >= 0)
      fail_msg("scripted event %zu is still linked", i);
  }
  fake_map_assert_clean();
  fake_memory_assert_clean();
}

fake_event_t *fake_event_of(int fd) {
  size_t i;

  for (i = 0; fd >= 0 && i < kernel.added; i++)
    if (kernel.events[i].fd == fd)
      return &kernel.events[i];
  return NULL;
}

static int open_event(fake_event_t *fake, const struct perf_event_attr *attr,
                      pid_t pid, int cpu, int group_fd, unsigned long flags) {
  if (attr->size > sizeof(fake->attr_bytes))
    fake_broken("an attr of more bytes than the fake has room for");
  fake->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fake->fd < 0)
    return -errno;
  memcpy(fake->attr_bytes, attr, attr->size);
  fake->opened = 1;
  fake->enabled = !attr->disabled;
  fake->pid = pid;
  fake->cpu = cpu;
  fake->group_fd = group_fd;
  fake->flags = flags;
  return fake->fd;
}

int __wrap_uvperf__sys_open(struct perf_event_attr *attr, pid_t pid, int cpu,
                            int group_fd, unsigned long flags) {
  fake_event_t *fake = NULL;
  int code;

  if (fake_scripted(FAKE_OPEN, &code)) {
    if (code == -E2BIG)
      attr->size = FAKE_ATTR_SIZE;
  } else if (kernel.on_open != NULL && (code = kernel.on_open(attr)) != 0) {
    /* Refused. */
  } else if (kernel.given < kernel.added) {
    fake = &kernel.events[kernel.given++];
    code = open_event(fake, attr, pid, cpu, group_fd, flags);
  } else {
    code = __real_uvperf__sys_open(attr, pid, cpu, group_fd, flags);
  }
  fake_see((fake_seen_t){"open", "", fake, 0, code, pid, cpu, group_fd});
  return code;
}

static const char *ioctl_name(unsigned long request) {
  static const struct {
    unsigned long request;
    const char *name;
  } names[] = {{PERF_EVENT_IOC_ENABLE, "ENABLE"},
               {PERF_EVENT_IOC_DISABLE, "DISABLE"},
               {PERF_EVENT_IOC_REFRESH, "REFRESH"},
               {PERF_EVENT_IOC_RESET, "RESET"},
               {PERF_EVENT_IOC_PERIOD, "PERIOD"},
               {PERF_EVENT_IOC_SET_OUTPUT, "SET_OUTPUT"},
               {PERF_EVENT_IOC_SET_FILTER, "SET_FILTER"},
               {PERF_EVENT_IOC_ID, "ID"},
               {PERF_EVENT_IOC_SET_BPF, "SET_BPF"},
               {PERF_EVENT_IOC_PAUSE_OUTPUT, "PAUSE_OUTPUT"},
               {PERF_EVENT_IOC_QUERY_BPF, "QUERY_BPF"},
               {PERF_EVENT_IOC_MODIFY_ATTRIBUTES, "MODIFY_ATTRIBUTES"}};
  size_t i;

  for (i = 0; i < COUNT_OF(names); i++)
    if (names[i].request == request)
      return names[i].name;
  return "?";
}

int __wrap_uvperf__sys_ioctl(int fd, unsigned long request, long arg) {
  fake_event_t *fake;
  int code;

  fake = fake_event_of(fd);
  if (!fake_scripted(FAKE_IOCTL, &code)) {
    code = 0;
    if (fake == NULL)
      code = __real_uvperf__sys_ioctl(fd, request, arg);
    else if (fake->on_ioctl != NULL)
      code = fake->on_ioctl(fake, request, (uintptr_t)arg);
    if (fake != NULL && code >= 0 && request == PERF_EVENT_IOC_ENABLE)
      fake->enabled = 1;
    else if (fake != NULL && code >= 0 && request == PERF_EVENT_IOC_DISABLE)
      fake->enabled = 0;
  }
  fake_see((fake_seen_t){"ioctl", ioctl_name(request), fake, (uintptr_t)arg,
                         code, 0, 0, 0});
  return code;
}

int __wrap_uvperf__sys_ioctl_ptr(int fd, unsigned long request, void *arg) {
  fake_event_t *fake;
  int code;

  fake = fake_event_of(fd);
  if (!fake_scripted(FAKE_IOCTL_PTR, &code)) {
    code = 0;
    if (fake == NULL)
      code = __real_uvperf__sys_ioctl_ptr(fd, request, arg);
    else if (request == PERF_EVENT_IOC_ID)
      memcpy(arg, &fake->id, sizeof(fake->id));
    else if (fake->on_ioctl != NULL)
      code = fake->on_ioctl(fake, request, (uintptr_t)arg);
  }
  fake_see((fake_seen_t){"ioctl", ioctl_name(request), fake, (uintptr_t)arg,
                         code, 0, 0, 0});
  return code;
}

/* 1 or 1 + 2^n pages, as perf_mmap requires, and an inaccessible page after
 * them, so that a read past the end is a SIGSEGV. So is any read in a forked
 * child, which has no mappings of events (VM_DONTCOPY). */
static int map_event(fake_event_t *fake, void **address, size_t size,
                     off_t offset) {
  size_t first;
  size_t data;
  void *region;

  first = (size_t)sysconf(_SC_PAGESIZE);
  data = size - first;
  if (size < first || data % first != 0 || (data & (data - 1)) != 0 ||
      offset != 0)
    return -EINVAL;
  if (fake->region != NULL)
    fake_broken("a scripted event is mapped twice");
  region = mmap(NULL, size + first, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(region != MAP_FAILED);
  assert_int_equal(mprotect((uint8_t *)region + size, first, PROT_NONE), 0);
  assert_int_equal(madvise(region, size + first, MADV_DONTFORK), 0);
  fake->region = region;
  fake->region_size = size + first;
  fake->page = region;
  fake->ring = (uint8_t *)region + first;
  fake->ring_size = data;
  fake->page->data_offset = first;
  fake->page->data_size = data;
  if (fake->on_map != NULL)
    fake->on_map(fake);
  *address = region;
  return 0;
}

int __wrap_uvperf__sys_mmap(void **address, size_t size, int prot, int fd,
                            off_t offset) {
  fake_event_t *fake;
  int code;

  fake = fake_event_of(fd);
  if (fake_scripted(FAKE_MMAP, &code))
    ;
  else if (fake != NULL)
    code = map_event(fake, address, size, offset);
  else if (!fake_map_mmap(address, size, prot, fd, offset, &code))
    code = __real_uvperf__sys_mmap(address, size, prot, fd, offset);
  fake_see((fake_seen_t){"mmap", "", fake, 0, code, 0, 0, 0});
  return code;
}

/* The memory stays until the reset, inaccessible. No later mapping gets the
 * same address, so a second munmap is recognized. */
static void unmap_event(fake_event_t *fake, size_t size) {
  if (fake->page == NULL)
    fake_broken("a scripted ring is unmapped twice");
  if (size != (size_t)(fake->ring - (uint8_t *)fake->page) + fake->ring_size)
    fake_broken("a scripted ring is unmapped with another size");
  assert_int_equal(mprotect(fake->region, fake->region_size, PROT_NONE), 0);
  fake->page = NULL;
  fake->ring = NULL;
}

int __wrap_uvperf__sys_munmap(void *address, size_t size) {
  fake_event_t *fake;
  int code;
  size_t i;

  fake = NULL;
  for (i = 0; address != NULL && i < kernel.added; i++)
    if (kernel.events[i].region == address)
      fake = &kernel.events[i];
  if (!fake_scripted(FAKE_MUNMAP, &code)) {
    code = 0;
    if (fake != NULL)
      unmap_event(fake, size);
    else
      code = __real_uvperf__sys_munmap(address, size);
  }
  fake_see((fake_seen_t){"munmap", "", fake, 0, code, 0, 0, 0});
  return code;
}

void fake_event_wake(fake_event_t *fake) {
  assert_int_equal(eventfd_write(fake->fd, 1), 0);
}

/* Whether it was readable. */
static int clear_wake(fake_event_t *fake) {
  eventfd_t value;

  return eventfd_read(fake->fd, &value) == 0;
}

void fake_event_quiet(fake_event_t *fake) {
  clear_wake(fake);
}

static void begin_poll(int fd) {
  fake_event_t *fake = fake_event_of(fd);

  if (fake != NULL && fake->on_poll != NULL)
    fake->on_poll(fake);
}

static int poll_one(int fd, short events) {
  fake_event_t *fake = fake_event_of(fd);

  if (fake == NULL)
    return __real_uvperf__sys_poll(fd, events);
  /* poll(2) reports POLLERR, POLLHUP and POLLNVAL without a request. */
  return ((clear_wake(fake) ? POLLIN : 0) | fake->revents) &
         (events | POLLERR | POLLHUP | POLLNVAL);
}

int __wrap_uvperf__sys_poll(int fd, short events) {
  int code;

  begin_poll(fd);
  if (!fake_scripted(FAKE_POLL, &code))
    code = poll_one(fd, events);
  fake_see((fake_seen_t){"poll", "", fake_event_of(fd), 0, code, 0, 0, 0});
  return code;
}

int __wrap_uvperf__sys_poll_all(struct pollfd *fds, size_t nr) {
  size_t i;
  int code;

  for (i = 0; i < nr; i++)
    begin_poll(fds[i].fd);
  if (!fake_scripted(FAKE_POLL, &code)) {
    code = 0;
    for (i = 0; i < nr; i++) {
      fds[i].revents = (short)poll_one(fds[i].fd, fds[i].events);
      code += fds[i].revents != 0;
    }
  }
  fake_see(
      (fake_seen_t){"poll", "all", fake_event_of(fds[0].fd), 0, code, 0, 0, 0});
  return code;
}

static ssize_t read_event(const fake_event_t *fake, void *buffer, size_t size) {
  if (size < fake->read_size)
    return -ENOSPC;
  if (fake->read_size > 0)
    memcpy(buffer, fake->read_data, fake->read_size);
  return (ssize_t)fake->read_size;
}

ssize_t __wrap_uvperf__sys_read(int fd, void *buffer, size_t size) {
  fake_event_t *fake;
  ssize_t rc;
  int code;

  fake = fake_event_of(fd);
  if (fake_scripted(FAKE_READ, &code)) /* Linux checks the size first */
    rc = code == -ECHILD && size == 0 ? -ENOSPC : code;
  else if (fake != NULL)
    rc = read_event(fake, buffer, size);
  else
    rc = __real_uvperf__sys_read(fd, buffer, size);
  fake_see((fake_seen_t){"read", "", fake, 0, (int)rc, 0, 0, 0});
  return rc;
}

static int was_closed(int fd) {
  size_t i;

  for (i = 0; fd >= 0 && i < kernel.added; i++)
    if (kernel.events[i].old_fd == fd || kernel.events[i].old_link == fd)
      return 1;
  return fake_map_was_closed(fd);
}

static fake_event_t *by_link(int fd) {
  size_t i;

  for (i = 0; fd >= 0 && i < kernel.added; i++)
    if (kernel.events[i].link == fd)
      return &kernel.events[i];
  return NULL;
}

static int link_event(fake_event_t *fake, int prog_fd, uint64_t cookie) {
  int code;

  if (fake->link >= 0)
    return -EEXIST;
  code = fake->on_link != NULL ? fake->on_link(fake, prog_fd) : 0;
  if (code < 0)
    return code;
  fake->cookie = cookie;
  fake->link = eventfd(0, EFD_CLOEXEC);
  return fake->link >= 0 ? fake->link : -errno;
}

int __wrap_uvperf__sys_bpf_link(int prog_fd, int event_fd, uint64_t cookie) {
  fake_event_t *fake;
  int code;

  fake = fake_event_of(event_fd);
  if (fake_scripted(FAKE_BPF_LINK, &code))
    ;
  else if (fake != NULL)
    code = link_event(fake, prog_fd, cookie);
  else
    code = __real_uvperf__sys_bpf_link(prog_fd, event_fd, cookie);
  fake_see(
      (fake_seen_t){"bpf link", "", fake, (uintptr_t)cookie, code, 0, 0, 0});
  return code;
}

int __wrap_uvperf__sys_membarrier(void) {
  int code = 0;

  if (fake_scripted(FAKE_MEMBARRIER, &code))
    ;
  else if (kernel.on_membarrier != NULL)
    kernel.on_membarrier();
  else
    code = __real_uvperf__sys_membarrier();
  fake_note("membarrier", "", code < 0);
  return code;
}

int __wrap_uvperf__sys_close(int fd) {
  fake_event_t *fake;
  fake_event_t *linked;
  int failed;
  int code;
  int rc;

  failed = fake_scripted(FAKE_CLOSE, &code);
  fake = fake_event_of(fd);
  linked = by_link(fd);
  fake_map_close_fd(fd, kernel.process != 0);
  rc = __real_uvperf__sys_close(fd);
  if (rc == -EBADF && was_closed(fd))
    fake_broken("a scripted event is closed twice");
  if (fake != NULL) {
    fake->old_fd = fd;
    fake->fd = -1;
  }
  if (linked != NULL) {
    linked->old_link = fd;
    linked->link = -1;
  }
  if (!failed)
    code = rc;
  fake_see((fake_seen_t){"close", linked != NULL ? "link" : "",
                         linked != NULL ? linked : fake, 0, code, 0, 0, 0});
  return code;
}

pid_t __wrap_uvperf__sys_getpid(void) {
  int code;

  return fake_scripted(FAKE_GETPID, &code) ? code : __real_uvperf__sys_getpid();
}

int __wrap_uvperf__sys_thread(void) {
  return kernel.thread != 0 ? kernel.thread : __real_uvperf__sys_thread();
}

uint32_t __wrap_uvperf__process(void) {
  return kernel.process != 0 ? kernel.process : __real_uvperf__process();
}

int __wrap_uvperf__process_is_marked(void) {
  int code;

  return fake_scripted(FAKE_IS_MARKED, &code)
             ? code
             : __real_uvperf__process_is_marked();
}

pid_t __wrap_uvperf__sys_gettid(void) {
  int code;

  return fake_scripted(FAKE_GETTID, &code) ? code : __real_uvperf__sys_gettid();
}

int __wrap_uvperf__sys_has_task(pid_t process, pid_t task) {
  int code;

  return fake_scripted(FAKE_HAS_TASK, &code)
             ? code
             : __real_uvperf__sys_has_task(process, task);
}

uint64_t __wrap_uvperf__sys_rdpmc(uint32_t counter) {
  int code;

  fake_scripted(FAKE_RDPMC, &code); /* counted: it cannot fail */
  if (kernel.on_rdpmc != NULL)
    return kernel.on_rdpmc(counter);
  return __real_uvperf__sys_rdpmc(counter);
}

uint64_t __wrap_uvperf__sys_cycles(void) {
  int code;

  fake_scripted(FAKE_CYCLES, &code); /* counted: it cannot fail */
  return kernel.on_cycles != NULL ? kernel.on_cycles()
                                  : __real_uvperf__sys_cycles();
}
