/* SPDX-License-Identifier: MIT */
/* Scripted uevents: every test program is linked with --wrap for the two calls
 * that read the kernel's. Without a script they go on to the real ones. */
#ifndef UVPERF_TEST_FAKE_UEVENTS_H
#define UVPERF_TEST_FAKE_UEVENTS_H

#include <stddef.h>

/* From now on the socket is one that only the test sends to. The library closes
 * its end. */
void fake_uevents_begin(void);
/* The same, but there is no socket to be had: a -errno. */
void fake_uevents_refuse(int code);
/* The real ones again. */
void fake_uevents_end(void);

/* Sends a uevent as the kernel does of a CPU: "online", "offline"; or another
 * text, action and path first; or some bytes; or what a process has sent. */
void fake_uevents_say(const char *action, int cpu);
void fake_uevents_send(const char *text);
void fake_uevents_send_bytes(const void *bytes, size_t size);
void fake_uevents_send_from_process(const char *text);

/* The next read tells that some were lost. */
void fake_uevents_overrun(void);

/* How often uevents were read. */
unsigned fake_uevents_reads(void);

#endif
