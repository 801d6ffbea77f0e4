/* SPDX-License-Identifier: MIT */
/* Decoded records of the kernel's rings. Needs no libuv: a program that only
 * decodes, such as a reader of perf.data files, needs no loop and no fd.
 *
 * All 22 record types and all 25 PERF_SAMPLE_* bits of Linux 6.19 are decoded.
 * Two texts describe every layout: the comment in enum perf_event_type of
 * <linux/perf_event.h>, and perf_event_open(2), "Layout of the mmap buffer".
 * The first constants below have the kernel's values, for headers that lack
 * them. */
#ifndef UVPERF_RECORD_H
#define UVPERF_RECORD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <linux/perf_event.h>

#include "uvperf/count.h"
#include "uvperf/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -- constants that <linux/perf_event.h> before Linux 6.19 may lack ------- */
#define UVPERF_RECORD_AUX_OUTPUT_HW_ID   21        /* Linux 5.16 */
#define UVPERF_RECORD_CALLCHAIN_DEFERRED 22        /* Linux 6.19 */
#define UVPERF_RECORD_MISC_MMAP_BUILD_ID (1 << 14) /* Linux 5.12 */

/* The type of the record that a callback gets for something else than a record
 * of a ring: see uvperf_record_cb. The kernel never writes this type. */
#define UVPERF_RECORD_NONE 0
/* Marks the end of a call chain whose user part follows in a CALLCHAIN_DEFERRED
 * record. The next entry of the chain is the cookie of that record. */
#define UVPERF_CONTEXT_USER_DEFERRED ((uint64_t)-640) /* Linux 6.19 */

/* The source of records: one perf event, or one attr and all events that were
 * opened with it on one target. The caller of uvperf_decoder_new, or a handle,
 * fills it and owns it. */
typedef struct uvperf_source_s {
  /* sizeof(uvperf_source_t), or the size in an older version. */
  size_t size;
  /* The attr with which the event was opened. Decoding uses its sample_type,
   * read_format, branch_sample_type, register masks and sample_id_all. */
  const struct perf_event_attr *attr;
  /* The event's ids (PERF_EVENT_IOC_ID). The ids assign a record to one of
   * several sources. If there is only one source, ids may be NULL and nr_ids
   * 0. */
  const uint64_t *ids;
  size_t nr_ids;
  /* The target. pid is 0 for the thread that opened the event, and -1 for any.
   * cpu is -1 for any. */
  int32_t pid;
  int32_t cpu;
  /* The caller's; the library never uses it. In a record of a uvperf_event_t it
   * is the uvperf_event_t whose event wrote the record, or NULL after that
   * handle is closed. In a record of a set it is the target's `data`. */
  void *data;
  /* In a record of a set these are the attr's index, the target's index, and
   * the place's uvperf_place_t.serial. In other records they are 0. All parts
   * of an event (see uvperf_event_item_t.first) have the index of the first
   * part; `attr` is the part's own attr. */
  uint32_t attr_index;
  uint32_t target_index;
  uint64_t serial;
  /* UVPERF_SOURCE_*. */
  uint64_t flags;
  /* The event's label, unit and group (name.h). In a record of a set it is
   * uvperf_set_item(set, attr_index), valid until the set is closed. In a
   * record of a uvperf_event_t or a BPF reader it is NULL. In a record of
   * uvperf_decode it is as the caller filled it; the library does not use
   * it. */
  const struct uvperf_event_item_s *item;
} uvperf_source_t;

/* The MMAP2 records have no prot and flags. For files that were recorded before
 * Linux 3.16. */
#define UVPERF_SOURCE_OLD_MMAP2 1u

/* Values in the format of read(2): PERF_SAMPLE_READ and PERF_RECORD_READ. Get
 * single values with uvperf_values_get and uvperf_values_find.
 * Source: perf_event_open(2), "Reading results". */
typedef struct uvperf_values_s {
  /* attr.read_format: PERF_FORMAT_*. */
  uint64_t format;
  /* The number of values: 1, or with PERF_FORMAT_GROUP the number of events in
   * the group. */
  uint64_t nr;
  /* Nanoseconds; 0 if the format does not have this time. */
  uint64_t time_enabled;
  uint64_t time_running;
  /* The values as the kernel wrote them; valid as long as the record. */
  const uint64_t *words;
} uvperf_values_t;

/* A set of registers. regs[i] is the register of the i-th bit that is set in
 * mask: see uvperf_sample_regs_get.
 * Source: perf_event_open(2), PERF_SAMPLE_REGS_USER. */
typedef struct uvperf_regs_s {
  /* PERF_SAMPLE_REGS_ABI_*; with NONE (0) there are no registers. */
  uint64_t abi;
  /* attr.sample_regs_user or sample_regs_intr, with the bits of
   * asm/perf_regs.h. */
  uint64_t mask;
  /* The number of registers in regs: the number of bits in mask, or 0 with abi
   * NONE. */
  uint64_t nr;
  const uint64_t *regs;
} uvperf_regs_t;

/* The body of PERF_RECORD_SAMPLE. Fields whose PERF_SAMPLE_* bit is not in the
 * record's `present` are 0. Pointers are valid as long as the record, and NULL
 * if their count or size is 0. All pointers except raw.data are 8-byte aligned.
 *
 * Several events, even of different processes, can sample the same software
 * event on a CPU. This happens with page faults, context switches and
 * migrations, but not with the clocks. The kernel fills one sample for all
 * these events. Usually these values are from the event that was enabled last
 * (the last event): id, stream_id, time (of its clock), pid and tid (of its
 * namespace), callchain (with its limits) and stack_user (with its size).
 * Fields that only the last event has can make the record longer: see
 * surplus_bytes. If the last event has fewer registers, the record ends too
 * early, and is delivered with UV_EPROTO. */
typedef struct uvperf_sample_s {
  uvperf_values_t read; /* PERF_SAMPLE_READ */
  /* PERF_SAMPLE_CALLCHAIN: frames innermost first, with PERF_CONTEXT_* marks
   * between them. */
  struct {
    uint64_t nr;
    const uint64_t *ips;
  } callchain;
  /* PERF_SAMPLE_RAW. size is in bytes and includes the kernel's padding: 4 +
   * size is a multiple of 8. The data is not aligned to 8: read it by memcpy.
   * For a tracepoint the data has the fields, at the offsets in the
   * tracepoint's `format` file in tracefs. */
  struct {
    uint32_t size;
    const void *data;
  } raw;
  /* PERF_SAMPLE_BRANCH_STACK, newest first. Only the record's length shows
   * whether the PMU wrote hw_idx and counters: the sample is decoded so that it
   * ends where the record ends. */
  struct {
    uint64_t nr;
    /* Needs PERF_SAMPLE_BRANCH_HW_INDEX. (uint64_t)-1 if the PMU wrote no
     * index, or if that bit is not set. */
    uint64_t hw_idx;
    const struct perf_branch_entry *entries;
    /* PERF_SAMPLE_BRANCH_COUNTERS: an array of nr counters, or NULL. */
    const uint64_t *counters;
  } branch;
  uvperf_regs_t regs_user; /* PERF_SAMPLE_REGS_USER */
  /* PERF_SAMPLE_STACK_USER: size bytes, of which the first dyn_size are the
   * stack. */
  struct {
    uint64_t size;
    uint64_t dyn_size;
    const void *data;
  } stack_user;
  /* PERF_SAMPLE_WEIGHT sets full. PERF_SAMPLE_WEIGHT_STRUCT uses the same field
   * of the record, and sets var1_dw, var2_w and var3_w too. */
  struct {
    uint64_t full;
    uint32_t var1_dw; /* the low half of full */
    uint16_t var2_w;
    uint16_t var3_w;
  } weight;
  uint64_t data_src;       /* PERF_SAMPLE_DATA_SRC, union perf_mem_data_src */
  uint64_t transaction;    /* PERF_SAMPLE_TRANSACTION, PERF_TXN_* */
  uvperf_regs_t regs_intr; /* PERF_SAMPLE_REGS_INTR */
  uint64_t phys_addr;      /* PERF_SAMPLE_PHYS_ADDR */
  uint64_t cgroup;         /* PERF_SAMPLE_CGROUP, the cgroup's id */
  uint64_t data_page_size; /* PERF_SAMPLE_DATA_PAGE_SIZE, bytes */
  uint64_t code_page_size; /* PERF_SAMPLE_CODE_PAGE_SIZE, bytes */
  /* PERF_SAMPLE_AUX, bytes. */
  struct {
    uint64_t size;
    const void *data;
  } aux;
  /* Bytes of the record after its last known field. These bytes mean nothing,
   * unless sample_type has a bit that is newer than the library. */
  uint64_t surplus_bytes;
} uvperf_sample_t;

/* PERF_RECORD_MMAP and PERF_RECORD_MMAP2. In an MMAP all fields from maj to
 * flags are 0. */
typedef struct uvperf_mmap_s {
  uint32_t pid, tid; /* the task whose memory it is */
  uint64_t addr;     /* first address */
  uint64_t len;      /* bytes */
  uint64_t pgoff;    /* bytes into the file */
  /* Set in an MMAP2 without PERF_RECORD_MISC_MMAP_BUILD_ID, otherwise 0. */
  uint32_t maj, min;
  uint64_t ino, ino_generation;
  /* Set in an MMAP2 with PERF_RECORD_MISC_MMAP_BUILD_ID, otherwise 0. build_id
   * has build_id_size bytes. */
  uint8_t build_id_size;
  uint8_t build_id[20];
  uint32_t prot;  /* PROT_* */
  uint32_t flags; /* MAP_* */
  /* filename_size bytes and a NUL: see uvperf_record_t. "//anon", "[vdso]" and
   * "[kernel.kallsyms]" are not files. */
  const char *filename;
  size_t filename_size;
} uvperf_mmap_t;

/* One namespace of PERF_RECORD_NAMESPACES; the index is *_NS_INDEX. */
typedef struct uvperf_namespace_s {
  uint64_t dev;   /* device of the file in /proc/PID/ns */
  uint64_t inode; /* inode of that file: the namespace's number */
} uvperf_namespace_t;

/* PERF_RECORD_LOST: some records did not fit. id is the event that wrote the
 * next record, not the event whose records were lost. */
typedef struct uvperf_lost_s {
  uint64_t id;   /* of an event */
  uint64_t lost; /* records */
} uvperf_lost_t;

/* PERF_RECORD_COMM. The record reports an exec if misc has
 * PERF_RECORD_MISC_COMM_EXEC. This misc bit needs attr.comm_exec in addition to
 * attr.comm. */
typedef struct uvperf_comm_s {
  uint32_t pid, tid; /* the task that has this name now */
  /* comm_size bytes and a NUL: see uvperf_record_t. */
  const char *comm;
  size_t comm_size;
} uvperf_comm_t;

/* PERF_RECORD_FORK and PERF_RECORD_EXIT. */
typedef struct uvperf_task_s {
  uint32_t pid, ppid; /* the process and its parent */
  uint32_t tid, ptid; /* the thread, and the one that made it */
  uint64_t time;      /* ns */
} uvperf_task_t;

/* PERF_RECORD_THROTTLE and PERF_RECORD_UNTHROTTLE. */
typedef struct uvperf_throttle_s {
  uint64_t time;      /* ns */
  uint64_t id;        /* of the event, PERF_EVENT_IOC_ID */
  uint64_t stream_id; /* of the inherited copy, PERF_SAMPLE_STREAM_ID */
} uvperf_throttle_t;

/* PERF_RECORD_READ. */
typedef struct uvperf_read_s {
  uint32_t pid, tid;      /* the task that has ended */
  uvperf_values_t values; /* its counts */
} uvperf_read_t;

/* PERF_RECORD_AUX. */
typedef struct uvperf_aux_s {
  uint64_t offset; /* bytes, unmasked */
  uint64_t size;   /* bytes */
  uint64_t flags;  /* PERF_AUX_FLAG_* */
} uvperf_aux_t;

/* PERF_RECORD_ITRACE_START. */
typedef struct uvperf_itrace_start_s {
  uint32_t pid, tid; /* the task that is traced from here on */
} uvperf_itrace_start_t;

/* PERF_RECORD_LOST_SAMPLES. */
typedef struct uvperf_lost_samples_s {
  uint64_t lost; /* samples */
} uvperf_lost_samples_t;

/* PERF_RECORD_SWITCH_CPU_WIDE. The record's task goes out if misc has
 * PERF_RECORD_MISC_SWITCH_OUT, and the other task comes next. Otherwise the
 * record's task comes in, and the other task ran before. */
typedef struct uvperf_switch_cpu_wide_s {
  uint32_t next_prev_pid; /* process of the other task */
  uint32_t next_prev_tid; /* its thread */
} uvperf_switch_cpu_wide_t;

/* PERF_RECORD_NAMESPACES. */
typedef struct uvperf_namespaces_s {
  uint32_t pid, tid; /* the task that is now in these namespaces */
  /* Number of namespaces; links is NULL if it is 0. */
  uint64_t nr;
  const uvperf_namespace_t *links;
} uvperf_namespaces_t;

/* PERF_RECORD_KSYMBOL. */
typedef struct uvperf_ksymbol_s {
  uint64_t addr;      /* first address */
  uint32_t len;       /* bytes */
  uint16_t ksym_type; /* PERF_RECORD_KSYMBOL_TYPE_* */
  uint16_t flags;     /* PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER */
  /* name_size bytes and a NUL: see uvperf_record_t. */
  const char *name;
  size_t name_size;
} uvperf_ksymbol_t;

/* PERF_RECORD_BPF_EVENT. */
typedef struct uvperf_bpf_event_s {
  uint16_t type;  /* PERF_BPF_EVENT_* */
  uint16_t flags; /* the kernel's; 0 so far */
  uint32_t id;    /* of the program, for BPF_PROG_GET_FD_BY_ID */
  uint8_t tag[8]; /* hash of its instructions */
} uvperf_bpf_event_t;

/* PERF_RECORD_CGROUP. */
typedef struct uvperf_cgroup_s {
  uint64_t id; /* as in PERF_SAMPLE_CGROUP */
  /* The path below the mount point of cgroups: path_size bytes and a NUL. See
   * uvperf_record_t. */
  const char *path;
  size_t path_size;
} uvperf_cgroup_t;

/* PERF_RECORD_TEXT_POKE: the kernel has changed its own code. */
typedef struct uvperf_text_poke_s {
  uint64_t addr;            /* first address */
  uint16_t old_len;         /* bytes */
  uint16_t new_len;         /* bytes */
  const uint8_t *old_bytes; /* old_len bytes that were there */
  const uint8_t *new_bytes; /* new_len bytes that are there now */
} uvperf_text_poke_t;

/* PERF_RECORD_AUX_OUTPUT_HW_ID. */
typedef struct uvperf_aux_output_hw_id_s {
  uint64_t hw_id; /* the id that the hardware writes for the event */
} uvperf_aux_output_hw_id_t;

/* PERF_RECORD_CALLCHAIN_DEFERRED: the user part of an earlier call chain. */
typedef struct uvperf_callchain_deferred_s {
  uint64_t cookie; /* as at the end of the chain that this belongs to */
  /* Number of addresses; ips is NULL if it is 0. */
  uint64_t nr;
  const uint64_t *ips;
} uvperf_callchain_deferred_t;

/* A decoded record. The record and everything it points to belong to the
 * library, and are valid until the callback returns, or until the next
 * uvperf_decode with the same decoder. Fields that were not requested are 0.
 *
 * Texts and arrays stay in the ring or in the caller's buffer. Their bytes can
 * change at any time: another process that has the event's fd can move the
 * ring's tail, and then the kernel writes new records over them. The fields of
 * the record, with all counts and sizes, are copies that were read once and
 * checked. So let a text end at its size and not at its NUL, and copy a value
 * before you check it. */
typedef struct uvperf_record_s {
  uint32_t type; /* PERF_RECORD_*, or UVPERF_RECORD_NONE */
  uint16_t misc; /* PERF_RECORD_MISC_* */
  uint16_t size; /* bytes, the 8 of the header included */
  /* The `size` bytes of the record as the kernel wrote it, with its header,
   * 8-byte aligned. NULL, and size 0, for a record of a BPF ring buffer. */
  const void *bytes;
  /* The event that wrote the record, or NULL if it is unknown. If only one
   * event of the ring writes samples, all samples belong to that event,
   * whatever their id. Otherwise the id decides, and the id can be wrong: see
   * uvperf_sample_t. */
  const uvperf_source_t *source;
  /* The PERF_SAMPLE_* bits of the fields that are valid. For a sample these are
   * the bits of attr.sample_type. Another record has the bits of its sample_id
   * trailer: with attr.sample_id_all the bits TID, TIME, ID, STREAM_ID, CPU and
   * IDENTIFIER of sample_type. `present` is 0 for a record that has no trailer
   * or could not be decoded. */
  uint64_t present;
  /* Where and when the record was written. TID, TIME, ID, CPU and STREAM_ID
   * come from the sample or from the trailer. ip, period and addr are 0 if the
   * record is not a sample. */
  uint64_t ip;        /* PERF_SAMPLE_IP */
  uint32_t pid, tid;  /* PERF_SAMPLE_TID */
  uint64_t time;      /* PERF_SAMPLE_TIME, ns of the event's clock. A sample can
                         have another event's time: see uvperf_sample_t */
  uint64_t id;        /* PERF_SAMPLE_ID or PERF_SAMPLE_IDENTIFIER. A sample can
                         have another event's id too */
  uint32_t cpu;       /* PERF_SAMPLE_CPU; from a perf event array always the
                         CPU on which the program ran */
  uint32_t reserved;  /* the kernel's, after cpu; means nothing */
  uint64_t period;    /* PERF_SAMPLE_PERIOD, events */
  uint64_t addr;      /* PERF_SAMPLE_ADDR */
  uint64_t stream_id; /* PERF_SAMPLE_STREAM_ID; an inherited copy has its own */
  /* Bytes after this record in its ring, or in its snapshot, when the ring was
   * last checked. Only a BPF reader (bpf.h) fills it; 0 in other records. */
  uint64_t remaining;
  /* The body, by the type of the record: PERF_RECORD_SAMPLE and so on. SWITCH
   * has no body. A type that is newer than the library has no member here: read
   * `bytes`. */
  union {
    uvperf_sample_t sample;                         /* SAMPLE */
    uvperf_mmap_t mmap;                             /* MMAP, MMAP2 */
    uvperf_lost_t lost;                             /* LOST */
    uvperf_comm_t comm;                             /* COMM */
    uvperf_task_t task;                             /* FORK, EXIT */
    uvperf_throttle_t throttle;                     /* THROTTLE, UNTHROTTLE */
    uvperf_read_t read;                             /* READ */
    uvperf_aux_t aux;                               /* AUX */
    uvperf_itrace_start_t itrace_start;             /* ITRACE_START */
    uvperf_lost_samples_t lost_samples;             /* LOST_SAMPLES */
    uvperf_switch_cpu_wide_t switch_cpu_wide;       /* SWITCH_CPU_WIDE */
    uvperf_namespaces_t namespaces;                 /* NAMESPACES */
    uvperf_ksymbol_t ksymbol;                       /* KSYMBOL */
    uvperf_bpf_event_t bpf_event;                   /* BPF_EVENT */
    uvperf_cgroup_t cgroup;                         /* CGROUP */
    uvperf_text_poke_t text_poke;                   /* TEXT_POKE */
    uvperf_aux_output_hw_id_t aux_output_hw_id;     /* AUX_OUTPUT_HW_ID */
    uvperf_callchain_deferred_t callchain_deferred; /* CALLCHAIN_DEFERRED */
  };
} uvperf_record_t;

/* Turns bytes into records. Opaque; owned by the caller of
 * uvperf_decoder_new. */
typedef struct uvperf_decoder_s uvperf_decoder_t;

/** Makes a decoder for the records of one or more sources.
 *
 *  With several sources each record is decoded with the attr of its own event.
 *  The record's id (never its STREAM_ID) shows which event that is. The id 0
 *  means the first source, because perf(1) writes 0 into records that it makes
 *  itself. A record with an unknown id has source NULL, and is decoded if all
 *  sources have the same layout for its type. For samples this means the same
 *  sample_type, read_format, branch_sample_type and masks in all sources that
 *  write samples.
 *  @param decoder  Receives the decoder, NULL on an error. Free it with
 *    uvperf_decoder_free.
 *  @param sources  The array is copied. The sources belong to the caller and
 *    must stay as long as the decoder, because records point to them. The
 *    sources' attrs and ids are read now and not again.
 *  @param nr       Number of sources.
 *  @return 0, or
 *    -EINVAL  sources is NULL; nr is 0; a source has no attr, an attr.size of 1
 *      to 63, unknown flags, or a size below the first version's (up to
 *      `data`); or, with several sources: one has no ids, two share an id, one
 *      lacks sample_id_all, or not all have PERF_SAMPLE_IDENTIFIER (or ID at
 *      the same place);
 *    -E2BIG   a source is longer than this version's struct and has a byte
 *      other than 0 there, or is longer than a page;
 *    -ENOMEM  out of memory.
 *  Source: perf_event_open(2), PERF_SAMPLE_IDENTIFIER. */
UVPERF_EXTERN int uvperf_decoder_new(uvperf_decoder_t **decoder,
                                     const uvperf_source_t *const *sources,
                                     size_t nr);

/** Frees a decoder, and with it its record.
 *  @param decoder  May be NULL. */
UVPERF_EXTERN void uvperf_decoder_free(uvperf_decoder_t *decoder);

/** Decodes the record at the start of some bytes. Allocates no memory, and
 *  never reads outside of the record, whatever the bytes are, even if another
 *  thread or process changes them meanwhile.
 *  @param decoder  The decoder, whose record is overwritten.
 *  @param bytes    The bytes, 8-byte aligned. The record points into them.
 *  @param size     Bytes available. Bytes after the record are ignored.
 *  @param record   Receives the decoder's record, valid until the next call.
 *    With -EPROTO and a sound header it is the raw record (type, misc, size,
 *    bytes, and the source if it is known; all else is 0): skip record->size
 *    bytes and go on. With an unsound header it is NULL.
 *  @return 0, also for a type that the library does not know, or
 *    -EPROTO  the header is unsound: its size is below 8, not a multiple of 8,
 *      or above `size`. Or the body is unsound. (A sample may be longer than
 *      its fields: see surplus_bytes.) Or there are several sources with
 *      different layouts, and the id belongs to none of them. (For an unknown
 *      type the result is 0 then, with source NULL);
 *    -EINVAL  bytes is not 8-byte aligned; *record is NULL. */
UVPERF_EXTERN int uvperf_decode(uvperf_decoder_t *decoder, const void *bytes,
                                size_t size, const uvperf_record_t **record);

/** Converts one value of a record into a count, scaled and with its state. For
 *  an event of a task on one CPU use `value` and not `scaled`. The record does
 *  not show that an event is of this kind (see UVPERF_COUNT_UNSCALED).
 *  @param values  From a record.
 *  @param index   Below values->nr.
 *  @param count   Receives the count. time_enabled, time_running, id and lost
 *    are 0 if the format does not have them.
 *  @return 0, or
 *    -EINVAL  index is not below values->nr. */
UVPERF_EXTERN int uvperf_values_get(const uvperf_values_t *values,
                                    uint64_t index, uvperf_count_t *count);

/** Finds the value of one event in a record.
 *  @param values  From a record.
 *  @param id      The event's id.
 *  @param count   As for uvperf_values_get.
 *  @return 0, or
 *    -ENOENT  no value has that id, or the format has no PERF_FORMAT_ID. */
UVPERF_EXTERN int uvperf_values_find(const uvperf_values_t *values, uint64_t id,
                                     uvperf_count_t *count);

/** Returns one register of a set of registers.
 *  @param regs   From a sample.
 *  @param bit    The register's bit number in asm/perf_regs.h.
 *  @param value  Receives the register.
 *  @return 0, or
 *    -ENOENT  the register was not requested, or abi is NONE. */
UVPERF_EXTERN int uvperf_sample_regs_get(const uvperf_regs_t *regs,
                                         unsigned int bit, uint64_t *value);

/* Returns the CPU mode, which is in the low bits of misc:
 * PERF_RECORD_MISC_CPUMODE_MASK. */
static inline unsigned int uvperf_record_cpu_mode(uint16_t misc) {
  return misc & 7u;
}

/** Returns the name of a record type.
 *  @param type  PERF_RECORD_*.
 *  @return The name, for example "MMAP2" for PERF_RECORD_MMAP2; NULL for an
 *    unknown type. The string is static. */
UVPERF_EXTERN const char *uvperf_record_type_name(uint32_t type);

/** Returns the name of a CPU mode.
 *  @param misc  record->misc.
 *  @return "kernel", "user", "hypervisor", "guest kernel", "guest user" or
 *    "unknown". The string is static. */
UVPERF_EXTERN const char *uvperf_record_cpu_mode_name(uint16_t misc);

/** Copies a record with everything it points to, so that the record outlives
 *  its callback, for another thread too:
 *
 *    size_t size = 0;
 *    uvperf_record_copy(record, NULL, &size); // UV_ENOBUFS: the size it needs
 *    copy = malloc(size);
 *    if (copy != NULL)
 *      uvperf_record_copy(record, copy, &size);
 *
 *  All pointers of the copy point into its own memory: `bytes`, the arrays and
 *  texts of the body, and `source` with its attr and ids. Only source->data,
 *  source->item and the string of a probe in attr.config1 are still the
 *  original's. The bytes of a copy do not change any more, and its texts end in
 *  NUL.
 *  @param record  From a callback or uvperf_decode, or a copy.
 *  @param copy    Caller's, 8-byte aligned as by malloc(3); receives the
 *    record, and after it what it points to. May be NULL if *size is 0.
 *  @param size    Bytes of `copy`; receives the number of bytes needed: the
 *    record's `size`, the attr, 8 for each id, and some 600.
 *  @return 0, or, with `copy` unchanged,
 *    -ENOBUFS  `copy` is too small: *size is the size it needs;
 *    -EINVAL   a pointer is NULL, or copy is not 8-byte aligned. */
UVPERF_EXTERN int uvperf_record_copy(const uvperf_record_t *record,
                                     uvperf_record_t *copy, size_t *size);

/** Writes a record as one line of text, for logs and tools: its type; its pid,
 *  tid, CPU, time and ids; then the fields of its body, with the names of
 *  <linux/perf_event.h> and perf-script(1):
 *
 *    PERF_RECORD_COMM 12/12 time 5.000000123: pid 12 tid 12 exec comm bash
 *    PERF_RECORD_SAMPLE 12/13 cpu 1: user ip 0x4005d0 period 4000
 *
 *  Times are in seconds, bytes in hexadecimal. A control character in a name
 *  becomes '?'. The function allocates no memory.
 *  @param record  From a callback or uvperf_decode; not NULL.
 *  @param status  The status that came with the record. With UV_EPROTO the line
 *    has the record's bytes instead of the body.
 *  @param text    Caller's; receives the terminated line, cut to size. May be
 *    NULL if size is 0.
 *  @param size    Bytes of text. 256 are enough for most records without a call
 *    chain, registers or bytes.
 *  @return the length of the whole line, as snprintf(3) does: size or more if
 *    the line was cut. */
UVPERF_EXTERN size_t uvperf_record_format(const uvperf_record_t *record,
                                          int status, char *text, size_t size);

/** Returns whether a record is an MMAP or MMAP2 of data (attr.mmap_data): misc
 *  bit 13. The meaning of the misc bits 13 to 15 depends on the record's type.
 *  @return 1 or 0. */
static inline int uvperf_record_is_mmap_data(const uvperf_record_t *record) {
  return (record->type == PERF_RECORD_MMAP ||
          record->type == PERF_RECORD_MMAP2) &&
         record->misc >> 13 & 1;
}

/** Returns whether a record is an MMAP2 with a build id: misc bit 14.
 *  @return 1 or 0. */
static inline int uvperf_record_has_build_id(const uvperf_record_t *record) {
  return record->type == PERF_RECORD_MMAP2 && record->misc >> 14 & 1;
}

/** Returns how many records a LOST or LOST_SAMPLES record reports as lost: what
 *  the kernel could not write into the ring, because it was full or paused.
 *  @return records; 0 for a record of another type. */
static inline uint64_t uvperf_record_lost(const uvperf_record_t *record) {
  if (record->type == PERF_RECORD_LOST)
    return record->lost.lost;
  return record->type == PERF_RECORD_LOST_SAMPLES ? record->lost_samples.lost
                                                  : 0;
}

/** Returns whether a record is a COMM of an exec (attr.comm_exec): misc bit 13.
 *  @return 1 or 0. */
static inline int uvperf_record_is_exec(const uvperf_record_t *record) {
  return record->type == PERF_RECORD_COMM && record->misc >> 13 & 1;
}

/** Returns whether a record is a FORK that perf(1) made itself, for a task that
 *  ran already: misc bit 13.
 *  @return 1 or 0. */
static inline int uvperf_record_is_fork_exec(const uvperf_record_t *record) {
  return record->type == PERF_RECORD_FORK && record->misc >> 13 & 1;
}

/** Returns whether a record is a SWITCH or SWITCH_CPU_WIDE that reports a
 *  switch out of the task: misc bit 13.
 *  @return 1 or 0. */
static inline int uvperf_record_is_switch_out(const uvperf_record_t *record) {
  return (record->type == PERF_RECORD_SWITCH ||
          record->type == PERF_RECORD_SWITCH_CPU_WIDE) &&
         record->misc >> 13 & 1;
}

/** Returns whether a record reports a switch out of a task that was still
 *  runnable: misc bit 14.
 *  @return 1 or 0. */
static inline int uvperf_record_is_preempted(const uvperf_record_t *record) {
  return (record->type == PERF_RECORD_SWITCH ||
          record->type == PERF_RECORD_SWITCH_CPU_WIDE) &&
         record->misc >> 14 & 1;
}

/** Returns whether a record is a sample whose ip is exactly the instruction
 *  that caused it: misc bit 14.
 *  @return 1 or 0. */
static inline int uvperf_record_is_exact_ip(const uvperf_record_t *record) {
  return record->type == PERF_RECORD_SAMPLE && record->misc >> 14 & 1;
}

/** Returns bits of the word after `from` and `to`. Older headers lack the newer
 *  fields, and the kernel's struct is the same for both byte orders.
 *  @param entry  From a sample.
 *  @param first  The first bit, numbered as on a little-endian machine.
 *  @param nr     Bits, below 32. */
static inline unsigned int
uvperf_sample_branch_bits(const struct perf_branch_entry *entry,
                          unsigned int first, unsigned int nr) {
  uint64_t word;

  memcpy(&word, (const unsigned char *)entry + 16, sizeof(word));
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  first = 64 - first - nr;
#endif
  return (unsigned int)(word >> first) & ((1u << nr) - 1);
}

/** Returns the type of a branch.
 *  @param entry  From a sample.
 *  @return PERF_BR_*. A type that does not fit into 4 bits (PERF_BR_EXTEND_ABI
 *    of newer kernels) is 16 + new_type. */
static inline unsigned int
uvperf_sample_branch_type(const struct perf_branch_entry *entry) {
  unsigned int type = uvperf_sample_branch_bits(entry, 20, 4);

  return type == 15 ? 16 + uvperf_sample_branch_bits(entry, 26, 4) : type;
}

/** Returns the name of a branch's type.
 *  @param type  From uvperf_sample_branch_type.
 *  @return "COND", "CALL", … ; "unknown" for PERF_BR_UNKNOWN and for an unknown
 *    type. The string is static. */
UVPERF_EXTERN const char *uvperf_sample_branch_type_name(unsigned int type);

/** Returns whether a branch was speculative.
 *  @return PERF_BR_SPEC_* (Linux 6.1). */
static inline unsigned int
uvperf_sample_branch_spec(const struct perf_branch_entry *entry) {
  return uvperf_sample_branch_bits(entry, 24, 2);
}

/** Returns the privilege level of a branch.
 *  @return PERF_BR_PRIV_* (Linux 6.1). */
static inline unsigned int
uvperf_sample_branch_priv(const struct perf_branch_entry *entry) {
  return uvperf_sample_branch_bits(entry, 30, 3);
}

/* Returns the code with which a program aborted its transaction (xabort on
 * x86): the bits PERF_TXN_ABORT_MASK of sample.transaction. */
static inline uint32_t uvperf_sample_abort_code(uint64_t transaction) {
  return (uint32_t)(transaction >> PERF_TXN_ABORT_SHIFT);
}

/* The parts of a union perf_mem_data_src. */
enum uvperf_sample_mem_part {
  UVPERF_SAMPLE_MEM_OP = 0,    /* load, store, prefetch, exec */
  UVPERF_SAMPLE_MEM_LEVEL = 1, /* level of memory, hit or miss, remote */
  UVPERF_SAMPLE_MEM_SNOOP = 2,
  UVPERF_SAMPLE_MEM_LOCK = 3,
  UVPERF_SAMPLE_MEM_TLB = 4,
  UVPERF_SAMPLE_MEM_BLOCK = 5
};

/** Describes one part of a memory data source in words.
 *  @param data_src  sample.data_src.
 *  @param part      enum uvperf_sample_mem_part.
 *  @param text      Caller's; receives a terminated text such as "L3 hit" or
 *    "remote RAM (1 hop) hit", with " or " between several possibilities; "yes"
 *    or "no" for UVPERF_SAMPLE_MEM_LOCK; "N/A" if the PMU did not report this
 *    part.
 *  @param size      Bytes of text.
 *  @return 0, or
 *    -ENOBUFS  text is too small; it has the terminated beginning;
 *    -EINVAL   no such part, or size is 0.
 *  Source: <linux/perf_event.h>, union perf_mem_data_src. */
UVPERF_EXTERN int uvperf_sample_mem_describe(uint64_t data_src,
                                             enum uvperf_sample_mem_part part,
                                             char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
