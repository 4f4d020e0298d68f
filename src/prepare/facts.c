/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of the environment only names go on from here, apart from the few variables read below; the config readers look up what a
 * file refers to.
 */
#include "prepare/prepare.h"

#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *environ_get(char *const *vars, const char *name)
{
	size_t n = strlen(name);

	for (char *const *v = vars; *v; v++)
		if (strncmp(*v, name, n) == 0 && (*v)[n] == '=')
			return (*v)[n + 1] ? *v + n + 1 : NULL;
	return NULL;
}

char *const *environ_with_state_dir(struct arena *a, char *const *vars, struct str dir)
{
	static const char name[] = "OPENCLAW_STATE_DIR=";
	size_t n = 0, kept = 0;
	char **copy;

	while (vars[n])
		n++;
	copy = ARENA_ARRAY(a, char *, n + 2);
	if (!copy)
		return vars;
	for (size_t i = 0; i < n; i++)
		if (strncmp(vars[i], name, sizeof(name) - 1) != 0)
			copy[kept++] = vars[i];
	copy[kept] = arena_alloc(a, sizeof(name) + dir.n, 1);
	if (!copy[kept])
		return vars;
	memcpy(copy[kept], name, sizeof(name) - 1);
	memcpy(copy[kept] + sizeof(name) - 1, dir.p, dir.n);
	return copy;
}

static int find_home(const struct facts_input *in, struct arena *a, struct str *ret, struct err *e)
{
	const char *home = environ_get(in->environ, "HOME");
	struct passwd entry, *found = NULL;
	char text[4096];

	if (in->home.n || home) {
		*ret = in->home.n ? in->home : str_z(home);
		return ret->p[0] == '/'
			       ? 0
			       : err_set(e, ERR_USAGE, "HOME is '%.*s', and must be an absolute path",
					 (int)ret->n, ret->p);
	}
	if (getpwuid_r(getuid(), &entry, text, sizeof(text), &found) != 0 || !found || !found->pw_dir[0])
		return err_set(
			e, ERR_UNAVAIL,
			"no home directory: HOME is unset and uid %lu has no account; fix: HOME=DIR creel ...",
			(unsigned long)getuid());
	*ret = arena_str(a, str_z(found->pw_dir));
	return 0;
}

static struct str find_state_dir(const struct facts_input *in, struct arena *a, struct str home)
{
	const char *env = environ_get(in->environ, "OPENCLAW_STATE_DIR");

	if (in->state_dir.n)
		return in->state_dir;
	if (env)
		return str_z(env);
	return arena_printf(a, "%.*s/.openclaw", (int)home.n, home.p);
}

/* Names only: values stay where they are. */
static struct strs env_names(struct arena *a, char *const *vars)
{
	size_t n = 0, kept = 0;
	struct str *names;

	while (vars[n])
		n++;
	names = ARENA_ARRAY(a, struct str, n);
	for (size_t i = 0; names && i < n; i++) {
		struct str value;

		if (str_cut(str_z(vars[i]), '=', &names[kept], &value) && names[kept].n)
			kept++;
	}
	return (struct strs){ .v = names, .n = names ? kept : 0 };
}

static int find_cwd(const struct facts_input *in, struct arena *a, struct str *ret, struct err *e)
{
	char cwd[PATH_MAX];

	*ret = in->cwd;
	if (in->cwd.n)
		return 0;
	if (!getcwd(cwd, sizeof(cwd)))
		return errno == ENOENT ? err_set(e, ERR_NOTFOUND,
						 "the current directory does not exist any more; "
						 "fix: cd to one that does")
				       : err_sys(e, errno, "current directory");
	*ret = arena_str(a, str_z(cwd));
	return 0;
}

static int find_own_dir(const struct facts_input *in, struct arena *a, struct str home, struct str *ret,
			struct err *e)
{
	const struct state_dir s = { .said = in->state_dir, .home = home, .environ = in->environ };
	char path[PATH_MAX];
	int r = state_path(&s, ".", ".", path, sizeof(path), e);

	if (r >= 0)
		*ret = arena_str(a, str_z(path));
	return r;
}

int facts_find(const struct facts_input *in, struct arena *a, struct facts *ret, struct err *e)
{
	const char *openclaw_home = environ_get(in->environ, "OPENCLAW_HOME");
	struct str *roots;
	int r;

	*ret = (struct facts){ .backends = 1u << BACKEND_NATIVE };
	r = find_home(in, a, &ret->home, e);
	if (r >= 0)
		r = find_cwd(in, a, &ret->cwd, e);
	if (r >= 0)
		r = find_own_dir(in, a, ret->home, &ret->own_dir, e);
	if (r < 0)
		return r;
	ret->state_dir = find_state_dir(in, a, ret->home);
	ret->env_names = env_names(a, in->environ);
	roots = ARENA_NEW(a, struct str);
	if (roots && openclaw_home) {
		*roots = str_z(openclaw_home);
		ret->home_roots = (struct strs){ .v = roots, .n = 1 };
	}
	return a->failed ? err_set(e, ERR_LIMIT, "out of memory") : 0;
}

void facts_take(const struct config *c, struct facts *f)
{
	struct str file;

	f->audit_dir = (struct str){ 0 };
	if (!c->base.has[OPT_AUDIT_PATH])
		return;
	if (!str_cut_last(c->base.audit_path, '/', &f->audit_dir, &file))
		f->audit_dir = STR("."); /* a name alone lies where we stand */
	else if (!f->audit_dir.n)
		f->audit_dir = STR("/");
}

static bool dir_exists(struct arena *a, const struct ask_dir *dir)
{
	struct str z = arena_str(a, dir->path), root = arena_str(a, dir->inside);
	_cleanup_free_ char *path = NULL, *inside = NULL;
	struct stat st;

	if (memchr(z.p, 0, z.n) || lstat(z.p, &st) < 0 || !S_ISDIR(st.st_mode))
		return false;
	path = realpath(z.p, NULL);
	inside = realpath(root.p, NULL);
	return path && inside && str_starts(str_z(path), arena_printf(a, "%s/", inside));
}

struct strs facts_dirs(struct arena *a, const struct decision *d)
{
	struct str *found = ARENA_ARRAY(a, struct str, d->n_ask_dirs);
	size_t n = 0;

	for (size_t i = 0; found && i < d->n_ask_dirs; i++)
		if (dir_exists(a, &d->ask_dirs[i]))
			found[n++] = d->ask_dirs[i].path;
	return (struct strs){ .v = found, .n = n };
}
