/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile -> ordered steps. Pure: the same profile gives the same bytes, which can be printed, compared and tested
 * without any privilege. The warden does what the plan says, and nothing else.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "model/profile.h"

/* The plan as the warden takes it (sandbox/wire.h), appended to `out`. */
int plan_build(const struct profile *p, struct buf *out, struct err *e);

/* One line per step, for people: creel run --plan. */
void plan_print(struct str plan, struct buf *out);

/* How many files the layers may hold that may hold so many bytes. */
uint64_t plan_disk_files(uint64_t bytes);

const char *step_name(unsigned kind);
const char *probe_name(unsigned probe);
