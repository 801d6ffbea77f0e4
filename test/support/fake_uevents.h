/* SPDX-License-Identifier: MIT */
/* Scripted uevents. Every test program is linked with --wrap for the two calls
 * that read the kernel's uevents. Without a script they call the real ones. */
#ifndef UVPERF_TEST_FAKE_UEVENTS_H
#define UVPERF_TEST_FAKE_UEVENTS_H

#include <stddef.h>

/* From now on the socket is one that only the test sends to. The library closes
 * its end. */
void fake_uevents_begin(void);
/* The same, but opening the socket fails with a -errno. */
void fake_uevents_refuse(int code);
/* Restores the real ones. */
void fake_uevents_end(void);

/* Sends a uevent as the kernel does for a CPU ("online", "offline"); or another
 * text, action and path first; or any bytes; or one as a process would send
 * it. */
void fake_uevents_say(const char *action, int cpu);
void fake_uevents_send(const char *text);
void fake_uevents_send_bytes(const void *bytes, size_t size);
void fake_uevents_send_from_process(const char *text);

/* The next read reports that some uevents were lost. */
void fake_uevents_overrun(void);

/* How often uevents were read. */
unsigned fake_uevents_reads(void);

#endif
