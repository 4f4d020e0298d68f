/* SPDX-License-Identifier: Apache-2.0 */
/* -e key=value and -e '{json}': a dotted option key, a key of one tool, or one of S3's variables. */
#include "config/ansible_priv.h"
#include "config/load_priv.h"
#include "config/set_priv.h"

#include "base/utf8.h"
#include "data/json.h"

static const char *const *known_keys(struct load *l)
{
	const char **known = ARENA_ARRAY(l->a, const char *, OPT_COUNT_ + 64);
	const char *const *names = ansible_names();
	size_t n = 0;

	for (unsigned i = 0; known && i < OPT_COUNT_; i++)
		known[n++] = option_info((enum option)i)->key;
	for (size_t i = 0; known && names[i]; i++)
		known[n++] = names[i];
	return known;
}

/* Only the closest is told: the whole list is in the manual. */
static void unknown(struct load *l, struct str key, const struct origin *o)
{
	const char *const *known = known_keys(l);
	const char *best = NULL;
	unsigned best_d = 3;

	for (size_t i = 0; known && known[i]; i++) {
		unsigned d = str_distance(str_z(known[i]), key, best_d);

		if (d < best_d && d < key.n)
			best = known[i], best_d = d;
	}
	diag_add(l->diags, SEVERITY_ERROR, "unknown_key", o, key,
		 "unknown key, accepted: an option's dotted key or a sandbox_* variable%s%s%s",
		 best ? "; did you mean '" : "", best ? best : "",
		 best ? "'?" : "; 'creel config keys' lists them");
}

/* tools.per.TOOL.FIELD */
static bool set_per_tool(struct load *l, struct str key, const struct value *v, const struct at *at,
			 bool from_text)
{
	const struct at per = { .file = at->file, .key = STR("tools.per"), .from = at->from };
	struct member m = { .v = *v };
	struct str tool;
	struct at down;

	if (!str_starts(key, STR("tools.per.")) ||
	    !str_cut_last(str_from(key, strlen("tools.per.")), '.', &tool, &m.key) || str_trim(tool).n == 0)
		return false;
	down = at_key(l, &per, tool);
	(void)read_per_tool_field(l, tool, &m, &down, from_text);
	return true;
}

static bool feeds_ansible(enum option id)
{
	return id == OPT_WHEN || id == OPT_ROUTE_TOOLS || id == OPT_ROUTE_EXEC || id == OPT_NET_PRIMARY;
}

void load_set_key(struct load *l, struct str key, const struct value *v, const struct origin *o,
		  bool from_text)
{
	struct origin *kept = ARENA_NEW(l->a, struct origin); /* `at` may outlive the caller's */
	struct at at = { .file = o->name, .key = key, .from = kept };
	const struct at top = { .file = o->name, .from = kept };
	const struct member m = { .key = key, .line = v->line, .col = v->col, .v = *v };
	enum option id;

	if (!kept)
		return;
	*kept = *o;
	if (ansible_is_var(key)) {
		read_ansible_var(l, key, v, kept, from_text);
		return;
	}
	if (option_find(key, &id)) {
		if (feeds_ansible(id))
			ansible_forget(l);
		(void)load_set(l, &l->c->base, id, v, &at, from_text);
		return;
	}
	if (set_per_tool(l, key, v, &at, from_text))
		return;
	if (!from_text && read_creel_member(l, &m, &top))
		ansible_forget(l);
	else
		unknown(l, key, kept);
}

static bool parse_object(struct load *l, struct str text, struct value *ret, struct err *e)
{
	const struct json_opts opts = { .name = "json", .json5 = true };

	if (json_parse(l->a, text, &opts, ret, e) < 0)
		return false;
	return ret->kind == VALUE_OBJ || (err_set(e, ERR_USAGE, "expected an object"), false);
}

/* Only the key: the value may be a secret. */
static struct origin flag_origin(struct load *l, struct str key)
{
	struct origin o = { .kind = ORIGIN_FLAG, .name = STR("-e") };

	if (key.n)
		o.name = arena_printf(l->a, "-e %.*s", (int)(key.n < 200 ? key.n : 200), key.p);
	return o;
}

static void set_object(struct load *l, struct str arg)
{
	struct origin o = flag_origin(l, (struct str){ 0 });
	struct err e = { 0 };
	struct value root;

	if (!parse_object(l, arg, &root, &e)) {
		diag_add(l->diags, SEVERITY_ERROR, "bad_syntax", &o, (struct str){ 0 }, "%s", e.msg);
		return;
	}
	for (size_t i = 0; i < root.obj.n; i++) {
		const struct member *m = &root.obj.m[i];

		o = flag_origin(l, m->key);
		load_set_key(l, m->key, &m->v, &o, false);
	}
}

void load_set_arg(struct load *l, struct str arg)
{
	struct value v = { .kind = VALUE_STR };
	struct str text = arena_str(l->a, str_trim(arg)), key;
	struct origin o = flag_origin(l, (struct str){ 0 });

	if (!utf8_valid(text)) {
		diag_add(l->diags, SEVERITY_ERROR, "bad_syntax", &o, (struct str){ 0 },
			 "not UTF-8, accepted: text");
		return;
	}
	if (text.n && text.p[0] == '{') {
		set_object(l, text);
		return;
	}
	if (!str_cut(text, '=', &key, &v.s) || str_trim(key).n == 0) {
		diag_add(l->diags, SEVERITY_ERROR, "bad_syntax", &o, (struct str){ 0 },
			 "no key=value, accepted: key=value or {json}");
		return;
	}
	key = str_trim(key);
	v.s = str_trim(v.s);
	o = flag_origin(l, key);
	load_set_key(l, key, &v, &o, true);
}

/* A space, of any kind there is. */
static bool may_be_space(char c)
{
	return (unsigned char)c <= ' ' || (unsigned char)c >= 0x7f;
}

/* A path of the command line is that one: spaces at its ends are part of its name, and trimmed it would be another directory. */
static struct str exact_path(struct load *l, struct str path)
{
	bool first = may_be_space(path.p[0]), last = may_be_space(path.p[path.n - 1]);

	if (!first && !last)
		return path;
	return arena_printf(l->a, "%s" STR_FMT "%s", first ? "./" : "", STR_ALL(path), last ? "/" : "");
}

void load_set_flag(struct load *l, const struct config_flag *f)
{
	const struct origin o = { .kind = ORIGIN_FLAG, .name = str_z(f->flag) };
	const bool path = str_eq(str_z(f->key), STR("mounts.workspace.path")) && str_trim(f->value).n;
	const struct value v = { .kind = VALUE_STR,
				 .s = path ? exact_path(l, f->value) : str_trim(f->value) };

	if (utf8_valid(v.s))
		load_set_key(l, str_z(f->key), &v, &o, true);
	else
		diag_add(l->diags, SEVERITY_ERROR, "bad_syntax", &o, (struct str){ 0 },
			 "not UTF-8, accepted: text");
}

/* Looks into one -e without setting anything; errors are told when it is set. */
static bool peek_one(struct load *l, struct str arg, struct str want, struct str *ret)
{
	struct str text = str_trim(arg), key, value;
	const struct value *v;
	struct err e = { 0 };
	struct value root;

	if (text.n && text.p[0] == '{') {
		if (!parse_object(l, text, &root, &e))
			return false;
		v = value_get(&root, want);
		if (v && v->kind == VALUE_STR)
			*ret = v->s;
		return v && v->kind == VALUE_STR;
	}
	if (!str_cut(text, '=', &key, &value) || !str_eq(str_trim(key), want))
		return false;
	*ret = str_trim(value);
	return true;
}

bool sets_peek(struct load *l, const char *key, struct str *ret)
{
	bool found = false;

	for (size_t i = 0; i < l->in->sets.n; i++)
		found = peek_one(l, l->in->sets.v[i], str_z(key), ret) || found;
	return found;
}

bool sets_name_ansible(struct load *l)
{
	for (size_t i = 0; i < l->in->sets.n; i++) {
		struct str text = str_trim(l->in->sets.v[i]), key, value;
		struct err e = { 0 };
		struct value root;

		if (str_cut(text, '=', &key, &value) && ansible_is_var(str_trim(key)))
			return true;
		if (!text.n || text.p[0] != '{' || !parse_object(l, text, &root, &e))
			continue;
		for (size_t k = 0; k < root.obj.n; k++)
			if (ansible_is_var(root.obj.m[k].key))
				return true;
	}
	return false;
}
