/* SPDX-License-Identifier: MIT */
/* Asks the kernel, bit by bit, which parts of struct perf_event_attr it knows.
 *
 * perf_event_open() in kernel/events/core.c checks the attr first, in
 * perf_copy_attr(). Every caller gets EINVAL for unknown bits, and E2BIG for
 * unknown fields. The kernel looks for the event only later. Therefore we ask
 * with an event that no kernel has: ENOENT then means that the attr was
 * accepted. Nothing is opened. Opening could need privileges, a PMU or another
 * bit, and for the first event of a task it would wait for an RCU grace
 * period. */
#include "attr/kernel_knows.h"

#include <errno.h>
#include <string.h>

#include "uvperf/attr.h"

#include "attr/attr.h"
#include "sys/sys.h"

/* A software event that does not exist. Kernels before 3.10 took the number as
 * a signed int, so a higher one would be dangerous. */
#define NO_EVENT INT32_MAX

/* The size in Linux 6.19. Our header may have a shorter struct. */
#define ATTR_BYTES 144

typedef union question_s {
  struct perf_event_attr attr;
  uint8_t bytes[ATTR_BYTES];
} question_t;

uvperf__known_t uvperf__known[UVPERF__WORDS];

static void question_prepare(question_t *question) {
  memset(question, 0, sizeof(*question));
  uvperf_attr_init_sized(&question->attr, ATTR_BYTES, PERF_TYPE_SOFTWARE,
                         NO_EVENT);
  question->attr.disabled = 1;
  question->attr.exclude_kernel = 1; /* needs no privileges */
  question->attr.exclude_hv = 1;
}

/* Sets a flag, and the other flag that perf_copy_attr() requires with it. */
static void put_flag(struct perf_event_attr *attr, unsigned int flag) {
  if (flag == UVPERF_ATTR_INHERIT_THREAD)
    attr->inherit = 1;
  if (flag == UVPERF_ATTR_SIGTRAP)
    uvperf_attr_set(attr, UVPERF_ATTR_REMOVE_ON_EXEC, 1);
  uvperf_attr_set(attr, (enum uvperf_attr_field)flag, 1);
}

/* Sets a bit of sample_type, and the fields that the kernel checks with it.
 * Register 0 exists on every architecture. */
static void put_sample(struct perf_event_attr *attr, uint64_t bit) {
  attr->sample_type = bit;
  attr->sample_regs_user = 1;
  attr->sample_regs_intr = 1;
  attr->branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
}

const enum uvperf_attr_field uvperf__word_fields[UVPERF__WORD_FIELDS] = {
    [UVPERF__WORD_SAMPLE_TYPE] = UVPERF_ATTR_SAMPLE_TYPE,
    [UVPERF__WORD_READ_FORMAT] = UVPERF_ATTR_READ_FORMAT,
    [UVPERF__WORD_BRANCH_SAMPLE_TYPE] = UVPERF_ATTR_BRANCH_SAMPLE_TYPE,
    [UVPERF__WORD_AUX_ACTION] = UVPERF_ATTR_AUX_ACTION,
};

static void question_put(question_t *question, enum uvperf__word word,
                         unsigned int position) {
  struct perf_event_attr *attr = &question->attr;
  uint64_t bit = UINT64_C(1) << position;

  switch (word) {
    case UVPERF__WORD_FLAGS:
      put_flag(attr, position);
      return;
    case UVPERF__WORD_SAMPLE_TYPE:
      put_sample(attr, bit);
      return;
    case UVPERF__WORD_BRANCH_SAMPLE_TYPE:
      put_sample(attr, PERF_SAMPLE_BRANCH_STACK);
      attr->branch_sample_type |= bit;
      return;
    case UVPERF__WORD_FIELDS:
      uvperf_attr_set(attr,
                      (enum uvperf_attr_field)(UVPERF_ATTR_TYPE + position), 1);
      return;
    default:
      uvperf_attr_set(attr, uvperf__word_fields[word], bit);
  }
}

/* Returns 0 if the kernel accepted everything except the event. Otherwise
 * returns the error of perf_event_open(2). */
static int question_ask(question_t *question) {
  int rc = uvperf__sys_open(&question->attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

  if (rc >= 0)
    return uvperf__sys_close(rc);
  return rc == -ENOENT ? 0 : rc;
}

/* Some errors also mean that the kernel knows the bit. The kernel returns
 * EACCES for namespaces and PERF_SAMPLE_PHYS_ADDR if privileges are missing.
 * EOPNOTSUPP means that the architecture has no branch stacks. ENOSYS means
 * that it has no user stacks. */
static int find_out(enum uvperf__word word, unsigned int position) {
  uint64_t bit = UINT64_C(1) << position;
  question_t question;
  int rc;

  question_prepare(&question);
  question_put(&question, word, position);
  rc = question_ask(&question);
  switch (rc) {
    case 0:
    case -EACCES:
    case -EOPNOTSUPP:
    case -ENOSYS:
      atomic_fetch_or(&uvperf__known[word].yes, bit);
      return 0;
    case -EINVAL:
    case -E2BIG:
      atomic_fetch_or(&uvperf__known[word].no, bit);
      return 0;
    default:
      return rc;
  }
}

int uvperf__kernel_unknown(enum uvperf__word word, uint64_t bits,
                           uint64_t *unknown) {
  uvperf__known_t *known = &uvperf__known[word];
  uint64_t open = bits & ~(atomic_load(&known->yes) | atomic_load(&known->no));
  unsigned int position;
  question_t plain;
  int rc = 0;

  /* Checks first whether the kernel answers at all: security modules, seccomp
   * filters and some distributions' perf_event_paranoid refuse before they
   * check the attr. */
  question_prepare(&plain);
  if (open != 0)
    rc = question_ask(&plain);
  for (position = 64; rc == 0 && position > 0; position--)
    if (open >> (position - 1) & 1)
      rc = find_out(word, position - 1);
  *unknown = bits & atomic_load(&known->no);
  return rc;
}

static enum uvperf__word word_of(enum uvperf_attr_field field) {
  unsigned int word;

  for (word = UVPERF__WORD_FLAGS + 1; word < UVPERF__WORD_FIELDS; word++)
    if (uvperf__word_fields[word] == field)
      return (enum uvperf__word)word;
  return field < UVPERF_ATTR_TYPE ? UVPERF__WORD_FLAGS : UVPERF__WORD_FIELDS;
}

int uvperf_kernel_knows(enum uvperf_attr_field field, uint64_t bits) {
  enum uvperf__word word = word_of(field);
  struct perf_event_attr plain;
  uint64_t value;
  int rc;

  uvperf_attr_init(&plain, PERF_TYPE_SOFTWARE, 0);
  if (bits == 0 || uvperf_attr_get(&plain, field, &value) != 0 ||
      (word == UVPERF__WORD_AUX_ACTION && bits > UINT32_MAX))
    return -EINVAL;
  if (word == UVPERF__WORD_FLAGS)
    bits = UINT64_C(1) << field;
  else if (word == UVPERF__WORD_FIELDS && field <= UVPERF_ATTR_CONFIG1)
    return 1; /* in the first 64 bytes, which every version has */
  else if (word == UVPERF__WORD_FIELDS)
    bits = UINT64_C(1) << (field - UVPERF_ATTR_TYPE);
  rc = uvperf__kernel_unknown(word, bits, &value);
  if (value != 0)
    return 0;
  return rc == 0 ? 1 : rc;
}
