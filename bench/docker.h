/* SPDX-License-Identifier: Apache-2.0 */
/* Docker's API, as far as it is measured: a program executed in a container that runs, as its clients do it. Fails with measure_fail(). */
#pragma once

struct docker {
	const char *host;      /* "unix:///...": a daemon */
	const char *container; /* that runs in it */
};

/* Creates an exec of argv[0] in the container, starts it, and waits for its end; microseconds, from the first connection on. */
double docker_exec(const struct docker *d, const char *program);
