/* SPDX-License-Identifier: MIT */
/* The features that describe the machine. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include <uvperf.h>

#include "common/small_file.h"
#include "record/features.h"

int record_put_system(unsigned feature, common_buffer_t *bytes) {
  struct utsname name;
  const char *text = feature == RECORD_HOSTNAME    ? name.nodename
                     : feature == RECORD_OSRELEASE ? name.release
                     : feature == RECORD_ARCH      ? name.machine
                                                   : NULL;

  if (text == NULL || uname(&name) != 0)
    return 0;
  record_bytes_put_string(bytes, text);
  return 1;
}

/* The number of CPUs, and of online CPUs. */
int record_put_nrcpus(common_buffer_t *bytes) {
  size_t online = 0;
  int last = record_last_cpu();

  if (last < 0 || uvperf_cpus(UVPERF_CPUS_ONLINE, NULL, &online) != -ENOBUFS)
    return 0;
  record_bytes_put_u32(bytes, (uint32_t)last + 1);
  record_bytes_put_u32(bytes, (uint32_t)online);
  return 1;
}

/* Finds the text after "name : " on the first such line of /proc/cpuinfo.
 * Returns 1, or 0 if there is no such line. */
static int find_field(const char *text, const char *name, char *value,
                      size_t size) {
  size_t length = strlen(name), nr;
  const char *line = text, *colon;

  while (line != NULL && *line != '\0') {
    colon = line + strcspn(line, ":\n");
    if (*colon == ':' && strncmp(line, name, length) == 0 &&
        line + length + strspn(line + length, " \t") == colon) {
      colon += 1 + strspn(colon + 1, " \t");
      nr = strcspn(colon, "\n");
      snprintf(value, size, "%.*s", (int)nr, colon);
      return 1;
    }
    line = strchr(line, '\n');
    line = line == NULL ? NULL : line + 1;
  }
  return 0;
}

static void squeeze_spaces(char *text) {
  char *to = text;

  for (; *text != '\0'; text++) {
    if (!isspace((unsigned char)*text))
      *to++ = *text;
    else if (!isspace((unsigned char)text[1]))
      *to++ = ' ';
  }
  *to = '\0';
}

/* The field's name differs between architectures: write_cpudesc of
 * tools/perf/util/header.c. */
int record_put_cpudesc(common_buffer_t *bytes) {
  static const char *const names[] = {"model name", "Model Name", "Processor",
                                      "cpu model",  "cpu",        "vendor_id"};
  char value[256], *text;
  size_t i, size;
  int found = 0;

  text = common_file_read("/proc/cpuinfo", &size);
  for (i = 0; text != NULL && !found && i < sizeof(names) / sizeof(*names); i++)
    found = find_field(text, names[i], value, sizeof(value));
  free(text);
  if (!found)
    return 0;
  squeeze_spaces(value);
  record_bytes_put_string(bytes, value);
  return 1;
}

/* x86: vendor, family, model, stepping. */
static int put_x86(const char *text, common_buffer_t *bytes) {
  static const char *const names[] = {"vendor_id", "cpu family", "model",
                                      "stepping"};
  char id[256], value[64];
  size_t i, used = 0;

  for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
    if (!find_field(text, names[i], value, sizeof(value)))
      return 0;
    used += (size_t)snprintf(id + used, sizeof(id) - used, "%s%s",
                             i == 0 ? "" : ",", value);
  }
  record_bytes_put_string(bytes, id);
  return 1;
}

/* aarch64: puts the register that names the CPU, without variant and revision,
 * like _get_cpuid of tools/perf/arch/arm64/util/header.c. */
static int put_arm(common_buffer_t *bytes) {
  static const char path[] =
      "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1";
  char line[64], id[32];
  uint64_t midr;

  if (common_file_line(path, line, sizeof(line)) != 0)
    return 0;
  midr = strtoull(line, NULL, 16) & ~UINT64_C(0xf0000f);
  snprintf(id, sizeof(id), "0x%016" PRIx64, midr);
  record_bytes_put_string(bytes, id);
  return 1;
}

int record_put_cpuid(common_buffer_t *bytes) {
  size_t size;
  char *text;
  int found;

  if (put_arm(bytes))
    return 1;
  text = common_file_read("/proc/cpuinfo", &size);
  found = text != NULL && put_x86(text, bytes);
  free(text);
  return found;
}

/* The size is in KiB, as write_total_mem writes it, although the description of
 * the format says bytes. */
int record_put_total_mem(common_buffer_t *bytes) {
  char value[64], *text;
  size_t size;
  int found;

  text = common_file_read("/proc/meminfo", &size);
  found = text != NULL && find_field(text, "MemTotal", value, sizeof(value));
  free(text);
  if (found)
    record_bytes_put_u64(bytes, strtoull(value, NULL, 10));
  return found;
}

typedef struct pmus_s {
  common_buffer_t *bytes;
  uint32_t nr;
} pmus_t;

static int put_pmu(const uvperf_pmu_t *pmu, void *arg) {
  pmus_t *pmus = arg;

  record_bytes_put_u32(pmus->bytes, pmu->type);
  record_bytes_put_string(pmus->bytes, pmu->name);
  pmus->nr++;
  return 0;
}

int record_put_pmu_mappings(common_buffer_t *bytes) {
  pmus_t pmus = {bytes, 0};
  size_t start = bytes->used;

  record_bytes_put_u32(bytes, 0);
  if (uvperf_pmu_walk(put_pmu, &pmus) != 0)
    return 0;
  memcpy(bytes->text + start, &pmus.nr, sizeof(pmus.nr));
  return pmus.nr > 0;
}
