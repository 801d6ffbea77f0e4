/* SPDX-License-Identifier: MIT */
/* Reads facts and limits of this system from small text files of /proc and
 * /sys. Keeps nothing between calls and decides nothing. The
 * callers know which facts an event needs. */
#include "host/system.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "host/cpu_list.h"
#include "util/file.h"
#include "util/line.h"
#include "uvperf/attr.h"
#include "uvperf/system.h"

#define NS_PER_S INT64_C(1000000000)

/* -- files ----------------------------------------------------------------- */

/* A walk over the lines that start with a key. */
typedef struct lines_s {
  const char *key;
  size_t key_length;
  char *text; /* of the line after the key, cut to size */
  size_t size;
  size_t at;    /* number of bytes of this line so far */
  int is_other; /* this line does not start with the key */
  uvperf__name_fn each;
  void *data;
} lines_t;

static void put_byte(lines_t *lines, char byte) {
  size_t at = lines->at++;

  if (at < lines->key_length)
    lines->is_other |= byte != lines->key[at];
  else if (at - lines->key_length + 1 < lines->size)
    lines->text[at - lines->key_length] = byte;
}

static int end_line(lines_t *lines) {
  size_t length = lines->at - lines->key_length;
  int is_found = !lines->is_other && lines->at >= lines->key_length;

  lines->at = 0;
  lines->is_other = 0;
  if (!is_found)
    return 0;
  lines->text[length < lines->size ? length : lines->size - 1] = '\0';
  return lines->each(lines->text, lines->data);
}

int uvperf__system_each_line(const char *path, const char *key, char *text,
                             size_t size, uvperf__name_fn each, void *data) {
  lines_t lines = {key, strlen(key), text, size, 0, 0, each, data};
  int fd = uvperf__file_open(path);
  char chunk[1024];
  ssize_t nr = 0;
  ssize_t i;
  int rc = 0;

  if (fd < 0)
    return fd;
  while (rc == 0 && (nr = uvperf__file_read(fd, chunk, sizeof(chunk))) > 0)
    for (i = 0; rc == 0 && i < nr; i++)
      if (chunk[i] == '\n')
        rc = end_line(&lines);
      else
        put_byte(&lines, chunk[i]);
  uvperf__file_close(fd);
  if (rc != 0 || nr < 0)
    return rc != 0 ? rc : (int)nr;
  /* The last line may have no newline. */
  return lines.at > 0 ? end_line(&lines) : 0;
}

static int stop_at_line(const char *text, void *data) {
  (void)text;
  (void)data;
  return 1;
}

int uvperf__system_line(const char *path, const char *key, char *text,
                        size_t size) {
  int rc = uvperf__system_each_line(path, key, text, size, stop_at_line, NULL);

  if (rc != 1)
    text[0] = '\0';
  return rc == 1 ? 0 : rc == 0 ? -ENODATA : rc;
}

/* Reads until the end of the file: one read returns at most a page from sysfs,
 * and less from other files. */
static int read_whole(int fd, char *text, size_t size) {
  size_t length = 0;
  ssize_t nr;

  while ((nr = uvperf__file_read(fd, text + length, size - length)) > 0) {
    length += (size_t)nr;
    if (length == size) {
      text[size - 1] = '\0';
      return -EFBIG;
    }
  }
  if (nr < 0)
    return (int)nr;
  if (memchr(text, '\0', length) != NULL)
    return -EINVAL;
  if (length > 0 && text[length - 1] == '\n')
    length -= 1;
  text[length] = '\0';
  return 0;
}

int uvperf__system_text(const char *path, char *text, size_t size) {
  int fd = uvperf__file_open(path);
  int rc;

  text[0] = '\0';
  if (fd < 0)
    return fd;
  rc = read_whole(fd, text, size);
  uvperf__file_close(fd);
  if (rc != 0 && rc != -EFBIG)
    text[0] = '\0';
  return rc;
}

int uvperf__system_number(const char *path, int64_t *value) {
  char text[64];
  char *end;
  long long number;
  int rc = uvperf__system_line(path, "", text, sizeof(text));

  *value = 0;
  if (rc != 0)
    return rc == -ENODATA ? -EINVAL : rc;
  errno = 0;
  number = strtoll(text, &end, 10);
  if (end == text || end[strspn(end, " \t")] != '\0')
    return -EINVAL;
  if (errno == ERANGE)
    return -ERANGE;
  *value = number;
  return 0;
}

/* -- capabilities and namespaces of this process --------------------------- */

/* Reads the effective capabilities of this process (its first thread), one bit
 * for each, from /proc/self/status. Returns 0 or -errno. */
static int system_capabilities(uint64_t *caps) {
  char text[64];
  char *end;
  int rc = uvperf__system_line("/proc/self/status", "CapEff:", text, 64);

  *caps = 0;
  if (rc != 0)
    return rc;
  *caps = strtoull(text, &end, 16);
  return end == text ? -EINVAL : 0;
}

int uvperf__system_has_capability(int capability) {
  uint64_t caps;
  int rc = system_capabilities(&caps);

  return rc != 0 ? rc : (int)(caps >> capability & 1);
}

int uvperf__system_has_filter(void) {
  char text[16];

  /* SECCOMP_MODE_FILTER, proc(5). */
  return uvperf__system_line("/proc/self/status", "Seccomp:", text,
                             sizeof(text)) == 0 &&
         atoi(text) == 2;
}

/* The initial namespace maps each uid to itself: see user_namespaces(7). */
static int has_map_of_its_own(void) {
  unsigned long first, mapped, count;
  char text[64];
  int rc = uvperf__system_line("/proc/self/uid_map", "", text, 64);

  if (rc != 0)
    return rc == -ENODATA ? 1 : rc; /* a namespace without a map yet */
  if (sscanf(text, "%lu %lu %lu", &first, &mapped, &count) != 3)
    return -EINVAL;
  return first != 0 || mapped != 0 || count != UINT32_MAX;
}

/* Root can set the initial map in any namespace, but the number of the initial
 * namespace is fixed: USER_NS_INIT_INO in <linux/nsfs.h>. */
int uvperf__system_is_user_namespace(void) {
  unsigned long inode;
  char text[64];
  uint64_t caps;
  int rc;

  if (uvperf__file_link("/proc/self/ns/user", text, sizeof(text)) == 0 &&
      sscanf(text, "user:[%lu]", &inode) == 1)
    return inode != 0xEFFFFFFDUL;
  rc = has_map_of_its_own();
  /* A kernel without CONFIG_USER_NS has neither file. */
  if (rc == -ENOENT && system_capabilities(&caps) == 0)
    return 0;
  return rc;
}

/* Returns the clock's name in time_namespaces(7), or "" for clocks without an
 * offset. */
static const char *clock_namespace_name(int clockid) {
  switch (clockid) {
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
      return "monotonic";
    case CLOCK_BOOTTIME:
      return "boottime";
    default:
      return "";
  }
}

/* The file has the offsets for future children. These children are in our
 * namespace, unless we have called unshare(2). The initial namespace has no
 * offsets. Its number is fixed: TIME_NS_INIT_INO in <linux/nsfs.h>. If the
 * first thread has ended, /proc/self has no links, and the offsets are
 * empty. */
int uvperf__system_clock_ahead(int clockid, int64_t *ns) {
  const char *clock = clock_namespace_name(clockid);
  char own[64], childrens[64], text[64];
  int64_t seconds, rest;
  int rc;

  *ns = 0;
  if (clock[0] == '\0')
    return 0;
  rc = uvperf__file_link("/proc/thread-self/ns/time", own, sizeof(own));
  if (rc != 0) /* a kernel without time namespaces */
    return rc == -ENOENT ? 0 : rc;
  if (strcmp(own, "time:[4026531834]") == 0)
    return 0;
  rc = uvperf__file_link("/proc/thread-self/ns/time_for_children", childrens,
                         sizeof(childrens));
  if (rc == 0 && strcmp(own, childrens) != 0)
    rc = -ENODATA;
  if (rc == 0)
    rc = uvperf__system_line("/proc/self/timens_offsets", clock, text,
                             sizeof(text));
  if (rc != 0)
    return rc;
  if (sscanf(text, "%" SCNd64 " %" SCNd64, &seconds, &rest) != 2)
    return -EINVAL;
  *ns = seconds * NS_PER_S + rest;
  return 0;
}

/* The link is "<process>/task/<thread>": see proc(5). */
int uvperf__system_thread(void) {
  int process, thread;
  char link[64];
  int rc = uvperf__file_link("/proc/thread-self", link, sizeof(link));

  if (rc != 0)
    return rc;
  if (sscanf(link, "%d/task/%d", &process, &thread) != 2)
    return -EINVAL;
  return thread;
}

/* -- the kernel's version -------------------------------------------------- */

int uvperf__system_kernel(unsigned int *major, unsigned int *minor) {
  char release[32];
  int rc = uvperf__system_line("/proc/sys/kernel/osrelease", "", release,
                               sizeof(release));

  if (rc != 0)
    return rc;
  return sscanf(release, "%u.%u", major, minor) == 2 ? 0 : -EINVAL;
}

int uvperf__system_is_before(unsigned int major, unsigned int minor) {
  unsigned int its_major, its_minor;
  int rc = uvperf__system_kernel(&its_major, &its_minor);

  if (rc != 0)
    return rc;
  return its_major < major || (its_major == major && its_minor < minor);
}

int uvperf__system_has_lost(int may_ask) {
  if (may_ask)
    return uvperf_kernel_knows(UVPERF_ATTR_READ_FORMAT, UVPERF_FORMAT_LOST) ==
           1;
  return uvperf__system_is_before(6, 0) == 0;
}

/* -- CPUs ------------------------------------------------------------------ */

/* A list of CPUs that is being made. */
typedef struct ranges_s {
  uvperf__line_t line;
  int first, last; /* the range that is not in the line yet; -1: none */
} ranges_t;

static void end_range(ranges_t *ranges) {
  if (ranges->first >= 0)
    uvperf__line_put(&ranges->line, "%s%d", ranges->line.length == 0 ? "" : ",",
                     ranges->first);
  if (ranges->last > ranges->first)
    uvperf__line_put(&ranges->line, "-%d", ranges->last);
}

static void add_cpu(ranges_t *ranges, int cpu) {
  if (ranges->first < 0 || cpu != ranges->last + 1) {
    end_range(ranges);
    ranges->first = cpu;
  }
  ranges->last = cpu;
}

/* The first line of /proc/stat is "cpu  3141 0 …". Then each online CPU has a
 * line "cpu2 314 0 …", in ascending order. */
static int take_cpu(const char *text, void *data) {
  if (text[0] >= '0' && text[0] <= '9')
    add_cpu(data, atoi(text));
  return 0;
}

/* Lists the online CPUs where /sys is not mounted, as in many chroots. */
static int read_stat(char text[UVPERF__TEXT_BYTES]) {
  char id[8];
  ranges_t ranges = {{NULL, 0, 0}, -1, -1};
  int rc;

  uvperf__line_begin(&ranges.line, text, UVPERF__TEXT_BYTES);
  rc = uvperf__system_each_line("/proc/stat", "cpu", id, sizeof(id), take_cpu,
                                &ranges);
  end_range(&ranges);
  if (rc == 0 && ranges.line.length >= UVPERF__TEXT_BYTES)
    rc = -EFBIG;
  if (rc == 0 && ranges.line.length == 0)
    rc = -ENODATA;
  if (rc != 0)
    text[0] = '\0';
  return rc;
}

int uvperf__system_cpu_list(const char *list, char text[UVPERF__TEXT_BYTES]) {
  char path[64];
  int rc, stat_rc;

  snprintf(path, sizeof(path), "/sys/devices/system/cpu/%s", list);
  rc = uvperf__system_text(path, text, UVPERF__TEXT_BYTES);
  if (rc == 0 || uvperf__is_shortage(rc) || strcmp(list, "online") != 0)
    return rc;
  stat_rc = read_stat(text);
  return stat_rc == 0 || uvperf__is_shortage(stat_rc) ? stat_rc : rc;
}

int uvperf__system_has_cpu(const char *list, int cpu) {
  char text[UVPERF__TEXT_BYTES];
  int rc = uvperf__system_cpu_list(list, text);

  return rc != 0 ? rc : uvperf__cpu_list_has(text, cpu);
}

int uvperf__system_cpus(const char *list, int *cpus, size_t *nr) {
  char text[UVPERF__TEXT_BYTES];
  int rc = uvperf__system_cpu_list(list, text);

  return rc != 0 ? rc : uvperf_cpu_list_parse(text, cpus, nr);
}

int uvperf_cpus(uint32_t which, int *cpus, size_t *nr) {
  if (nr == NULL || (cpus == NULL && *nr != 0) ||
      (which != UVPERF_CPUS_ONLINE && which != UVPERF_CPUS_POSSIBLE))
    return -EINVAL;
  return uvperf__system_cpus(
      which == UVPERF_CPUS_ONLINE ? "online" : "possible", cpus, nr);
}

int uvperf__system_online_cpus(void) {
  size_t nr = 0;
  int rc = uvperf__system_cpus("online", NULL, &nr);

  if (rc == -ENOBUFS)
    return (int)nr;
  return rc != 0 ? rc : -EINVAL; /* one must be online, to run this */
}

static int read_id(int cpu, const char *name, uint32_t *id) {
  int64_t number;
  char path[80];
  int rc;

  snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/%s", cpu,
           name);
  rc = uvperf__system_number(path, &number);
  *id = rc == 0 && number > 0 ? (uint32_t)number : 0;
  return rc;
}

int uvperf__cpu_package(int cpu, uint64_t *package) {
  uint32_t socket, die;
  int rc = read_id(cpu, "physical_package_id", &socket);

  *package = 0;
  if (rc != 0)
    return rc;
  rc = read_id(cpu, "die_id", &die);
  if (rc != 0 && rc != -ENOENT)
    return rc;
  *package = (uint64_t)socket << 32 | die;
  return 0;
}

/* -- all limits at once ---------------------------------------------------- */

static int64_t limit_number(const char *path) {
  int64_t value;

  return uvperf__system_number(path, &value) == 0 ? value
                                                  : UVPERF_LIMIT_UNKNOWN;
}

static void read_sysctls(uvperf_limits_t *limits) {
  limits->perf_event_paranoid = limit_number(UVPERF__PARANOID);
  limits->perf_event_mlock_kb = limit_number(UVPERF__MLOCK_KB);
  limits->perf_event_max_sample_rate = limit_number(UVPERF__MAX_SAMPLE_RATE);
  limits->perf_event_max_stack = limit_number(UVPERF__MAX_STACK);
  limits->perf_event_max_contexts_per_stack =
      limit_number("/proc/sys/kernel/perf_event_max_contexts_per_stack");
  limits->perf_cpu_time_max_percent =
      limit_number("/proc/sys/kernel/perf_cpu_time_max_percent");
  limits->nmi_watchdog = limit_number("/proc/sys/kernel/nmi_watchdog");
  limits->kptr_restrict = limit_number("/proc/sys/kernel/kptr_restrict");
  limits->file_max = limit_number("/proc/sys/fs/file-max");
}

/* There is one file that every kernel has. If this file is missing too, the
 * other missing file does not mean that the kernel lacks it. */
int uvperf__system_lacks(const char *path) {
  unsigned int major, minor;
  int64_t value;

  return uvperf__system_number(path, &value) == -ENOENT &&
         uvperf__system_kernel(&major, &minor) == 0;
}

static int64_t has_perf(void) {
  int64_t level;

  if (uvperf__system_number(UVPERF__PARANOID, &level) == 0)
    return 1;
  return uvperf__system_lacks(UVPERF__PARANOID) ? 0 : UVPERF_LIMIT_UNKNOWN;
}

/* Parses a word of /proc/self/limits, and moves *text to its end. */
static int64_t read_rlimit(const char **text) {
  unsigned long long value;
  const char *word = *text + strspn(*text, " ");
  size_t length = strcspn(word, " ");
  char *end;

  *text = word + length;
  if (length == strlen("unlimited") && memcmp(word, "unlimited", length) == 0)
    return UVPERF_LIMIT_NONE;
  value = strtoull(word, &end, 10);
  if (length == 0 || *word == '-' || end != word + length)
    return UVPERF_LIMIT_UNKNOWN;
  return value >= INT64_MAX ? UVPERF_LIMIT_NONE : (int64_t)value;
}

/* Reads the soft limit and the hard limit. Unlike getrlimit(2), tests can make
 * up this file. */
static void read_rlimits(const char *key, int64_t *soft, int64_t *hard) {
  char line[128];
  const char *text = line;

  if (uvperf__system_line("/proc/self/limits", key, line, sizeof(line)) != 0)
    return;
  *soft = read_rlimit(&text);
  *hard = read_rlimit(&text);
}

int uvperf__system_is_perfmon(void) {
  int has = uvperf__system_has_capability(UVPERF__CAP_PERFMON);
  int is_elsewhere;

  if (has == 0)
    has = uvperf__system_has_capability(UVPERF__CAP_SYS_ADMIN);
  if (has != 1)
    return has;
  is_elsewhere = uvperf__system_is_user_namespace();
  return is_elsewhere < 0 ? is_elsewhere : !is_elsewhere;
}

static void read_privileges(uvperf_limits_t *limits) {
  uint64_t caps;
  int rc = uvperf__system_is_user_namespace();

  if (rc >= 0)
    limits->is_user_namespace = rc;
  rc = uvperf__system_is_perfmon();
  if (rc >= 0)
    limits->has_perfmon = rc;
  if (system_capabilities(&caps) != 0)
    return;
  limits->cap_perfmon = caps >> UVPERF__CAP_PERFMON & 1;
  limits->cap_sys_admin = caps >> UVPERF__CAP_SYS_ADMIN & 1;
  limits->cap_ipc_lock = caps >> UVPERF__CAP_IPC_LOCK & 1;
  limits->cap_bpf = caps >> UVPERF__CAP_BPF & 1;
  limits->cap_syslog = caps >> UVPERF__CAP_SYSLOG & 1;
  limits->cap_sys_ptrace = caps >> UVPERF__CAP_SYS_PTRACE & 1;
}

int uvperf_system_limits(uvperf_limits_t *limits) {
  int64_t *value = (int64_t *)limits;
  unsigned int major, minor;
  size_t i;

  if (limits == NULL)
    return -EINVAL;
  for (i = 0; i < sizeof(*limits) / sizeof(*value); i++)
    value[i] = UVPERF_LIMIT_UNKNOWN;
  limits->has_perf = has_perf();
  read_sysctls(limits);
  read_rlimits("Max locked memory", &limits->memlock_bytes,
               &limits->memlock_bytes_max);
  read_rlimits("Max open files", &limits->open_files, &limits->open_files_max);
  read_privileges(limits);
  if (uvperf__system_kernel(&major, &minor) == 0) {
    limits->kernel_major = major;
    limits->kernel_minor = minor;
  }
  return 0;
}
