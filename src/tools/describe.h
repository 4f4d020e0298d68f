/* SPDX-License-Identifier: Apache-2.0 */
/* The table of tools for people and programs: what is written here is what is checked, so it cannot say anything else. */
#pragma once

#include "tools/tool.h"

/*
 * One object: name, aliases, description, limits, needs, and inputSchema, the JSON Schema of the arguments. Other names of an argument
 * are accepted, too; the schema has them in its description and as "x-aliases".
 */
void tools_put_schema(const struct tool *t, struct jsonw *w);

/* All of them as scdoc text, for a manual page. */
void tools_put_manual(struct buf *out);
