/* SPDX-License-Identifier: Apache-2.0 */
/* A note (session_own.c) that is begun before anybody uses the sandbox: it has its name, and nothing in it, so that nobody lists it. */
#pragma once

#include "base/fd.h"
#include "engine/registry.h"

#define OWN_NAME_MAX 104

struct own_begun {
	int dir;  /* borrowed */
	int fd;   /* FD_NONE: there is none */
	pid_t by; /* who has begun it */
	uint64_t count;
	struct reg_proc warden;
	char name[OWN_NAME_MAX];
};
#define OWN_NOT_BEGUN ((struct own_begun){ .dir = FD_NONE, .fd = FD_NONE })

/* Removes it, if there is one; a copy of us that was forked leaves it alone. */
void own_drop(struct own_begun *b);
