/* SPDX-License-Identifier: MIT */
/* What the steps of scripted_handles.c and its neighbours share. */
#ifndef UVPERF_TEST_SCRIPTED_HANDLES_RUN_H
#define UVPERF_TEST_SCRIPTED_HANDLES_RUN_H

#include "scripted_row.h"

#define HANDLES_MOST 8

typedef union scripted_handle_s {
  uvperf_handle_t handle;
  uvperf_event_t event;
  uvperf_bpf_reader_t reader;
} scripted_handle_t;

typedef struct handles_run_s {
  scripted_handle_t handles[HANDLES_MOST];
  size_t nr;
  int closed[HANDLES_MOST];
} handles_run_t;

extern handles_run_t handles_run;
extern const scripted_verb_t handles_event_verbs[];
extern const scripted_verb_t handles_reader_verbs[];

void handles_event_begin(void);
void handles_event_end(void);
void handles_reader_begin(void);
void handles_reader_end(void);

/* The handle that the nth word names. */
uvperf_handle_t *handles_of(const step_t *step, size_t nr);
uvperf_event_t *handles_event(const step_t *step, size_t nr);
size_t handles_nr(const uvperf_handle_t *handle);

/* For a new handle, and then whether it is open. */
scripted_handle_t *handles_next(void);
void handles_opened(int rc);

/* The error of a call, or NULL with "no_error". */
uvperf_error_t *handles_error(void);

/* An open_cb. */
void handles_on_open(uvperf_handle_t *handle, int status,
                     const uvperf_error_t *error);

#endif
