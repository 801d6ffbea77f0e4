/* SPDX-License-Identifier: MIT */
/* All record types except PERF_RECORD_SAMPLE: the body, the trailer that
 * attr.sample_id_all appends, and the names of type and misc. The layouts are
 * in the comments of enum perf_event_type in <linux/perf_event.h>.
 *
 * A body may be shorter than its room, because a newer kernel may append
 * fields. So the trailer is found from the end of the record, not from the end
 * of the body. */
#include "decode/record.h"

#include <errno.h>
#include <string.h>

#include "decode/read_format.h"
#include "util/bytes.h"

#define WORD          sizeof(uint64_t)
#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* -- the body ------------------------------------------------------------- */

/* The part of a body that is not decoded yet. */
typedef struct body_s {
  const uvperf__layout_t *layout;
  const uint8_t *at;
  size_t room;
} body_t;

/* Takes the string with which the rest begins. The kernel pads the string with
 * NULs up to the trailer, so the string must end before the trailer. */
static int take_string(const body_t *rest, const char **text, size_t *size) {
  const uint8_t *end = memchr(rest->at, 0, rest->room);

  if (end == NULL)
    return -EPROTO;
  *text = (const char *)rest->at;
  *size = (size_t)(end - rest->at);
  return 0;
}

/* Takes an array of nr elements of `each` bytes. If nr is 0, returns NULL. */
static int take_array(const body_t *rest, uint64_t nr, size_t each,
                      const void **array) {
  if (nr > rest->room / each)
    return -EPROTO;
  *array = nr != 0 ? rest->at : NULL;
  return 0;
}

/* The bytes before the fields that only an MMAP2 has. */
#define RANGE offsetof(uvperf_mmap_t, maj)

static int take_mmap(const body_t *rest, uvperf_record_t *record) {
  uvperf_mmap_t *mmap = &record->mmap;

  memset((uint8_t *)mmap + RANGE, 0, sizeof(*mmap) - RANGE);
  return take_string(rest, &mmap->filename, &mmap->filename_size);
}

/* The 24 bytes at `at` are a build id, or the device and inode of the file. */
static int take_file(const uint8_t *at, uint16_t misc, uvperf_mmap_t *mmap) {
  uint8_t size;

  if (!(misc & UVPERF_RECORD_MISC_MMAP_BUILD_ID)) {
    mmap->maj = uvperf__u32(at);
    mmap->min = uvperf__u32(at + 4);
    mmap->ino = uvperf__u64(at + 8);
    mmap->ino_generation = uvperf__u64(at + 16);
    return 0;
  }
  size = uvperf__u8(at);
  if (size > sizeof(mmap->build_id))
    return -EPROTO;
  mmap->build_id_size = size;
  memcpy(mmap->build_id, at + 4, size);
  return 0;
}

/* Linux 3.16 put prot and flags before the filename. */
static int take_mmap2(const body_t *rest, uvperf_record_t *record) {
  size_t fixed = rest->layout->has_old_mmap2 ? 24 : 32;
  uvperf_mmap_t *mmap = &record->mmap;
  body_t name = *rest;

  if (rest->room < fixed)
    return -EPROTO;
  name.at += fixed;
  name.room -= fixed;
  if (take_mmap(&name, record) != 0)
    return -EPROTO;
  if (!rest->layout->has_old_mmap2) {
    mmap->prot = uvperf__u32(rest->at + 24);
    mmap->flags = uvperf__u32(rest->at + 28);
  }
  return take_file(rest->at, record->misc, mmap);
}

static int take_comm(const body_t *rest, uvperf_record_t *record) {
  return take_string(rest, &record->comm.comm, &record->comm.comm_size);
}

static int take_read(const body_t *rest, uvperf_record_t *record) {
  size_t used;

  return uvperf__read_format_parse(rest->layout->read_format, rest->at,
                                   rest->room, &used, &record->read.values);
}

static int take_namespaces(const body_t *rest, uvperf_record_t *record) {
  const void *links = NULL;
  int rc = take_array(rest, record->namespaces.nr, sizeof(uvperf_namespace_t),
                      &links);

  record->namespaces.links = links;
  return rc;
}

static int take_ksymbol(const body_t *rest, uvperf_record_t *record) {
  return take_string(rest, &record->ksymbol.name, &record->ksymbol.name_size);
}

static int take_cgroup(const body_t *rest, uvperf_record_t *record) {
  return take_string(rest, &record->cgroup.path, &record->cgroup.path_size);
}

static int take_text_poke(const body_t *rest, uvperf_record_t *record) {
  uvperf_text_poke_t *poke = &record->text_poke;

  if ((size_t)poke->old_len + poke->new_len > rest->room)
    return -EPROTO;
  poke->old_bytes = rest->at;
  poke->new_bytes = rest->at + poke->old_len;
  return 0;
}

static int take_callchain_deferred(const body_t *rest,
                                   uvperf_record_t *record) {
  const void *ips = NULL;
  int rc = take_array(rest, record->callchain_deferred.nr, WORD, &ips);

  record->callchain_deferred.ips = ips;
  return rc;
}

/* The fields before the union that a trailer or a sample has. */
#define COMMON offsetof(uvperf_record_t, ip)
#define BODY   offsetof(uvperf_record_t, sample)

_Static_assert(RANGE == 32 && offsetof(uvperf_task_t, time) == 16 &&
                   offsetof(uvperf_namespaces_t, nr) == 8 &&
                   offsetof(uvperf_ksymbol_t, flags) == 14 &&
                   offsetof(uvperf_bpf_event_t, tag) == 8 &&
                   offsetof(uvperf_text_poke_t, new_len) == 10,
               "the bodies begin as the kernel writes them");

/* For each type: its name, the number of bytes with which both the body and the
 * type's member of the union begin, and the function that takes the rest, or
 * NULL if there is none. A sample is decoded in sample.c. */
static const struct {
  const char *name;
  size_t fixed;
  int (*take)(const body_t *rest, uvperf_record_t *record);
} types[] = {
    [PERF_RECORD_MMAP] = {"MMAP", 32, take_mmap},
    [PERF_RECORD_LOST] = {"LOST", 16, NULL},
    [PERF_RECORD_COMM] = {"COMM", 8, take_comm},
    [PERF_RECORD_EXIT] = {"EXIT", 24, NULL},
    [PERF_RECORD_THROTTLE] = {"THROTTLE", 24, NULL},
    [PERF_RECORD_UNTHROTTLE] = {"UNTHROTTLE", 24, NULL},
    [PERF_RECORD_FORK] = {"FORK", 24, NULL},
    [PERF_RECORD_READ] = {"READ", 8, take_read},
    [PERF_RECORD_SAMPLE] = {"SAMPLE", 0, NULL},
    [PERF_RECORD_MMAP2] = {"MMAP2", 32, take_mmap2},
    [PERF_RECORD_AUX] = {"AUX", 24, NULL},
    [PERF_RECORD_ITRACE_START] = {"ITRACE_START", 8, NULL},
    [PERF_RECORD_LOST_SAMPLES] = {"LOST_SAMPLES", 8, NULL},
    [PERF_RECORD_SWITCH] = {"SWITCH", 0, NULL},
    [PERF_RECORD_SWITCH_CPU_WIDE] = {"SWITCH_CPU_WIDE", 8, NULL},
    [PERF_RECORD_NAMESPACES] = {"NAMESPACES", 16, take_namespaces},
    [PERF_RECORD_KSYMBOL] = {"KSYMBOL", 16, take_ksymbol},
    [PERF_RECORD_BPF_EVENT] = {"BPF_EVENT", 16, NULL},
    [PERF_RECORD_CGROUP] = {"CGROUP", 8, take_cgroup},
    [PERF_RECORD_TEXT_POKE] = {"TEXT_POKE", 12, take_text_poke},
    [UVPERF_RECORD_AUX_OUTPUT_HW_ID] = {"AUX_OUTPUT_HW_ID", 8, NULL},
    [UVPERF_RECORD_CALLCHAIN_DEFERRED] = {"CALLCHAIN_DEFERRED", 16,
                                          take_callchain_deferred},
};

const char *uvperf_record_type_name(uint32_t type) {
  return type < LENGTH(types) ? types[type].name : NULL;
}

int uvperf__record_is_known(uint32_t type) {
  return uvperf_record_type_name(type) != NULL;
}

int uvperf__record_decode(const uvperf__layout_t *layout, const uint8_t *bytes,
                          size_t room, uvperf_record_t *record) {
  size_t fixed = types[record->type].fixed;
  body_t rest = {layout, bytes, room};

  if (room < fixed)
    return -EPROTO;
  rest.at += fixed;
  rest.room -= fixed;
  uvperf__copy((uint8_t *)record + BODY, bytes, fixed);
  if (types[record->type].take == NULL)
    return 0;
  return types[record->type].take(&rest, record);
}

/* -- the trailer ---------------------------------------------------------- */

static size_t record_padded(size_t size) {
  return (size + WORD - 1) / WORD * WORD;
}

size_t uvperf__record_trailer_front(uint32_t type, const uint8_t *bytes,
                                    size_t size) {
  const size_t header = sizeof(struct perf_event_header);
  const uint8_t *end;

  if (size < header + 16)
    return 0;
  switch (type) {
    case PERF_RECORD_KSYMBOL:
      end = memchr(bytes + header + 16, 0, size - header - 16);
      return end == NULL ? 0 : record_padded((size_t)(end - bytes) + 1);
    case PERF_RECORD_BPF_EVENT:
      return header + 16;
    case PERF_RECORD_TEXT_POKE:
      return record_padded(header + 12 + uvperf__u16(bytes + header + 8) +
                           uvperf__u16(bytes + header + 10));
    default:
      return 0;
  }
}

/* The fields are in the order of the kernel's __perf_event__output_id_sample. A
 * sample has another order. Here IDENTIFIER is last, so that it is found
 * without knowing the rest. */
void uvperf__record_decode_trailer(uint64_t type, const uint8_t *trailer,
                                   uvperf_record_t *record) {
  const uint8_t *at = trailer;

  record->present = type;
  memset((uint8_t *)record + COMMON, 0, BODY - COMMON);
  if (type & PERF_SAMPLE_TID) {
    record->pid = uvperf__u32(at);
    record->tid = uvperf__u32(at + 4);
    at += 8;
  }
  if (type & PERF_SAMPLE_TIME) {
    record->time = uvperf__u64(at);
    at += 8;
  }
  if (type & PERF_SAMPLE_ID) {
    record->id = uvperf__u64(at);
    at += 8;
  }
  if (type & PERF_SAMPLE_STREAM_ID) {
    record->stream_id = uvperf__u64(at);
    at += 8;
  }
  if (type & PERF_SAMPLE_CPU) {
    record->cpu = uvperf__u32(at); /* a reserved u32 follows */
    at += 8;
  }
  if (type & PERF_SAMPLE_IDENTIFIER)
    record->id = uvperf__u64(at);
}

/* -- in words ------------------------------------------------------------- */

const char *uvperf_record_cpu_mode_name(uint16_t misc) {
  static const char *const names[] = {
      [PERF_RECORD_MISC_KERNEL] = "kernel",
      [PERF_RECORD_MISC_USER] = "user",
      [PERF_RECORD_MISC_HYPERVISOR] = "hypervisor",
      [PERF_RECORD_MISC_GUEST_KERNEL] = "guest kernel",
      [PERF_RECORD_MISC_GUEST_USER] = "guest user",
  };
  unsigned int mode = uvperf_record_cpu_mode(misc);

  return mode > 0 && mode < LENGTH(names) ? names[mode] : "unknown";
}
