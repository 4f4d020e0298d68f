/* SPDX-License-Identifier: Apache-2.0 */
#include "methods.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNIFIED "/sys/fs/cgroup/unified"
#define CONTAINER "creel-bench"

extern char **environ;

/* ---- arguments ---- */

void method_add(struct method *m, const char *argument)
{
	char *copy = strdup(argument);

	if (!copy || m->argc == METHOD_ARGS_MAX)
		measure_fail("%s: too many arguments", m->name);
	m->argv[m->argc++] = copy;
}

void method_add_all(struct method *m, const char *const *arguments)
{
	for (; *arguments; arguments++)
		method_add(m, *arguments);
}
#define ADD(m, ...) method_add_all(m, (const char *const[]){ __VA_ARGS__, NULL })

const char *method_add_program(struct method *m, const char *name)
{
	const char *path = getenv("PATH");
	char full[4096];

	for (path = path ? path : "/usr/bin:/bin"; *path; path += strspn(path, ":")) {
		size_t n = strcspn(path, ":");

		(void)snprintf(full, sizeof(full), "%.*s/%s", (int)n, path, name);
		path += n;
		if (access(full, X_OK) != 0)
			continue;
		method_add(m, full);
		return NULL;
	}
	return "not installed";
}

/* ---- one sample ---- */

double method_spawn(struct bench *b, struct method *m)
{
	posix_spawn_file_actions_t quiet;
	double start, us;
	int status = -1, r;
	pid_t pid;

	(void)b;
	posix_spawn_file_actions_init(&quiet);
	posix_spawn_file_actions_addopen(&quiet, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	start = measure_now_us();
	r = posix_spawn(&pid, m->argv[0], &quiet, NULL, m->argv, environ);
	if (r != 0)
		measure_fail("%s: '%s': %s", m->name, m->argv[0], strerror(r));
	if (waitpid(pid, &status, 0) != pid || status != 0)
		measure_fail("%s: it ended with wait status %#x", m->name, (unsigned)status);
	us = measure_now_us() - start;
	posix_spawn_file_actions_destroy(&quiet);
	return us;
}

static double engine_to_exec(struct bench *b, struct method *m)
{
	struct engine_box box;
	double start, us;

	(void)m;
	engine_make_group(b->engine, &box);
	start = measure_now_us();
	engine_start(b->engine, &box);
	us = measure_now_us() - start;
	engine_wait(&box);
	return us;
}

static double engine_to_end(struct bench *b, struct method *m)
{
	struct engine_box box;
	double start;

	(void)m;
	start = measure_now_us();
	engine_make_group(b->engine, &box);
	engine_start(b->engine, &box);
	engine_wait(&box);
	return measure_now_us() - start;
}

static void enter(const struct bench *b, int mounts)
{
	if (setns(mounts, CLONE_NEWNS) < 0 || chdir(b->workspace) < 0)
		measure_fail("enter a mount namespace: %s", strerror(errno));
}

/* Enters the mount namespace that crun needs before the clock starts. */
static double crun_and_wait(struct bench *b, struct method *m)
{
	double us;

	if (b->crun_mounts >= 0)
		enter(b, b->crun_mounts);
	us = method_spawn(b, m);
	if (b->crun_mounts >= 0)
		enter(b, b->own_mounts);
	return us;
}

/* ---- preparing ---- */

static const char *prepare_spawn(struct bench *b, struct method *m)
{
	(void)b;
	method_add(m, "./payload");
	return NULL;
}

static const char *prepare_creel(struct bench *b, struct method *m)
{
	ADD(m, b->creel, "run", "-q", "--", "./payload");
	return NULL;
}

static const char *prepare_creel_rw(struct bench *b, struct method *m)
{
	ADD(m, b->creel, "run", "-q", "--workspace-access", "rw", "--", "./payload");
	return NULL;
}

static const char *prepare_engine(struct bench *b, struct method *m)
{
	(void)b;
	(void)m;
	return NULL;
}

/* b: with the workspace as an overlay; NULL = as it is. */
static void add_mount(struct method *m, const struct profile_mount *pm, const struct bench *b)
{
	char upper[128], work[128];

	if (b && pm->source.path.n && pm->writable)
		ADD(m, "--overlay-src", pm->source.path.p, "--overlay", layer_path(b, "upper", upper),
		    layer_path(b, "work", work), pm->target.p);
	else if (pm->source.path.n)
		ADD(m, pm->writable ? "--bind" : "--ro-bind", pm->source.path.p, pm->target.p);
	else
		ADD(m, "--tmpfs", pm->target.p);
}

static void add_bwrap(struct method *m, const struct profile *p, const struct bench *b)
{
	ADD(m, "--unshare-all", "--new-session", "--die-with-parent", "--cap-drop", "ALL", "--hostname",
	    "sandbox");
	for (size_t i = 0; i < p->n_root_binds; i++)
		ADD(m, "--ro-bind", p->root_binds[i].path.p, p->root_targets[i].p);
	for (size_t i = 0; i + 1 < p->n_links; i += 2)
		ADD(m, "--symlink", p->links[i + 1].p, p->links[i].p);
	ADD(m, "--dev", "/dev", "--proc", "/proc");
	for (size_t i = 0; i < p->n_mounts; i++)
		add_mount(m, &p->mounts[i], b);
	ADD(m, "--chdir", p->cwd.p);
}

void bwrap_arguments(struct method *m, const struct profile *p)
{
	add_bwrap(m, p, NULL);
}

static const char *prepare_bwrap(struct bench *b, struct method *m)
{
	const char *missing = method_add_program(m, "bwrap");

	bwrap_arguments(m, engine_profile(b->engine));
	ADD(m, "--", "./payload");
	return missing;
}

static bool has_overlay(const char *bwrap)
{
	char command[256], line[256];
	bool found = false;
	FILE *p;

	(void)snprintf(command, sizeof(command), "'%s' --help 2>&1", bwrap);
	p = popen(command, "r");
	while (p && fgets(line, sizeof(line), p))
		found = found || strstr(line, "--overlay-src");
	return p && pclose(p) >= 0 && found;
}

static const char *prepare_bwrap_overlay(struct bench *b, struct method *m)
{
	const char *missing = method_add_program(m, "bwrap");

	if (!missing && !has_overlay(m->argv[0]))
		missing = "this bwrap has no --overlay (0.11 has)";
	add_bwrap(m, engine_profile(b->engine), b);
	ADD(m, "--", "./payload");
	return missing;
}

static const char *prepare_bwrap_host(struct bench *b, struct method *m)
{
	const char *missing = method_add_program(m, "bwrap");

	(void)b;
	ADD(m, "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--", "./payload");
	return missing;
}

static const char *prepare_unshare(struct bench *b, struct method *m)
{
	const char *missing = method_add_program(m, "unshare");

	(void)b;
	ADD(m, "-Urmpinuf", "--mount-proc", "--", "./payload");
	return missing;
}

/* A real-time task may not enter a new group of the cpu controller. */
#define NOT_FIRST "not with a real-time priority"

static const char *prepare_oci(struct bench *b, struct method *m)
{
	const char *missing = method_add_program(m, m->name);

	if (geteuid() != 0)
		return "needs root here";
	if (!b->bundle)
		return "no --bundle";
	if (measure_is_first())
		return NOT_FIRST;
	ADD(m, "run", "--bundle", b->bundle, CONTAINER);
	return missing;
}

/* crun takes a host with both cgroup versions for a broken one: it gets a mount namespace without the second. */
static const char *prepare_crun(struct bench *b, struct method *m)
{
	const char *missing = prepare_oci(b, m);

	if (missing || access(UNIFIED "/cgroup.controllers", F_OK) != 0)
		return missing;
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    umount2(UNIFIED, MNT_DETACH) < 0)
		measure_fail("crun: make a mount namespace for it: %s", strerror(errno));
	b->crun_mounts = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	enter(b, b->own_mounts);
	return NULL;
}

static const char *prepare_docker(struct bench *b, struct method *m)
{
	const char *missing = method_add_program(m, "docker");

	if (!b->docker_host)
		return "no --docker-host";
	if (measure_is_first())
		return NOT_FIRST;
	ADD(m, "-H", b->docker_host, "run", "--rm", "--network", "none", b->image, "/payload");
	return missing;
}

/* clang-format off */
struct method methods[] = {
	{ "spawn", "the payload alone, without any wall", prepare_spawn, method_spawn, .ours = true },
	{ "creel", "creel run, workspace as overlay (the default)", prepare_creel, method_spawn, .ours = true },
	{ "creel-rw", "creel run --workspace-access rw", prepare_creel_rw, method_spawn, .ours = true },
	{ "engine", "the engine alone: spawn of the warden to exec of the payload", prepare_engine, engine_to_exec, .ours = true },
	{ "engine-end", "the engine with its cgroup, until all of it has gone", prepare_engine, engine_to_end, .ours = true },
	{ "floor", "bare system calls for the walls of creel-rw, and nothing else", floor_prepare, method_spawn, .ours = true },
	{ "floor-ovl", "the same for creel, its two layers made before", floor_prepare_overlay, floor_once_overlay, .ours = true },
	{ "bwrap", "bwrap --unshare-all, the same mounts, no filter", prepare_bwrap, method_spawn },
	{ "bwrap-ovl", "the same with the workspace as an overlay, its two layers made before", prepare_bwrap_overlay, bwrap_once_overlay },
	{ "bwrap-host", "bwrap --unshare-all --ro-bind / / --proc --dev", prepare_bwrap_host, method_spawn },
	{ "unshare", "unshare -Urmpinuf --mount-proc, no wall but namespaces", prepare_unshare, method_spawn },
	{ "crun", "crun run, default specification", prepare_crun, crun_and_wait },
	{ "runc", "runc run, default specification", prepare_oci, method_spawn },
	{ "docker", "docker run --rm --network none", prepare_docker, method_spawn, .slow = true },
};
/* clang-format on */
const size_t n_methods = sizeof(methods) / sizeof(methods[0]);

struct method *method_find(const char *name)
{
	for (size_t i = 0; i < n_methods; i++)
		if (strcmp(methods[i].name, name) == 0)
			return &methods[i];
	return NULL;
}
