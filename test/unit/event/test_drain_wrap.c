/* SPDX-License-Identifier: MIT */
/* Scripted: records of every type that wrap around the end of the ring at every
 * possible place, through the whole pipeline. */
#include "live.h"

#include "fake_kernel.h"
#include "make_record.h"
#include "check_record.h"

typedef struct wrap_s {
  uvperf_event_t event;
  fake_event_t *fake;
  record_values_t values;
  record_builder_t builder;
  struct perf_event_attr attr;
  uint32_t type; /* the expected one */
  uint64_t checked;
  uint64_t fillers;
  size_t wrapped;
} wrap_t;

#define FILLER 1000 /* a type that no kernel has */

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  wrap_t *wrap = handle->data;
  const uint8_t *bytes = record->bytes;

  assert_int_equal(status, 0);
  if (record->type == FILLER) {
    wrap->fillers += 1;
    return;
  }
  check_record_fields(record, wrap->type, &wrap->attr, &wrap->values,
                      record->bytes);
  assert_memory_equal(record->bytes, wrap->builder.words, wrap->builder.size);
  if (bytes < wrap->fake->ring ||
      bytes >= wrap->fake->ring + wrap->fake->ring_size)
    wrap->wrapped += 1;
  wrap->checked += 1;
}

/* Delivers fillers until the head lies at the offset. */
static void fill_to(wrap_t *wrap, size_t offset) {
  static uint64_t words[8192];
  struct perf_event_header header = {FILLER, 0, 0};
  size_t size;

  for (;;) {
    size = (offset - (size_t)wrap->fake->page->data_head) &
           (wrap->fake->ring_size - 1);
    if (size == 0)
      return;
    if (size > 4096)
      size = 4096;
    header.size = (uint16_t)size;
    memcpy(words, &header, sizeof(header));
    fake_ring_append(wrap->fake, words, size);
    assert_int_equal(uvperf_flush(&wrap->event.handle), 0);
  }
}

static void wrap_everywhere(wrap_t *wrap, uint32_t type) {
  size_t offset;
  size_t nr = 0;

  wrap->type = type;
  wrap->checked = 0;
  wrap->wrapped = 0;
  record_build(&wrap->builder, type, &wrap->attr, &wrap->values);
  assert_true(wrap->builder.size < wrap->fake->ring_size);
  for (offset = 8; offset <= wrap->builder.size; offset += 8) {
    fill_to(wrap, wrap->fake->ring_size - offset);
    fake_ring_append(wrap->fake, wrap->builder.words, wrap->builder.size);
    assert_int_equal(uvperf_flush(&wrap->event.handle), 0);
    nr += 1;
  }
  assert_int_equal(wrap->checked, nr);
  /* All but the last, which ends at the edge. */
  assert_int_equal(wrap->wrapped, nr - 1);
}

static void open_wrap(uv_loop_t *loop, wrap_t *wrap) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;

  memset(wrap, 0, sizeof(*wrap));
  record_values_init(&wrap->values);
  uvperf_attr_software(&wrap->attr, PERF_COUNT_SW_DUMMY);
  wrap->attr.disabled = 1;
  wrap->attr.sample_period = 1;
  wrap->attr.sample_id_all = 1;
  wrap->attr.sample_type =
      BUILD_SAMPLE_ALL & ~(uint64_t)BUILD_SAMPLE_WEIGHT_STRUCT;
  wrap->attr.read_format = BUILD_FORMAT_ALL;
  wrap->attr.branch_sample_type =
      PERF_SAMPLE_BRANCH_ANY | BUILD_BRANCH_HW_INDEX | BUILD_BRANCH_COUNTERS;
  wrap->attr.sample_regs_user = 0xff;
  wrap->attr.sample_stack_user = 64; /* broken in no record of the kernel's
                                      * own */
  wrap->attr.sample_regs_intr = 0xf0f;
  wrap->fake = fake_event_add(7);
  options.ring_bytes = 16 * 1024;
  assert_int_equal(
      uvperf_event_init(loop, &wrap->event, &wrap->attr, &options, NULL), 0);
  wrap->event.handle.data = wrap;
  assert_int_equal(uvperf_start(&wrap->event.handle, NULL, on_record, NULL), 0);
}

static void event_record_of_each_type_wraps_at_every_offset(void **state) {
  wrap_t *wrap = malloc(sizeof(*wrap));
  uint32_t type;

  assert_non_null(wrap);
  open_wrap(*state, wrap);
  for (type = 1; type <= BUILD_TYPES; type++)
    wrap_everywhere(wrap, type);
  uvperf_close(&wrap->event.handle, NULL);
  uv_run(*state, UV_RUN_DEFAULT);
  fake_assert_clean();
  free(wrap);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test_setup_teardown(
          event_record_of_each_type_wraps_at_every_offset,
          fake_kernel_loop_setup, fake_kernel_loop_teardown),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
