/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whatever the profile: a plan that is built reads back within its bounds, holds the arguments and variables that were
 * given, is the same when it is built again, and lets Landlock write where a mount is writable and nowhere else; one that
 * is refused leaves an error and no bytes. A plan that was damaged afterwards is read or refused, and never beyond its end.
 */
#include "check.h"
#include "sandbox/landlock.h"
#include "sandbox/plan.h"
#include "sandbox/plan_read.h"

#define LIST_MAX 40

struct input {
	const uint8_t *p;
	size_t n;
};

static uint8_t take(struct input *in)
{
	if (!in->n)
		return 0;
	in->n--;
	return *in->p++;
}

/* Mostly what the input holds, sometimes what a path is made of. */
static struct str take_str(struct input *in)
{
	static const char *const words[] = { "/workspace", "/tmp",    "/a/b/c", "/proc", "/dev/shm",
					     "/usr",       "/a/../b", "//",     "/a/.",  "" };
	size_t n = take(in);
	struct str s;

	if (n >= 0xf0)
		return str_z(words[n % (sizeof(words) / sizeof(words[0]))]);
	n = n < in->n ? n : in->n;
	s = (struct str){ .p = (const char *)in->p, .n = n };
	in->p += n;
	in->n -= n;
	return s;
}

static struct str take_path(struct input *in)
{
	struct str s = take_str(in);

	return s.n && s.p[0] == '/' ? s : STR("/p");
}

static struct source take_source(struct input *in)
{
	uint8_t b = take(in);

	return (struct source){ .path = take_path(in), .dev = b, .ino = b + 1u, .is_file = b & 1 };
}

struct lists {
	struct str argv[LIST_MAX], env[LIST_MAX], links[LIST_MAX], files[LIST_MAX], targets[LIST_MAX];
	struct source binds[LIST_MAX], devices[LIST_MAX];
	struct profile_mount mounts[LIST_MAX];
};

static size_t take_strs(struct input *in, struct str *list)
{
	size_t n = take(in) % LIST_MAX;

	for (size_t i = 0; i < n; i++)
		list[i] = take_str(in);
	return n;
}

static struct profile_mount take_mount(struct input *in)
{
	uint8_t flags = take(in);
	struct profile_mount m = {
		.target = take_str(in), .writable = flags & 1, .idmap = flags & 4, .size = flags
	};

	if (flags & 8)
		m.source = take_source(in);
	m.overlay = flags & 2 && m.source.path.n;
	m.upper = m.overlay ? take_path(in) : STR("");
	m.work = m.overlay ? take_path(in) : STR("");
	return m;
}

static struct profile take_profile(struct input *in, struct lists *l)
{
	uint8_t flags = take(in);
	struct profile p = { .tty = { .streams = flags & 1 ? 1u + flags % 7u : 0,
				      .foreground = flags & 2,
				      .modes = { "0123456789abcdef0123456789abcdef0123",
						 flags & 4 ? TTY_MODES_BYTES : 0 } },
			     .two_users = flags & 2,
			     .landlock_abi = flags & 4 ? 7 : 0,
			     .pids = flags & 8 ? 10 : 0,
			     .argv.v = l->argv,
			     .env.v = l->env,
			     .links = l->links,
			     .files = l->files,
			     .root_binds = l->binds,
			     .root_targets = l->targets,
			     .devices = l->devices,
			     .mounts = l->mounts };

	p.argv.n = take_strs(in, l->argv);
	p.env.n = take_strs(in, l->env);
	p.path = take_str(in);
	p.cwd = take_str(in);
	p.hostname = take_str(in);
	p.n_links = take_strs(in, l->links);
	p.n_files = take_strs(in, l->files);
	p.n_root_binds = take_strs(in, l->targets);
	for (size_t i = 0; i < p.n_root_binds; i++)
		l->binds[i] = take_source(in);
	p.n_devices = take(in) % LIST_MAX;
	for (size_t i = 0; i < p.n_devices; i++)
		l->devices[i] = take_source(in);
	p.n_mounts = take(in) % LIST_MAX;
	for (size_t i = 0; i < p.n_mounts; i++)
		l->mounts[i] = take_mount(in);
	return p;
}

static bool may_write(const struct profile *p, struct str path)
{
	if (str_eq(path, STR("/dev")) || str_eq(path, STR("/dev/shm")) || str_eq(path, STR("/proc")))
		return true;
	for (size_t i = 0; i < p->n_mounts; i++) {
		const struct profile_mount *m = &p->mounts[i];

		if (str_eq(m->target, path) && (m->writable || m->overlay || !m->source.path.n))
			return true;
	}
	return false;
}

static void check_plan(const struct profile *p, struct str bytes)
{
	struct plan_view v;

	CHECK(plan_open(bytes, &v) == 0);
	CHECK(v.head.argc == p->argv.n && v.head.envc == p->env.n);
	for (uint32_t i = 0; i < v.head.argc; i++)
		CHECK(str_eq(plan_arg(&v, i), p->argv.v[i]));
	for (uint32_t i = 0; i < v.head.envc; i++)
		CHECK(str_eq(plan_env(&v, i), p->env.v[i]));
	CHECK(plan_step(&v, 0).kind == STEP_ROOT && plan_step(&v, v.head.n_steps - 1).kind == STEP_SECCOMP);
	for (uint32_t i = 0; i < v.head.n_steps; i++) {
		struct step s = plan_step(&v, i);

		if (s.kind == STEP_LANDLOCK_RULE && s.x & LL_WRITE)
			CHECK(may_write(p, plan_text(&v, s.a)));
	}
}

/* A copy of exactly that length, so that a sanitizer sees a look beyond it. */
static void check_damaged(struct str bytes, struct input *in)
{
	char *copy = malloc(bytes.n + 1);
	struct buf out;

	CHECK(copy);
	memcpy(copy, bytes.p, bytes.n);
	for (int i = 0; i < 4 && bytes.n; i++) {
		size_t at = (size_t)take(in) | (size_t)take(in) << 8;

		copy[at % bytes.n] = (char)(copy[at % bytes.n] ^ take(in));
	}
	buf_init(&out, (size_t)8 << 20);
	plan_print((struct str){ .p = copy, .n = bytes.n - (take(in) == 1) }, &out);
	CHECK(out.n > 0);
	buf_done(&out);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { .p = data, .n = size };
	static struct lists l;
	struct profile p = take_profile(&in, &l);
	struct buf a, b;
	struct err e = { 0 };

	buf_init(&a, PLAN_MAX_BYTES);
	buf_init(&b, PLAN_MAX_BYTES);
	if (plan_build(&p, &a, &e) == 0) {
		check_plan(&p, buf_str(&a));
		CHECK(plan_build(&p, &b, &e) == 0 && str_eq(buf_str(&a), buf_str(&b)));
		check_damaged(buf_str(&a), &in);
	} else
		CHECK(a.n == 0 && e.kind != ERR_NONE && e.msg[0]);
	buf_done(&a);
	buf_done(&b);
	return 0;
}
