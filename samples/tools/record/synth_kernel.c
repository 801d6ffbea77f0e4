/* SPDX-License-Identifier: MIT */
/* Records of the kernel's own mappings, after
 * perf_event__synthesize_kernel_mmap and _modules of
 * tools/perf/util/synthetic-events.c. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "common/small_file.h"
#include "record/synth.h"
#include "record/synth_build.h"

/* Where the kernel's functions are. */
typedef struct text_s {
  uint64_t start, end;
  /* The symbol at the start. perf(1) uses it to compute how far the kernel was
   * moved at boot. */
  char symbol[16];
} text_t;

static void path_of(const record_synth_t *synth, const char *path, char *whole,
                    size_t size) {
  snprintf(whole, size, "%s%s", synth->root == NULL ? "" : synth->root, path);
}

/* Both symbols have the same address; perf(1) prefers _text. */
static void take_symbol(text_t *text, uint64_t address, const char *name) {
  if (strcmp(name, "_text") == 0 ||
      (strcmp(name, "_stext") == 0 && text->symbol[0] == '\0')) {
    text->start = address;
    snprintf(text->symbol, sizeof(text->symbol), "%s", name);
  }
  /* Kernels with CONFIG_KALLSYMS_ALL list _edata too. */
  if (strcmp(name, "_edata") == 0 ||
      (strcmp(name, "_etext") == 0 && text->end == 0))
    text->end = address;
}

/* A line is like "ffffffff81000000 T _text". The symbol of a module is followed
 * by a tab and the module's name. */
static int read_text(text_t *text, const char *path) {
  FILE *file = fopen(path, "re");
  char line[1024], name[16], buffer[4096];
  uint64_t address;

  memset(text, 0, sizeof(*text));
  if (file == NULL)
    return -1;
  /* The file has megabytes, and stdio would read 1024 bytes at a time. */
  setvbuf(file, buffer, _IOFBF, sizeof(buffer));
  while (fgets(line, sizeof(line), file) != NULL) {
    /* Most lines are not read further than this. */
    if (strstr(line, " _") != NULL && strchr(line, '\t') == NULL &&
        sscanf(line, "%" SCNx64 " %*c %15s", &address, name) == 2)
      take_symbol(text, address, name);
  }
  fclose(file);
  return text->start == 0 ? -1 : 0; /* hidden addresses read as 0 */
}

static int write_map(record_synth_t *synth, uint64_t start, uint64_t size,
                     uint64_t pgoff, const char *name) {
  common_buffer_t *build =
      record_synth_begin(synth, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL);

  record_bytes_put_u32(build, UINT32_MAX); /* no process, all */
  record_bytes_put_u32(build, 0);
  record_bytes_put_u64(build, start);
  record_bytes_put_u64(build, size);
  record_bytes_put_u64(build, pgoff);
  record_synth_put_path(build, name);
  return record_synth_end(synth);
}

/* -- modules --------------------------------------------------------------- */

/* Returns 1 if a path such as "kernel/fs/xfs/xfs.ko.xz" is the file of this
 * module. Dashes and underscores count as equal. */
static int is_dep_path(const char *path, size_t size, const char *module) {
  const char *end = path + size, *base = end;
  size_t i;

  while (base > path && base[-1] != '/')
    base--;
  for (i = 0; module[i] != '\0'; i++) {
    if (base + i == end || (base[i] == '-' ? '_' : base[i]) !=
                               (module[i] == '-' ? '_' : module[i]))
      return 0;
  }
  return strncmp(base + i, ".ko", 3) == 0;
}

/* Finds the file of a module in modules.dep, see modules.dep(5); otherwise
 * "[name]". */
static void find_file(const char *dep, const char *release, const char *module,
                      char *name, size_t name_size) {
  const char *line = dep;
  size_t size;

  while (line != NULL && *line != '\0') {
    size = strcspn(line, ":\n");
    if (is_dep_path(line, size, module)) {
      if (line[0] == '/')
        snprintf(name, name_size, "%.*s", (int)size, line);
      else
        snprintf(name, name_size, "/lib/modules/%s/%.*s", release, (int)size,
                 line);
      return;
    }
    line = strchr(line, '\n');
    line = line == NULL ? NULL : line + 1;
  }
  snprintf(name, name_size, "[%s]", module);
}

/* "xfs 2109440 1 - Live 0xffffffffc0a00000", proc(5). A kernel without modules
 * has no such file. */
static int write_modules(record_synth_t *synth) {
  char line[4096], path[4096], module[128], dep_path[256], name[4096], *dep;
  struct utsname system;
  uint64_t size, start;
  size_t nr;
  FILE *file;
  int rc = 0;

  path_of(synth, "/proc/modules", path, sizeof(path));
  file = fopen(path, "re");
  if (file == NULL || uname(&system) != 0)
    return 0;
  snprintf(dep_path, sizeof(dep_path), "/lib/modules/%s/modules.dep",
           system.release);
  path_of(synth, dep_path, path, sizeof(path));
  dep = common_file_read(path, &nr);
  while (rc == 0 && fgets(line, sizeof(line), file) != NULL) {
    if (sscanf(line, "%127s %" SCNu64 " %*s %*s %*s %" SCNx64, module, &size,
               &start) != 3 ||
        start == 0)
      continue;
    find_file(dep == NULL ? "" : dep, system.release, module, name,
              sizeof(name));
    rc = write_map(synth, start, size, 0, name);
  }
  free(dep);
  fclose(file);
  return rc;
}

int record_synth_kernel(record_synth_t *synth) {
  char path[512], name[64];
  text_t text;
  int rc;

  synth->kernel_hidden = 0;
  path_of(synth, "/proc/kallsyms", path, sizeof(path));
  if (read_text(&text, path) != 0) {
    synth->kernel_hidden = 1;
    return 0;
  }
  /* If /proc/kallsyms does not show the end of the text, the text ends at the
   * end of all addresses. */
  if (text.end <= text.start)
    text.end = 0;
  snprintf(name, sizeof(name), "[kernel.kallsyms]%s", text.symbol);
  rc = write_map(synth, text.start, text.end - text.start, text.start, name);
  return rc == 0 ? write_modules(synth) : rc;
}
