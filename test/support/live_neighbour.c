/* SPDX-License-Identifier: MIT */
#include "live_neighbour.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "check_explain.h"

#define PAGES     16
#define ROUND_US  1000
#define WAIT_NS   UINT64_C(20000000000)
#define WILD_EACH 8 /* rounds */

/* Without the scripted kernel and the library. */
static int open_event(const live_neighbour_plan_t *plan) {
  struct perf_event_attr attr;

  memset(&attr, 0, sizeof(attr));
  attr.size = sizeof(attr);
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_PAGE_FAULTS;
  attr.sample_period = 1;
  attr.sample_type = PERF_SAMPLE_TIME | plan->sample_type;
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  attr.use_clockid = plan->clockid != LIVE_NEIGHBOUR_NO_CLOCK;
  attr.clockid = attr.use_clockid ? plan->clockid : 0;
  return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1,
                      PERF_FLAG_FD_CLOEXEC);
}

/* An event with only the time, between two events with a call chain. */
void live_neighbour_need_shared_samples(const char *test) {
  static const live_neighbour_plan_t plain = {0, LIVE_NEIGHBOUR_NO_CLOCK, 0, 0};
  static const live_neighbour_plan_t chain = {0, LIVE_NEIGHBOUR_NO_CLOCK,
                                              PERF_SAMPLE_CALLCHAIN, 0};
  int fds[] = {open_event(&chain), open_event(&plain), open_event(&chain)};
  size_t page = support_page_bytes();
  struct perf_event_header header;
  char *region = live_region();
  uint8_t *ring;
  size_t i;

  ring = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fds[1], 0);
  assert_ptr_not_equal(ring, MAP_FAILED);
  live_touch(region);
  memcpy(&header, ring + page, sizeof(header));
  munmap(ring, 2 * page);
  for (i = 0; i < 3; i++)
    close(fds[i]);
  live_region_free(region);
  assert_int_equal(header.type, PERF_RECORD_SAMPLE);
  if (header.size == sizeof(header) + sizeof(uint64_t))
    support_skip(test, "samples that events share, Linux 6.3");
}

/* Each page faults again. */
static void fault(live_neighbour_state_t *state, char *region) {
  size_t bytes = support_page_bytes();
  size_t i;

  madvise(region, PAGES * bytes, MADV_DONTNEED);
  for (i = 0; i < PAGES; i++)
    *(volatile char *)(region + i * bytes) = 1;
  __atomic_fetch_add(&state->faults, PAGES, __ATOMIC_RELEASE);
}

static void map_odd_name(unsigned round) {
  static const char *const names[] = {"",         "\n",       "\033[2J",
                                      "//anon",   "[heap]",   " (deleted)",
                                      "\xff\xfe", "a\tb'\"\\"};
  int fd = memfd_create(names[round % 8], MFD_CLOEXEC);
  size_t bytes = support_page_bytes();
  void *map;

  if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0)
    return;
  map = mmap(NULL, bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
  if (map != MAP_FAILED)
    munmap(map, bytes);
  close(fd);
}

static void be_wild(unsigned round) {
  static const char *const names[] = {
      "", "\n\n\n", "\033[31m", "swapper/0", "kworker/0:0", ")", "\xff", "a b"};
  pid_t pids[4];
  size_t i;

  prctl(PR_SET_NAME, names[round % 8]);
  map_odd_name(round);
  for (i = 0; i < 4; i++) {
    pids[i] = fork();
    if (pids[i] == 0) {
      map_odd_name(round + (unsigned)i);
      _exit(0);
    }
  }
  for (i = 0; i < 4; i++)
    if (pids[i] > 0)
      waitpid(pids[i], NULL, 0);
}

static int live_beside(void *arg) {
  live_neighbour_t *neighbour = arg;
  live_neighbour_state_t *state = neighbour->state;
  size_t bytes = support_page_bytes();
  struct perf_event_mmap_page *ring;
  cpu_set_t cpus;
  unsigned round;
  char *region;
  int fd;

  CPU_ZERO(&cpus);
  CPU_SET((size_t)neighbour->plan.cpu, &cpus);
  sched_setaffinity(0, sizeof(cpus), &cpus);
  explain_drop_privileges();
  /* Not earlier: a change of the user clears it. */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  fd = open_event(&neighbour->plan);
  ring = mmap(NULL, 9 * bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  region = mmap(NULL, PAGES * bytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (fd < 0 || ring == MAP_FAILED || region == MAP_FAILED) {
    __atomic_store_n(&state->error, errno, __ATOMIC_RELEASE);
    return 1;
  }
  for (round = 0; !__atomic_load_n(&state->is_over, __ATOMIC_ACQUIRE);
       round++) {
    fault(state, region);
    ring->data_tail = ring->data_head;
    if (neighbour->plan.is_wild && round % WILD_EACH == 0)
      be_wild(round / WILD_EACH);
    usleep(ROUND_US);
  }
  return 0;
}

/* Until this program exits, no other program has a neighbour: it would change
 * what this one expects of its own. */
static void be_alone(void) {
  static int is_alone;
  int fd;

  if (is_alone)
    return;
  fd = open("/proc/sys/kernel/perf_event_paranoid", O_RDONLY | O_CLOEXEC);
  assert_int_equal(flock(fd, LOCK_EX), 0);
  is_alone = 1;
}

void live_neighbour_start(live_neighbour_t *neighbour,
                          const live_neighbour_plan_t *plan) {
  live_neighbour_state_t *state;
  uint64_t end;

  be_alone();
  end = live_now() + WAIT_NS;

  state = mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE,
               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(state, MAP_FAILED);
  neighbour->plan = *plan;
  neighbour->state = state;
  neighbour->pid = support_fork(live_beside, neighbour);
  while (__atomic_load_n(&state->faults, __ATOMIC_ACQUIRE) == 0 &&
         __atomic_load_n(&state->error, __ATOMIC_ACQUIRE) == 0 &&
         live_now() < end)
    usleep(ROUND_US);
  if (state->faults == 0)
    fail_msg("the neighbour makes no faults: %s", strerror(state->error));
}

void live_neighbour_end(live_neighbour_t *neighbour) {
  __atomic_store_n(&neighbour->state->is_over, 1, __ATOMIC_RELEASE);
  assert_int_equal(support_wait(neighbour->pid), 0);
  munmap(neighbour->state, sizeof(*neighbour->state));
}
