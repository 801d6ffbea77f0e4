/* SPDX-License-Identifier: MIT */
/* Formats the data from the map. Does not trust the data: processes may choose
 * any names, and sizes are checked. */
#include "bpf-output/line.h"

#include <inttypes.h>
#include <string.h>

#include <linux/types.h>

#include "bpf-output/exec.h"
#include "common/line.h"
#include "common/name.h"

#define COMM_COLUMNS 16

typedef struct line_s {
  struct exec_head head; /* comm is terminated */
  const char *filename;  /* terminated, "" if it is not known */
  int is_cut;
} line_t;

/* The head is followed by filename_bytes bytes, the last of which is 0, and by
 * the kernel's padding. */
static int parse(line_t *line, const void *data, size_t size) {
  const char *bytes = data;
  struct exec_head *head = &line->head;

  if (data == NULL || size < sizeof(*head))
    return -1;
  memcpy(head, bytes, sizeof(*head));
  head->comm[sizeof(head->comm) - 1] = '\0';
  line->filename = "";
  line->is_cut = head->filename_bytes_all > head->filename_bytes;
  if (head->filename_bytes == 0)
    return 0;
  if (head->filename_bytes > size - sizeof(*head))
    return -1;
  line->filename = bytes + sizeof(*head);
  return line->filename[head->filename_bytes - 1] == '\0' ? 0 : -1;
}

static void put_json_exec(common_buffer_t *buffer, int32_t cpu,
                          const line_t *line) {
  common_line_json(buffer, line->head.time, "exec");
  common_line_json_id(buffer, "cpu", (uint32_t)cpu);
  common_line_json_id(buffer, "pid", line->head.pid);
  common_line_json_id(buffer, "ppid", line->head.ppid);
  common_name_json(buffer, "comm", line->head.comm);
  common_name_json(buffer, "filename", line->filename);
  common_buffer_text(buffer, line->is_cut ? ",\"cut\":1}\n" : "}\n");
}

static void put_text_head(common_buffer_t *buffer, uint64_t time, int32_t cpu) {
  common_line_time(buffer, time);
  common_buffer_print(buffer, " %4d ", cpu);
}

/* Writes a name, padded to the width of its column. */
static void put_text_comm(common_buffer_t *buffer, const char *comm) {
  size_t before = buffer->used, width;

  common_name_text(buffer, comm);
  width = buffer->used - before;
  if (width < COMM_COLUMNS)
    common_buffer_print(buffer, "%*s", (int)(COMM_COLUMNS - width), "");
}

static void put_text_exec(common_buffer_t *buffer, int32_t cpu,
                          const line_t *line) {
  put_text_head(buffer, line->head.time, cpu);
  common_buffer_print(buffer, "%7u %7u ", line->head.pid, line->head.ppid);
  put_text_comm(buffer, line->head.comm);
  common_buffer_text(buffer, " ");
  common_name_text(buffer, line->filename[0] != '\0' ? line->filename : "?");
  /* A backslash in the name itself is printed as two backslashes. */
  common_buffer_text(buffer, line->is_cut ? "\\...\n" : "\n");
}

void bpf_output_line_head(common_buffer_t *buffer, int json) {
  if (!json)
    common_buffer_print(buffer, "%-13s %3s %7s %7s %-*s %s\n", "TIME", "CPU",
                        "PID", "PPID", COMM_COLUMNS, "COMM", "FILENAME");
}

int bpf_output_line_exec(common_buffer_t *buffer, int json, int32_t cpu,
                         const void *data, size_t size) {
  line_t line;

  if (parse(&line, data, size) != 0)
    return -1;
  if (json)
    put_json_exec(buffer, cpu, &line);
  else
    put_text_exec(buffer, cpu, &line);
  return 0;
}

void bpf_output_line_lost(common_buffer_t *buffer, int json, int32_t cpu,
                          uint64_t time, uint64_t lost) {
  if (json) {
    common_line_json(buffer, time, "lost");
    common_line_json_id(buffer, "cpu", (uint32_t)cpu);
    common_line_json_number(buffer, "lost", lost);
    common_buffer_text(buffer, "}\n");
    return;
  }
  put_text_head(buffer, time, cpu);
  common_buffer_print(buffer, "%7s %7s %" PRIu64 " lost\n", "-", "-", lost);
}

void bpf_output_line_end(common_buffer_t *buffer, int json, uint64_t time,
                         uint64_t execs, uint64_t lost) {
  if (!json)
    return;
  common_line_json(buffer, time, "end");
  common_line_json_number(buffer, "execs", execs);
  common_line_json_number(buffer, "lost", lost);
  common_buffer_text(buffer, "}\n");
}
