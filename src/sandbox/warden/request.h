/* SPDX-License-Identifier: Apache-2.0 */
/* A request's bytes, looked at: pure, so that the fuzzer runs the very code that pid 1 runs. */
#pragma once

#include "sandbox/wire_serve.h"

#include <stdbool.h>
#include <stddef.h>

struct request {
	struct serve_request head;
	const char *body;                    /* borrowed */
	const char *argv, *env, *cwd, *path; /* the first string of each, within body */
};

/* 0 or -EINVAL, -E2BIG. The head alone; *ret_rest is how many bytes of body follow it in the message. */
long request_head(const void *bytes, size_t n, struct request *ret, size_t *ret_rest);
/* Whether it may come on this line; 0 = from who holds the sandbox. */
bool request_may_come(const struct request *r, uint32_t line);
/* The body, wherever it lies: head.body bytes. */
long request_body(struct request *r, const char *body, size_t n);

struct serve_limit request_limit(const struct request *r, uint32_t i);
/* Fills n pointers and a NULL. */
void request_list(const char *first, uint32_t n, char **out);
