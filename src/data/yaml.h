/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML through libyaml's events into the same tree, with the 1.2 core schema for plain scalars
 * (`no`, `on`, `010` stay strings or decimal; true/false/null/~, integers, 0x, 0o, floats, .inf, .nan).
 * Refused with a clear message: anchors, aliases, tags, merge keys, several documents, complex keys,
 * multi-line scalars that are neither quoted nor literal blocks are fine; duplicate keys; depth beyond 64;
 * files beyond 1 MiB (libyaml's scanner is quadratic on nested brackets).
 * An empty document is an empty object. Errors as in json.h.
 */
#pragma once

#include "base/err.h"
#include "data/value.h"

int yaml_parse(struct arena *a, struct str text, const char *name, struct value *ret, struct err *e);
