/* SPDX-License-Identifier: MIT */
/* Reads numbers from the bytes of a record, and counts the bits of a word. The
 * functions use memcpy, because the bytes of a record have none of our C types,
 * and RAW payloads are not aligned. The compiler turns each memcpy into one
 * load. The functions check no bounds.
 *
 * The bytes lie in a ring or in a caller's buffer, and the kernel or another
 * thread may write to them at any time. A number that was checked must be the
 * number that is used, so it is read once. The empty asm keeps the compiler
 * from reading the bytes again: after it the value can be anything. (A volatile
 * load would do the same, but it makes the decoding of some samples slower by a
 * third.) */
#ifndef UVPERF_LIB_UTIL_BYTES_H
#define UVPERF_LIB_UTIL_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint8_t uvperf__u8(const uint8_t *at) {
  uint32_t value = *at;

  __asm__("" : "+r"(value));
  return (uint8_t)value;
}

static inline uint16_t uvperf__u16(const uint8_t *at) {
  uint16_t value;

  memcpy(&value, at, sizeof(value));
  __asm__("" : "+r"(value));
  return value;
}

static inline uint32_t uvperf__u32(const uint8_t *at) {
  uint32_t value;

  memcpy(&value, at, sizeof(value));
  __asm__("" : "+r"(value));
  return value;
}

static inline uint64_t uvperf__u64(const uint8_t *at) {
  uint64_t value;
#if UINTPTR_MAX < UINT64_MAX
  /* A register has half of it. */
  const uint32_t halves[] = {uvperf__u32(at), uvperf__u32(at + 4)};

  memcpy(&value, halves, sizeof(value));
#else

  memcpy(&value, at, sizeof(value));
  __asm__("" : "+r"(value));
#endif
  return value;
}

/* Copies bytes. Whoever looks at the copy gets what was copied: the compiler
 * does not read the bytes again. */
static inline void uvperf__copy(void *to, const uint8_t *from, size_t size) {
  memcpy(to, from, size);
  __asm__("" : : : "memory");
}

/* Whether all bytes are 0. */
static inline int uvperf__is_zero(const void *bytes, size_t size) {
  const uint8_t *at = bytes;

  while (size > 0 && *at == 0) {
    at++;
    size--;
  }
  return size == 0;
}

/* Return the type and the size in bytes of a struct perf_event_header. The
 * header was read as one word, because that takes one load. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
static inline uint32_t uvperf__header_type(uint64_t header) {
  return (uint32_t)header;
}

static inline size_t uvperf__header_size(uint64_t header) {
  return (size_t)(header >> 48);
}

/* Returns the same header with another size. */
static inline uint64_t uvperf__header_of_size(uint64_t header, size_t size) {
  return (header & 0xffffffffffff) | (uint64_t)size << 48;
}
#else
static inline uint32_t uvperf__header_type(uint64_t header) {
  return (uint32_t)(header >> 32);
}

static inline size_t uvperf__header_size(uint64_t header) {
  return (size_t)(header & 0xffff);
}

static inline uint64_t uvperf__header_of_size(uint64_t header, size_t size) {
  return (header & ~(uint64_t)0xffff) | (uint64_t)size;
}
#endif

/* The first word of a record of a BPF ring buffer has the length of its data,
 * and two bits: BPF_RINGBUF_BUSY_BIT and BPF_RINGBUF_DISCARD_BIT of
 * <linux/bpf.h>, which old headers lack. The header has 8 bytes. */
#define UVPERF__BPF_BUSY    (UINT32_C(1) << 31)
#define UVPERF__BPF_DISCARD (UINT32_C(1) << 30)

/* Returns the bytes of a record with this first word, its header included. */
static inline size_t uvperf__bpf_record_size(uint32_t length) {
  return ((size_t)(length & (UVPERF__BPF_DISCARD - 1)) + 15) & ~(size_t)7;
}

static inline void uvperf__reverse_words(uint64_t *words, size_t nr) {
  uint64_t word;
  size_t i;

  for (i = 0; i < nr / 2; i++) {
    word = words[i];
    words[i] = words[nr - 1 - i];
    words[nr - 1 - i] = word;
  }
}

/* Returns the number of bits that are set. */
static inline unsigned int uvperf__bits(uint64_t word) {
  unsigned int nr = 0;

  for (; word != 0; word &= word - 1)
    nr++;
  return nr;
}

#endif
