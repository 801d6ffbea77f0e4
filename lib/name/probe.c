/* SPDX-License-Identifier: MIT */
/* Probes. config1 is the address of a path or of a function's name. config2 is
 * an offset or an address. See perf_uprobe_init() and perf_kprobe_init() in the
 * kernel. The other terms are ordinary formats. */
#include "name/probe.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>

#include "host/elf_symbol.h"
#include "util/file.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* The longest name of a function that is searched. */
#define SYMBOL_BYTES 4096

/* KSYM_NAME_LEN, since Linux 6.1. The kernel refuses longer names. */
#define FUNC_BYTES 512

static int is_uprobe(const char *pmu) {
  return strcmp(pmu, "uprobe") == 0;
}

int uvperf__probe_is_pmu(const char *pmu) {
  return is_uprobe(pmu) || strcmp(pmu, "kprobe") == 0;
}

/* The terms, each with its field in a uvperf__probe_t. */
static const struct {
  const char *pmu; /* NULL: both */
  const char *term;
  size_t place;
} terms[] = {
    {NULL, "offset", offsetof(uvperf__probe_t, offset)},
    {"uprobe", "path", offsetof(uvperf__probe_t, path)},
    {"uprobe", "symbol", offsetof(uvperf__probe_t, symbol)},
    {"kprobe", "func", offsetof(uvperf__probe_t, func)},
    {"kprobe", "addr", offsetof(uvperf__probe_t, addr)},
};

static int is_of(size_t i, const char *pmu) {
  return terms[i].pmu == NULL || strcmp(terms[i].pmu, pmu) == 0;
}

void uvperf__probe_near_miss(const char *pmu, uvperf__near_miss_t *miss) {
  size_t i;

  for (i = 0; uvperf__probe_is_pmu(pmu) && i < COUNT_OF(terms); i++)
    if (is_of(i, pmu))
      uvperf__near_miss_try(miss, terms[i].term);
}

int uvperf__probe_take(const uvperf__parse_t *parse, const char *pmu,
                       const uvperf__term_t *term, uvperf__probe_t *probe) {
  char shown[UVPERF__SHOW_BYTES];
  size_t i;

  for (i = 0; i < COUNT_OF(terms); i++)
    if (is_of(i, pmu) && uvperf__span_is(term->key, terms[i].term))
      break;
  if (i == COUNT_OF(terms))
    return 0;
  if (term->value.at == NULL || term->value.at == term->value.end)
    return uvperf__parse_bad(parse, term->key.at,
                             "'%s' needs a value; write %s=...",
                             uvperf__span_show(term->key, shown), shown);
  *(uvperf__span_t *)((char *)probe + terms[i].place) = term->value;
  return 1;
}

/* -- symbols of files ------------------------------------------------------ */

static int try_symbol(const uvperf__elf_symbol_t *symbol, void *data) {
  uvperf__near_miss_try(data, symbol->name);
  return 0;
}

static int unknown_symbol(const uvperf__parse_t *parse, uvperf__span_t symbol,
                          int fd) {
  char shown[UVPERF__SHOW_BYTES], meant[UVPERF__MEANT_BYTES];
  uvperf__near_miss_t miss;

  uvperf__near_miss_init(&miss, symbol.at, uvperf__span_length(symbol));
  if (uvperf__elf_each_symbol(fd, try_symbol, &miss) == -ENOMEM)
    return uvperf__parse_shortage(parse, symbol.at, -ENOMEM);
  return uvperf__parse_fail(parse, symbol.at, -ENOENT, UVPERF_CAUSE_NO_EVENT,
                            "the file has no function '%s'%s",
                            uvperf__span_show(symbol, shown),
                            uvperf__parse_meant(miss.best, meant));
}

static const struct {
  int code;
  const char *text;
} faults[] = {
    {-ENOEXEC, "the file is not a program or shared library of this machine"},
    {-EBADMSG, "the file is damaged"},
    {-EFBIG, "the file is too large (more than 65536 sections, 4194304 symbols "
             "or 512 MiB of tables); write offset=..."},
    {-ENODATA, "the file has no symbols, as it is stripped; write offset=..."},
    {-ENOTUNIQ, "several functions have this name; write offset=..."},
    {-ENOTSUP, "its address is only known at run time (an indirect function); "
               "write offset=..."},
    {-EILSEQ, "it is Thumb code, but uprobes work in ARM code only; compile it "
              "with -marm"},
};

static int bad_symbol(const uvperf__parse_t *parse, uvperf__span_t symbol,
                      int code) {
  char shown[UVPERF__SHOW_BYTES];
  size_t i;

  if (uvperf__is_shortage(code))
    return uvperf__parse_shortage(parse, symbol.at, code);
  uvperf__span_show(symbol, shown);
  for (i = 0; i < COUNT_OF(faults); i++)
    if (faults[i].code == code)
      return uvperf__parse_fail(parse, symbol.at, code, UVPERF_CAUSE_NO_EVENT,
                                "cannot find function '%s': %s", shown,
                                faults[i].text);
  return uvperf__parse_fail(
      parse, symbol.at, code,
      uvperf__is_forbidden(code) ? UVPERF_CAUSE_PERMISSION
                                 : UVPERF_CAUSE_UNKNOWN,
      "cannot find function '%s': reading the file failed (errno %d)", shown,
      -code);
}

static const char *open_text(int code) {
  switch (code) {
    case -ENOENT:
      return "there is no file '%s'";
    case -EISDIR:
      return "'%s' is a directory";
    case -ENXIO:
      return "'%s' is not a regular file";
    case -EXDEV:
      return "file '%s' is reached through a /proc link that leaves its root";
    case -ENOSYS:
      return "cannot open file '%s' without /proc; mount it";
    default:
      return "cannot open file '%s' (errno %d)";
  }
}

static int open_fault(const uvperf__parse_t *parse, uvperf__span_t path,
                      int code) {
  char shown[UVPERF__SHOW_BYTES];

  if (uvperf__is_shortage(code))
    return uvperf__parse_shortage(parse, path.at, code);
  uvperf__span_show(path, shown);
  if (code == -EACCES)
    return uvperf__parse_fail(parse, path.at, code, UVPERF_CAUSE_PERMISSION,
                              "this process may not read file '%s'", shown);
  return uvperf__parse_fail(parse, path.at, code, UVPERF_CAUSE_NO_EVENT,
                            open_text(code), shown, -code);
}

static int find_in_file(const uvperf__parse_t *parse,
                        const uvperf__probe_t *probe, int fd,
                        uint64_t *offset) {
  char name[SYMBOL_BYTES];
  uvperf__elf_symbol_t symbol;
  int rc;

  if (uvperf__span_copy(probe->symbol, name, sizeof(name)) != 0)
    return unknown_symbol(parse, probe->symbol, fd);
  rc = uvperf__elf_symbol(fd, name, &symbol);
  if (rc == -ENOENT)
    return unknown_symbol(parse, probe->symbol, fd);
  if (rc != 0)
    return bad_symbol(parse, probe->symbol, rc);
  /* The kernel accepts a negative offset, but such a probe is never hit. */
  if (*offset > INT64_MAX - symbol.offset)
    return uvperf__parse_bad(parse, probe->offset.at,
                             "the offset from '%s' is too large for any file",
                             name);
  *offset += symbol.offset;
  return 0;
}

/* The file stays open, because the probe must be in the file that was read,
 * even if its path names another file when the kernel opens it. */
static int find_symbol(const uvperf__parse_t *parse,
                       const uvperf__probe_t *probe, const char *path,
                       uint64_t *offset, int *file) {
  int fd = uvperf__file_open_regular(path);
  int rc;

  if (fd < 0)
    return open_fault(parse, probe->path, fd);
  rc = find_in_file(parse, probe, fd, offset);
  if (rc == 0)
    *file = fd;
  else
    uvperf__file_close(fd);
  return rc;
}

/* -- the attr -------------------------------------------------------------- */

static int finish_uprobe(const uvperf__parse_t *parse, const char *at,
                         const uvperf__probe_t *probe, uint64_t *offset,
                         int *file) {
  char path[PATH_MAX];

  if (probe->path.at == NULL)
    return uvperf__parse_bad(parse, at,
                             "a uprobe needs a file; write path=\"...\"");
  if (probe->symbol.at == NULL && probe->offset.at == NULL)
    return uvperf__parse_bad(
        parse, at, "a uprobe needs a place; write symbol=... or offset=...");
  if (uvperf__span_copy(probe->path, path, sizeof(path)) != 0)
    return uvperf__parse_bad(parse, probe->path.at,
                             "the path has more than %d bytes", PATH_MAX - 1);
  return probe->symbol.at == NULL
             ? 0
             : find_symbol(parse, probe, path, offset, file);
}

static int finish_kprobe(const uvperf__parse_t *parse, const char *at,
                         const uvperf__probe_t *probe, uint64_t *offset) {
  if (probe->func.at == NULL && probe->addr.at == NULL)
    return uvperf__parse_bad(
        parse, at, "a kprobe needs a place; write func=... or addr=...");
  if (probe->addr.at != NULL &&
      (probe->func.at != NULL || probe->offset.at != NULL))
    return uvperf__parse_bad(
        parse, probe->addr.at,
        "addr= excludes func= and offset=; leave them out");
  if (probe->addr.at != NULL)
    return uvperf__parse_number(parse, probe->addr, UINT64_MAX, offset);
  if (uvperf__span_length(probe->func) >= FUNC_BYTES)
    return uvperf__parse_bad(parse, probe->func.at,
                             "the function's name has more than %d bytes",
                             FUNC_BYTES - 1);
  return 0;
}

int uvperf__probe_finish(const uvperf__parse_t *parse, const char *at,
                         const char *pmu, const uvperf__probe_t *probe,
                         struct perf_event_attr *attr, uvperf__span_t *string,
                         int *file) {
  uint64_t offset = 0;
  int rc = 0;

  if (probe->offset.at != NULL)
    rc = uvperf__parse_number(parse, probe->offset, INT64_MAX, &offset);
  if (rc == 0)
    rc = is_uprobe(pmu) ? finish_uprobe(parse, at, probe, &offset, file)
                        : finish_kprobe(parse, at, probe, &offset);
  if (rc != 0)
    return rc;
  attr->config2 = offset;
  *string = is_uprobe(pmu) ? probe->path : probe->func;
  return 0;
}
