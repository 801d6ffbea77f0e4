/* SPDX-License-Identifier: MIT */
/* Copies a struct perf_event_attr, accesses each field by its place, and finds
 * which records and wakeups it asks for. The functions work with each header
 * that the caller may have been compiled with. Opens nothing. Whether a kernel
 * accepts the values is not known here. */
#include "attr/attr.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "util/alloc.h"
#include "util/bytes.h"
#include "util/error.h"

/* -- a whole attr ---------------------------------------------------------- */

void uvperf_attr_init_sized(struct perf_event_attr *attr, size_t size,
                            uint32_t type, uint64_t config) {
  memset(attr, 0, size);
  attr->type = type;
  attr->size = (uint32_t)size;
  attr->config = config;
}

uint32_t uvperf__attr_size(const struct perf_event_attr *attr) {
  return attr->size == 0 ? PERF_ATTR_SIZE_VER0 : attr->size;
}

int uvperf__attr_copy(struct perf_event_attr **copy,
                      const struct perf_event_attr *attr,
                      uvperf_error_t *error) {
  size_t size = uvperf__attr_size(attr);
  struct perf_event_attr *memory;

  /* The same limits as in perf_copy_attr. Larger attrs cannot be opened. */
  if (size < PERF_ATTR_SIZE_VER0 || size > (size_t)sysconf(_SC_PAGESIZE))
    return uvperf__error_set(error,
                             size < PERF_ATTR_SIZE_VER0 ? -EINVAL : -E2BIG,
                             UVPERF_CAUSE_ARGUMENT,
                             "attr.size is %u, which is not a size of struct "
                             "perf_event_attr; use sizeof",
                             attr->size);
  memory = uvperf__calloc(1, size > sizeof(*attr) ? size : sizeof(*attr));
  if (memory == NULL)
    return uvperf__error_shortage(error, -ENOMEM, "cannot copy the attr");
  memcpy(memory, attr, size);
  memory->size = (uint32_t)size;
  *copy = memory;
  return 0;
}

/* -- fields ---------------------------------------------------------------- */

/* Where the 64-bit flag word starts. */
#define FLAGS_OFFSET 40

/* The fields, named as in <linux/perf_event.h>, with their offset and width in
 * bytes. Offset and width are numbers because headers of Linux 5.10 lack the
 * last fields. The number of a flag is its bit in the flag word, so flags need
 * only the name. */
static const struct {
  const char *name;
  uint8_t offset;
  uint8_t width;
} fields[] = {
    [UVPERF_ATTR_DISABLED] = {"disabled", 0, 0},
    [UVPERF_ATTR_INHERIT] = {"inherit", 0, 0},
    [UVPERF_ATTR_PINNED] = {"pinned", 0, 0},
    [UVPERF_ATTR_EXCLUSIVE] = {"exclusive", 0, 0},
    [UVPERF_ATTR_EXCLUDE_USER] = {"exclude_user", 0, 0},
    [UVPERF_ATTR_EXCLUDE_KERNEL] = {"exclude_kernel", 0, 0},
    [UVPERF_ATTR_EXCLUDE_HV] = {"exclude_hv", 0, 0},
    [UVPERF_ATTR_EXCLUDE_IDLE] = {"exclude_idle", 0, 0},
    [UVPERF_ATTR_MMAP] = {"mmap", 0, 0},
    [UVPERF_ATTR_COMM] = {"comm", 0, 0},
    [UVPERF_ATTR_FREQ] = {"freq", 0, 0},
    [UVPERF_ATTR_INHERIT_STAT] = {"inherit_stat", 0, 0},
    [UVPERF_ATTR_ENABLE_ON_EXEC] = {"enable_on_exec", 0, 0},
    [UVPERF_ATTR_TASK] = {"task", 0, 0},
    [UVPERF_ATTR_WATERMARK] = {"watermark", 0, 0},
    [UVPERF_ATTR_PRECISE_IP] = {"precise_ip", 0, 0},
    [UVPERF_ATTR_MMAP_DATA] = {"mmap_data", 0, 0},
    [UVPERF_ATTR_SAMPLE_ID_ALL] = {"sample_id_all", 0, 0},
    [UVPERF_ATTR_EXCLUDE_HOST] = {"exclude_host", 0, 0},
    [UVPERF_ATTR_EXCLUDE_GUEST] = {"exclude_guest", 0, 0},
    [UVPERF_ATTR_EXCLUDE_CALLCHAIN_KERNEL] = {"exclude_callchain_kernel", 0, 0},
    [UVPERF_ATTR_EXCLUDE_CALLCHAIN_USER] = {"exclude_callchain_user", 0, 0},
    [UVPERF_ATTR_MMAP2] = {"mmap2", 0, 0},
    [UVPERF_ATTR_COMM_EXEC] = {"comm_exec", 0, 0},
    [UVPERF_ATTR_USE_CLOCKID] = {"use_clockid", 0, 0},
    [UVPERF_ATTR_CONTEXT_SWITCH] = {"context_switch", 0, 0},
    [UVPERF_ATTR_WRITE_BACKWARD] = {"write_backward", 0, 0},
    [UVPERF_ATTR_NAMESPACES] = {"namespaces", 0, 0},
    [UVPERF_ATTR_KSYMBOL] = {"ksymbol", 0, 0},
    [UVPERF_ATTR_BPF_EVENT] = {"bpf_event", 0, 0},
    [UVPERF_ATTR_AUX_OUTPUT] = {"aux_output", 0, 0},
    [UVPERF_ATTR_CGROUP] = {"cgroup", 0, 0},
    [UVPERF_ATTR_TEXT_POKE] = {"text_poke", 0, 0},
    [UVPERF_ATTR_BUILD_ID] = {"build_id", 0, 0},
    [UVPERF_ATTR_INHERIT_THREAD] = {"inherit_thread", 0, 0},
    [UVPERF_ATTR_REMOVE_ON_EXEC] = {"remove_on_exec", 0, 0},
    [UVPERF_ATTR_SIGTRAP] = {"sigtrap", 0, 0},
    [UVPERF_ATTR_DEFER_CALLCHAIN] = {"defer_callchain", 0, 0},
    [UVPERF_ATTR_DEFER_OUTPUT] = {"defer_output", 0, 0},
    [UVPERF_ATTR_TYPE] = {"type", 0, 4},
    [UVPERF_ATTR_SIZE] = {"size", 4, 4},
    [UVPERF_ATTR_CONFIG] = {"config", 8, 8},
    [UVPERF_ATTR_SAMPLE_PERIOD] = {"sample_period", 16, 8},
    [UVPERF_ATTR_SAMPLE_TYPE] = {"sample_type", 24, 8},
    [UVPERF_ATTR_READ_FORMAT] = {"read_format", 32, 8},
    [UVPERF_ATTR_WAKEUP_EVENTS] = {"wakeup_events", 48, 4},
    [UVPERF_ATTR_BP_TYPE] = {"bp_type", 52, 4},
    [UVPERF_ATTR_CONFIG1] = {"config1", 56, 8},
    [UVPERF_ATTR_CONFIG2] = {"config2", 64, 8},
    [UVPERF_ATTR_BRANCH_SAMPLE_TYPE] = {"branch_sample_type", 72, 8},
    [UVPERF_ATTR_SAMPLE_REGS_USER] = {"sample_regs_user", 80, 8},
    [UVPERF_ATTR_SAMPLE_STACK_USER] = {"sample_stack_user", 88, 4},
    [UVPERF_ATTR_CLOCKID] = {"clockid", 92, 4},
    [UVPERF_ATTR_SAMPLE_REGS_INTR] = {"sample_regs_intr", 96, 8},
    [UVPERF_ATTR_AUX_WATERMARK] = {"aux_watermark", 104, 4},
    [UVPERF_ATTR_SAMPLE_MAX_STACK] = {"sample_max_stack", 108, 2},
    [UVPERF_ATTR_AUX_SAMPLE_SIZE] = {"aux_sample_size", 112, 4},
    [UVPERF_ATTR_AUX_ACTION] = {"aux_action", 116, 4},
    [UVPERF_ATTR_SIG_DATA] = {"sig_data", 120, 8},
    [UVPERF_ATTR_CONFIG3] = {"config3", 128, 8},
    [UVPERF_ATTR_CONFIG4] = {"config4", 136, 8},
};

const enum uvperf_attr_field uvperf__attr_configs[UVPERF__ATTR_CONFIGS] = {
    UVPERF_ATTR_CONFIG,  UVPERF_ATTR_CONFIG1, UVPERF_ATTR_CONFIG2,
    UVPERF_ATTR_CONFIG3, UVPERF_ATTR_CONFIG4,
};

/* Some bits of an unsigned integer of `width` bytes at `offset`. */
typedef struct place_s {
  uint8_t offset;
  uint8_t width;
  uint8_t is_signed;
  uint8_t bits;
  uint8_t shift;
} place_t;

/* Bitfields start at the lowest bit on little-endian machines and at the
 * highest bit on big-endian machines. */
static place_t flag_place(unsigned int position) {
  unsigned int bits = position == UVPERF_ATTR_PRECISE_IP ? 2 : 1;
  place_t place = {FLAGS_OFFSET, 8, 0, (uint8_t)bits, (uint8_t)position};

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  place.shift = (uint8_t)(64 - bits - position);
#endif
  return place;
}

static int field_find(unsigned int field, place_t *place) {
  if (field >= sizeof(fields) / sizeof(fields[0]) || fields[field].name == NULL)
    return -EINVAL;
  if (field < UVPERF_ATTR_TYPE) {
    *place = flag_place(field);
    return 0;
  }
  place->offset = fields[field].offset;
  place->width = fields[field].width;
  place->is_signed = field == UVPERF_ATTR_CLOCKID;
  place->bits = (uint8_t)(8 * fields[field].width);
  place->shift = 0;
  return 0;
}

static uint64_t field_mask(place_t place) {
  return UINT64_MAX >> (64 - place.bits);
}

static int field_fits(place_t place, uint64_t value) {
  if (place.is_signed)
    return (int64_t)value >= INT32_MIN && (int64_t)value <= INT32_MAX;
  return value <= field_mask(place);
}

static int is_inside(const struct perf_event_attr *attr, place_t place) {
  return uvperf__attr_size(attr) >= (uint32_t)place.offset + place.width;
}

/* Returns the place of the lowest bytes of a word. */
static uint8_t *low_bytes(uint64_t *word, size_t width) {
  return (uint8_t *)word + (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
                                ? 0
                                : sizeof(*word) - width);
}

static uint64_t field_load(const struct perf_event_attr *attr, place_t place) {
  uint64_t word = 0;

  memcpy(low_bytes(&word, place.width), (const uint8_t *)attr + place.offset,
         place.width);
  return word;
}

static void field_store(struct perf_event_attr *attr, place_t place,
                        uint64_t word) {
  memcpy((uint8_t *)attr + place.offset, low_bytes(&word, place.width),
         place.width);
}

int uvperf_attr_set(struct perf_event_attr *attr, enum uvperf_attr_field field,
                    uint64_t value) {
  place_t place;
  uint64_t word;

  if (field_find(field, &place) != 0 || field == UVPERF_ATTR_SIZE ||
      !field_fits(place, value))
    return -EINVAL;
  if (!is_inside(attr, place))
    return value == 0 ? 0 : -E2BIG;
  word = field_load(attr, place) & ~(field_mask(place) << place.shift);
  field_store(attr, place, word | (value & field_mask(place)) << place.shift);
  return 0;
}

int uvperf_attr_get(const struct perf_event_attr *attr,
                    enum uvperf_attr_field field, uint64_t *value) {
  place_t place;

  *value = 0;
  if (field_find(field, &place) != 0)
    return -EINVAL;
  if (!is_inside(attr, place))
    return 0;
  *value = field_load(attr, place) >> place.shift & field_mask(place);
  if (place.is_signed)
    *value = (uint64_t)(int64_t)(int32_t)*value;
  return 0;
}

uint64_t uvperf__attr_value(const struct perf_event_attr *attr,
                            enum uvperf_attr_field field) {
  uint64_t value;

  uvperf_attr_get(attr, field, &value);
  return value;
}

const char *uvperf__attr_field_name(unsigned int field) {
  place_t place;

  return field_find(field, &place) == 0 ? fields[field].name : "?";
}

uint32_t uvperf__attr_end(enum uvperf_attr_field field) {
  place_t place;

  return field_find(field, &place) == 0 ? (uint32_t)place.offset + place.width
                                        : 0;
}

uint64_t uvperf__attr_flags(const struct perf_event_attr *attr) {
  uint64_t flags = 0;
  unsigned int i;

  for (i = 0; i < 64; i++) {
    place_t place = flag_place(i);

    if (i != UVPERF_ATTR_PRECISE_IP + 1 &&
        (field_load(attr, place) >> place.shift & field_mask(place)) != 0)
      flags |= UINT64_C(1) << i;
  }
  return flags;
}

/* -- records and wakeups --------------------------------------------------- */

uint32_t uvperf__attr_watermark(const struct perf_event_attr *attr) {
  return attr->watermark && !attr->write_backward ? attr->wakeup_watermark : 0;
}

uint32_t uvperf__attr_stack(const struct perf_event_attr *attr) {
  if (!(attr->sample_type & PERF_SAMPLE_STACK_USER))
    return 0;
  return (uint32_t)uvperf__attr_value(attr, UVPERF_ATTR_SAMPLE_STACK_USER);
}

/* Fields that request side-band records. These records never count for
 * wakeup_events. */
static const enum uvperf_attr_field side_band[] = {
    UVPERF_ATTR_MMAP,           UVPERF_ATTR_MMAP_DATA, UVPERF_ATTR_MMAP2,
    UVPERF_ATTR_COMM,           UVPERF_ATTR_TASK,      UVPERF_ATTR_NAMESPACES,
    UVPERF_ATTR_CONTEXT_SWITCH, UVPERF_ATTR_KSYMBOL,   UVPERF_ATTR_BPF_EVENT,
    UVPERF_ATTR_CGROUP,         UVPERF_ATTR_TEXT_POKE, UVPERF_ATTR_AUX_OUTPUT,
};

static int has_side_band(const struct perf_event_attr *attr) {
  size_t i;

  for (i = 0; i < sizeof(side_band) / sizeof(side_band[0]); i++)
    if (uvperf__attr_value(attr, side_band[i]))
      return 1;
  return 0;
}

static int is_bpf_output(const struct perf_event_attr *attr) {
  return attr->type == PERF_TYPE_SOFTWARE &&
         attr->config == PERF_COUNT_SW_BPF_OUTPUT;
}

static int has_samples(const struct perf_event_attr *attr) {
  return attr->sample_period != 0 || is_bpf_output(attr);
}

int uvperf__attr_writes_samples(const struct perf_event_attr *attr) {
  return has_samples(attr) && !(attr->type == PERF_TYPE_SOFTWARE &&
                                attr->config == PERF_COUNT_SW_DUMMY);
}

const char *uvperf__attr_unit(const struct perf_event_attr *attr) {
  return attr->type == PERF_TYPE_SOFTWARE &&
                 (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
                  attr->config == PERF_COUNT_SW_TASK_CLOCK)
             ? "ns"
             : "";
}

int uvperf__attr_clock(const struct perf_event_attr *attr) {
  if (uvperf__attr_value(attr, UVPERF_ATTR_USE_CLOCKID) == 0)
    return -1;
  return (int)uvperf__attr_value(attr, UVPERF_ATTR_CLOCKID);
}

void uvperf__attr_set_clock(struct perf_event_attr *attr, int clock) {
  if (clock == -1)
    return;
  if (attr->size < PERF_ATTR_SIZE_VER3)
    attr->size = PERF_ATTR_SIZE_VER3;
  attr->use_clockid = 1;
  attr->clockid = clock;
}

int uvperf__attr_writes_records(const struct perf_event_attr *attr) {
  return has_samples(attr) || has_side_band(attr);
}

int uvperf__attr_closes_slowly(const struct perf_event_attr *attr) {
  return attr->type == PERF_TYPE_TRACEPOINT || attr->type >= PERF_TYPE_MAX;
}

/* header.size has 16 bits, and is a multiple of 8. */
#define LARGEST_SAMPLE 65528
/* Entries of the branch records of any processor. */
#define MOST_BRANCHES 64

/* Returns the maximum size of a sample in bytes. AUX data is not counted,
 * because the kernel cuts it to fit. Without sample_max_stack the function
 * assumes that call chains have the default length of
 * /proc/sys/kernel/perf_event_max_stack. Each bit of
 * sample_type stands for at least one word: a value, a number or a size. */
static uint64_t largest_sample(const struct perf_event_attr *attr) {
  uint64_t type = attr->sample_type;
  uint64_t words = 1 + uvperf__bits(type);
  uint64_t max_stack = uvperf__attr_value(attr, UVPERF_ATTR_SAMPLE_MAX_STACK);
  uint64_t bytes = 0;

  if (type & PERF_SAMPLE_READ) /* perf_event_validate_size() */
    bytes += attr->read_format & PERF_FORMAT_GROUP ? 16 * 1024 : 4 * 8;
  if (type & PERF_SAMPLE_CALLCHAIN) /* and PERF_MAX_CONTEXTS_PER_STACK */
    words += 8 + (max_stack != 0 ? max_stack : PERF_MAX_STACK_DEPTH);
  if (type & PERF_SAMPLE_RAW) /* PERF_MAX_TRACE_SIZE; a program's choice */
    bytes += is_bpf_output(attr) ? LARGEST_SAMPLE : 8192;
  if (type & PERF_SAMPLE_BRANCH_STACK) /* entry and counters; hw_idx */
    bytes += 8 + MOST_BRANCHES * (sizeof(struct perf_branch_entry) + 8);
  if (type & PERF_SAMPLE_REGS_USER)
    words +=
        uvperf__bits(uvperf__attr_value(attr, UVPERF_ATTR_SAMPLE_REGS_USER));
  if (type & PERF_SAMPLE_STACK_USER) /* and dyn_size */
    bytes += uvperf__attr_stack(attr) + 8;
  if (type & PERF_SAMPLE_REGS_INTR)
    words +=
        uvperf__bits(uvperf__attr_value(attr, UVPERF_ATTR_SAMPLE_REGS_INTR));
  return words * sizeof(uint64_t) + bytes;
}

/* For a stack of 0 bytes perf_prepare_sample in kernel/events/core.c counts 8
 * bytes, for the stack's size. But perf_output_sample_ustack writes 16 bytes,
 * because it adds dyn_size. This happens with and without
 * PERF_SAMPLE_REGS_USER, in every thread except kernel threads, which have no
 * user stack. The extra word shifts the fields after the stack, and the last
 * field overwrites the next record. The overwritten record is the oldest record
 * of a full ring, or a record that an interrupt has written.
 *
 * A larger stack is cut so that the stack and the fields before it have 65528
 * bytes (perf_sample_ustack_size). Registers and AUX data are added after that,
 * and header.size, which has 16 bits, wraps. */
const char *uvperf__attr_fault(const struct perf_event_attr *attr) {
  if (!has_samples(attr) || !(attr->sample_type & PERF_SAMPLE_STACK_USER))
    return NULL;
  if (uvperf__attr_stack(attr) == 0)
    return "sample_stack_user 0 with PERF_SAMPLE_STACK_USER, so that the "
           "kernel writes samples over the next record; clear that bit";
  if ((attr->sample_type & (PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_AUX)) &&
      largest_sample(attr) > LARGEST_SAMPLE)
    return "PERF_SAMPLE_STACK_USER with PERF_SAMPLE_REGS_INTR or "
           "PERF_SAMPLE_AUX, so that the kernel writes samples above 65528 "
           "bytes over the next record; lower sample_stack_user";
  return NULL;
}

int uvperf__attr_wakes_each(const struct perf_event_attr *attr) {
  if (attr->watermark)
    return attr->wakeup_watermark == 1;
  /* sync_child_event() in kernel/events/core.c writes a READ record for each
   * child that ends. Like the side-band records it does not count for
   * wakeup_events. */
  if (attr->inherit && attr->inherit_stat)
    return 0;
  return attr->wakeup_events == 1 && !has_side_band(attr);
}
