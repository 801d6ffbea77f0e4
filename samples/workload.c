/* SPDX-License-Identifier: MIT */
/* A program whose profile is known, for run.sh: two threads work for 5 seconds,
 * or for the seconds in the argument, such as 0.5. They spend their CPU time in
 *
 *   parse 50 %, compress 30 %, hash 15 %, count_words 5 %
 *
 * Each thread reads its own CPU time after each 64 KiB of text, so the shares
 * are the same on every machine. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <uv.h>

#define NR_THREADS 2
#define NR_BYTES   65536
#define NR_RECENT  4096

/* These functions are not inlined, so each is a row of its own in a profile. */
#define FUNCTION __attribute__((noinline)) static

/* Without this a compiler may leave out the frame, and a profiler that follows
 * frame pointers would miss the caller. */
#define HAVE_FRAME() __asm__ volatile("" : : "r"(__builtin_frame_address(0)))

typedef uint64_t (*function_t)(const unsigned char *text);

typedef struct worker_s {
  uv_thread_t thread;
  unsigned char text[NR_BYTES];
  uint64_t spent_ns[4];
  uint64_t end_ns;
  volatile uint64_t result;
} worker_t;

/* The CPU time of this thread. */
static uint64_t cpu_ns(void) {
  struct timespec now;

  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Returns the sum of all numbers. */
FUNCTION uint64_t parse(const unsigned char *text) {
  uint64_t sum = 0, number = 0;

  HAVE_FRAME();
  for (size_t i = 0; i < NR_BYTES; i++) {
    if (text[i] >= '0' && text[i] <= '9') {
      number = number * 10 + (uint64_t)(text[i] - '0');
    } else {
      sum += number;
      number = 0;
    }
  }
  return sum;
}

/* Returns the number of bytes that remain if repetitions are replaced. */
FUNCTION uint64_t compress(const unsigned char *text) {
  uint16_t recent[NR_RECENT] = {0};
  uint64_t left = 0;
  size_t i = 0;

  HAVE_FRAME();
  while (i + 4 <= NR_BYTES) {
    uint32_t word;
    size_t from, same = 0;
    uint16_t *place;

    memcpy(&word, text + i, sizeof(word));
    place = &recent[(word * 2654435761u) >> 20];
    from = *place;
    *place = (uint16_t)i;
    while (i + same < NR_BYTES && from < i &&
           text[from + same] == text[i + same])
      same++;
    i += same < 4 ? 1 : same;
    left += same < 4 ? 1 : 3;
  }
  return left;
}

/* FNV-1a */
FUNCTION uint64_t hash(const unsigned char *text) {
  uint64_t value = 0xcbf29ce484222325;

  HAVE_FRAME();
  for (size_t i = 0; i < NR_BYTES; i++)
    value = (value ^ text[i]) * 0x100000001b3;
  return value;
}

FUNCTION uint64_t count_words(const unsigned char *text) {
  uint64_t words = 0;

  HAVE_FRAME();
  for (size_t i = 1; i < NR_BYTES; i++)
    words += text[i] == ' ' && text[i - 1] != ' ';
  return words;
}

/* Calls a function until it has had its share of the thread's CPU time. */
FUNCTION void work(worker_t *worker, size_t i, function_t function,
                   uint64_t percent) {
  uint64_t now = cpu_ns(), before;

  while (worker->spent_ns[i] < now / 100 * percent) {
    before = now;
    worker->result += function(worker->text);
    now = cpu_ns();
    worker->spent_ns[i] += now - before;
  }
}

FUNCTION void read_input(worker_t *worker) {
  work(worker, 0, parse, 50);
  work(worker, 1, count_words, 5);
}

FUNCTION void write_output(worker_t *worker) {
  work(worker, 2, compress, 30);
  work(worker, 3, hash, 15);
}

static void run_worker(void *arg) {
  worker_t *worker = arg;

  while (uv_hrtime() < worker->end_ns) {
    read_input(worker);
    write_output(worker);
  }
}

/* Numbers of one to six digits. */
static void fill(unsigned char *text) {
  uint32_t random = 1;

  for (size_t i = 0; i < NR_BYTES; i++) {
    random = random * 1103515245 + 12345;
    text[i] =
        random >> 29 == 0 ? ' ' : (unsigned char)('0' + (random >> 16) % 10);
  }
}

int main(int argc, char **argv) {
  static worker_t workers[NR_THREADS];
  double seconds = argc > 1 ? atof(argv[1]) : 5;
  uint64_t end_ns;

  if (!(seconds > 0 && seconds < 1e9)) {
    fprintf(stderr, "usage: workload [SECONDS]\n");
    return 2;
  }
  end_ns = uv_hrtime() + (uint64_t)(seconds * 1e9);
  for (size_t i = 0; i < NR_THREADS; i++) {
    fill(workers[i].text);
    workers[i].end_ns = end_ns;
    if (uv_thread_create(&workers[i].thread, run_worker, &workers[i]) != 0) {
      fprintf(stderr, "workload: no thread can be made\n");
      return 1;
    }
  }
  for (size_t i = 0; i < NR_THREADS; i++)
    uv_thread_join(&workers[i].thread);
  return 0;
}
