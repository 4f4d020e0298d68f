/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backend.setupCommand (S1-39): shell text that runs once in a sandbox that has just been made, before its first call, as any call
 * would: the sandbox's user, walls and limits, in the workspace. It is given variables, and no secret: which call comes first must not
 * decide what it sees. What it starts in the background stays, as in a container. When it fails, nobody gets the sandbox.
 */
#include "engine/engine_priv.h"

#include "tools/collect.h"

#define OUTPUT_KEPT ((size_t)32 << 10) /* of each stream */
#define GRACE_MS 2000u

uint64_t setup_ms(const struct decision *d)
{
	return d->limits.run_setup ? d->eff.timeout_max_s * 1000 : 0;
}

static struct strs variables(const struct decision *d, struct arena *a)
{
	struct str *v = ARENA_ARRAY(a, struct str, d->n_env);
	size_t n = 0;

	for (size_t i = 0; v && i < d->n_env; i++)
		if (d->env[i].state == ENV_SET && !d->env[i].secret)
			v[n++] = arena_printf(a, "%.*s=%.*s", (int)d->env[i].name.n, d->env[i].name.p,
					      (int)d->env[i].value.n, d->env[i].value.p);
	return (struct strs){ .v = v, .n = n };
}

static struct str text_of(const struct capture *c, struct arena *a)
{
	_cleanup_buf_ struct buf text = { 0 };

	buf_init(&text, OUTPUT_KEPT + 4096);
	capture_text(c, (struct str){ 0 }, &text);
	return arena_str(a, buf_str(&text));
}

/* Where a program says why it gives up. */
static struct str last_line(const struct setup_end *end)
{
	struct str text = str_trim(end->err).n ? str_trim(end->err) : str_trim(end->out), before, line = text;

	(void)str_cut_last(text, '\n', &before, &line);
	return line;
}

static int tell(const struct setup_end *s, const struct box_end *end, struct err *e)
{
	struct str why = last_line(s);
	const char *colon = why.n ? ": " : "";

	switch (end->reason) {
	case BOX_EXITED:
		return err_set(
			e, ERR_UNAVAIL,
			"backend.setupCommand ended with status %d, so the new sandbox was not kept%s" STR_FMT,
			end->value, colon, STR_ARG(why));
	case BOX_SIGNALED:
		return err_set(
			e, ERR_UNAVAIL,
			"backend.setupCommand was killed by signal %d, so the new sandbox was not kept%s" STR_FMT,
			end->value, colon, STR_ARG(why));
	case BOX_TIMEOUT:
		return err_set(
			e, ERR_LIMIT,
			"backend.setupCommand took longer than limits.timeout_max_s allows, so the new sandbox was not kept%s" STR_FMT,
			colon, STR_ARG(why));
	case BOX_CANCELLED:
		return err_set(e, ERR_UNAVAIL, "cancelled while backend.setupCommand ran");
	case BOX_LOST:
	case BOX_REASON_COUNT_:
		break;
	}
	return err_set(e, ERR_UNAVAIL, "the new sandbox ended while backend.setupCommand ran in it");
}

static int exit_of(const struct box_end *end)
{
	return end->reason == BOX_SIGNALED ? 128 + end->value : end->value;
}

static int run(struct session *s, const struct decision *d, struct box *box, struct strs env, struct arena *a,
	       struct err *e)
{
	struct str argv[] = { STR("/bin/sh"), STR("-lc"), d->eff.setup_command };
	_cleanup_collected_ struct collected got; /* begun by collect_run(), whatever it returns */
	struct collect_spec spec = { .call = { .argv = { .v = argv, .n = sizeof(argv) / sizeof(argv[0]) },
					       .env = env,
					       .cwd = d->workdir,
					       .keep = true,
					       .deadline_ms = setup_ms(d),
					       .grace_ms = GRACE_MS,
					       .umask = 022 },
				     .out_max = OUTPUT_KEPT,
				     .err_max = OUTPUT_KEPT,
				     .spill_dir = -1,
				     .cancel_fd = s->cancel_fd };
	int r = collect_run(box, &spec, &got, e);

	s->setup = (struct setup_end){ .failed = true };
	if (r < 0)
		return err_wrap(e, "backend.setupCommand");
	if (got.end.reason == BOX_EXITED && got.end.value == 0) {
		s->setup.failed = false;
		return 0;
	}
	s->setup.exit = exit_of(&got.end);
	s->setup.out = text_of(&got.out, a);
	s->setup.err = text_of(&got.err, a);
	return tell(&s->setup, &got.end, e);
}

int setup_run(struct session *s, const struct decision *d, struct box *box, struct arena *a, struct err *e)
{
	struct strs env;

	if (!d->limits.run_setup)
		return 0;
	env = variables(d, a);
	return a->failed ? err_set(e, ERR_LIMIT, "the environment is too large") : run(s, d, box, env, a, e);
}
