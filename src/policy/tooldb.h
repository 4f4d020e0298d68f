/* SPDX-License-Identifier: Apache-2.0 */
/* The tools that policy knows, with what each needs. Who carries one out is not said here. */
#pragma once

#include "model/names.h"

#include <stddef.h>

struct tool_info {
	const char *name;
	unsigned needs;     /* CAP_BIT()s */
	bool gateway_side;  /* decided by policy only, never executed here */
	bool known_command; /* takes argv or a command string */
};
size_t tool_count(void);
const struct tool_info *tool_at(size_t i);
