/* SPDX-License-Identifier: Apache-2.0 */
/* The ways to start a program behind walls that bench_run compares: ours and the peers'. */
#pragma once

#include "engine.h"
#include "measure.h"

#include <stdbool.h>
#include <stddef.h>

#define METHOD_ARGS_MAX 192

struct bench {
	const char *creel, *warden, *payload;
	const char *bundle;      /* an OCI bundle that runs the payload; NULL = no crun, no runc */
	const char *docker_host; /* "unix:///...": a daemon that has the image; NULL = no docker */
	const char *image;
	char dir[64];       /* ours */
	char workspace[80]; /* below it, with the payload in it: where everything is started */
	struct engine *engine;
	int own_mounts, crun_mounts; /* mount namespaces: ours; one that crun can work in, or negative */
};

struct method {
	const char *name, *what;
	/* Fills argv when it has one. Not NULL: why it cannot be measured here. */
	const char *(*prepare)(struct bench *b, struct method *m);
	double (*once)(struct bench *b, struct method *m); /* microseconds */
	bool ours;
	bool slow; /* measured in fewer rounds */

	bool wanted;
	const char *missing;
	char *argv[METHOD_ARGS_MAX + 1];
	size_t argc;
	struct samples samples;
};

extern struct method methods[];
extern const size_t n_methods;

struct method *method_find(const char *name); /* NULL = there is none of that name */

/* A directory with a workspace and a home of its own, removed at exit; we stand in the workspace afterwards. */
void bench_open(struct bench *b);
void bench_close(struct bench *b);

/* Copied. */
void method_add(struct method *m, const char *argument);
void method_add_all(struct method *m, const char *const *arguments); /* up to a NULL */
/* The program itself, so that the search through PATH is not measured. Not NULL: why it cannot be had. */
const char *method_add_program(struct method *m, const char *name);
/* floors.c: bench_floor with the plan of the engine; the second with the workspace as an overlay, whose layers are made and removed by us. */
const char *floor_prepare(struct bench *b, struct method *m);
const char *floor_prepare_overlay(struct bench *b, struct method *m);
double floor_once_overlay(struct bench *b, struct method *m);
/* Likewise, with the layers of an overlay that bwrap mounts. */
double bwrap_once_overlay(struct bench *b, struct method *m);
const char *layer_path(const struct bench *b, const char *name, char path[static 128]); /* "upper", "work" */

double method_spawn(struct bench *b, struct method *m); /* from the start of m->argv to its end */
/* A directory and what is in it. */
void place_remove(const char *path);
/* bubblewrap's arguments for the mounts of this profile. The small files that creel writes into /etc are spared. */
void bwrap_arguments(struct method *m, const struct profile *p);
