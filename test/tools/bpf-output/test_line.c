/* SPDX-License-Identifier: MIT */
/* The parts of bpf-output that need no kernel: the lines for samples of the BPF
 * program, both valid and damaged ones. */
#include "bpf-output/line.h"
#include "json_check.h"
#include "support.h"

#include <linux/types.h>

#include "bpf-output/exec.h"

/* Formats a sample as it is in the ring: the head, the name, and meaningless
 * bytes of padding. The block has exactly this size, so that ASan finds reads
 * beyond it. */
static int put(char *text, size_t text_size, int json,
               const struct exec_head *head, const char *filename,
               size_t padding) {
  size_t name = strlen(filename) + 1, size = sizeof(*head) + name + padding;
  common_buffer_t buffer = {NULL, 0, 0};
  char *data = malloc(size);
  int rc;

  assert_non_null(data);
  memset(data, 'x', size);
  memcpy(data, head, sizeof(*head));
  memcpy(data + sizeof(*head), filename, name);
  rc = bpf_output_line_exec(&buffer, json, 1, data, size);
  assert_true(buffer.used < text_size);
  if (buffer.used > 0)
    memcpy(text, buffer.text, buffer.used);
  text[buffer.used] = '\0';
  common_buffer_free(&buffer);
  free(data);
  return rc;
}

static struct exec_head head_of(const char *filename) {
  struct exec_head head = {.time = 12345678901, .pid = 17, .ppid = 16};

  strcpy(head.comm, "ls");
  head.filename_bytes = head.filename_bytes_all = (__u32)strlen(filename) + 1;
  return head;
}

static void exec_is_a_line_of_text_and_of_json(void **state) {
  static const char path[] = "/usr/bin/ls";
  struct exec_head head = head_of(path);
  char text[512];
  size_t padding;

  (void)state;
  for (padding = 0; padding < 8; padding++) {
    assert_int_equal(put(text, sizeof(text), 0, &head, path, padding), 0);
    assert_string_equal(text, "12.345678    1      17      16 ls               "
                              "/usr/bin/ls\n");
    assert_int_equal(put(text, sizeof(text), 1, &head, path, padding), 0);
    assert_string_equal(text, "{\"time\":12.345678901,\"type\":\"exec\","
                              "\"cpu\":1,\"pid\":17,\"ppid\":16,"
                              "\"comm\":\"ls\",\"filename\":\"/usr/bin/ls\"}"
                              "\n");
    assert_true(json_is_object(text));
  }
}

static void filename_that_could_not_be_read_is_reported(void **state) {
  struct exec_head head = head_of("");
  char text[512];

  (void)state;
  head.filename_bytes = head.filename_bytes_all = 0;
  assert_int_equal(put(text, sizeof(text), 0, &head, "", 3), 0);
  assert_string_equal(text, "12.345678    1      17      16 ls               "
                            "?\n");
  assert_int_equal(put(text, sizeof(text), 1, &head, "", 3), 0);
  assert_non_null(strstr(text, "\"filename\":\"\"}"));
}

static void filename_that_was_cut_is_reported(void **state) {
  struct exec_head head = head_of("/a/b\\...");
  char text[512];

  (void)state;
  assert_int_equal(put(text, sizeof(text), 0, &head, "/a/b\\...", 0), 0);
  assert_non_null(strstr(text, " /a/b\\\\...\n"));
  head.filename_bytes_all++;
  assert_int_equal(put(text, sizeof(text), 0, &head, "/a/b\\...", 0), 0);
  assert_non_null(strstr(text, " /a/b\\\\...\\...\n"));
  assert_int_equal(put(text, sizeof(text), 1, &head, "/a/b\\...", 0), 0);
  assert_non_null(strstr(text, ",\"cut\":1}\n"));
  assert_true(json_is_object(text));
}

/* The sizes are wrong, or a name is not terminated. */
static void sample_that_cannot_be_right_is_no_line(void **state) {
  struct exec_head head = head_of("/bin/ls");
  common_buffer_t buffer = {NULL, 0, 0};
  char text[512];

  (void)state;
  head.filename_bytes++;
  assert_int_equal(put(text, sizeof(text), 0, &head, "/bin/ls", 0), -1);
  assert_int_equal(put(text, sizeof(text), 0, &head, "/bin/ls", 4), -1);
  head.filename_bytes = UINT32_MAX;
  assert_int_equal(put(text, sizeof(text), 1, &head, "/bin/ls", 0), -1);
  assert_string_equal(text, "");
  assert_int_equal(bpf_output_line_exec(&buffer, 0, 0, &head, sizeof(head) - 1),
                   -1);
  assert_int_equal(buffer.used, 0);
  memset(head.comm, 'c', sizeof(head.comm));
  head.filename_bytes = 8;
  assert_int_equal(put(text, sizeof(text), 0, &head, "/bin/ls", 0), 0);
  assert_non_null(strstr(text, " ccccccccccccccc  /bin/ls\n"));
}

static void losses_and_the_end_are_lines(void **state) {
  common_buffer_t buffer = {NULL, 0, 0};

  (void)state;
  bpf_output_line_head(&buffer, 1);
  bpf_output_line_end(&buffer, 0, 1, 2, 3);
  assert_int_equal(buffer.used, 0);
  bpf_output_line_head(&buffer, 0);
  bpf_output_line_lost(&buffer, 0, 3, 1500000000, 25);
  bpf_output_line_lost(&buffer, 1, 3, 1500000000, 25);
  bpf_output_line_end(&buffer, 1, 1500000000, 7, 25);
  common_buffer_add(&buffer, "", 1);
  assert_string_equal(
      buffer.text,
      "TIME          CPU     PID    PPID COMM             FILENAME\n"
      "1.500000    3       -       - 25 lost\n"
      "{\"time\":1.500000000,\"type\":\"lost\",\"cpu\":3,\"lost\":25}\n"
      "{\"time\":1.500000000,\"type\":\"end\",\"execs\":7,\"lost\":25}\n");
  common_buffer_free(&buffer);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(exec_is_a_line_of_text_and_of_json),
      cmocka_unit_test(filename_that_could_not_be_read_is_reported),
      cmocka_unit_test(filename_that_was_cut_is_reported),
      cmocka_unit_test(sample_that_cannot_be_right_is_no_line),
      cmocka_unit_test(losses_and_the_end_are_lines),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
