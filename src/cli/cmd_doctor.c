/* SPDX-License-Identifier: Apache-2.0 */
/*
 * creel doctor: what this host and user can do. The last line is not looked up but tried: a real sandbox is started through
 * the same code as creel run, so doctor cannot say yes where run would say no. Then the services, where somebody has set them up.
 */
#include "cli/doctor.h"
#include "cli/run.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const state_words[] = { "FAIL", "warn", "ok" };

/* The kind is ERR_NONE when it was policy that refused: the host was not asked then. */
static struct run *trial(struct cli *cli, struct err *e)
{
	static const struct str argv[] = { STR("/bin/true") };
	struct run *r = ARENA_NEW(cli->arena, struct run);

	if (!r)
		return NULL;
	run_init(r, cli);
	r->no_stdio = true;
	cli->args.rest = (struct strs){ .v = argv, .n = 1 };
	cli->quiet = true;
	if (run_load(r, e) >= 0 && r->decision->verdict == VERDICT_ALLOW)
		(void)run_native(r, e);
	return r;
}

/*
 * A configuration may let no such command run (tier-1 has four programs), and no sandbox may see a home directory as a whole: that says nothing
 * about the host. So it is asked again without the configuration, in an empty directory, and with the walls that may be missing.
 */
static struct run *plain_trial(const struct cli *cli, const struct run *refused, struct err *e)
{
	const struct strs walls = refused->config.base.walls_optional;
	struct cli *plain = ARENA_NEW(cli->arena, struct cli);
	char dir[] = "/tmp/creel-doctor-XXXXXX";
	_cleanup_buf_ struct buf list = { 0 };
	struct run *r = NULL;

	if (!plain || !mkdtemp(dir)) {
		(void)err_sys(e, errno, "make an empty directory in /tmp");
		return NULL;
	}
	buf_init(&list, 1024);
	for (size_t i = 0; i < walls.n; i++)
		buf_printf(&list, "%s" STR_FMT, i ? "," : "", STR_ARG(walls.v[i]));
	*plain = (struct cli){ .state_dir = cli->state_dir,
			       .no_default_config = true,
			       .workspace = { .has = true, .text = arena_str(cli->arena, str_z(dir)) },
			       .args = cli->args,
			       .arena = cli->arena,
			       .out = cli->out,
			       .environ = cli->environ,
			       .argv = cli->argv };
	if (walls.n)
		plain->flags[plain->n_flags++] =
			(struct config_flag){ .flag = "walls.optional",
					      .key = "walls.optional",
					      .value = arena_str(cli->arena, buf_str(&list)) };
	r = trial(plain, e);
	if (r && r->decision && r->decision->verdict != VERDICT_ALLOW)
		(void)err_set(e, ERR_DENIED, "%.*s", (int)r->decision->message.n, r->decision->message.p);
	(void)rmdir(dir);
	return r;
}

static void is_well(struct survey_item *i, struct str found)
{
	i->state = SURVEY_OK;
	i->cause = i->fix = (struct str){ 0 };
	if (found.n)
		i->found = found;
}

/*
 * What was looked up is a suspicion; a sandbox that was started clears it. A container around us is nothing then, and
 * whatever else was found missing was not needed as run is set up here. It is the warden who makes namespaces: where AppArmor
 * lets nobody else do so, what we have found for ourselves says nothing about it.
 */
static void forgive(struct survey *s, const struct run *r)
{
	for (size_t i = 0; i < s->n; i++) {
		struct survey_item *it = &s->v[i];

		if (strcmp(it->name, "container") == 0)
			is_well(it, (struct str){ 0 });
		else if (strcmp(it->name, "user-namespaces") == 0 && it->state == SURVEY_FAIL)
			is_well(it, STR("creel-warden makes them, other programs of this user cannot"));
		else if (strcmp(it->name, "time-namespace") == 0 && it->state != SURVEY_OK && r->last.time_ns)
			is_well(it, STR("sandboxes have clocks of their own"));
		else if (it->state == SURVEY_FAIL)
			it->state = SURVEY_WARN;
	}
}

/* Held, or named as one to do without. */
static struct str say_held(struct cli *cli, const struct run *r, struct str refused)
{
	_cleanup_buf_ struct buf text = { 0 };
	unsigned missing = run_missing_walls(r);

	buf_init(&text, 8192);
	buf_printf(&text, "a sandbox was started, and every wall held (%d probes)",
		   __builtin_popcountll(r->last.probes));
	for (const struct enum_name *n = wall_names; n->name; n++)
		if (missing & 1u << n->value)
			buf_printf(&text, ", without %s, as walls.optional accepts", n->name);
	if (refused.n) {
		buf_puts(&text, "; 'creel run' here and with this configuration is refused: ");
		buf_put(&text, refused);
	}
	return arena_str(cli->arena, buf_str(&text));
}

static void add_trial(struct cli *cli, const struct run *r, struct str refused, const struct err *e,
		      struct survey *s)
{
	const char *fix = strstr(e->msg, "; fix: ");
	struct survey_item *i;

	if (s->n == SURVEY_MAX)
		return;
	i = &s->v[s->n++];
	if (r && r->started && r->status == 0) {
		*i = (struct survey_item){ .name = "sandbox",
					   .state = SURVEY_OK,
					   .found = say_held(cli, r, refused) };
		forgive(s, r);
		return;
	}
	*i = (struct survey_item){ .name = "sandbox",
				   .state = SURVEY_FAIL,
				   .found = STR("a sandbox could not be started") };
	i->cause = arena_str(cli->arena, e->kind == ERR_NONE ? STR("no reason was given") : str_z(e->msg));
	i->fix = STR("see the findings above; creel run --plan -- true shows the steps");
	if (fix) {
		i->cause.n = (size_t)(fix - e->msg);
		i->fix = arena_str(cli->arena, str_z(fix + sizeof("; fix: ") - 1));
	}
}

static void put_json(struct cli *cli, const struct survey *s, bool ok)
{
	struct jsonw w;

	jsonw_init(&w, cli->out, 2);
	jsonw_obj(&w);
	jsonw_kbool(&w, "ok", ok);
	jsonw_karr(&w, "findings");
	for (size_t i = 0; i < s->n; i++) {
		const struct survey_item *it = &s->v[i];

		jsonw_obj(&w);
		jsonw_kz(&w, "name", it->name);
		jsonw_kz(&w, "state", it->state == SURVEY_FAIL ? "fail" : state_words[it->state]);
		jsonw_kstr(&w, "found", it->found);
		if (it->cause.n)
			jsonw_kstr(&w, "cause", it->cause);
		if (it->fix.n)
			jsonw_kstr(&w, "fix", it->fix);
		jsonw_obj_end(&w);
	}
	jsonw_arr_end(&w);
	jsonw_obj_end(&w);
	buf_putc(cli->out, '\n');
}

static void put_text(struct cli *cli, const struct survey *s)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct survey_item *it = &s->v[i];

		buf_printf(cli->out, "%-4s  %-16s ", state_words[it->state], it->name);
		buf_put_visible(cli->out, it->found);
		buf_putc(cli->out, '\n');
		if (it->cause.n) {
			buf_puts(cli->out, "      cause: ");
			buf_put_visible(cli->out, it->cause);
			buf_putc(cli->out, '\n');
		}
		if (it->fix.n) {
			buf_puts(cli->out, "      fix:   ");
			buf_put_visible(cli->out, it->fix);
			buf_putc(cli->out, '\n');
		}
	}
}

int run_doctor(struct cli *cli, struct err *e)
{
	struct survey *s = ARENA_NEW(cli->arena, struct survey);
	struct err trouble = { 0 };
	struct str refused = { 0 };
	const struct run *r;
	bool ok = true, denied, opensandbox;

	if (!s)
		return err_set(e, ERR_LIMIT, "out of memory");
	r = trial(cli, &trouble);
	if (r && r->diags.n_errors) { /* a configuration that run would not read either */
		output_diags(&r->diags, SEVERITY_ERROR, NULL);
		return EXIT_TROUBLE;
	}
	opensandbox = r && r->config.base.osb_provider == PROVIDER_OPENSANDBOX;
	/* A name that policy lets pass may lead to what it does not. What the kernel does not permit is no word of policy. */
	denied = trouble.kind == ERR_DENIED && trouble.sys_errno == 0;
	if (r && r->decision && (r->decision->verdict != VERDICT_ALLOW || denied)) {
		refused = denied ? arena_str(cli->arena, str_z(trouble.msg)) : r->decision->message;
		trouble = (struct err){ 0 };
		r = plain_trial(cli, r, &trouble);
	}
	survey_host(cli->arena, r && r->decision ? r->decision->optional_walls : 0, s);
	add_trial(cli, r, refused, &trouble, s);
	doctor_services(cli, opensandbox, s);
	for (size_t i = 0; i < s->n; i++)
		ok = ok && s->v[i].state != SURVEY_FAIL;
	if (cli->json)
		put_json(cli, s, ok);
	else
		put_text(cli, s);
	return ok ? 0 : EXIT_TROUBLE;
}
