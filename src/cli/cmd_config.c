/* SPDX-License-Identifier: Apache-2.0 */
/*
 * creel config: check, show and convert. What a key means and what is risky is known by config and policy.
 */
#include "base/private.h"
#include "cli/cli.h"

#include "policy/policy.h"
#include "prepare/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct loaded {
	struct facts facts;
	struct config config;
	struct diags diags;
};

/* Positive: the errors have been told. */
static int load(struct cli *cli, struct loaded *l, struct err *e)
{
	int r;

	*l = (struct loaded){ .diags = { .arena = cli->arena } };
	r = input_facts(cli, &l->facts, e);
	if (r < 0)
		return r;
	r = input_config(cli, &l->facts, &l->diags, &l->config, e);
	if (r >= 0 || l->diags.n_errors == 0)
		return r;
	return EXIT_TROUBLE;
}

/* ---- check ---- */

static const char *severity_word(enum severity s)
{
	return s == SEVERITY_ERROR ? "error" : s == SEVERITY_WARN ? "warning" : "note";
}

static void put_finding(struct jsonw *w, const struct diag *d)
{
	_cleanup_buf_ struct buf place = { 0 };

	buf_init(&place, 4096);
	origin_put(&place, &d->origin);
	jsonw_obj(w);
	jsonw_kz(w, "severity", severity_word(d->severity));
	jsonw_kz(w, "code", d->code);
	jsonw_kstr(w, "origin", buf_str(&place));
	if (d->origin.kind == ORIGIN_FILE) {
		jsonw_kstr(w, "file", d->origin.name);
		jsonw_ku64(w, "line", d->origin.line);
		jsonw_ku64(w, "column", d->origin.col);
	}
	jsonw_kstr(w, "key", d->key);
	jsonw_kstr(w, "message", d->text);
	if (d->fix.n)
		jsonw_kstr(w, "fix", d->fix);
	jsonw_obj_end(w);
}

static void put_check_json(struct cli *cli, const struct diags *d, bool ok)
{
	struct jsonw w;

	jsonw_init(&w, cli->out, 2);
	jsonw_obj(&w);
	jsonw_kbool(&w, "ok", ok);
	jsonw_ku64(&w, "errors", d->n_errors);
	jsonw_ku64(&w, "warnings", d->n_warnings);
	jsonw_karr(&w, "findings");
	for (size_t i = 0; i < d->n; i++)
		put_finding(&w, &d->v[i]);
	jsonw_arr_end(&w);
	jsonw_obj_end(&w);
	buf_putc(cli->out, '\n');
}

static void put_check_text(struct cli *cli, const struct diags *d, bool ok)
{
	for (size_t i = 0; i < d->n && !cli->quiet; i++)
		if (d->v[i].severity != SEVERITY_ERROR)
			diag_put(cli->out, &d->v[i]);
	buf_printf(cli->out, "%s, %zu error%s, %zu warning%s%s\n", ok ? "ok" : "not ok", d->n_errors,
		   d->n_errors == 1 ? "" : "s", d->n_warnings, d->n_warnings == 1 ? "" : "s",
		   ok || d->n_errors ? "" : " (--strict)");
}

/* Whoever names no file believes that his own was checked: say which ones were, or that there was none. */
static void note_default_files(const struct cli *cli, const struct loaded *l)
{
	_cleanup_buf_ struct buf text = { 0 };
	struct str home = l->facts.home, openclaw;

	if (cli->config.n || cli->quiet)
		return;
	buf_init(&text, OUTPUT_MAX);
	for (size_t i = 0; i < l->config.n_imports; i++) {
		buf_puts(&text, "note: read ");
		buf_put_visible(&text, l->config.imports[i].path);
		buf_putc(&text, '\n');
	}
	if (text.n == 0)
		buf_puts(&text, "note: no file was read, only what is built in; -c FILE names one\n");
	openclaw = arena_printf(cli->arena, "%.*s/.openclaw/openclaw.json", (int)home.n, home.p);
	if (l->config.n_imports == 0 && openclaw.p && access(openclaw.p, F_OK) == 0) {
		buf_puts(&text, "note: OpenClaw's own is not read by itself: creel config check -c ");
		buf_put_visible(&text, openclaw);
		buf_putc(&text, '\n');
	}
	output_complain(buf_str(&text));
}

int run_config_check(struct cli *cli, struct err *e)
{
	struct loaded l;
	int r = load(cli, &l, e);
	bool ok;

	if (r < 0)
		return r;
	if (r == 0)
		lint(&l.config, &l.facts, &l.diags);
	ok = l.diags.n_errors == 0 && !(cli->strict && l.diags.n_warnings);
	if (cli->json)
		put_check_json(cli, &l.diags, ok);
	else
		output_diags(&l.diags, SEVERITY_ERROR, &l.config);
	if (!cli->json && r == 0) /* with a file that cannot be read there is nothing to find in it */
		put_check_text(cli, &l.diags, ok);
	if (!cli->json && r == 0)
		note_default_files(cli, &l);
	redact(cli->out, &l.config, false);
	return ok ? 0 : EXIT_TROUBLE;
}

/* ---- show ---- */

static int show_result(struct cli *cli, struct loaded *l, int r)
{
	if (r > 0)
		output_diags(&l->diags, SEVERITY_ERROR, NULL);
	else if (r == 0 && !cli->quiet)
		output_diags(&l->diags, SEVERITY_WARN, &l->config);
	return r;
}

/* Printed text is for people to see; what is hidden in it would be read back as a value. */
static void note_hidden(const struct cli *cli)
{
	struct str text = buf_str(cli->out);

	if (!cli->quiet && text.n && memmem(text.p, text.n, "<redacted>", strlen("<redacted>")))
		output_complain(STR(
			"note: what is shown as <redacted> does not read back; config import --write keeps it\n"));
}

/* What the other format has no words for: it was left out, and the reader of the result should know. */
static void show_note(const struct cli *cli, int r, const struct err *e)
{
	_cleanup_buf_ struct buf text = { 0 };

	if (r != 0 || !e->msg[0] || cli->quiet)
		return;
	buf_init(&text, sizeof(e->msg) + 16);
	buf_printf(&text, "note: %s\n", e->msg);
	output_complain(buf_str(&text));
}

int run_config_show(struct cli *cli, struct err *e)
{
	struct show_opts o = { .origin = cli->origin, .all = cli->all, .json = cli->json };
	struct loaded l;
	int r = show_result(cli, &l, load(cli, &l, e));

	if (r != 0)
		return r;
	if (cli->show_as.has && cli->show_as.value != FORMAT_CREEL) {
		r = config_show_as(&l.config, (enum format)cli->show_as.value, &o, cli->out, e);
		show_note(cli, r, e);
	} else {
		config_show(&l.config, &o, cli->out);
	}
	redact(cli->out, &l.config, false);
	note_hidden(cli);
	return r;
}

int run_config_schema(struct cli *cli, struct err *e)
{
	struct jsonw w;

	(void)e;
	jsonw_init(&w, cli->out, 2);
	config_schema(&w);
	buf_putc(cli->out, '\n');
	return 0;
}

int run_config_keys(struct cli *cli, struct err *e)
{
	(void)e;
	config_keys(cli->out);
	return 0;
}

/* ---- import ---- */

/* --write=PATH, or the third word, or (empty) the file that every command reads by default. */
static int target_path(struct cli *cli, struct str *ret, struct err *e)
{
	struct str word = cli->args.words.n > 2 ? cli->args.words.v[2] : (struct str){ 0 };
	struct str path = cli->write_to.text;

	if (word.n && !cli->write_to.has)
		return err_set(e, ERR_USAGE, "unexpected '" STR_FMT "': a PATH needs --write", STR_ARG(word));
	if (word.n && path.n)
		return err_set(e, ERR_USAGE, "two paths to write to: '" STR_FMT "' and '" STR_FMT "'",
			       STR_ARG(path), STR_ARG(word));
	*ret = path.n ? path : word;
	return 0;
}

/* Only the directory of our own default file is made: a mistyped PATH must not grow a tree. */
static int default_path(struct cli *cli, const struct facts *f, struct str *ret, struct err *e)
{
	struct str dir = arena_printf(cli->arena, "%.*s/.openclaw", (int)f->home.n, f->home.p);
	int r;

	*ret = arena_printf(cli->arena, "%.*s/creel.json5", (int)dir.n, dir.p);
	if (cli->arena->failed)
		return err_set(e, ERR_LIMIT, "out of memory");
	r = private_mkdir(AT_FDCWD, dir.p, 0700);
	return r < 0 ? err_sys(e, -r, "make '%s'", dir.p) : 0;
}

/* A written file stands alone: outside of env.set, ${NAME} was replaced by its value. */
static void note_filled_in(const struct cli *cli, const struct config *c, struct str text)
{
	_cleanup_buf_ struct buf names = { 0 };

	buf_init(&names, OUTPUT_MAX);
	for (size_t i = 0; i < c->n_env_used; i++) {
		struct str value = c->env_used[i].value;

		if (value.n == 0 || !memmem(text.p, text.n, value.p, value.n))
			continue;
		buf_puts(&names, names.n ? ", $" : "note: the file holds the values of $");
		buf_put_visible(&names, c->env_used[i].name);
	}
	buf_putc(&names, '\n');
	if (names.n > 1 && !cli->quiet)
		output_complain(buf_str(&names));
}

/* What is written to the default place is in force at once, and refuses what was allowed a minute ago. */
static void note_in_force(const struct cli *cli, const struct loaded *l, struct str path, bool is_default)
{
	struct str home = l->facts.home;
	struct str first = arena_printf(cli->arena, "%.*s/.config/creel/creel.json5", (int)home.n, home.p);
	const struct settings *s = &l->config.base;
	_cleanup_buf_ struct buf text = { 0 };

	if (cli->quiet)
		return;
	buf_init(&text, OUTPUT_MAX);
	if (!is_default) {
		buf_puts(&text, "note: it counts where it is named: -c ");
		buf_put_visible(&text, path);
	} else if (first.p && access(first.p, F_OK) == 0) {
		buf_puts(&text, "note: it is not read while there is ");
		buf_put_visible(&text, first);
	} else {
		buf_puts(&text, "note: from now on every command reads it that is given no -c");
	}
	buf_putc(&text, '\n');
	if (is_default && s->has[OPT_WS_ACCESS] && s->ws_access == ACCESS_NONE)
		buf_puts(&text, "note: commands work in a private directory, and not in the current one "
				"(mounts.workspace.access is none); --workspace-access overlay or "
				"'mounts: { workspace: { access: \"overlay\" } }' there changes that\n");
	output_complain(buf_str(&text));
}

static int write_imported(struct cli *cli, const struct loaded *l, struct str path, struct str text,
			  struct err *e)
{
	_cleanup_free_ char *z = NULL;
	bool is_default = path.n == 0;
	int r = is_default ? default_path(cli, &l->facts, &path, e) : 0;

	if (r < 0)
		return r;
	r = str_dupz(path, &z);
	if (r < 0)
		return err_sys(e, -r, "path to write to");
	r = output_file(z, text, cli->force, e);
	if (r < 0)
		return r;
	buf_puts(cli->out, "wrote ");
	buf_put_visible(cli->out, path);
	buf_putc(cli->out, '\n');
	note_in_force(cli, l, path, is_default);
	return 0;
}

static int import(struct cli *cli, struct loaded *l, struct err *e)
{
	struct config_source file = { .path = cli->args.words.v[1],
				      .origin = { .kind = ORIGIN_FLAG, .name = cli->args.words.v[1] } };
	int format = FORMAT_CREEL, r;

	*l = (struct loaded){ .diags = { .arena = cli->arena } };
	(void)enum_value(format_words, cli->args.words.v[0], false,
			 &format); /* args_check_words() has seen to it */
	file.format = (enum format)format;
	if (cli->config.n)
		return err_set(e, ERR_USAGE, "--config has no meaning here: name the file after its format");
	r = input_facts(cli, &l->facts, e);
	if (r < 0)
		return r;
	r = input_one_file(cli, &l->facts, &file, &l->diags, &l->config, e);
	return r < 0 && l->diags.n_errors ? EXIT_TROUBLE : r;
}

int run_config_import(struct cli *cli, struct err *e)
{
	struct show_opts o = { .reveal = cli->write_to.has, .json = cli->json };
	_cleanup_buf_ struct buf text = { 0 };
	struct str path = { 0 };
	struct loaded l;
	int r = target_path(cli, &path, e);

	if (r == 0)
		r = import(cli, &l, e);
	if (r >= 0)
		r = show_result(cli, &l, r);
	if (r != 0)
		return r;
	if (!cli->write_to.has) {
		config_show(&l.config, &o, cli->out);
		redact(cli->out, &l.config, false);
		note_hidden(cli);
		return 0;
	}
	buf_init(&text, OUTPUT_MAX);
	config_show(&l.config, &o, &text);
	if (text.failed)
		return err_set(e, ERR_LIMIT, "the result is larger than %zu bytes", OUTPUT_MAX);
	r = write_imported(cli, &l, path, buf_str(&text), e);
	if (r == 0)
		note_filled_in(cli, &l.config, buf_str(&text));
	return r;
}
