/* SPDX-License-Identifier: MIT */
/* Probes. config1 is the address of a path or of a function's name. config2 is
 * an offset or an address. See perf_uprobe_init() and perf_kprobe_init() in the
 * kernel. The other terms are ordinary formats. */
#include "name/build.h"

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
      uvperf__near_miss_each(terms[i].term, miss);
}

int uvperf__probe_take(uvperf__event_build_t *build,
                       const uvperf__term_t *term) {
  const char *pmu = build->event.pmu;
  size_t i;

  for (i = 0; i < COUNT_OF(terms); i++)
    if (is_of(i, pmu) && uvperf__span_is(term->key, terms[i].term))
      break;
  if (i == COUNT_OF(terms))
    return 0;
  if (term->value.at == NULL || term->value.at == term->value.end)
    return uvperf__parse_bad_piece(build->parse, term->key,
                                   "'%s' needs a value; write %s=...");
  *(uvperf__span_t *)((char *)&build->probe + terms[i].place) = term->value;
  return 1;
}

/* -- symbols of files ------------------------------------------------------ */

static int unknown_symbol(const uvperf__parse_t *parse, uvperf__span_t symbol,
                          int fd) {
  uvperf__near_miss_t miss;

  uvperf__near_miss_init(&miss, symbol.at, uvperf__span_length(symbol));
  if (uvperf__elf_each_symbol(fd, uvperf__near_miss_each, &miss) == -ENOMEM)
    return uvperf__parse_shortage(parse, symbol.at, -ENOMEM);
  return uvperf__parse_unknown(parse, symbol, "the file has no function '%s'%s",
                               miss.best);
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

static int find_in_file(const uvperf__event_build_t *build, int fd,
                        uint64_t *offset) {
  const uvperf__probe_t *probe = &build->probe;
  char name[SYMBOL_BYTES];
  uint64_t place;
  int rc;

  if (uvperf__span_copy(probe->symbol, name, sizeof(name)) != 0)
    return unknown_symbol(build->parse, probe->symbol, fd);
  rc = uvperf__elf_symbol(fd, name, &place);
  if (rc == -ENOENT)
    return unknown_symbol(build->parse, probe->symbol, fd);
  if (rc != 0)
    return bad_symbol(build->parse, probe->symbol, rc);
  /* The kernel accepts a negative offset, but such a probe is never hit. */
  if (*offset > INT64_MAX - place)
    return uvperf__parse_bad(build->parse, probe->offset.at,
                             "the offset from '%s' is too large for any file",
                             name);
  *offset += place;
  return 0;
}

/* -- the attr -------------------------------------------------------------- */

/* If a symbol is searched, the file stays open, because the probe must be in
 * the file that was read, even if its path names another file when the kernel
 * opens it. */
static int finish_uprobe(uvperf__event_build_t *build, uint64_t *offset) {
  const uvperf__parse_t *parse = build->parse;
  const uvperf__probe_t *probe = &build->probe;
  const char *at = build->text->head.at;
  char path[PATH_MAX];
  int fd, rc;

  if (probe->path.at == NULL)
    return uvperf__parse_bad(parse, at,
                             "a uprobe needs a file; write path=\"...\"");
  if (probe->symbol.at == NULL && probe->offset.at == NULL)
    return uvperf__parse_bad(
        parse, at, "a uprobe needs a place; write symbol=... or offset=...");
  if (uvperf__span_copy(probe->path, path, sizeof(path)) != 0)
    return uvperf__parse_bad(parse, probe->path.at,
                             "the path has more than %d bytes", PATH_MAX - 1);
  if (probe->symbol.at == NULL)
    return 0;
  fd = uvperf__file_open_regular(path);
  if (fd < 0)
    return open_fault(parse, probe->path, fd);
  rc = find_in_file(build, fd, offset);
  if (rc == 0)
    build->event.file = fd;
  else
    uvperf__file_close(fd);
  return rc;
}

static int finish_kprobe(const uvperf__event_build_t *build, uint64_t *offset) {
  const uvperf__parse_t *parse = build->parse;
  const uvperf__probe_t *probe = &build->probe;

  if (probe->func.at == NULL && probe->addr.at == NULL)
    return uvperf__parse_bad(
        parse, build->text->head.at,
        "a kprobe needs a place; write func=... or addr=...");
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

int uvperf__probe_finish(uvperf__event_build_t *build) {
  int is_of_file = is_uprobe(build->event.pmu);
  uint64_t offset = 0;
  int rc = 0;

  if (build->probe.offset.at != NULL)
    rc = uvperf__parse_number(build->parse, build->probe.offset, INT64_MAX,
                              &offset);
  if (rc == 0)
    rc = is_of_file ? finish_uprobe(build, &offset)
                    : finish_kprobe(build, &offset);
  if (rc != 0)
    return rc;
  build->event.wide.attr.config2 = offset;
  build->event.string = is_of_file ? build->probe.path : build->probe.func;
  return 0;
}
