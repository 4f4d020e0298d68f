/* SPDX-License-Identifier: Apache-2.0 */
/* The options of creeld and of the services: those of the command line that say what the configuration is, and how loud the log is. */
#include "server/service.h"

#include <stddef.h>

enum kind { FLAG = 0, TEXT, LIST, FORMAT };

static const struct row {
	const char *name;
	char letter;
	enum kind kind;
	size_t at, count_at;
} rows[] = {
#define AT(field) offsetof(struct service_args, field)
	/* clang-format off */
	{ "config", 'c', LIST, AT(config), AT(n_config) },
	{ "set", 'e', LIST, AT(sets), AT(n_sets) },
	{ "no-default-config", 0, FLAG, AT(no_default_config), 0 },
	{ "profile", 0, TEXT, AT(profile), 0 },
	{ "compat", 0, TEXT, AT(compat), 0 },
	{ "state-dir", 0, TEXT, AT(state_dir), 0 },
	{ "log-format", 0, FORMAT, AT(log_format), 0 },
	{ "quiet", 'q', FLAG, AT(quiet), 0 },
	{ "verbose", 'v', FLAG, AT(verbose), 0 },
	{ "check", 0, FLAG, AT(check), 0 },
	{ "help", 'h', FLAG, AT(help), 0 },
	{ "version", 0, FLAG, AT(version), 0 },
/* clang-format on */
#undef AT
};

const char *service_args_help(void)
{
	return "  -c, --config [FORMAT:]FILE  read this configuration; repeatable, later ones win\n"
	       "      --no-default-config     do not look for ~/.openclaw/creel.json5 and .athena/settings.yaml\n"
	       "      --profile NAME          defaults of one source system\n"
	       "  -e, --set KEY=VALUE         set one option by its dotted name; repeatable\n"
	       "      --compat NAME           follow the documents, or OpenClaw as it behaves in that version\n"
	       "      --state-dir DIR         keep what is creel's own here\n"
	       "      --log-format text|json  how lines of the log look\n"
	       "  -q, --quiet                 log warnings and errors alone\n"
	       "  -v, --verbose               log more\n"
	       "      --check                 look at the configuration and the tokens, tell, and end\n"
	       "  -h, --help                  show this and exit\n"
	       "      --version               show the version and exit\n";
}

static const struct row *find(struct str name, char letter)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (letter ? rows[i].letter == letter : str_eq(str_z(rows[i].name), name))
			return &rows[i];
	return NULL;
}

static int store(const struct row *row, struct str value, struct service_args *a, struct err *e)
{
	char *at = (char *)a + row->at;
	struct str *text = (struct str *)(void *)at;

	if (row->kind == LIST) {
		size_t *n = (size_t *)(void *)((char *)a + row->count_at);

		if (*n == SERVICE_ARGS_MAX)
			return err_set(e, ERR_LIMIT, "--%s is given more than %u times", row->name,
				       SERVICE_ARGS_MAX);
		text[(*n)++] = value;
		return 0;
	}
	if (row->kind == FORMAT) {
		if (!str_eq(value, STR("text")) && !str_eq(value, STR("json")))
			return err_set(e, ERR_USAGE, "--log-format: '" STR_FMT "' is not text or json",
				       STR_ARG(value));
		a->log_format = value.p[0] == 'j' ? LOG_JSON : LOG_TEXT;
		return 0;
	}
	if (str_trim(value).n == 0)
		return err_set(e, ERR_USAGE, "--%s must not be blank", row->name);
	if (text->n)
		return err_set(e, ERR_USAGE, "'--%s' is given twice", row->name);
	*text = value;
	return 0;
}

/* How many words it took: 1 or 2. `inner`: what stood behind '=' or the letter; its p is NULL when nothing did. */
static int take(const struct row *row, struct str inner, const char *next, struct service_args *a,
		struct err *e)
{
	if (row->kind == FLAG) {
		*((bool *)(void *)((char *)a + row->at)) = true;
		return inner.p ? err_set(e, ERR_USAGE, "'--%s' takes no value", row->name) : 1;
	}
	if (!inner.p && !next)
		return err_set(e, ERR_USAGE, "'--%s' needs a value", row->name);
	if (store(row, inner.p ? inner : str_z(next), a, e) < 0)
		return -1;
	return inner.p ? 1 : 2;
}

static int take_long(struct str arg, const char *next, struct service_args *a, struct err *e)
{
	struct str name = str_from(arg, 2), value = { 0 };
	const struct row *row;

	(void)str_cut(name, '=', &name, &value);
	row = find(name, 0);
	return row ? take(row, value, next, a, e)
		   : err_set(e, ERR_USAGE, "unknown option '" STR_FMT "'", STR_ARG(arg));
}

static int take_letters(struct str arg, const char *next, struct service_args *a, struct err *e)
{
	for (size_t i = 1; i < arg.n; i++) {
		const struct row *row = find(STR(""), arg.p[i]);
		struct str behind = str_from(arg, i + 1);

		if (!row)
			return err_set(e, ERR_USAGE, "unknown option '" STR_FMT "'", STR_ARG(arg));
		if (row->kind != FLAG)
			return take(row, behind.n ? behind : (struct str){ 0 }, next, a, e);
		(void)take(row, (struct str){ 0 }, NULL, a, e);
	}
	return 1;
}

static int take_word(struct str word, size_t max_words, struct service_args *a, struct err *e)
{
	if (a->n_words >= max_words || a->n_words == sizeof(a->words) / sizeof(a->words[0]))
		return err_set(e, ERR_USAGE, "unexpected '" STR_FMT "'", STR_ARG(word));
	a->words[a->n_words++] = word;
	return 1;
}

int service_args_parse(int argc, char *const *argv, size_t max_words, struct service_args *ret, struct err *e)
{
	*ret = (struct service_args){ 0 };
	for (int i = 1; i < argc;) {
		const char *next = i + 1 < argc ? argv[i + 1] : NULL;
		struct str arg = str_z(argv[i]);
		int r;

		if (str_starts(arg, STR("--")))
			r = take_long(arg, next, ret, e);
		else if (arg.n > 1 && arg.p[0] == '-')
			r = take_letters(arg, next, ret, e);
		else
			r = take_word(arg, max_words, ret, e);
		if (r < 0)
			return r;
		i += r;
	}
	if (ret->quiet && ret->verbose)
		return err_set(e, ERR_USAGE, "'--quiet' and '--verbose' exclude each other");
	return 0;
}
