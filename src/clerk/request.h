/* SPDX-License-Identifier: Apache-2.0 */
/* A request's bytes, looked at: pure, and all that the clerk reads from outside. */
#pragma once

#include "backend/clerk_wire.h"
#include "base/str.h"

struct request {
	struct clerk_request head;
	const char *path, *to; /* within the message; "" when there is none */
	struct str content;
};

/* 0 or -EPROTO. `bytes` has to live as long as *ret. */
int request_parse(const void *bytes, size_t n, struct request *ret);
