/* SPDX-License-Identifier: MIT */
/* Counts on all CPUs, and prints a line of JSON each second, until SIGINT.
 * Needs root, CAP_PERFMON or perf_event_paranoid 0.
 *
 *   counts_to_json [EVENTS [MILLISECONDS]]
 *
 * {"time":85429.803694,"seconds":1.000213,"counts":
 *  [{"event":"context-switches","unit":"","value":1204}, ...]}
 *
 * "time" is of CLOCK_MONOTONIC, as uv_hrtime returns it. "seconds" is the time
 * that the values cover; it is more than one interval if the loop was late. A
 * value is in the event's unit. The value is null if the count of any CPU is
 * not known. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <uvperf.h>

/* Returns the size of the UTF-8 character at text, or 0 for ASCII and for bytes
 * that are not UTF-8. */
static size_t utf8_size(const unsigned char *text) {
  static const unsigned long least[] = {0, 0, 0x80, 0x800, 0x10000};
  size_t size = *text >= 0xf8 ? 0 : *text >= 0xf0 ? 4 : *text >= 0xe0 ? 3 : 2;
  unsigned long code = *text & (0x7fu >> size);
  size_t i;

  if (*text < 0xc0 || size == 0)
    return 0;
  for (i = 1; i < size; i++) {
    if ((text[i] & 0xc0) != 0x80)
      return 0;
    code = code << 6 | (text[i] & 0x3f);
  }
  return code < least[size] || code > 0x10ffff || code >> 11 == 0x1b ? 0 : size;
}

/* Writes a name in quotes. The name may have any bytes, as the names of files
 * and symbols do. */
static void put_string(FILE *out, const char *name) {
  const unsigned char *at = (const unsigned char *)name;
  size_t size;

  fputc('"', out);
  for (; *at != '\0'; at += size) {
    size = utf8_size(at);
    if (size > 0) {
      fwrite(at, 1, size, out);
      continue;
    }
    size = 1;
    if (*at < ' ' || *at == '"' || *at == '\\')
      fprintf(out, "\\u%04x", (unsigned int)*at);
    else if (*at < 0x80)
      fputc(*at, out);
    else
      fputs("\\ufffd", out); /* the replacement character */
  }
  fputc('"', out);
}

/* Writes the counts of one target, or of all targets if `target` is NULL. */
static void put_counts(FILE *out, const uvperf_set_t *set,
                       const uvperf_reading_t *delta, const uint32_t *target) {
  const uvperf_event_item_t *item;
  uvperf_count_t count;
  size_t i;

  fputc('[', out);
  for (i = 0; i < uvperf_reading_info(delta)->nr_attrs; i++) {
    item = uvperf_set_item(set, i);
    if (item->first != i ||
        (target == NULL
             ? uvperf_reading_total(delta, i, &count)
             : uvperf_reading_get(delta, i, *target, UVPERF_ALL, &count)) != 0)
      continue; /* the first has the sum of an event's parts */
    fputs(i > 0 ? ",{\"event\":" : "{\"event\":", out);
    put_string(out, item->label);
    fputs(",\"unit\":", out);
    put_string(out, item->unit);
    if (count.nr_counts > 0 && count.nr_missing == 0)
      fprintf(out, ",\"value\":%.15g}", (double)count.scaled * item->scale);
    else
      fputs(",\"value\":null}", out);
  }
  fputc(']', out);
}

/* Says why values will be null: prints each event's failure at the first place
 * that failed. */
static void print_failures(const uvperf_set_t *set) {
  const uvperf_set_failure_t *failures;
  size_t nr, i;

  failures = uvperf_set_failures(set, &nr);
  for (i = 0; i < nr && failures[i].cpu == failures[0].cpu &&
              failures[i].error.target_index == failures[0].error.target_index;
       i++)
    fprintf(stderr, "%s\n", failures[i].error.reason);
}

/* -- this program ---------------------------------------------------------- */

#ifndef COUNTS_TO_JSON_PART /* agent.c takes the part above only */

static void on_json_counts(uvperf_set_t *set, int status,
                           const uvperf_reading_t *reading,
                           const uvperf_reading_t *delta) {
  (void)reading; /* the same since the beginning */
  if (status != 0)
    return; /* out of memory: the next delta has it too */
  printf("{\"time\":%.6f,\"seconds\":%.6f,\"counts\":",
         (double)uvperf_reading_info(delta)->time / 1e9,
         (double)uvperf_reading_info(delta)->interval / 1e9);
  put_counts(stdout, set, delta, NULL);
  puts("}");
}

static void close_json(uv_signal_t *interrupt, int number) {
  (void)number;
  uvperf_close(interrupt->data, NULL);
  uv_close((uv_handle_t *)interrupt, NULL);
}

int main(int argc, char **argv) {
  const char *names = "cpu-clock,context-switches,page-faults,cycles";
  uint64_t interval = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000;
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t cpus = UVPERF_TARGET_INIT;
  uv_loop_t *loop = uv_default_loop();
  uvperf_error_t error;
  uv_signal_t interrupt;
  uvperf_set_t set;

  setvbuf(stdout, NULL, _IOLBF, 0); /* each line, into a pipe too */
  cpus.type = UVPERF_TARGET_CPUS;
  options.names = argc > 1 ? argv[1] : names;
  options.targets = &cpus;
  options.nr_targets = 1;
  options.flags = UVPERF_SET_ENABLED;
  if (uvperf_set_init(loop, &set, &options, &error) != 0 ||
      uvperf_set_read_start(&set, interval, on_json_counts, &error) != 0) {
    fprintf(stderr, "%s\n", error.reason);
    return 1;
  }
  print_failures(&set);
  uv_signal_init(loop, &interrupt);
  interrupt.data = &set;
  uv_signal_start(&interrupt, close_json, SIGINT);
  uv_run(loop, UV_RUN_DEFAULT);
  if (fflush(stdout) != 0 || ferror(stdout)) {
    fprintf(stderr, "stdout could not be written\n");
    return 1;
  }
  return uv_loop_close(loop) != 0;
}

#endif
