/* SPDX-License-Identifier: MIT */
/* The parts of watch that need neither kernel nor records: lines and
 * processes. */
#include "support.h"

#include "json_check.h"
#include "watch/line.h"
#include "watch/tasks.h"

static void expect_line(const watch_event_t *event, int json,
                        const char *expected) {
  common_buffer_t buffer = {NULL, 0, 0};

  watch_line(&buffer, event, json);
  common_buffer_add(&buffer, "", 1);
  assert_string_equal(buffer.text, expected);
  if (json)
    assert_true(json_is_tree(buffer.text));
  common_buffer_free(&buffer);
}

static void event_of_each_kind_is_one_line_of_text(void **state) {
  watch_event_t event = {.time = UINT64_C(12345678901), .pid = 5, .tid = 5};
  char path[] = "/bin/sh";

  strcpy(event.comm, "sh");
  event.ppid = 4;
  expect_line(&event, 0, "12.345678 fork   4 -> 5 sh\n");
  event.kind = WATCH_EXEC;
  expect_line(&event, 0, "12.345678 exec   5 sh\n");
  event.path = path;
  expect_line(&event, 0, "12.345678 exec   5 sh /bin/sh\n");
  event.kind = WATCH_MMAP;
  event.addr = 0x1000;
  event.len = 0x2000;
  expect_line(&event, 0, "12.345678 mmap   5 /bin/sh 0x1000+0x2000\n");
  event.path = NULL;
  event.kind = WATCH_EXIT;
  expect_line(&event, 0, "12.345678 exit   5 sh\n");
  event.kind = WATCH_THREAD;
  event.tid = 6;
  expect_line(&event, 0, "12.345678 thread 4 -> 5/6 sh\n");
  event.kind = WATCH_LOST;
  event.lost = 1;
  event.cpu = 3;
  expect_line(&event, 0, "12.345678 lost   1 record on CPU 3\n");
}

static void event_of_each_kind_is_one_object_of_json(void **state) {
  watch_event_t event = {.time = UINT64_C(12000000001), .pid = 5, .tid = 5};
  char path[] = "/bin/sh";

  strcpy(event.comm, "sh");
  event.ppid = 4;
  expect_line(&event, 1,
              "{\"time\":12.000000001,\"type\":\"fork\",\"pid\":5,\"ppid\":4,"
              "\"comm\":\"sh\"}\n");
  event.path = path;
  event.kind = WATCH_EXEC;
  event.ppid = 0;
  expect_line(&event, 1,
              "{\"time\":12.000000001,\"type\":\"exec\",\"pid\":5,"
              "\"comm\":\"sh\",\"exe\":\"/bin/sh\"}\n");
  event.kind = WATCH_MMAP;
  event.addr = 0xffff;
  event.len = 4096;
  expect_line(&event, 1,
              "{\"time\":12.000000001,\"type\":\"mmap\",\"pid\":5,"
              "\"comm\":\"sh\",\"path\":\"/bin/sh\",\"addr\":\"0xffff\","
              "\"len\":4096,\"pgoff\":0}\n");
  event.kind = WATCH_LOST;
  event.lost = 7;
  event.cpu = 1;
  expect_line(&event, 1,
              "{\"time\":12.000000001,\"type\":\"lost\",\"lost\":7,"
              "\"cpu\":1}\n");
}

static void set_args(watch_event_t *event, const char *args, size_t size,
                     size_t max) {
  free(event->args);
  watch_event_args(event, args, size, max);
}

static void exec_has_its_arguments_behind_the_executable(void **state) {
  static const char args[] = "/bin/ls\0-l\0a b\0\0say \"\0\x1b\xff";
  watch_event_t event = {.kind = WATCH_EXEC, .pid = 5, .tid = 5};
  char path[] = "/bin/ls";

  strcpy(event.comm, "ls");
  set_args(&event, args, sizeof(args), 64);
  expect_line(&event, 0,
              "0.000000 exec   5 ls ? -l \"a b\" \"\" \"say \\\"\" "
              "\\x1b\\xff\n");
  event.path = path;
  set_args(&event, "ls\0-l", 6, 6); /* the last NUL is missing */
  expect_line(&event, 0, "0.000000 exec   5 ls /bin/ls -l\n");
  set_args(&event, "ls\0", 3, 3);
  expect_line(&event, 0, "0.000000 exec   5 ls /bin/ls\n");
  set_args(&event, "ls\0-long", 8, 5);
  expect_line(&event, 0, "0.000000 exec   5 ls /bin/ls -l...\n");
  expect_line(&event, 1,
              "{\"time\":0.000000000,\"type\":\"exec\",\"pid\":5,"
              "\"comm\":\"ls\",\"exe\":\"/bin/ls\",\"args\":[\"ls\",\"-l\"],"
              "\"args_cut\":true}\n");
  free(event.args);
}

static void exit_has_its_status_or_signal(void **state) {
  static const struct {
    uint32_t status;
    const char *text, *json;
  } cases[] = {
      {0, "status 0", "\"status\":0"},
      {0xff00, "status 255", "\"status\":255"},
      {9, "killed by SIGKILL", "\"signal\":\"SIGKILL\",\"core\":false"},
      {11 | 0x80, "killed by SIGSEGV, core dumped",
       "\"signal\":\"SIGSEGV\",\"core\":true"},
      {50, "killed by signal 50", "\"signal\":\"signal 50\",\"core\":false"},
  };
  watch_event_t event = {.kind = WATCH_EXIT, .pid = 5, .tid = 6};
  char line[256];
  size_t i;

  strcpy(event.comm, "ls");
  event.has_status = 1;
  for (i = 0; i < COUNT_OF(cases); i++) {
    event.status = cases[i].status;
    snprintf(line, sizeof(line), "0.000000 exit   5 ls %s\n", cases[i].text);
    expect_line(&event, 0, line);
    snprintf(line, sizeof(line),
             "{\"time\":0.000000000,\"type\":\"exit\",\"pid\":5,"
             "\"comm\":\"ls\",%s}\n",
             cases[i].json);
    expect_line(&event, 1, line);
  }
}

/* The test uses every byte, alone and after lead bytes of UTF-8. */
static void name_of_any_bytes_is_one_safe_line(void **state) {
  static const char *const leads[] = {"", "\xc2", "\xe2\x80", "\xf0\x9f\x98"};
  watch_event_t event = {.kind = WATCH_EXEC, .pid = 1, .tid = 1};
  common_buffer_t buffer = {NULL, 0, 0};
  char args[WATCH_COMM_BYTES + 2];
  size_t i, j;
  int byte;

  for (i = 0; i < 4; i++) {
    for (byte = 1; byte < 256; byte++) {
      snprintf(event.comm, sizeof(event.comm), "a%s%cz", leads[i], byte);
      memcpy(args, "x", 2);
      memcpy(args + 2, event.comm, strlen(event.comm) + 1);
      set_args(&event, args, strlen(event.comm) + 3, sizeof(args));
      buffer.used = 0;
      watch_line(&buffer, &event, 0);
      for (j = 0; j + 1 < buffer.used; j++)
        assert_true((unsigned char)buffer.text[j] >= 0x20 &&
                    buffer.text[j] != 0x7f);
      common_buffer_add(&buffer, "", 1);
      assert_null(strstr(buffer.text, "\xc2\x9b"));
      assert_null(strstr(buffer.text, "\xe2\x80\xae"));
      buffer.used = 0;
      watch_line(&buffer, &event, 1);
      common_buffer_add(&buffer, "", 1);
      assert_true(json_is_tree(buffer.text));
    }
  }
  free(event.args);
  common_buffer_free(&buffer);
}

static void json_check_refuses_what_is_none(void **state) {
  static const char *const bad[] = {
      "",
      "{",
      "{}x",
      "[1]",
      "{\"a\":1",
      "{\"a\":01}",
      "{\"a\":1.}",
      "{\"a\":0x1}",
      "{\"a\":\"\n\"}",
      "{\"a\":\"\xff\"}",
      "{\"a\":\"\xc1\x81\"}",
      "{\"a\":\"\\x41\"}",
      "{\"a\":\"\\ud800\"}",
      "{\"a\":\"b\"\"c\":1}",
      "{\"a\":1}\n{\"a\":1}\n",
  };
  size_t i;

  assert_true(json_is_object("{\"a\":-1.5,\"b\":\"\\u00e9\xc3\xa9\\n\"}\n"));
  for (i = 0; i < COUNT_OF(bad); i++) {
    assert_false(json_is_object(bad[i]));
    assert_false(json_is_tree(bad[i]));
  }
}

static void json_check_takes_objects_in_a_tree_alone(void **state) {
  static const char *const bad[] = {
      "{\"a\":{\"b\":1}",   "{\"a\":{\"b\":1}}}", "{\"a\":{\"b\":01}}",
      "{\"a\":{\"b\":1},}", "{\"a\":{b:1}}",      "{\"a\":nul}",
      "{\"a\":{\"b\":1 }}",
  };
  static const char tree[] = "{\"a\":{\"b\":{\"c\":1},\"d\":null}}\n";
  size_t i;

  assert_true(json_is_tree(tree));
  assert_false(json_is_object(tree));
  for (i = 0; i < COUNT_OF(bad); i++)
    assert_false(json_is_tree(bad[i]));
}

static void grandchild_of_a_dead_parent_stays_in_the_tree(void **state) {
  static watch_tasks_t tasks;
  watch_process_t *child;

  watch_tasks_show(&tasks, watch_tasks_add(&tasks, 10));
  child = watch_tasks_fork(&tasks, 11, 10, 10);
  assert_true(child->is_shown);
  assert_true(watch_tasks_fork(&tasks, 12, 11, 11)->is_shown);
  assert_int_equal(tasks.nr_shown, 3);
  watch_tasks_remove(&tasks, child);
  assert_true(watch_tasks_fork(&tasks, 13, 12, 12)->is_shown);
  /* The id of the dead child is reused outside of the tree. */
  assert_false(watch_tasks_fork(&tasks, 11, 1, 1)->is_shown);
  assert_int_equal(tasks.nr_shown, 3);
  watch_tasks_free(&tasks);
  assert_int_equal(tasks.nr_shown, 0);
}

/* The youngest processes are added first, and all are in the same place of the
 * hash table. */
static void descendants_are_found_in_any_order(void **state) {
  static watch_tasks_t tasks;
  uint32_t pid;

  for (pid = 20; pid > 0; pid--)
    watch_tasks_add(&tasks, pid * 4096)->ppid = (pid > 10 ? pid - 1 : 1) * 4096;
  watch_tasks_show(&tasks, watch_tasks_find(&tasks, 11 * 4096));
  watch_tasks_show_children(&tasks);
  assert_int_equal(tasks.nr_shown, 10);
  watch_tasks_free(&tasks);
}

/* Each thread gets the name of the one before it, while the array of threads is
 * reallocated. */
static void threads_keep_the_name_of_who_made_them(void **state) {
  static watch_tasks_t tasks;
  watch_process_t *process;
  uint32_t tid;

  process = watch_tasks_add(&tasks, 1);
  watch_process_thread(process, 1, "first");
  for (tid = 2; tid < 1000; tid++)
    watch_process_thread(process, tid, watch_process_comm(process, tid - 1));
  /* The thread gets its own name, as if it had created itself. */
  watch_process_thread(process, 999, watch_process_comm(process, 999));
  assert_string_equal(watch_process_comm(process, 999), "first");
  watch_tasks_free(&tasks);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(event_of_each_kind_is_one_line_of_text),
      cmocka_unit_test(event_of_each_kind_is_one_object_of_json),
      cmocka_unit_test(exec_has_its_arguments_behind_the_executable),
      cmocka_unit_test(exit_has_its_status_or_signal),
      cmocka_unit_test(name_of_any_bytes_is_one_safe_line),
      cmocka_unit_test(json_check_refuses_what_is_none),
      cmocka_unit_test(json_check_takes_objects_in_a_tree_alone),
      cmocka_unit_test(grandchild_of_a_dead_parent_stays_in_the_tree),
      cmocka_unit_test(descendants_are_found_in_any_order),
      cmocka_unit_test(threads_keep_the_name_of_who_made_them),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
