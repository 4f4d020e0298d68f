/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML through libyaml's events into the same tree, with the 1.2 core schema for plain scalars: true, false, null,
 * ~, decimal integers (010 is ten; `raw` keeps the text), 0x, 0o, floats, .inf, .nan. `no`, `on`, `yes` are strings.
 * Keys are strings, as they are written.
 *
 * Refuses with a clear message: anchors, aliases, tags, merge keys, tag directives, several documents, maps and
 * lists as keys, duplicate keys, depth beyond 64, texts beyond 1 MiB, NUL bytes and invalid UTF-8.
 * An empty document is an empty object. Errors as in json.h.
 */
#pragma once

#include "base/err.h"
#include "data/value.h"

int yaml_parse(struct arena *a, struct str text, const char *name, struct value *ret, struct err *e);
