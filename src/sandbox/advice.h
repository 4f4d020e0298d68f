/* SPDX-License-Identifier: Apache-2.0 */
/* What a person can do about a sandbox that could not be built. The words are the same for run, call and doctor. */
#pragma once

#include "base/err.h"
#include "sandbox/wire.h"

struct advice {
	const char *cause, *fix; /* the fix is one command, where there is one */
};

/* Why this host refuses user namespaces to this user. errnum: what the kernel said. */
struct advice advice_userns(int errnum);

struct advice_container {
	const char *name;
	const char *fix; /* how to start one in which creel works */
};

/* What is around us; NULL outside of containers. */
const struct advice_container *advice_container(void);

/* Fills in the error for a step that failed, with the advice that there is; returns what err_set() does. */
int advice_failed(const struct warden_report *m, struct err *e);
