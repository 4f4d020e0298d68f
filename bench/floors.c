/* SPDX-License-Identifier: Apache-2.0 */
/* What bench_floor is given: the plan that the engine has, and the layers of an overlay, which bwrap is given, too. */
#include "methods.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void write_plan(struct bench *b, const char *path)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || fd_write_all(fd, engine_run_plan(b->engine)) < 0)
		measure_fail("'%s': %s", path, strerror(errno));
}

const char *floor_prepare(struct bench *b, struct method *m)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/plan", b->dir);
	write_plan(b, path);
	method_add(m, BENCH_FLOOR);
	method_add(m, path);
	return NULL;
}

const char *layer_path(const struct bench *b, const char *name, char path[static 128])
{
	(void)snprintf(path, 128, "%s/%s", b->dir, name);
	return path;
}

const char *floor_prepare_overlay(struct bench *b, struct method *m)
{
	char path[128];

	(void)floor_prepare(b, m);
	method_add(m, layer_path(b, "upper", path));
	method_add(m, layer_path(b, "work", path));
	return NULL;
}

static void make_layer(const struct bench *b, const char *name, bool payloads)
{
	const struct profile *p = engine_profile(b->engine);
	char path[128];

	if (mkdir(layer_path(b, name, path), 0700) < 0 ||
	    (payloads && p->two_users && !p->subids && chown(path, p->outer_uid, p->outer_gid) < 0))
		measure_fail("'%s': %s", path, strerror(errno));
}

/* The clock stands still while layers are made and removed: a run that finds spare ones does neither. */
static double with_layers(struct bench *b, struct method *m, bool payloads)
{
	char path[128];
	double us;

	make_layer(b, "upper", payloads);
	make_layer(b, "work", payloads);
	us = method_spawn(b, m);
	place_remove(layer_path(b, "work", path));
	place_remove(layer_path(b, "upper", path));
	return us;
}

/* They belong to the payload's user, as those that the warden makes. */
double floor_once_overlay(struct bench *b, struct method *m)
{
	return with_layers(b, m, true);
}

double bwrap_once_overlay(struct bench *b, struct method *m)
{
	return with_layers(b, m, false);
}
