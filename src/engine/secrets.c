/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/secrets.h"

#include "base/fd.h"
#include "base/private.h"
#include "policy/envname.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct secrets {
	struct secret *v;
	size_t n;
	char *text; /* what the values of the file are slices of */
	size_t size;
	char *const *environ;
};

/* ---- memory ---- */

/* Pages of its own: not in a core dump, not in swap where the limit allows it, and nothing is left of it on the heap. */
static void *vault_new(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	(void)madvise(p, size, MADV_DONTDUMP);
	(void)mlock(p, size);
	return p;
}

static void vault_free(void *p, size_t size)
{
	if (!p)
		return;
	explicit_bzero(p, size);
	(void)munmap(p, size);
}

/* ---- the file ---- */

static int refuse(const char *path, int fault, struct err *e)
{
	const char *why = private_why(fault);

	switch (fault) {
	case PRIVATE_FOREIGN:
		return err_set(e, ERR_DENIED, "env.secretsFile '%s' %s: chown it to uid %u", path, why,
			       (unsigned)geteuid());
	case PRIVATE_SHARED:
		return err_set(
			e, ERR_DENIED,
			"env.secretsFile '%s' %s: chmod 600 it, and change the secrets in it if others have read them",
			path, why);
	case PRIVATE_LINKED:
	case PRIVATE_SPECIAL:
	case -ELOOP:
		return err_set(e, ERR_DENIED,
			       "env.secretsFile '%s' %s: name a regular file that has no other name", path,
			       why);
	default:
		return err_sys(e, -fault, "env.secretsFile '%s'", path);
	}
}

/* Once, into memory that is wiped: growing a buffer would leave copies behind. */
static int read_file(struct secrets *s, int fd, const char *path, struct err *e)
{
	struct stat st;
	size_t got = 0;

	if (fstat(fd, &st) < 0)
		return err_sys(e, errno, "env.secretsFile '%s'", path);
	if (st.st_size < 0 || (size_t)st.st_size > SECRETS_FILE_MAX)
		return err_set(e, ERR_LIMIT, "env.secretsFile '%s' is larger than %zu bytes", path,
			       SECRETS_FILE_MAX);
	s->size = (size_t)st.st_size + 1;
	s->text = vault_new(s->size);
	if (!s->text)
		return err_sys(e, ENOMEM, "env.secretsFile '%s'", path);
	while (got < s->size) {
		ssize_t n = read(fd, s->text + got, s->size - got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(e, errno, "read env.secretsFile '%s'", path);
		if (n == 0)
			break;
		got += (size_t)n;
	}
	if (got == s->size)
		return err_set(e, ERR_UNAVAIL, "env.secretsFile '%s' grew while it was read: try again",
			       path);
	return secrets_parse(s->text, got, path, s->v, SECRETS_MAX, &s->n, e);
}

int secrets_open(const struct secrets_opts *o, struct secrets **ret, struct err *e)
{
	_cleanup_(secrets_freep) struct secrets *s = calloc(1, sizeof(*s));
	_cleanup_close_ int fd = FD_NONE;
	int r;

	if (s)
		s->v = calloc(SECRETS_MAX, sizeof(*s->v));
	if (!s || !s->v)
		return err_sys(e, ENOMEM, "secrets");
	s->environ = o->environ;
	if (o->file && o->file[0]) {
		fd = private_file_open(AT_FDCWD, o->file, O_RDONLY);
		if (fd < 0 && !(fd == -ENOENT && o->optional))
			return refuse(o->file, fd, e);
		r = fd < 0 ? 0 : read_file(s, fd, o->file, e);
		if (r < 0)
			return r;
	}
	*ret = TAKE_PTR(s);
	return 0;
}

struct secrets *secrets_free(struct secrets *s)
{
	if (!s)
		return NULL;
	vault_free(s->text, s->size);
	free(s->v); /* names and places; the values were in the vault */
	free(s);
	return NULL;
}

/* ---- looking up ---- */

static bool look_up(const struct secrets *s, struct str name, struct str *ret)
{
	for (size_t i = 0; i < s->n; i++)
		if (str_eq(s->v[i].name, name)) {
			*ret = s->v[i].value;
			return true;
		}
	for (char *const *v = s->environ; v && *v; v++) {
		struct str key, value;

		if (str_cut(str_z(*v), '=', &key, &value) && str_eq(key, name)) {
			*ret = value;
			return true;
		}
	}
	return false;
}

int secrets_names(const struct secrets *s, struct arena *a, struct strs *ret, struct err *e)
{
	size_t n = s->n, max = s->n;
	struct str *v;

	for (char *const *p = s->environ; p && *p; p++)
		max++;
	v = ARENA_ARRAY(a, struct str, max);
	if (!v)
		return err_set(e, ERR_LIMIT, "the names of the variables are too many");
	for (size_t i = 0; i < s->n; i++)
		v[i] = arena_str(a, s->v[i].name);
	for (char *const *p = s->environ; p && *p; p++) {
		struct str key, value;

		if (str_cut(str_z(*p), '=', &key, &value))
			v[n++] = arena_str(a, key);
	}
	*ret = (struct strs){ .v = v, .n = n };
	return a->failed ? err_set(e, ERR_LIMIT, "the names of the variables are too long") : 0;
}

/* ---- for a program ---- */

/* Text that is counted first and written then, so that nothing grows. */
struct out {
	char *p; /* NULL: only counted */
	size_t n;
};

static void out_put(struct out *o, struct str s)
{
	if (o->p && s.n)
		memcpy(o->p + o->n, s.p, s.n);
	o->n += s.n;
}

static int put_template(const struct secrets *s, struct str template, struct out *o, struct err *e)
{
	struct str name, value;
	size_t at = 0, from = 0;

	while (env_template_next(template, &at, &name)) {
		size_t ref = (size_t)(name.p - template.p) - 2;

		if (!look_up(s, name, &value))
			return err_set(e, ERR_NOTFOUND, "variable '" STR_FMT "' is not set any more",
				       STR_ARG(name));
		out_put(o, (struct str){ .p = template.p + from, .n = ref - from });
		out_put(o, value);
		from = at;
	}
	out_put(o, str_from(template, from));
	return 0;
}

static int put_item(const struct secrets *s, const struct env_item *item, struct out *o, struct err *e)
{
	int r = 0;

	out_put(o, item->name);
	out_put(o, STR("="));
	if (item->secret)
		r = put_template(s, item->template, o, e);
	else
		out_put(o, item->value);
	out_put(o, STR("\0"));
	return r;
}

static int put_all(const struct secrets *s, const struct decision *d, struct out *o, char **v, size_t *ret_n,
		   struct err *e)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n_env; i++) {
		int r;

		if (d->env[i].state != ENV_SET)
			continue;
		if (v)
			v[n] = o->p + o->n;
		n++;
		r = put_item(s, &d->env[i], o, e);
		if (r < 0)
			return r;
	}
	*ret_n = n;
	return 0;
}

int secrets_env(const struct secrets *s, const struct decision *d, struct secret_env *ret, struct err *e)
{
	struct secret_env env = { 0 };
	struct out o = { 0 };
	int r = put_all(s, d, &o, NULL, &env.n, e);

	if (r < 0)
		return r;
	env.size = (env.n + 1) * sizeof(char *) + o.n;
	env.memory = vault_new(env.size);
	if (!env.memory)
		return err_sys(e, ENOMEM, "the environment");
	env.v = env.memory;
	o = (struct out){ .p = (char *)(env.v + env.n + 1) };
	r = put_all(s, d, &o, env.v, &env.n, e);
	if (r < 0) {
		secret_env_wipe(&env);
		return r;
	}
	*ret = env;
	return 0;
}

void secret_env_wipe(struct secret_env *env)
{
	vault_free(env->memory, env->size);
	*env = (struct secret_env){ 0 };
}

/* ---- for the log ---- */

static int teach(struct redactor *r, struct str name, struct str value, struct err *e)
{
	int code = redactor_add(r, name, value);

	return code < 0 ? err_sys(e, -code, "remember secret '" STR_FMT "' for the log", STR_ARG(name)) : 0;
}

static int teach_template(const struct secrets *s, struct str template, struct redactor *r, struct err *e)
{
	struct str name, value;
	size_t at = 0;
	int code = 0;

	while (code == 0 && env_template_next(template, &at, &name))
		if (look_up(s, name, &value))
			code = teach(r, name, value, e);
	return code;
}

int secrets_teach(const struct secrets *s, const struct decision *d, struct redactor *r, struct err *e)
{
	int code = 0;

	for (size_t i = 0; code == 0 && i < s->n; i++)
		code = teach(r, s->v[i].name, s->v[i].value, e);
	for (size_t i = 0; code == 0 && d && i < d->n_env; i++)
		if (d->env[i].secret && d->env[i].state == ENV_SET)
			code = teach_template(s, d->env[i].template, r, e);
	return code;
}
