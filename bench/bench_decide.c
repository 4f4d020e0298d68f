/* SPDX-License-Identifier: Apache-2.0 */
/* One decision on a configuration of 100 rules and 20 agents. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "config/config.h"
#include "policy/policy.h"

#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define BATCHES 40
#define ROUNDS 500

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void write_config(struct buf *b)
{
	buf_puts(b, "{ version: 1, mode: { when: 'non-main', trust: { default: 'light', rules: [\n");
	for (int i = 0; i < 100; i++)
		buf_printf(b, "{ match: 'client:team-%d-*', trust: '%s', deny: ['network', 'git_push'] },\n",
			   i, i % 2 ? "docker" : "light");
	buf_puts(
		b,
		"] } }, tools: { deny: ['nodes'], sandbox: { alsoAllow: ['group:web'] } }, agents: { main: { default: true },\n");
	for (int i = 0; i < 19; i++)
		buf_printf(
			b,
			"'agent-%d': { mode: { when: 'all' }, tools: { deny: ['browser'] }, mounts: { binds: ['/srv/%d:/data:ro'] } },\n",
			i, i);
	buf_puts(b, "} }\n");
}

static int load(struct arena *a, struct diags *d, struct config *ret)
{
	_cleanup_buf_ struct buf text = { 0 };
	struct config_source file = { .format = FORMAT_CREEL };
	struct config_input in = { .files = &file,
				   .n_files = 1,
				   .home = STR("/home/user"),
				   .cwd = STR("/srv"),
				   .no_default_file = true };
	static char *no_env[] = { NULL };
	char path[64];
	struct err e = { 0 };
	int fd = memfd_create("creel.json5", MFD_CLOEXEC);

	buf_init(&text, 1 << 20);
	write_config(&text);
	if (fd < 0 || write(fd, text.p, text.n) != (ssize_t)text.n)
		return -1;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	file.path = str_z(path);
	in.environ = no_env;
	if (config_load(&in, a, d, ret, &e) < 0) {
		fprintf(stderr, "bench_decide: %s\n", e.msg);
		return -1;
	}
	return 0;
}

static int once(const struct config *c, const struct request *r, struct decision *d)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct err e = { 0 };

	arena_init(&a, 4 << 20);
	if (decide(c, r, &a, d, &e) < 0) {
		fprintf(stderr, "bench_decide: %s\n", e.msg);
		return -1;
	}
	return 0;
}

int main(void)
{
	static struct config config;
	static struct decision decision;
	_cleanup_arena_ struct arena keep = { 0 };
	struct diags diags = { .arena = &keep };
	const struct str argv[] = { STR("make"), STR("test") };
	struct request r = { .via = VIA_CLI,
			     .auth = AUTH_LOCAL,
			     .session_key = STR("client:team-99-x"),
			     .tool = STR("exec"),
			     .argv = { .v = argv, .n = 2 },
			     .facts = { .backends = 1u << BACKEND_NATIVE | 1u << BACKEND_HOST,
					.home = STR("/home/user"),
					.state_dir = STR("/home/user/.openclaw"),
					.cwd = STR("/srv") } };
	double best = 1e9, sum = 0;

	arena_init(&keep, 16 << 20);
	if (load(&keep, &diags, &config) < 0)
		return 1;
	for (int batch = 0; batch < BATCHES; batch++) {
		double start = now_us(), us;

		for (int i = 0; i < ROUNDS; i++)
			if (once(&config, &r, &decision) < 0)
				return 1;
		us = (now_us() - start) / ROUNDS;
		best = us < best ? us : best;
		sum += us;
	}
	printf("one decision (100 rules, 20 agents): best %.2f us, mean %.2f us, verdict %s (aim: under 20 us)\n",
	       best, sum / BATCHES, enum_name(verdict_names, (int)decision.verdict));
	return 0;
}
