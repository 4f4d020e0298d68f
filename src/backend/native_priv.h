/* SPDX-License-Identifier: Apache-2.0 */
/* What the warden's numbers mean to whoever has the box: why a call did not start, why the box went, which walls stand. */
#pragma once

#include "backend/backend.h"
#include "sandbox/cgroup.h"
#include "sandbox/warm.h"
#include "sandbox/wire.h"

/* What is asked of the warden for a call; `limits` is where its limits are. */
struct warm_call native_call(const struct box_call *c, struct str workdir,
			     struct serve_limit limits[static 2]);
/* What to name when it could not start; cut. */
#define NATIVE_NAME_MAX 128u
void native_name(char out[static NATIVE_NAME_MAX], struct str s);
/* Of what could not be sent because pid 1 has gone nobody has heard: box_unbegun(). */
int native_unless_gone(int r, struct err *e);
void native_end(const struct serve_event *ev, struct box_end *ret);
void native_failure(const struct serve_event *ev, struct str program, struct str cwd, struct err *ret);
void native_why(const struct warden_report *r, struct err *ret);
/* Fills walls, probes and landlock_abi. The same walls have the same digest, whatever directories they stand around. */
void native_walls(const struct warden_report *ready, struct str plan, const struct cgroup *c,
		  struct box_stat *ret);
