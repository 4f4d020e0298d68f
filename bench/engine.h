/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine without the program around it: the plan that `creel run --workspace-access rw` would make, made once, and
 * sandboxes started from it. Fails with measure_fail().
 */
#pragma once

#include "model/profile.h"
#include "sandbox/cgroup.h"
#include "sandbox/sandbox.h"
#include "sandbox/warm.h"

struct engine;

/* One that runs. */
struct engine_box {
	struct sandbox box;
	struct cgroup cgroup;
};

/* `argument`: for the payload, which lies in the workspace as "payload"; NULL = none. */
struct engine *engine_open(const char *warden, const char *workspace, const char *argument);
struct engine *engine_close(struct engine *g);
const struct profile *engine_profile(const struct engine *g);

struct str engine_run_plan(struct engine *g); /* of one that runs the payload */
/* The plan of one that serves calls. */
struct str engine_plan(struct engine *g);
/* One that serves calls, with its walls standing. No group of its own. */
void engine_serve(struct engine *g, struct warm *ret);

/* The box's cgroup, where the host lets us have one. */
void engine_make_group(struct engine *g, struct engine_box *ret);
/* From the spawn of the warden until the payload has been executed. */
void engine_start(struct engine *g, struct engine_box *b);
/* Until the payload has ended by itself, and everything with it. */
void engine_wait(struct engine_box *b);
/* Ends what still runs. */
void engine_end(struct engine_box *b);
