/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenClaw.NET's appsettings.json and its OpenClaw__Sandbox__… variables, read as .NET reads them: keys in
 * any case, "OpenClaw:Sandbox:Provider" the same as three nested objects, numbers and booleans also as text.
 * The file holds the whole application: only OpenClaw:Sandbox, the bind address and two switches of
 * OpenClaw:Security are looked at.
 *
 * What a variable holds is never part of a message: it may be a key.
 */
#include "config/config_priv.h"

#define MEMBERS_MAX 1024

/* One value on its way: where it stood, and the variable it came from, if it did. */
struct spot {
	struct load *l;
	const struct at *at;
	const struct value *v;
};

static void refuse(const struct spot *p, const char *code, const char *accepted)
{
	struct str got = p->v->from_env ? STR("its value") : value_quote(p->l, p->v);

	bad(p->l, p->at, p->v, code, STR_FMT " is not accepted, accepted: %s", STR_ARG(got), accepted);
}

/* A text, or a number or boolean written as JSON has it; false for what is nothing of these. */
static bool text_of(const struct spot *p, struct str *ret)
{
	switch (p->v->kind) {
	case VALUE_STR:
		*ret = str_trim(p->v->s);
		return p->v->s.n == 0 || !memchr(p->v->s.p, 0, p->v->s.n);
	case VALUE_INT:
	case VALUE_NUM:
	case VALUE_BOOL:
		*ret = value_quote(p->l, p->v);
		return true;
	case VALUE_NULL:
	case VALUE_ARR:
	case VALUE_OBJ:
	case VALUE_KIND_COUNT_:
		break;
	}
	return false;
}

static bool seconds(const struct spot *p, uint64_t *ret)
{
	const struct option_info *info = option_info(OPT_OSB_TTL_S);
	char accepted[64];
	struct str s;

	if (text_of(p, &s) && str_to_u64(s, (uint64_t)info->max, ret) == 0 && *ret >= 1)
		return true;
	(void)snprintf(accepted, sizeof(accepted), "seconds, 1 to %.0f", info->max);
	refuse(p, "out_of_range", accepted);
	return false;
}

static void set_provider(const struct spot *p)
{
	struct origin o = origin_of(p->at, p->v);
	int id = PROVIDER_NONE;
	struct str s;

	if (!text_of(p, &s) || (s.n > 0 && !enum_value(provider_names, s, true, &id)))
		refuse(p, "unknown_value", "None or OpenSandbox");
	else
		(void)load_set_enum(p->l, &p->l->c->base, OPT_OSB_PROVIDER, id, &o);
}

static void set_endpoint(const struct spot *p)
{
	struct origin o = origin_of(p->at, p->v);
	struct str s;

	if (p->v->kind != VALUE_STR || !text_of(p, &s))
		refuse(p, "wrong_type", "a URL, e.g. http://localhost:5000");
	else if (s.n > 0 && !str_starts(s, STR("http://")) && !str_starts(s, STR("https://")))
		refuse(p, "wrong_value", "a URL that starts with http:// or https://");
	else
		(void)load_set_str(p->l, &p->l->c->base, OPT_OSB_ENDPOINT, s, &o);
}

/* A bare text is the key itself. When it is a variable's, the variable is what is kept. */
static void set_api_key(const struct spot *p)
{
	struct origin o = origin_of(p->at, p->v);
	struct secret_ref ref = { .kind = REF_RAW };
	struct str s;

	if (p->v->kind != VALUE_STR || !text_of(p, &s)) {
		bad(p->l, p->at, p->v, "wrong_type", "expected env:NAME, raw:VALUE or the key itself");
		return;
	}
	ref.text = s;
	if (str_starts(s, STR("env:"))) {
		ref = (struct secret_ref){ .kind = REF_ENV, .text = str_trim(str_from(s, 4)) };
		if (!env_name_valid(ref.text)) {
			bad(p->l, p->at, p->v, "bad_ref", "what follows env: is not the name of a variable");
			return;
		}
	} else if (str_starts(s, STR("raw:"))) {
		ref.text = str_from(s, 4);
	} else if (p->at->from && p->at->from->kind == ORIGIN_ENV) {
		ref = (struct secret_ref){ .kind = REF_ENV, .text = p->at->from->name };
	}
	if (ref.text.n == 0)
		ref.kind = REF_NONE;
	(void)load_set_ref(p->l, &p->l->c->base, OPT_OSB_API_KEY, ref, &o);
}

static void set_default_ttl(const struct spot *p)
{
	struct origin o = origin_of(p->at, p->v);
	uint64_t n;

	if (seconds(p, &n))
		(void)load_set_u64(p->l, &p->l->c->base, OPT_OSB_TTL_S, n, &o);
}

static void set_bind(const struct spot *p)
{
	struct origin o = origin_of(p->at, p->v);
	struct str s;

	if (p->v->kind != VALUE_STR || !text_of(p, &s))
		refuse(p, "wrong_type", "an address, e.g. 127.0.0.1");
	else
		(void)load_set_str(p->l, &p->l->c->base, OPT_SERVE_BIND, s, &o);
}

static void set_switch(const struct spot *p, enum option id)
{
	struct origin o = origin_of(p->at, p->v);
	struct str s;
	bool on = false;

	if (text_of(p, &s) && (str_eq_nocase(s, STR("true")) || str_eq_nocase(s, STR("false")))) {
		on = str_eq_nocase(s, STR("true"));
		(void)load_set_bool(p->l, &p->l->c->base, id, on, &o);
	} else {
		refuse(p, "wrong_type", "true or false");
	}
}

static void set_unsafe(const struct spot *p)
{
	set_switch(p, OPT_SERVE_UNSAFE);
}

static void set_raw(const struct spot *p)
{
	set_switch(p, OPT_SERVE_RAW);
}

struct key {
	const char *name;
	void (*set)(const struct spot *p);
};

/* clang-format off */
static const struct key sandbox_keys[] = {
	{ "Provider",   set_provider },
	{ "Endpoint",   set_endpoint },
	{ "ApiKey",     set_api_key },
	{ "DefaultTTL", set_default_ttl },
	{ NULL, NULL },
};
static const struct key app_keys[] = {
	{ "BindAddress", set_bind },
	{ NULL, NULL },
};
static const struct key security_keys[] = {
	{ "AllowUnsafeToolingOnPublicBind", set_unsafe },
	{ "AllowRawSecretRefsOnPublicBind", set_raw },
	{ NULL, NULL },
};
/* clang-format on */

static bool set_by_name(struct load *l, const struct key *keys, const struct member *m, const struct at *at)
{
	const struct spot p = { .l = l, .at = at, .v = &m->v };

	for (; keys->name; keys++) {
		if (!str_eq_nocase(m->key, str_z(keys->name)))
			continue;
		if (m->v.kind != VALUE_NULL)
			keys->set(&p);
		return true;
	}
	return false;
}

/* Tools:<name>:Mode, Template, TTL */
static void read_tool_member(struct load *l, struct str tool, const struct member *m, const struct at *at)
{
	static const char *const known[] = { "Mode", "Template", "TTL", NULL };
	static const struct enum_name modes[] = {
		{ "None", ENFORCE_OFF },
		{ "Prefer", ENFORCE_PREFER },
		{ "Require", ENFORCE_REQUIRE },
		{ NULL, 0 },
	};
	struct at down = at_key(l, at, m->key);
	const struct spot p = { .l = l, .at = &down, .v = &m->v };
	struct origin o = origin_of(&down, &m->v);
	struct tool_setting *s = load_per_tool(l, load_tool_name(l, tool), &o);
	int mode = ENFORCE_REQUIRE;
	struct str text;

	if (!s || m->v.kind == VALUE_NULL)
		return;
	s->origin = o;
	if (str_eq_nocase(m->key, STR("Mode"))) {
		if (!text_of(&p, &text) || (text.n > 0 && !enum_value(modes, text, true, &mode)))
			refuse(&p, "unknown_value", "None, Prefer or Require");
		else if (text.n > 0)
			s->has_enforce = true, s->enforce = (enum enforce)mode;
	} else if (str_eq_nocase(m->key, STR("Template"))) {
		if (m->v.kind != VALUE_STR || !text_of(&p, &s->template))
			refuse(&p, "wrong_type", "the name of an image");
	} else if (str_eq_nocase(m->key, STR("TTL"))) {
		s->has_ttl = seconds(&p, &s->ttl_s);
	} else {
		bad_key(l, at, m, known);
	}
}

static void read_tools(struct load *l, const struct value *tools, const struct at *at)
{
	for (size_t i = 0; i < tools->obj.n; i++) {
		const struct member *m = &tools->obj.m[i];
		struct at down = at_key(l, at, m->key);

		if (m->v.kind == VALUE_NULL)
			continue;
		if (m->v.kind != VALUE_OBJ || str_trim(m->key).n == 0 || memchr(m->key.p, 0, m->key.n)) {
			bad(l, &down, &m->v, "wrong_type", "expected a tool with Mode, Template and TTL");
			continue;
		}
		for (size_t k = 0; k < m->v.obj.n; k++)
			read_tool_member(l, str_trim(m->key), &m->v.obj.m[k], &down);
	}
}

static void read_sandbox(struct load *l, const struct value *sandbox, const struct at *at)
{
	static const char *const known[] = { "Provider", "Endpoint", "ApiKey", "DefaultTTL", "Tools", NULL };

	for (size_t i = 0; i < sandbox->obj.n; i++) {
		const struct member *m = &sandbox->obj.m[i];
		struct at down = at_key(l, at, m->key);

		if (set_by_name(l, sandbox_keys, m, &down))
			continue;
		if (!str_eq_nocase(m->key, STR("Tools")))
			bad_key(l, at, m, known);
		else if (m->v.kind == VALUE_OBJ)
			read_tools(l, &m->v, &down);
		else if (m->v.kind != VALUE_NULL)
			bad(l, &down, &m->v, "wrong_type",
			    "expected an object: the names of tools and their settings");
	}
}

static void read_app(struct load *l, const struct value *app, const struct at *at)
{
	for (size_t i = 0; i < app->obj.n; i++) {
		const struct member *m = &app->obj.m[i];
		struct at down = at_key(l, at, m->key);

		if (set_by_name(l, app_keys, m, &down) || m->v.kind == VALUE_NULL)
			continue;
		if (m->v.kind != VALUE_OBJ) {
			bad(l, &down, &m->v, "wrong_type", "expected an object");
			continue;
		}
		if (str_eq_nocase(m->key, STR("Sandbox")))
			read_sandbox(l, &m->v, &down);
		for (size_t k = 0; str_eq_nocase(m->key, STR("Security")) && k < m->v.obj.n; k++) {
			struct at inner = at_key(l, &down, m->v.obj.m[k].key);

			(void)set_by_name(l, security_keys, &m->v.obj.m[k], &inner);
		}
	}
}

/* The tree as .NET sees it: colons are steps, and names that differ in case are the same. */

/* The member of that name, made when there is none. NULL after an error. */
static struct member *slot(struct load *l, struct value *obj, struct str key, const struct member *like,
			   const struct at *at)
{
	struct member *m;

	for (size_t i = 0; i < obj->obj.n; i++)
		if (str_eq_nocase(obj->obj.m[i].key, key))
			return &obj->obj.m[i];
	if (obj->obj.n == MEMBERS_MAX) {
		bad(l, at, &like->v, "too_many",
		    "more than %d keys in one place, accepted: at most that many", MEMBERS_MAX);
		return NULL;
	}
	if ((obj->obj.n & (obj->obj.n - 1)) == 0) { /* grows at 0, 1, 2, 4, 8 … */
		m = ARENA_ARRAY(l->a, struct member, obj->obj.n ? obj->obj.n * 2 : 1);
		if (!m)
			return NULL;
		if (obj->obj.n > 0)
			memcpy(m, obj->obj.m, obj->obj.n * sizeof(*m));
		obj->obj.m = m;
	}
	m = &obj->obj.m[obj->obj.n++];
	*m = (struct member){ .key = key,
			      .line = like->line,
			      .col = like->col,
			      .v = { .line = like->v.line, .col = like->v.col } };
	return m;
}

static bool is_ours(struct str section)
{
	return str_eq_nocase(section, STR("Sandbox")) || str_eq_nocase(section, STR("Security")) ||
	       str_eq_nocase(section, STR("BindAddress"));
}

/*
 * `level` is how many names stand above: 0 at the root, 1 below OpenClaw. What is not ours is left out there.
 */
static void graft(struct load *l, struct value *into, const struct member *from, unsigned level,
		  const struct at *at)
{
	struct str rest = from->key, head;
	struct member *m = NULL;
	bool more = true;

	while (more) {
		more = str_cut(rest, ':', &head, &rest);
		head = str_trim(more ? head : rest);
		if ((level == 0 && !str_eq_nocase(head, STR("OpenClaw"))) || (level == 1 && !is_ours(head)))
			return;
		m = slot(l, into, head, from, at);
		if (!m)
			return;
		level++;
		if (more && m->v.kind == VALUE_NULL)
			m->v.kind = VALUE_OBJ;
		if (more && m->v.kind != VALUE_OBJ)
			break;
		into = &m->v;
	}
	if (!more && from->v.kind == VALUE_OBJ && (m->v.kind == VALUE_NULL || m->v.kind == VALUE_OBJ)) {
		m->v.kind = VALUE_OBJ;
		for (size_t i = 0; i < from->v.obj.n; i++)
			graft(l, &m->v, &from->v.obj.m[i], level, at);
	} else if (!more && m->v.kind == VALUE_NULL) {
		m->v = from->v;
	} else {
		bad(l, at, &from->v, "duplicate_key",
		    "'" STR_FMT "' stands here twice, accepted: once, in any case", STR_ARG(head));
	}
}

static void read_tree(struct load *l, const struct value *tree, const struct at *at)
{
	const struct member *app = tree->obj.n > 0 ? &tree->obj.m[0] : NULL;
	struct at down;

	if (!app)
		return;
	down = at_key(l, at, app->key);
	if (app->v.kind == VALUE_OBJ)
		read_app(l, &app->v, &down);
	else if (app->v.kind != VALUE_NULL)
		bad(l, &down, &app->v, "wrong_type", "expected an object");
}

static bool has_section(const struct value *root)
{
	struct str head, rest;

	for (size_t i = 0; i < root->obj.n; i++) {
		struct str key = root->obj.m[i].key;

		if (str_eq_nocase(str_cut(key, ':', &head, &rest) ? head : key, STR("OpenClaw")))
			return true;
	}
	return false;
}

void read_openclaw_net(struct load *l, const struct value *root, struct str file)
{
	const struct at at = { .file = file };
	struct value tree = { .kind = VALUE_OBJ };

	if (root->kind != VALUE_OBJ) {
		bad(l, &at, root, "wrong_type", "expected an object with OpenClaw in it, found " STR_FMT,
		    STR_ARG(value_quote(l, root)));
		return;
	}
	if (root->obj.n && !has_section(root)) {
		const struct origin o = origin_of(&at, root);

		diag_add(l->diags, SEVERITY_WARN, "nothing_read", &o, STR("OpenClaw"),
			 "there is no such section, so nothing was read: is this OpenClaw.NET's file?");
	}
	for (size_t i = 0; i < root->obj.n; i++)
		graft(l, &tree, &root->obj.m[i], 0, &at);
	read_tree(l, &tree, &at);
}

/* "A__B" -> "A:B" */
static struct str with_colons(struct arena *a, struct str name)
{
	char *p = arena_alloc(a, name.n + 1, 1);
	size_t n = 0;

	for (size_t i = 0; p && i < name.n; i++) {
		bool two = name.p[i] == '_' && i + 1 < name.n && name.p[i + 1] == '_';

		p[n++] = two ? ':' : name.p[i];
		i += two;
	}
	return (struct str){ p ? p : "", n };
}

static void read_variable(struct load *l, struct str name, struct str text)
{
	const struct origin o = { .kind = ORIGIN_ENV, .name = name };
	const struct at at = { .from = &o };
	const struct member m = {
		.key = with_colons(l->a, name),
		.v = { .kind = VALUE_STR, .s = text, .from_env = true, .raw = name },
	};
	struct value tree = { .kind = VALUE_OBJ };

	graft(l, &tree, &m, 0, &at);
	read_tree(l, &tree, &at);
}

/* What is only wrong as a whole. With Provider None nothing of it is used, so nothing is missing. */

static void check_tool(struct load *l, const struct tool_setting *s)
{
	static const struct str sandboxed[] = { { "exec", 4 }, { "code_exec", 9 }, { "browser", 7 } };
	enum enforce effective = s->has_enforce ? s->enforce : ENFORCE_OFF;

	if (s->origin.kind != ORIGIN_FILE && s->origin.kind != ORIGIN_ENV)
		return;
	for (size_t i = 0; !s->has_enforce && i < sizeof(sandboxed) / sizeof(sandboxed[0]); i++)
		if (str_eq(s->tool, sandboxed[i]))
			effective = ENFORCE_PREFER;
	if (effective != ENFORCE_OFF && s->template.n == 0)
		diag_add(l->diags, SEVERITY_ERROR, "missing_key", &s->origin, STR("OpenClaw.Sandbox.Tools"),
			 "Template is missing for '" STR_FMT
			 "', accepted: the name of an image, or Mode None",
			 STR_ARG(s->tool));
}

static void check_whole(struct load *l)
{
	const struct settings *s = &l->c->base;

	if (s->osb_provider != PROVIDER_OPENSANDBOX)
		return;
	if (s->osb_endpoint.n == 0)
		diag_add(l->diags, SEVERITY_ERROR, "missing_key", &s->origin[OPT_OSB_PROVIDER],
			 STR("OpenClaw.Sandbox.Endpoint"),
			 "missing with Provider OpenSandbox, accepted: a URL, e.g. http://localhost:5000");
	for (size_t i = 0; i < l->c->n_per_tool; i++)
		check_tool(l, &l->c->per_tool[i]);
}

void read_openclaw_net_env(struct load *l)
{
	for (char *const *e = l->in->environ; e && *e; e++) {
		struct str line = str_z(*e), name, text;

		if (!str_cut(line, '=', &name, &text) || name.n < 10)
			continue;
		if (str_eq_nocase((struct str){ name.p, 10 }, STR("OpenClaw__")))
			read_variable(l, name, text);
	}
	check_whole(l);
}
