/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every session that the configuration can tell apart, against every tool: one decision each. A line depends on its
 * own cell alone (no column grows with its neighbours), so two outputs can be compared with diff.
 */
#include "policy/explain_priv.h"

#include <stdio.h>
#include <string.h>

#define CELL_ARENA_MAX ((size_t)4 << 20)
#define SESSION_COLUMNS 40
#define TOOL_COLUMNS 22
#define VERDICT_COLUMNS 30

struct sessions {
	struct arena *a;
	struct str *v;
	size_t n, cap;
};

static void add(struct sessions *s, struct str key)
{
	struct str *grown;

	for (size_t i = 0; i < s->n; i++)
		if (str_eq(s->v[i], key))
			return;
	if (s->n == s->cap) {
		grown = arena_grow(s->a, s->v, s->n, &s->cap, sizeof(*s->v), alignof(struct str));
		if (!grown)
			return;
		s->v = grown;
	}
	s->v[s->n++] = key;
}

/* A character that the set at the beginning of the pattern takes, and where the set ends; 0 for one that never closes. */
static size_t sample_set(struct str pattern, char *ret)
{
	static const char tries[] = "xyz019AZ-_:.";
	const char *close = pattern.n > 2 ? memchr(pattern.p + 2, ']', pattern.n - 2) : NULL;
	struct str set = { .p = pattern.p, .n = close ? (size_t)(close - pattern.p) + 1 : 0 };

	*ret = set.n ? pattern.p[1] : '\0';
	for (const char *t = tries; set.n && *t; t++)
		if (session_glob_matches(set, (struct str){ .p = t, .n = 1 })) {
			*ret = *t;
			break;
		}
	return set.n;
}

/* A key that the pattern matches: each wildcard becomes an x, each set one of its characters. False for stranger ones. */
static bool sample_of(struct arena *a, struct str pattern, struct str *ret)
{
	char *p = arena_alloc(a, pattern.n + 1, 1);
	size_t n = 0;

	if (!p)
		return false;
	for (size_t i = 0, step; i < pattern.n; i += step ? step : 1) {
		step = pattern.p[i] == '[' ? sample_set(str_from(pattern, i), &p[n]) : 0;
		if (step == 0)
			p[n] = pattern.p[i] == '*' || pattern.p[i] == '?' ? 'x' : pattern.p[i];
		n++;
	}
	*ret = (struct str){ .p = p, .n = n };
	return session_glob_matches(pattern, *ret);
}

static void add_agent(struct sessions *s, struct str id)
{
	static const char *const rest[] = { "main", "telegram:group:x", "telegram:direct:x", "subagent:x",
					    "cron:x" };

	for (size_t i = 0; i < sizeof(rest) / sizeof(rest[0]); i++)
		add(s, arena_printf(s->a, "agent:%.*s:%s", (int)id.n, id.p, rest[i]));
}

static void collect(const struct config *c, struct sessions *s)
{
	static const char *const prefixes[] = { "main:x", "client:x", "untrusted:x", "analysis:x",
						"proxy:x" };
	struct str sample;

	for (size_t i = 0; i < c->n_agents; i++)
		add_agent(s, c->agents[i].id);
	if (c->n_agents == 0)
		add_agent(s, STR("main"));
	for (size_t i = 0; i < c->n_rules; i++)
		if (sample_of(s->a, c->rules[i].match, &sample))
			add(s, sample);
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		add(s, str_z(prefixes[i]));
}

static void put_padded(struct buf *out, struct str text, size_t columns)
{
	buf_put_visible(out, text);
	for (size_t i = text.n; i < columns; i++)
		buf_putc(out, ' ');
	buf_putc(out, ' ');
}

static void put_line(struct buf *out, struct str session, const struct tool_info *t, const struct decision *d)
{
	char verdict[64];

	put_padded(out, session, SESSION_COLUMNS);
	put_padded(out, str_z(t->name), TOOL_COLUMNS);
	if (d->verdict != VERDICT_ALLOW) {
		(void)snprintf(verdict, sizeof(verdict), "%s %s", enum_name(verdict_names, (int)d->verdict),
			       code_word(d->code));
		buf_puts(out, verdict);
	} else {
		put_padded(out, STR("ALLOW"), VERDICT_COLUMNS);
		if (t->gateway_side)
			buf_puts(out, "backend=gateway");
		else
			buf_printf(out, "backend=%s network=%s",
				   enum_name(d->place.place == PLACE_HOST ? place_names : backend_names,
					     d->place.place == PLACE_HOST ? (int)PLACE_HOST
									  : (int)d->place.backend),
				   enum_name(route_names, (int)d->net.route));
	}
	buf_putc(out, '\n');
}

static void put_object(struct jsonw *w, struct str session, const struct tool_info *t,
		       const struct decision *d)
{
	bool ran = d->verdict == VERDICT_ALLOW;

	jsonw_obj(w);
	jsonw_kstr(w, "session", session);
	jsonw_kz(w, "tool", t->name);
	jsonw_kz(w, "verdict", enum_name(verdict_names, (int)d->verdict));
	jsonw_kz(w, "code", code_word(d->code));
	jsonw_kz(w, "trust", enum_name(trust_names, (int)d->mode.trust));
	jsonw_kbool(w, "sandboxed", d->mode.sandboxed);
	if (ran) {
		jsonw_kz(w, "place", enum_name(place_names, (int)d->place.place));
		jsonw_kz(w, "backend", enum_name(backend_names, (int)d->place.backend));
		jsonw_kz(w, "route", enum_name(route_names, (int)d->net.route));
	}
	jsonw_obj_end(w);
}

/* Commands need something to run, or each would be refused for having nothing. */
static void fill_command(struct request *r, const struct tool_info *t)
{
	static const struct str any[] = { { .p = "true", .n = 4 } };
	static const struct str git[] = { { .p = "git", .n = 3 }, { .p = "status", .n = 6 } };
	bool is_git = str_eq(str_z(t->name), STR("git"));

	if (t->known_command && r->argv.n == 0 && r->command.n == 0)
		r->argv = is_git ? (struct strs){ .v = git, .n = 2 } : (struct strs){ .v = any, .n = 1 };
	else if (!t->known_command)
		r->argv = (struct strs){ 0 };
}

/* What every cell needs. */
struct matrix {
	const struct config *c;
	const struct request *base;
	struct arena *a;
	struct jsonw w;
	bool json;
};

static int put_cell(struct matrix *m, struct request *r, const struct tool_info *t, struct err *e)
{
	_cleanup_arena_ struct arena cell = { 0 };
	struct decision *d;
	int ret;

	arena_init(&cell, CELL_ARENA_MAX);
	d = ARENA_NEW(&cell, struct decision);
	if (!d)
		return err_set(e, ERR_LIMIT, "out of memory");
	fill_command(r, t);
	r->tool = str_z(t->name);
	ret = decide(m->c, r, &cell, d, e);
	if (ret < 0)
		return ret;
	if (m->json)
		put_object(&m->w, r->session_key, t, d);
	else
		put_line(m->w.out, r->session_key, t, d);
	return 0;
}

/* --tool narrows it to one, by any of its names. */
static bool wanted(const struct matrix *m, const struct tool_info *t)
{
	if (m->base->tool.n == 0)
		return true;
	return str_eq(tool_canonical(m->a, (enum compat)m->c->base.compat, m->base->tool), str_z(t->name));
}

/* A tool that is not in the table: some plugin's, or nobody's. */
static int put_stranger(struct matrix *m, struct str session, struct err *e)
{
	struct str name = tool_canonical(m->a, (enum compat)m->c->base.compat, m->base->tool);
	const struct tool_info t = { .name = arena_str(m->a, name).p, .gateway_side = true };
	struct request r = *m->base;

	r.session_key = session;
	return put_cell(m, &r, &t, e);
}

static int put_session(struct matrix *m, struct str session, struct err *e)
{
	bool any = false;

	for (size_t i = 0; i < tool_count(); i++) {
		struct request r = *m->base;
		int ret;

		if (!wanted(m, tool_at(i)))
			continue;
		r.session_key = session;
		ret = put_cell(m, &r, tool_at(i), e);
		if (ret < 0)
			return ret;
		any = true;
	}
	return any ? 0 : put_stranger(m, session, e);
}

int explain_matrix(const struct config *c, const struct request *base, struct arena *a, bool json,
		   struct buf *out, struct err *e)
{
	struct matrix m = { .c = c, .base = base, .a = a, .json = json };
	struct sessions sessions = { .a = a };
	int r = 0;

	if (base->session_key.n)
		add(&sessions, base->session_key);
	else
		collect(c, &sessions);
	if (a->failed)
		return err_set(e, ERR_LIMIT, "out of memory");
	jsonw_init(&m.w, out, 2);
	if (json)
		jsonw_arr(&m.w);
	for (size_t i = 0; i < sessions.n && r >= 0; i++)
		r = put_session(&m, sessions.v[i], e);
	if (json && r >= 0) {
		jsonw_arr_end(&m.w);
		buf_putc(out, '\n');
	}
	return r;
}
