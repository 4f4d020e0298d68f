/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/engine_priv.h"

#define GIT_VARS 4u

/* As the sandbox wants it. Not printed: for six variables of every call that would be most of what making them takes. */
static struct str item_of(struct arena *a, const struct env_item *v)
{
	size_t n = v->name.n + 1 + v->value.n;
	char *p = arena_alloc(a, n + 1, 1);

	if (!p)
		return (struct str){ .p = "", .n = 0 };
	memcpy(p, v->name.p, v->name.n);
	p[v->name.n] = '=';
	if (v->value.n)
		memcpy(p + v->name.n + 1, v->value.p, v->value.n);
	return (struct str){ .p = p, .n = n };
}

static size_t put_env(struct str *v, size_t n, struct str item)
{
	struct str name, old, value;

	if (!str_cut(item, '=', &name, &value))
		return n;
	for (size_t i = 0; i < n; i++)
		if (str_cut(v[i], '=', &old, &value) && str_eq(old, name)) {
			v[i] = item;
			return n;
		}
	v[n] = item;
	return n + 1;
}

/*
 * Who commits. A sandbox of one session has it in /etc/gitconfig, where the settings of a repository come before it; in one that others use, too, it comes with
 * each call, and only with those of the caller whose name it is.
 */
static size_t put_git(const struct session *s, const struct decision *d, struct arena *a, struct str *v,
		      size_t n)
{
	const struct {
		const char *name;
		struct str value;
	} all[GIT_VARS] = { { "GIT_AUTHOR_NAME", s->git.name },
			    { "GIT_AUTHOR_EMAIL", s->git.email },
			    { "GIT_COMMITTER_NAME", s->git.name },
			    { "GIT_COMMITTER_EMAIL", s->git.email } };

	if (s->on_host || s->image.n || d->place.image.n || !scope_is_shared(d->place.scope) ||
	    !(d->mode.caps & CAP_BIT(CAP_VCS)))
		return n;
	for (size_t i = 0; i < GIT_VARS; i++) {
		struct str item =
			arena_printf(a, "%s=%.*s", all[i].name, (int)all[i].value.n, all[i].value.p);
		bool there = all[i].value.n == 0;

		for (size_t k = 0; k < n && !there; k++)
			there = str_starts(v[k], (struct str){ .p = item.p, .n = strlen(all[i].name) + 1 });
		if (!there)
			v[n++] = item;
	}
	return n;
}

/* In a sandbox what was decided; on the host the caller's own, as any program that it starts. A session's own variables count last. */
int session_env(const struct session *s, const struct decision *d, char *const *from, struct arena *a,
		struct strs *ret, struct err *e)
{
	size_t n = 0, max = s->env.n + d->n_env + GIT_VARS;
	struct str *v;

	for (char *const *p = from; p && *p; p++)
		max++;
	v = ARENA_ARRAY(a, struct str, max);
	for (char *const *p = from; v && p && *p; p++)
		v[n++] = str_z(*p);
	for (size_t i = 0; v && !from && i < d->n_env; i++)
		if (d->env[i].state == ENV_SET)
			v[n++] = item_of(a, &d->env[i]);
	if (!v || a->failed)
		return err_set(e, ERR_LIMIT, "the environment is too large");
	for (size_t i = 0; i < s->env.n; i++)
		n = put_env(v, n, s->env.v[i]);
	n = put_git(s, d, a, v, n);
	if (a->failed)
		return err_set(e, ERR_LIMIT, "the environment is too large");
	*ret = (struct strs){ .v = v, .n = n };
	return 0;
}
