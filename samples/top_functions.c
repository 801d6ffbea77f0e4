/* SPDX-License-Identifier: MIT */
/* Prints every five seconds, or SECONDS, the ten functions in which all that
 * runs on this machine spent most time. Needs root, or CAP_PERFMON with
 * CAP_SYS_PTRACE to read what other users' processes have mapped, and elfutils'
 * libdw: cc top_functions.c $(pkg-config --cflags --libs uvperf libdw)
 *
 *   top_functions [SECONDS]
 *
 * A name is looked up when its sample comes, as the process may end soon. For
 * some milliseconds the loop waits then for each new file: a daemon with other
 * work does it on a thread, as tools/profile does. Functions of a file without
 * symbols are one row, and so are those that are compiled as they run. */
#include <elfutils/libdwfl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uvperf.h>

typedef struct process_s {
  struct process_s *next;
  Dwfl *dwfl;       /* the files that it has mapped */
  uint64_t read_at; /* the time of the record for which they were read */
  uint32_t pid;
} process_t;

typedef struct symbol_s {
  uint64_t address;
  char *name;
} symbol_t;

typedef struct row_s {
  uint64_t nr;
  char *name;
} row_t;

typedef struct top_s {
  process_t *processes;
  symbol_t *symbols; /* of the kernel, sorted */
  row_t *rows;       /* since the last table, as the numbers are */
  size_t nr_symbols, nr_rows;
  uint64_t nr_samples, nr_lost;
  uvperf_set_t set;
  uv_timer_t timer;
  uv_signal_t interrupt;
  int failed;
} top_t;

static void *need(void *memory) {
  if (memory == NULL) {
    fprintf(stderr, "out of memory\n");
    exit(1);
  }
  return memory;
}

/* Room for one more behind nr. */
static void *grow(void *array, size_t nr, size_t size) {
  if ((nr & (nr - 1)) != 0) /* not a power of two: there is room */
    return array;
  return need(realloc(array, (nr * 2 + 1) * size));
}

/* -- names of the kernel --------------------------------------------------- */

static int by_address(const void *a, const void *b) {
  uint64_t one = ((const symbol_t *)a)->address;
  uint64_t other = ((const symbol_t *)b)->address;

  return (one > other) - (one < other);
}

/* All addresses are 0 for a user who may not see them. */
static void read_kallsyms(top_t *top) {
  FILE *file = fopen("/proc/kallsyms", "r");
  unsigned long long address;
  char line[1024], name[512], type;

  while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
    if (sscanf(line, "%llx %c %511s", &address, &type, name) != 3 ||
        address == 0 || strchr("tTwW", type) == NULL)
      continue;
    top->symbols = grow(top->symbols, top->nr_symbols, sizeof(symbol_t));
    top->symbols[top->nr_symbols].address = address;
    top->symbols[top->nr_symbols++].name = need(strdup(name));
  }
  if (file != NULL)
    fclose(file);
  if (top->nr_symbols > 0)
    qsort(top->symbols, top->nr_symbols, sizeof(*top->symbols), by_address);
}

static const char *kernel_name(const top_t *top, uint64_t ip) {
  size_t low = 0, high = top->nr_symbols, middle;

  while (low < high) {
    middle = low + (high - low) / 2;
    if (top->symbols[middle].address <= ip)
      low = middle + 1;
    else
      high = middle;
  }
  return low > 0 ? top->symbols[low - 1].name : NULL;
}

/* -- names of processes ---------------------------------------------------- */

/* Forgets what a process had mapped: it has ended, or is another program. */
static void forget(top_t *top, uint32_t pid) {
  process_t **at = &top->processes, *process;

  while (*at != NULL && (*at)->pid != pid)
    at = &(*at)->next;
  process = *at;
  if (process == NULL)
    return;
  *at = process->next;
  dwfl_end(process->dwfl);
  free(process);
}

/* A separate file of debug information is not looked for. */
static int find_none(Dwfl_Module *module, void **data, const char *name,
                     Dwarf_Addr base, const char *file, const char *link,
                     GElf_Word crc, char **found) {
  (void)module, (void)data, (void)name, (void)base;
  (void)file, (void)link, (void)crc, (void)found;
  return -1;
}

static process_t *find_process(top_t *top, uint32_t pid) {
  static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf,
                                           .find_debuginfo = find_none};
  process_t *process;

  for (process = top->processes; process != NULL; process = process->next)
    if (process->pid == pid)
      return process;
  process = need(calloc(1, sizeof(*process)));
  process->pid = pid;
  process->dwfl = need(dwfl_begin(&callbacks));
  process->next = top->processes;
  top->processes = process;
  return process;
}

/* The file that has the address. /proc/PID/maps is read for the first sample,
 * and once a second at most if an address is in none. */
static Dwfl_Module *find_file(process_t *process,
                              const uvperf_record_t *record) {
  Dwfl_Module *module = dwfl_addrmodule(process->dwfl, record->ip);

  if (module != NULL ||
      (process->read_at != 0 && record->time < process->read_at + 1000000000))
    return module;
  process->read_at = record->time;
  dwfl_report_begin(process->dwfl);
  dwfl_linux_proc_report(process->dwfl, (pid_t)process->pid);
  dwfl_report_end(process->dwfl, NULL, NULL);
  return dwfl_addrmodule(process->dwfl, record->ip);
}

static void name_sample(top_t *top, const uvperf_record_t *record, char *text,
                        size_t size) {
  const char *name = NULL, *file = "unknown", *slash;
  Dwfl_Module *module;

  if ((record->misc & PERF_RECORD_MISC_CPUMODE_MASK) ==
      PERF_RECORD_MISC_KERNEL) {
    name = kernel_name(top, record->ip);
    file = "kernel";
  } else {
    module = find_file(find_process(top, record->pid), record);
    if (module != NULL) {
      name = dwfl_module_addrname(module, record->ip);
      file = dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
      slash = strrchr(file, '/');
      file = slash == NULL ? file : slash + 1;
    }
  }
  snprintf(text, size, "%s%s[%s]", name == NULL ? "" : name,
           name == NULL ? "" : " ", file);
}

/* -- the table ------------------------------------------------------------- */

static void count_sample(top_t *top, const uvperf_record_t *record) {
  char name[1024];
  size_t i;

  name_sample(top, record, name, sizeof(name));
  for (i = 0; i < top->nr_rows && strcmp(top->rows[i].name, name) != 0; i++)
    continue;
  if (i == top->nr_rows) {
    top->rows = grow(top->rows, top->nr_rows, sizeof(row_t));
    top->rows[i].nr = 0;
    top->rows[i].name = need(strdup(name));
    top->nr_rows++;
  }
  top->rows[i].nr++;
  top->nr_samples++;
}

static int by_number(const void *a, const void *b) {
  const row_t *one = a, *other = b;

  return (one->nr < other->nr) - (one->nr > other->nr);
}

/* Prints the rows and forgets them. */
static void print_rows(top_t *top) {
  size_t i;

  printf("%llu samples, %llu lost\n", (unsigned long long)top->nr_samples,
         (unsigned long long)top->nr_lost);
  if (top->nr_rows > 0)
    qsort(top->rows, top->nr_rows, sizeof(row_t), by_number);
  for (i = 0; i < top->nr_rows; i++) {
    if (i < 10)
      printf("%6.1f %%  %s\n",
             100.0 * (double)top->rows[i].nr / (double)top->nr_samples,
             top->rows[i].name);
    free(top->rows[i].name);
  }
  top->nr_rows = 0;
  top->nr_samples = top->nr_lost = 0;
}

static void finish(top_t *top) {
  uvperf_set_close(&top->set, NULL);
  uv_close((uv_handle_t *)&top->timer, NULL);
  uv_close((uv_handle_t *)&top->interrupt, NULL);
}

static void on_tick(uv_timer_t *timer) {
  top_t *top = timer->data;

  print_rows(top);
  if (fflush(stdout) != 0) {
    perror("stdout");
    top->failed = 1;
    finish(top);
  }
}

static void on_interrupt(uv_signal_t *interrupt, int number) {
  top_t *top = interrupt->data;

  (void)number;
  on_tick(&top->timer);
  if (!top->failed)
    finish(top);
}

static void on_record(uvperf_set_t *set, int status,
                      const uvperf_record_t *record) {
  top_t *top = set->data;

  if (status != 0)
    fprintf(stderr, "%s\n", uv_err_name(status));
  else if (record->type == PERF_RECORD_SAMPLE)
    count_sample(top, record);
  else if (record->type == PERF_RECORD_LOST)
    top->nr_lost += record->lost.lost;
  else if (uvperf_record_is_exec(record))
    forget(top, record->comm.pid);
  else if (record->type == PERF_RECORD_EXIT &&
           record->task.pid == record->task.tid)
    forget(top, record->task.pid);
}

static int start(top_t *top, uv_loop_t *loop, uint64_t seconds) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t cpus = UVPERF_TARGET_INIT;
  struct perf_event_attr attr;
  const struct perf_event_attr *attrs[] = {&attr};
  uvperf_error_t error;

  uvperf_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
  uvperf_attr_set_frequency(&attr, 99);
  uvperf_attr_set_wakeup_events(&attr, 1); /* at once */
  attr.exclude_idle = 1;
  attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  cpus.type = UVPERF_TARGET_CPUS;
  options.attrs = attrs;
  options.nr_attrs = 1;
  options.targets = &cpus;
  options.nr_targets = 1;
  options.flags = UVPERF_SET_RECORDS | UVPERF_SET_FOLLOW_CPUS;
  options.fallbacks = UVPERF_FALLBACK_CLOCK; /* in a virtual machine */
  options.side_band = UVPERF_SIDE_BAND_TASKS;
  if (uvperf_set_init(loop, &top->set, &options, &error) != 0 ||
      uvperf_set_start(&top->set, NULL, on_record, &error) != 0) {
    fprintf(stderr, "%s\n", error.reason);
    return 1;
  }
  top->set.data = top->timer.data = top->interrupt.data = top;
  uv_timer_init(loop, &top->timer);
  uv_timer_start(&top->timer, on_tick, seconds * 1000, seconds * 1000);
  uv_signal_init(loop, &top->interrupt);
  return uv_signal_start(&top->interrupt, on_interrupt, SIGINT) != 0;
}

int main(int argc, char **argv) {
  uint64_t seconds = argc == 2 ? strtoul(argv[1], NULL, 10) : 5;
  uv_loop_t *loop = uv_default_loop();
  top_t top = {0};

  if (argc > 2 || seconds < 1 || seconds > 86400) {
    fprintf(stderr, "usage: %s [SECONDS]\n", argv[0]);
    return 2;
  }
  read_kallsyms(&top);
  if (start(&top, loop, seconds) != 0)
    return 1;
  uv_run(loop, UV_RUN_DEFAULT);
  while (top.processes != NULL)
    forget(&top, top.processes->pid);
  while (top.nr_symbols > 0)
    free(top.symbols[--top.nr_symbols].name);
  free(top.symbols);
  free(top.rows);
  return uv_loop_close(loop) != 0 || top.failed;
}
