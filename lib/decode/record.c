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

typedef struct body_s {
  const uvperf__layout_t *layout;
  const uint8_t *at;
  size_t room;
} body_t;

/* Takes the string that starts at an offset. The kernel pads the string with
 * NULs up to the trailer, so the string must end before the trailer. */
static int take_string(const body_t *body, size_t offset, const char **text,
                       size_t *size) {
  const uint8_t *start = body->at + offset;
  const uint8_t *end = memchr(start, 0, body->room - offset);

  if (end == NULL)
    return -EPROTO;
  *text = (const char *)start;
  *size = (size_t)(end - start);
  return 0;
}

/* Takes an array of nr elements of `each` bytes at an offset. If nr is 0, sets
 * the array to NULL. */
static int take_array(const body_t *body, size_t offset, uint64_t nr,
                      size_t each, const void **array) {
  if (nr > (body->room - offset) / each)
    return -EPROTO;
  *array = nr != 0 ? body->at + offset : NULL;
  return 0;
}

/* Takes the fields with which MMAP and MMAP2 begin. */
static void take_range(const body_t *body, uvperf_mmap_t *mmap) {
  memset(mmap, 0, sizeof(*mmap));
  mmap->pid = uvperf__u32(body->at);
  mmap->tid = uvperf__u32(body->at + 4);
  mmap->addr = uvperf__u64(body->at + 8);
  mmap->len = uvperf__u64(body->at + 16);
  mmap->pgoff = uvperf__u64(body->at + 24);
}

static int decode_mmap(const body_t *body, uvperf_record_t *record) {
  uvperf_mmap_t *mmap = &record->mmap;

  take_range(body, mmap);
  return take_string(body, 32, &mmap->filename, &mmap->filename_size);
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
static int decode_mmap2(const body_t *body, uvperf_record_t *record) {
  uvperf_mmap_t *mmap = &record->mmap;
  size_t filename = 56;

  take_range(body, mmap);
  if (take_file(body->at + 32, record->misc, mmap) != 0)
    return -EPROTO;
  if (!body->layout->has_old_mmap2) {
    filename = 64;
    if (body->room < filename)
      return -EPROTO;
    mmap->prot = uvperf__u32(body->at + 56);
    mmap->flags = uvperf__u32(body->at + 60);
  }
  return take_string(body, filename, &mmap->filename, &mmap->filename_size);
}

static int decode_lost(const body_t *body, uvperf_record_t *record) {
  record->lost.id = uvperf__u64(body->at);
  record->lost.lost = uvperf__u64(body->at + 8);
  return 0;
}

static int decode_comm(const body_t *body, uvperf_record_t *record) {
  record->comm.pid = uvperf__u32(body->at);
  record->comm.tid = uvperf__u32(body->at + 4);
  return take_string(body, 8, &record->comm.comm, &record->comm.comm_size);
}

static int decode_task(const body_t *body, uvperf_record_t *record) {
  record->task.pid = uvperf__u32(body->at);
  record->task.ppid = uvperf__u32(body->at + 4);
  record->task.tid = uvperf__u32(body->at + 8);
  record->task.ptid = uvperf__u32(body->at + 12);
  record->task.time = uvperf__u64(body->at + 16);
  return 0;
}

static int decode_throttle(const body_t *body, uvperf_record_t *record) {
  record->throttle.time = uvperf__u64(body->at);
  record->throttle.id = uvperf__u64(body->at + 8);
  record->throttle.stream_id = uvperf__u64(body->at + 16);
  return 0;
}

static int decode_read(const body_t *body, uvperf_record_t *record) {
  size_t used;

  record->read.pid = uvperf__u32(body->at);
  record->read.tid = uvperf__u32(body->at + 4);
  return uvperf__read_format_parse(body->layout->read_format, body->at + 8,
                                   body->room - 8, &used, &record->read.values);
}

static int decode_aux(const body_t *body, uvperf_record_t *record) {
  record->aux.offset = uvperf__u64(body->at);
  record->aux.size = uvperf__u64(body->at + 8);
  record->aux.flags = uvperf__u64(body->at + 16);
  return 0;
}

static int decode_itrace_start(const body_t *body, uvperf_record_t *record) {
  record->itrace_start.pid = uvperf__u32(body->at);
  record->itrace_start.tid = uvperf__u32(body->at + 4);
  return 0;
}

static int decode_lost_samples(const body_t *body, uvperf_record_t *record) {
  record->lost_samples.lost = uvperf__u64(body->at);
  return 0;
}

static int decode_switch(const body_t *body, uvperf_record_t *record) {
  (void)body;
  (void)record;
  return 0;
}

static int decode_switch_cpu_wide(const body_t *body, uvperf_record_t *record) {
  record->switch_cpu_wide.next_prev_pid = uvperf__u32(body->at);
  record->switch_cpu_wide.next_prev_tid = uvperf__u32(body->at + 4);
  return 0;
}

static int decode_namespaces(const body_t *body, uvperf_record_t *record) {
  const void *links;

  record->namespaces.pid = uvperf__u32(body->at);
  record->namespaces.tid = uvperf__u32(body->at + 4);
  record->namespaces.nr = uvperf__u64(body->at + 8);
  if (take_array(body, 16, record->namespaces.nr, sizeof(uvperf_namespace_t),
                 &links) != 0)
    return -EPROTO;
  record->namespaces.links = links;
  return 0;
}

static int decode_ksymbol(const body_t *body, uvperf_record_t *record) {
  record->ksymbol.addr = uvperf__u64(body->at);
  record->ksymbol.len = uvperf__u32(body->at + 8);
  record->ksymbol.ksym_type = uvperf__u16(body->at + 12);
  record->ksymbol.flags = uvperf__u16(body->at + 14);
  return take_string(body, 16, &record->ksymbol.name,
                     &record->ksymbol.name_size);
}

static int decode_bpf_event(const body_t *body, uvperf_record_t *record) {
  record->bpf_event.type = uvperf__u16(body->at);
  record->bpf_event.flags = uvperf__u16(body->at + 2);
  record->bpf_event.id = uvperf__u32(body->at + 4);
  memcpy(record->bpf_event.tag, body->at + 8, sizeof(record->bpf_event.tag));
  return 0;
}

static int decode_cgroup(const body_t *body, uvperf_record_t *record) {
  record->cgroup.id = uvperf__u64(body->at);
  return take_string(body, 8, &record->cgroup.path, &record->cgroup.path_size);
}

static int decode_text_poke(const body_t *body, uvperf_record_t *record) {
  size_t old_len = uvperf__u16(body->at + 8);
  size_t new_len = uvperf__u16(body->at + 10);

  if (old_len + new_len > body->room - 12)
    return -EPROTO;
  record->text_poke.addr = uvperf__u64(body->at);
  record->text_poke.old_len = (uint16_t)old_len;
  record->text_poke.new_len = (uint16_t)new_len;
  record->text_poke.old_bytes = body->at + 12;
  record->text_poke.new_bytes = body->at + 12 + old_len;
  return 0;
}

static int decode_aux_output_hw_id(const body_t *body,
                                   uvperf_record_t *record) {
  record->aux_output_hw_id.hw_id = uvperf__u64(body->at);
  return 0;
}

static int decode_callchain_deferred(const body_t *body,
                                     uvperf_record_t *record) {
  const void *ips;

  record->callchain_deferred.cookie = uvperf__u64(body->at);
  record->callchain_deferred.nr = uvperf__u64(body->at + 8);
  if (take_array(body, 16, record->callchain_deferred.nr, WORD, &ips) != 0)
    return -EPROTO;
  record->callchain_deferred.ips = ips;
  return 0;
}

/* For each type: the function that decodes it, and the size of the fixed part,
 * which the function may read without a check. SAMPLE is not in this table. */
static const struct {
  size_t fixed;
  int (*decode)(const body_t *body, uvperf_record_t *record);
} bodies[] = {
    [PERF_RECORD_MMAP] = {32, decode_mmap},
    [PERF_RECORD_LOST] = {16, decode_lost},
    [PERF_RECORD_COMM] = {8, decode_comm},
    [PERF_RECORD_EXIT] = {24, decode_task},
    [PERF_RECORD_THROTTLE] = {24, decode_throttle},
    [PERF_RECORD_UNTHROTTLE] = {24, decode_throttle},
    [PERF_RECORD_FORK] = {24, decode_task},
    [PERF_RECORD_READ] = {8, decode_read},
    [PERF_RECORD_MMAP2] = {56, decode_mmap2},
    [PERF_RECORD_AUX] = {24, decode_aux},
    [PERF_RECORD_ITRACE_START] = {8, decode_itrace_start},
    [PERF_RECORD_LOST_SAMPLES] = {8, decode_lost_samples},
    [PERF_RECORD_SWITCH] = {0, decode_switch},
    [PERF_RECORD_SWITCH_CPU_WIDE] = {8, decode_switch_cpu_wide},
    [PERF_RECORD_NAMESPACES] = {16, decode_namespaces},
    [PERF_RECORD_KSYMBOL] = {16, decode_ksymbol},
    [PERF_RECORD_BPF_EVENT] = {16, decode_bpf_event},
    [PERF_RECORD_CGROUP] = {8, decode_cgroup},
    [PERF_RECORD_TEXT_POKE] = {12, decode_text_poke},
    [UVPERF_RECORD_AUX_OUTPUT_HW_ID] = {8, decode_aux_output_hw_id},
    [UVPERF_RECORD_CALLCHAIN_DEFERRED] = {16, decode_callchain_deferred},
};

int uvperf__record_is_known(uint32_t type) {
  if (type == PERF_RECORD_SAMPLE)
    return 1;
  return type < LENGTH(bodies) && bodies[type].decode != NULL;
}

int uvperf__record_decode(const uvperf__layout_t *layout, const uint8_t *bytes,
                          size_t room, uvperf_record_t *record) {
  body_t body;

  if (room < bodies[record->type].fixed)
    return -EPROTO;
  body.layout = layout;
  body.at = bytes;
  body.room = room;
  return bodies[record->type].decode(&body, record);
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

/* The fields before the union that a trailer or a sample has. */
#define COMMON offsetof(uvperf_record_t, ip)
#define BODY   offsetof(uvperf_record_t, sample)

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

const char *uvperf_record_type_name(uint32_t type) {
  static const char *const names[] = {
      [PERF_RECORD_MMAP] = "MMAP",
      [PERF_RECORD_LOST] = "LOST",
      [PERF_RECORD_COMM] = "COMM",
      [PERF_RECORD_EXIT] = "EXIT",
      [PERF_RECORD_THROTTLE] = "THROTTLE",
      [PERF_RECORD_UNTHROTTLE] = "UNTHROTTLE",
      [PERF_RECORD_FORK] = "FORK",
      [PERF_RECORD_READ] = "READ",
      [PERF_RECORD_SAMPLE] = "SAMPLE",
      [PERF_RECORD_MMAP2] = "MMAP2",
      [PERF_RECORD_AUX] = "AUX",
      [PERF_RECORD_ITRACE_START] = "ITRACE_START",
      [PERF_RECORD_LOST_SAMPLES] = "LOST_SAMPLES",
      [PERF_RECORD_SWITCH] = "SWITCH",
      [PERF_RECORD_SWITCH_CPU_WIDE] = "SWITCH_CPU_WIDE",
      [PERF_RECORD_NAMESPACES] = "NAMESPACES",
      [PERF_RECORD_KSYMBOL] = "KSYMBOL",
      [PERF_RECORD_BPF_EVENT] = "BPF_EVENT",
      [PERF_RECORD_CGROUP] = "CGROUP",
      [PERF_RECORD_TEXT_POKE] = "TEXT_POKE",
      [UVPERF_RECORD_AUX_OUTPUT_HW_ID] = "AUX_OUTPUT_HW_ID",
      [UVPERF_RECORD_CALLCHAIN_DEFERRED] = "CALLCHAIN_DEFERRED",
  };

  return type < LENGTH(names) ? names[type] : NULL;
}

const char *uvperf_record_cpu_mode_name(uint16_t misc) {
  switch (uvperf_record_cpu_mode(misc)) {
    case PERF_RECORD_MISC_KERNEL:
      return "kernel";
    case PERF_RECORD_MISC_USER:
      return "user";
    case PERF_RECORD_MISC_HYPERVISOR:
      return "hypervisor";
    case PERF_RECORD_MISC_GUEST_KERNEL:
      return "guest kernel";
    case PERF_RECORD_MISC_GUEST_USER:
      return "guest user";
    default:
      return "unknown";
  }
}
