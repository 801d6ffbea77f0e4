/* SPDX-License-Identifier: MIT */
#include "live_offline_cpu.h"

#include "support.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

/* The CPU that is offline; 0: none. */
static int away;

static int open_switch(int cpu) {
  char path[64];

  snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
  return open(path, O_WRONLY | O_CLOEXEC);
}

static int write_switch(int cpu, const char *to) {
  int fd = open_switch(cpu);
  ssize_t written;

  if (fd < 0)
    return 0;
  written = write(fd, to, 1);
  close(fd);
  return written == 1;
}

static void give_back_at_exit(void) {
  if (away != 0)
    write_switch(away, "1");
}

int live_offline_cpu_need(const char *test) {
  const char *name = getenv("UVPERF_TEST_OFFLINE_CPU");
  static int is_registered;

  if (name == NULL)
    support_skip(test, "UVPERF_TEST_OFFLINE_CPU, a CPU to be taken away");
  support_need_cpu_wide(test);
  if (!is_registered) {
    /* Until this program exits, no other takes a CPU away. */
    assert_int_equal(flock(open_switch(atoi(name)), LOCK_EX), 0);
    atexit(give_back_at_exit);
  }
  is_registered = 1;
  /* An earlier test has left one offline. */
  give_back_at_exit();
  away = 0;
  return atoi(name);
}

void live_offline_cpu_take(int cpu) {
  away = cpu;
  assert_true(write_switch(cpu, "0"));
}

void live_offline_cpu_give_back(int cpu) {
  away = 0;
  assert_true(write_switch(cpu, "1"));
}

void live_offline_cpu_bounce(int cpu) {
  live_offline_cpu_take(cpu);
  live_offline_cpu_give_back(cpu);
}
