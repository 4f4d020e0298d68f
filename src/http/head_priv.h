/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the head's reader share. */
#pragma once

#include "http/head.h"

/* Notes the fault and returns HTTP_BAD, so that `return head_bad(...)` is the whole error path. */
enum http_result head_bad(struct http_head *h, unsigned status, const char *reason);

/* The span of a slice of the head's own bytes. */
struct http_span head_span(const struct http_head *h, struct str s);

/* target.c: fills form, path, query, authority. HTTP_DONE or HTTP_BAD. */
enum http_result head_target(struct http_head *h, struct str target);

/* rules.c: what the fields together mean; after the last line. HTTP_DONE or HTTP_BAD. */
enum http_result head_rules(struct http_head *h);

/* "host" or "host:port"; the port must be there when `needs_port`. */
bool head_host_ok(struct str host, bool needs_port);

/* Host and the target's authority are one place; a missing port is the one of the scheme. */
bool head_same_host(const struct http_head *h);
