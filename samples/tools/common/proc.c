/* SPDX-License-Identifier: MIT */
/* Reads /proc/PID/maps and /proc/PID/task/TID/comm and stat. Does not depend on
 * events or records. */
#include "common/proc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/small_file.h"
#include "common/targets.h"

/* Reads a file in one call. None of these files in /proc is longer than the
 * buffer. */
static size_t read_task(int32_t pid, int32_t tid, const char *name, char *text,
                        size_t size) {
  char path[64];
  FILE *file;
  size_t nr;

  snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", pid, tid, name);
  file = fopen(path, "re");
  if (file == NULL)
    return 0;
  nr = fread(text, 1, size - 1, file);
  fclose(file);
  text[nr] = '\0';
  return nr;
}

int common_proc_comm(int32_t pid, int32_t tid,
                     char comm[COMMON_PROC_COMM_BYTES]) {
  size_t nr = read_task(pid, tid, "comm", comm, COMMON_PROC_COMM_BYTES);

  /* A name may contain newlines. The kernel adds the last newline. */
  if (nr == 0 || comm[nr - 1] != '\n')
    return -1;
  comm[nr - 1] = '\0';
  return 0;
}

/* "pid (comm) state ppid ...", proc(5). The name may contain any character,
 * also ")", so it ends at the last one. */
int common_proc_parse_stat(char *text, common_proc_stat_t *stat) {
  char *name = strchr(text, '('), *end = strrchr(text, ')');

  if (name == NULL || end == NULL || end < name ||
      sscanf(end + 1,
             " %c %" SCNu32 " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
             "%*s %*s %*s %ld %*s %" SCNu64,
             &stat->state, &stat->ppid, &stat->nr_threads, &stat->start) != 4)
    return -1;
  *end = '\0';
  snprintf(stat->comm, sizeof(stat->comm), "%s", name + 1);
  return 0;
}

int common_proc_stat(int32_t pid, int32_t tid, common_proc_stat_t *stat) {
  char text[1024];

  return read_task(pid, tid, "stat", text, sizeof(text)) == 0
             ? -1
             : common_proc_parse_stat(text, stat);
}

uint64_t common_proc_clock(clockid_t clock) {
  struct timespec now = {0, 0};

  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* In the same file, the start in ticks since the boot follows the state and 18
 * other numbers. */
int common_proc_start(int32_t pid, uint64_t *start) {
  uint64_t tick = UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK);
  common_proc_stat_t stat;

  if (common_proc_stat(pid, pid, &stat) != 0)
    return -1;
  *start = stat.start * tick + common_proc_clock(CLOCK_REALTIME) -
           common_proc_clock(CLOCK_BOOTTIME);
  return 0;
}

/* "nr arguments sp pc", proc(5), or "running". */
int common_proc_entry(int32_t pid, int32_t tid, uint64_t *address) {
  char text[512], *last;

  if (read_task(pid, tid, "syscall", text, sizeof(text)) == 0)
    return -1;
  last = strrchr(text, ' ');
  return last != NULL && sscanf(last, " %" SCNx64, address) == 1 ? 0 : -1;
}

static void show_threads(int32_t pid, common_proc_thread_cb cb, void *arg) {
  common_ids_t tids = {NULL, 0, 0};
  char comm[COMMON_PROC_COMM_BYTES];
  size_t i;

  common_threads_of(&tids, pid);
  for (i = 0; i < tids.nr; i++) {
    if (common_proc_comm(pid, tids.ids[i], comm) == 0)
      cb(arg, tids.ids[i], comm);
  }
  common_ids_free(&tids);
}

void common_proc_threads(common_proc_thread_cb cb, void *arg) {
  common_ids_t pids = {NULL, 0, 0};
  size_t i;

  common_processes(&pids);
  for (i = 0; i < pids.nr; i++)
    show_threads(pids.ids[i], cb, arg);
  common_ids_free(&pids);
}

/* The kernel writes a newline in a path as \012 and does not escape anything
 * else: show_vma_header_prefix and seq_path of fs/proc/task_mmu.c. */
static void unescape(char *path) {
  char *to = path;

  while (*path != '\0') {
    if (strncmp(path, "\\012", 4) == 0) {
      *to++ = '\n';
      path += 4;
    } else {
      *to++ = *path++;
    }
  }
  *to = '\0';
}

/* Parses "start-end rwxp pgoff major:minor inode     path", proc(5). Returns 1,
 * or 0 for other text. */
static int parse_map(char *line, common_proc_map_t *map) {
  int path = 0;

  if (sscanf(line,
             "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 "%n",
             &map->start, &map->end, map->prot, &map->pgoff, &map->major,
             &map->minor, &map->inode, &path) != 7 ||
      path == 0 || strlen(map->prot) != 4)
    return 0;
  line += path;
  line += strspn(line, " ");
  line[strcspn(line, "\n")] = '\0';
  unescape(line);
  map->path = line;
  return 1;
}

int common_proc_maps(int32_t pid, common_proc_map_cb cb, void *arg) {
  char path[64], *line = NULL;
  common_proc_map_t map;
  size_t size = 0;
  FILE *file;
  int rc = 0;

  snprintf(path, sizeof(path), "/proc/%d/maps", pid);
  file = fopen(path, "re");
  if (file == NULL)
    return -errno;
  errno = 0;
  while (rc == 0 && getline(&line, &size, file) > 0) {
    if (parse_map(line, &map))
      rc = cb(arg, &map);
  }
  if (rc == 0 && ferror(file))
    rc = -errno;
  free(line);
  fclose(file);
  return rc;
}

uint64_t common_proc_memory(int32_t pid) {
  const char *line;
  uint64_t nr = 0;
  char path[48], *text;
  size_t size;

  snprintf(path, sizeof(path), "/proc/%d/status", pid);
  text = common_file_read(path, &size);
  if (text == NULL)
    return 0;
  line = strstr(text, "\nRssAnon:");
  if (line != NULL)
    nr = strtoull(line + 9, NULL, 10);
  free(text);
  return nr;
}
