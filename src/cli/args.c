/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/args.h"

#include <errno.h>
#include <stdio.h>

#define WORDS_MAX 4096
#define EXCLUDE_MAX 8

struct parser {
	struct strs argv;
	size_t next;
	struct arena *a;
	void *values;
	struct args *ret;
	const struct arg_option *chosen[EXCLUDE_MAX]; /* by exclusion number */
	struct err *e;
};

const struct arg_option *arg_option_find(const struct arg_options *o, struct str name)
{
	for (size_t i = 0; i < o->n; i++)
		if (str_eq(str_z(o->v[i].name), name))
			return &o->v[i];
	return NULL;
}

static const struct arg_option *find_letter(const struct arg_options *o, char letter)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->v[i].letter == letter)
			return &o->v[i];
	return NULL;
}

const struct command *command_find(const struct command *parent, struct str name)
{
	for (size_t i = 0; i < parent->n_subs; i++)
		if (str_eq(str_z(parent->subs[i].name), name))
			return &parent->subs[i];
	return NULL;
}

bool command_next(struct command_walk *w)
{
	if (w->n == 0) {
		w->n = 1;
		return true;
	}
	while (w->n > 0) {
		const struct command *c = command_at(w);

		if (w->n < COMMAND_MAX_DEPTH && w->next[w->n - 1] < c->n_subs) {
			w->path[w->n] = &c->subs[w->next[w->n - 1]++];
			w->next[w->n++] = 0;
			return true;
		}
		w->n--;
	}
	return false;
}

void args_path_put(struct buf *out, const struct args *args)
{
	for (size_t i = 0; i < args->n_path; i++) {
		if (i)
			buf_putc(out, ' ');
		buf_puts(out, args->path[i]->name);
	}
}

/* ---- what to say when a name is unknown ---- */

static void nearest(struct str wanted, const char *name, const char **best, unsigned *best_distance)
{
	unsigned d = str_distance(str_z(name), wanted, *best_distance);

	/* Two slips in four letters are another word: "test" is not "list". */
	if (d < *best_distance && (d == 1 || 2 * d < wanted.n) && d < wanted.n) {
		*best = name;
		*best_distance = d;
	}
}

const char *command_near(const struct command *parent, struct str word)
{
	const char *best = NULL;
	unsigned distance = 3;

	for (size_t i = 0; i < parent->n_subs; i++)
		if (!parent->subs[i].hidden)
			nearest(word, parent->subs[i].name, &best, &distance);
	return best;
}

#define OWNER_MAX 64

/* The words of the command that has this option, when the one at hand has not; "" = none has. */
static void owner_of(const struct command *program, struct str name, char ret[OWNER_MAX])
{
	struct command_walk w = { .path = { program } };

	ret[0] = '\0';
	while (command_next(&w)) {
		if (w.n < 2 || command_at(&w)->hidden || !arg_option_find(&command_at(&w)->options, name))
			continue;
		(void)snprintf(ret, OWNER_MAX, "%s%s%s", w.path[1]->name, w.n > 2 ? " " : "",
			       w.n > 2 ? w.path[2]->name : "");
		return;
	}
}

/* What whoever knows another program would have meant with it. */
static const char *habit_of(const struct parser *p, struct str name)
{
	for (const struct arg_guess *g = args_command(p->ret)->habits; g && g->word; g++)
		if (str_eq(str_z(g->word), name))
			return g->instead;
	return NULL;
}

/* Whoever has typed words already is most likely in the middle of a command. */
static const char *behind_dashes(const struct parser *p)
{
	return args_command(p->ret)->takes_command && p->ret->words.n
		       ? ": what belongs to a command stands behind '--'"
		       : "";
}

static int unknown_option(const struct parser *p, struct str name)
{
	const char *habit = habit_of(p, name), *best = NULL;
	char owner[OWNER_MAX];
	unsigned distance = 3;

	if (habit)
		return err_set(p->e, ERR_USAGE, "unknown option '--" STR_FMT "': %s", STR_ARG(name), habit);
	owner_of(p->ret->path[0], name, owner);
	for (size_t i = 0; i < p->ret->n_path; i++) {
		const struct arg_options *o = &p->ret->path[i]->options;

		for (size_t k = 0; k < o->n; k++)
			nearest(name, o->v[k].name, &best, &distance);
	}
	if (best)
		return err_set(p->e, ERR_USAGE, "unknown option '--" STR_FMT "', did you mean '--%s'?",
			       STR_ARG(name), best);
	if (owner[0] && p->ret->n_path > 1)
		return err_set(p->e, ERR_USAGE, "'%s' has no option '--" STR_FMT "' ('%s' has one)",
			       args_command(p->ret)->name, STR_ARG(name), owner);
	if (owner[0])
		return err_set(p->e, ERR_USAGE,
			       "option '--" STR_FMT "' belongs to the command '%s': write it after that word",
			       STR_ARG(name), owner);
	return err_set(p->e, ERR_USAGE, "unknown option '--" STR_FMT "'%s", STR_ARG(name), behind_dashes(p));
}

static int unknown_command(const struct parser *p, struct str word)
{
	const struct command *c = args_command(p->ret);
	const char *best = command_near(c, word);

	for (const struct arg_guess *g = c->guesses; g && g->word; g++)
		if (str_eq(str_z(g->word), word))
			return err_set(p->e, ERR_USAGE, "unknown command '" STR_FMT "': write '%s'",
				       STR_ARG(word), g->instead);
	if (best)
		return err_set(p->e, ERR_USAGE, "unknown command '" STR_FMT "', did you mean '%s'?",
			       STR_ARG(word), best);
	if (p->ret->n_path == 1)
		return err_set(p->e, ERR_USAGE,
			       "unknown command '" STR_FMT "'; a program is run with 'creel run -- " STR_FMT
			       "'",
			       STR_ARG(word), STR_ARG(word));
	return err_set(p->e, ERR_USAGE, "unknown command '" STR_FMT "'", STR_ARG(word));
}

/* ---- values ---- */

static int append(struct parser *p, struct arg_list *list, struct str text)
{
	struct str *grown;

	if (list->n == WORDS_MAX)
		return err_set(p->e, ERR_LIMIT, "more than %d words", WORDS_MAX);
	if (list->n == list->cap) {
		grown = arena_grow(p->a, list->v, list->n, &list->cap, sizeof(*list->v), alignof(struct str));
		if (!grown)
			return err_set(p->e, ERR_LIMIT, "out of memory");
		list->v = grown;
	}
	list->v[list->n++] = text;
	return 0;
}

static int bad_word(struct err *e, const char *dashes, const char *what, struct str text,
		    const struct enum_name *names)
{
	const char *best = enum_closest(names, text);
	char list[256];

	enum_list(names, list, sizeof(list));
	if (best)
		return err_set(e, ERR_USAGE, "%s%s: '" STR_FMT "' is not %s (did you mean '%s'?)", dashes,
			       what, STR_ARG(text), list, best);
	return err_set(e, ERR_USAGE, "%s%s: '" STR_FMT "' is not %s", dashes, what, STR_ARG(text), list);
}

static int store_value(struct parser *p, const struct arg_option *o, struct str text)
{
	struct arg_value *v = arg_at(p->values, o);

	if (o->kind == ARG_LIST)
		return append(p, arg_at(p->values, o), text);
	if (v->has)
		return err_set(p->e, ERR_USAGE, "'--%s' is given twice", o->name);
	if (o->names && !enum_value(o->names, text, false, &v->value))
		return bad_word(p->e, "--", o->name, text, o->names);
	if (o->kind == ARG_NUMBER && str_to_u64(text, UINT64_MAX, &v->number) < 0)
		return err_set(p->e, ERR_USAGE, "--%s: '" STR_FMT "' is not a whole number%s", o->name,
			       STR_ARG(text), str_eq(str_z(o->meta), STR("SECONDS")) ? " of seconds" : "");
	v->has = true;
	v->text = text;
	return 0;
}

static int check_exclusion(struct parser *p, const struct arg_option *o)
{
	if (o->exclude == 0 || o->exclude >= EXCLUDE_MAX)
		return 0;
	if (p->chosen[o->exclude] && p->chosen[o->exclude] != o)
		return err_set(p->e, ERR_USAGE, "'--%s' and '--%s' exclude each other",
			       p->chosen[o->exclude]->name, o->name);
	p->chosen[o->exclude] = o;
	return 0;
}

/* `inline_value` is what stood behind '=' or the letter; NULL = nothing did. */
static int take_option(struct parser *p, const struct arg_option *o, const struct str *inline_value)
{
	int r = check_exclusion(p, o);

	if (r < 0)
		return r;
	if (o->kind == ARG_FLAG) {
		*(bool *)arg_at(p->values, o) = true;
		return 0;
	}
	if (o->kind == ARG_OPTIONAL && !inline_value) {
		((struct arg_value *)arg_at(p->values, o))->has = true;
		return 0;
	}
	if (o->kind == ARG_OPTIONAL && inline_value->n == 0)
		return err_set(p->e, ERR_USAGE, "'--%s=' has nothing behind the equals sign", o->name);
	if (inline_value)
		return store_value(p, o, *inline_value);
	/* What begins with two dashes is far more often the next option than a value; --name=--x says it plainly. */
	if (p->next == p->argv.n || str_starts(p->argv.v[p->next], STR("--")))
		return err_set(p->e, ERR_USAGE, "'--%s' needs a value: --%s %s", o->name, o->name, o->meta);
	return store_value(p, o, p->argv.v[p->next++]);
}

/* ---- words ---- */

static int take_long(struct parser *p, struct str arg)
{
	struct str name = str_from(arg, 2), value;
	bool has_value = str_cut(name, '=', &name, &value);

	for (size_t i = p->ret->n_path; i-- > 0;) {
		const struct arg_option *o = arg_option_find(&p->ret->path[i]->options, name);

		if (!o)
			continue;
		if (has_value && o->kind == ARG_FLAG)
			return err_set(p->e, ERR_USAGE, "'--%s' takes no value", o->name);
		return take_option(p, o, has_value ? &value : NULL);
	}
	return unknown_option(p, name);
}

static const struct arg_option *letter_in_path(const struct parser *p, char letter)
{
	const struct arg_option *o = NULL;

	for (size_t i = p->ret->n_path; i-- > 0 && !o;)
		o = find_letter(&p->ret->path[i]->options, letter);
	return o;
}

static int unknown_letter(const struct parser *p, struct str arg, size_t at)
{
	const char *habit = habit_of(p, (struct str){ .p = arg.p + at, .n = 1 });

	if (habit)
		return err_set(p->e, ERR_USAGE, "unknown option '-%c': %s", arg.p[at], habit);
	return err_set(p->e, ERR_USAGE, "unknown option '" STR_FMT "'%s", STR_ARG(arg), behind_dashes(p));
}

static int take_letters(struct parser *p, struct str arg)
{
	for (size_t i = 1; i < arg.n; i++) {
		const struct arg_option *o = letter_in_path(p, arg.p[i]);
		struct str behind = str_from(arg, i + 1);
		int r;

		if (!o)
			return unknown_letter(p, arg, i);
		if (o->kind == ARG_FLAG || o->kind == ARG_OPTIONAL) {
			r = take_option(p, o, NULL);
			if (r < 0)
				return r;
			continue;
		}
		return take_option(p, o, behind.n ? &behind : NULL);
	}
	return 0;
}

static void take_command(struct parser *p)
{
	p->ret->has_rest = true;
	p->ret->rest = (struct strs){ .v = p->argv.v + p->next, .n = p->argv.n - p->next };
	p->next = p->argv.n;
}

static bool takes_many(const struct command *c)
{
	return c->n_words && c->words[c->n_words - 1].many;
}

static int take_word(struct parser *p, struct str word)
{
	const struct command *here = args_command(p->ret);
	const struct command *sub;

	if (here->n_subs) {
		sub = command_find(here, word);
		if (!sub || p->ret->n_path == COMMAND_MAX_DEPTH)
			return unknown_command(p, word);
		p->ret->path[p->ret->n_path++] = sub;
		return 0;
	}
	if (here->bare_command) {
		p->next--; /* it is the command's first word */
		take_command(p);
		return 0;
	}
	if (p->ret->words.n >= here->n_words && !takes_many(here)) {
		if (here->takes_command)
			return err_set(p->e, ERR_USAGE,
				       "unexpected '" STR_FMT "': write a command after '--'", STR_ARG(word));
		return err_set(p->e, ERR_USAGE, "unexpected '" STR_FMT "'%s", STR_ARG(word),
			       here->reads_config ? ": a file is given with -c" : "");
	}
	return append(p, &p->ret->words, word);
}

/* Behind "--" nothing is an option any more. */
static int take_rest(struct parser *p)
{
	int r = 0;

	while (r >= 0 && !args_command(p->ret)->takes_command && p->next < p->argv.n)
		r = take_word(p, p->argv.v[p->next++]);
	if (r >= 0 && args_command(p->ret)->takes_command)
		take_command(p);
	return r;
}

int args_parse(const struct command *program, struct strs argv, struct arena *a, void *values,
	       struct args *ret, struct err *e)
{
	struct parser p = { .argv = argv, .a = a, .values = values, .ret = ret, .e = e };
	int r = 0;

	*ret = (struct args){ .path = { program }, .n_path = 1 };
	while (r >= 0 && p.next < argv.n) {
		struct str arg = argv.v[p.next++];

		if (str_eq(arg, STR("--")))
			r = take_rest(&p);
		else if (str_starts(arg, STR("--")))
			r = take_long(&p, arg);
		else if (arg.n > 1 && arg.p[0] == '-')
			r = take_letters(&p, arg);
		else
			r = take_word(&p, arg);
	}
	return r;
}

static int missing_word(const struct command *c, const struct arg_word *w, struct err *e)
{
	char list[256];

	if (!w->names)
		return err_set(e, ERR_USAGE, "%s is missing%s%s", w->name, c->usage ? ": it takes " : "",
			       c->usage ? c->usage : "");
	enum_list(w->names, list, sizeof(list));
	return err_set(e, ERR_USAGE, "%s is missing: %s", w->name, list);
}

int args_check_words(const struct args *args, struct err *e)
{
	const struct command *c = args_command(args);
	int ignored;

	if (c->n_subs) {
		struct enum_name names[32] = { 0 };
		size_t n = 0;
		char list[256];

		for (size_t i = 0; i < c->n_subs && n < 31; i++)
			if (!c->subs[i].hidden)
				names[n++].name = c->subs[i].name;
		enum_list(names, list, sizeof(list));
		return err_set(e, ERR_USAGE, "which command? one of %s", list);
	}
	for (size_t i = 0; i < c->n_words; i++)
		if (i >= args->words.n && !c->words[i].optional)
			return missing_word(c, &c->words[i], e);
	for (size_t i = 0; i < c->n_words && !c->words[i].many && i < args->words.n; i++) {
		const struct arg_word *w = &c->words[i];

		if (w->names && !enum_value(w->names, args->words.v[i], false, &ignored))
			return bad_word(e, "", w->name, args->words.v[i], w->names);
	}
	return 0;
}
