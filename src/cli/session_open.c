/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/session.h"

#include "data/json.h"

#include <assert.h>

static_assert((int)CREEL_USAGE == (int)ERR_USAGE && (int)CREEL_DENIED == (int)ERR_DENIED &&
		      (int)CREEL_NOTFOUND == (int)ERR_NOTFOUND && (int)CREEL_LIMIT == (int)ERR_LIMIT &&
		      (int)CREEL_UNAVAIL == (int)ERR_UNAVAIL && (int)CREEL_PROTO == (int)ERR_PROTO &&
		      (int)CREEL_SYS == (int)ERR_SYS && (int)CREEL_BUG == (int)ERR_BUG,
	      "the library's kinds are ours");

struct said {
	const struct cli *cli;
	bool errors;
};

static void say(void *ctx, int severity, const char *text)
{
	struct said *s = ctx;
	_cleanup_buf_ struct buf line = { 0 };

	if (severity == CREEL_ERROR)
		s->errors = true;
	else if (s->cli->quiet)
		return;
	buf_init(&line, OUTPUT_MAX);
	buf_put_visible(&line, str_trim(str_z(text)));
	buf_putc(&line, '\n');
	output_complain(buf_str(&line));
}

int session_error(const struct creel_error *from, struct err *e)
{
	int kind = from->kind > CREEL_OK && from->kind <= CREEL_BUG ? from->kind : CREEL_BUG;

	(void)err_set(e, (enum err_kind)kind, "%s", from->message);
	e->sys_errno = from->sys_errno;
	return -1;
}

int session_text(struct cli *cli, const struct arg_value *v, const char *flag, const char **ret,
		 struct err *e)
{
	*ret = NULL;
	if (!v->has)
		return 0;
	/* Blank is what a script passes whose variable is not set: taken as "not given" it would be another session. */
	if (str_trim(v->text).n == 0)
		return err_set(e, ERR_USAGE, "%s must not be blank", flag);
	*ret = arena_str(cli->arena, v->text).p;
	return *ret ? 0 : err_set(e, ERR_LIMIT, "out of memory");
}

/* The words of a command line end in NUL, so a list of them can be passed as it is. */
static const char *const *texts(struct cli *cli, const struct arg_list *list)
{
	const char **v = ARENA_ARRAY(cli->arena, const char *, list->n + 1);

	for (size_t i = 0; v && i < list->n; i++)
		v[i] = list->v[i].p;
	return v;
}

int session_engine(struct cli *cli, unsigned flags, struct creel_engine **ret, struct err *e)
{
	struct creel_options o = CREEL_OPTIONS_INIT;
	struct said said = { .cli = cli };
	struct creel_error ce = { 0 };
	int r = session_text(cli, &cli->state_dir, "--state-dir", &o.state_dir, e);

	if (r < 0)
		return r;
	o.flags = flags | (cli->no_default_config ? CREEL_NO_DEFAULT_CONFIG : 0);
	o.config = texts(cli, &cli->config);
	o.n_config = cli->config.n;
	o.set = texts(cli, &cli->sets);
	o.n_set = cli->sets.n;
	o.profile = cli->profile.has ? cli->profile.text.p : NULL;
	o.compat = cli->compat.has ? cli->compat.text.p : NULL;
	o.environ_ = cli->environ;
	o.say = say;
	o.ctx = &said;
	if (cli->arena->failed)
		return err_set(e, ERR_LIMIT, "out of memory");
	r = creel_engine_new(&o, ret, &ce);
	if (r >= 0)
		return 0;
	if (said.errors) /* one line each, already told */
		return r;
	return session_error(&ce, e);
}

int session_failed(int r, const struct err *e)
{
	return e->kind == ERR_NONE ? EXIT_TROUBLE : r;
}

int session_filter(struct cli *cli, struct creel_filter *f, struct err *e)
{
	int r = session_text(cli, &cli->session, "--session", &f->session, e);

	if (r >= 0)
		r = session_text(cli, &cli->agent, "--agent", &f->agent, e);
	if (r >= 0)
		r = session_text(cli, &cli->scope, "--scope", &f->scope, e);
	f->all = cli->all;
	return r;
}

int session_json(struct cli *cli, const char *json, struct value *ret, struct err *e)
{
	const struct json_opts o = { .name = "libcreel",
				     .max_bytes = (size_t)1 << 30,
				     .max_values = 10000000 };
	int r = json_parse(cli->arena, str_z(json), &o, ret, e);

	if (r < 0)
		e->kind = e->kind == ERR_LIMIT ? ERR_LIMIT : ERR_PROTO;
	return r;
}
