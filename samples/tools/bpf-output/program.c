/* SPDX-License-Identifier: MIT */
/* Loads and attaches the BPF program, and explains failures. This is the only
 * file that uses libbpf. */
#include "bpf-output/program.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>

#include "bpf-output/exec.h"
#include "common/say.h"
#include "exec.skel.h"

/* PROC_PID_INIT_INO in include/linux/proc_ns.h. */
#define FIRST_PID_NAMESPACE 0xeffffffcU

static int print_warnings(enum libbpf_print_level level, const char *format,
                          va_list args) {
  return level == LIBBPF_WARN ? vfprintf(stderr, format, args) : 0;
}

/* The kernel's BTF is needed to find the parent of a task. */
static int has_btf(void) {
  struct btf *btf = btf__load_vmlinux_btf();

  if (btf == NULL)
    return 0;
  btf__free(btf);
  return 1;
}

static int open_and_load(bpf_output_program_t *program,
                         const bpf_output_options_t *options) {
  struct exec_bpf *skeleton = exec_bpf__open();
  int rc;

  if (skeleton == NULL)
    return -errno;
  skeleton->rodata->wanted_pid = (uint32_t)options->pid;
  if (options->comm != NULL)
    snprintf(skeleton->rodata->wanted_comm,
             sizeof(skeleton->rodata->wanted_comm), "%s", options->comm);
  rc = exec_bpf__load(skeleton);
  if (rc == 0)
    program->skeleton = skeleton;
  else
    exec_bpf__destroy(skeleton);
  return rc;
}

static int refused(void) {
  common_say(
      "cannot load the BPF program: the kernel does not permit it. This\n"
      "  needs root, or CAP_BPF and CAP_PERFMON (CAP_SYS_ADMIN before Linux\n"
      "  5.8). In a container seccomp may forbid bpf(2). No value of\n"
      "  kernel.perf_event_paranoid helps.\n"
      "  uvperf-watch prints the execs of a command of your own without\n"
      "  privileges.\n");
  return 1;
}

static int no_btf(void) {
  common_say("cannot load the BPF program: this kernel has no BTF\n"
             "  (/sys/kernel/btf/vmlinux), which is needed to find the parent "
             "of a\n"
             "  process. Use a kernel with CONFIG_DEBUG_INFO_BTF.\n");
  return 1;
}

int bpf_output_program_load(bpf_output_program_t *program,
                            const bpf_output_options_t *options) {
  int rc;

  libbpf_set_print(NULL);
  rc = open_and_load(program, options);
  if (rc == 0)
    return 0;
  if (rc == -EPERM)
    return refused();
  if (!has_btf())
    return no_btf();
  /* Try again and print the warnings of libbpf, which include the kernel's. */
  libbpf_set_print(print_warnings);
  if (open_and_load(program, options) == 0)
    return 0;
  common_say("cannot load the BPF program: %s\n", strerror(-rc));
  return 1;
}

int bpf_output_program_map(const bpf_output_program_t *program) {
  return bpf_map__fd(program->skeleton->maps.events);
}

int bpf_output_program_attach(bpf_output_program_t *program) {
  int error;

  program->link = bpf_program__attach_tracepoint(
      program->skeleton->progs.on_exec, "sched", "sched_process_exec");
  if (program->link != NULL)
    return 0;
  error = errno;
  common_say("cannot attach the BPF program to the tracepoint\n"
             "  sched:sched_process_exec: %s\n",
             strerror(error));
  if (error == ENOENT)
    fputs("  Is tracefs mounted? As root:\n"
          "  mount -t tracefs tracefs /sys/kernel/tracing\n",
          stderr);
  if (error != EACCES)
    return 1;
  fputs(
      "  Its id is in tracefs, which this user may not read. Run it as root,\n"
      "  or permit a group of yours to read tracefs, as root:\n"
      "  mount -o remount,gid=GROUP,mode=750 /sys/kernel/tracing\n",
      stderr);
  return 1;
}

void bpf_output_program_detach(bpf_output_program_t *program) {
  bpf_link__destroy(program->link);
  program->link = NULL;
}

/* The kernel does not run the program while another BPF program runs on that
 * CPU (trace_call_bpf() in kernel/trace/bpf_trace.c), and counts such
 * misses. */
static uint64_t missed(const bpf_output_program_t *program) {
  struct bpf_prog_info info;
  uint32_t size = sizeof(info);

  memset(&info, 0, sizeof(info));
  if (bpf_obj_get_info_by_fd(bpf_program__fd(program->skeleton->progs.on_exec),
                             &info, &size) != 0)
    return 0;
  return info.recursion_misses;
}

uint64_t bpf_output_program_lost(const bpf_output_program_t *program) {
  return program->skeleton->bss->lost + missed(program);
}

void bpf_output_program_unload(bpf_output_program_t *program) {
  bpf_output_program_detach(program);
  if (program->skeleton != NULL)
    exec_bpf__destroy(program->skeleton);
  program->skeleton = NULL;
}

int bpf_output_program_has_other_pids(void) {
  struct stat status;

  return stat("/proc/self/ns/pid", &status) == 0 &&
         status.st_ino != FIRST_PID_NAMESPACE;
}
