/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/gituse.h"
#include "policy/path.h"

#define DEPTH_MAX 4
#define WORDS_MAX 64

static bool any_of(struct str word, const char *const *list)
{
	for (; *list; list++)
		if (str_eq(word, str_z(*list)))
			return true;
	return false;
}

/* Programs that start another one, named behind their own options. */
static const char *const wrappers[] = { "env",   "sudo", "doas",    "nice",   "nohup",  "time", "timeout",
					"xargs", "exec", "command", "stdbuf", "setsid", NULL };
static const char *const shells[] = { "sh", "bash", "zsh", "fish", "dash", "ash", "ksh", NULL };
/* Words of the shell that stand before a program. */
static const char *const openers[] = { "then", "do", "else", "elif", "if", "while", "until", "!", NULL };
/* git's own options that take the next word. */
static const char *const valued[] = { "-C",          "-c",          "--git-dir",      "--work-tree",
				      "--namespace", "--exec-path", "--super-prefix", "--config-env",
				      NULL };

static enum git_use of_text(struct str text, unsigned depth);

static bool has(struct str w, char c)
{
	return w.n > 0 && memchr(w.p, c, w.n);
}

static bool is_number(struct str w)
{
	return w.n > 0 && w.p[0] >= '0' && w.p[0] <= '9';
}

/* Behind a wrapper: its options, NAME=value, and the number of timeout or nice. */
static bool is_skipped(struct str w)
{
	return (w.n > 0 && w.p[0] == '-') || has(w, '=') || is_number(w);
}

static enum git_use of_git(struct strs args)
{
	for (size_t i = 0; i < args.n; i++) {
		if (any_of(args.v[i], valued))
			i++;
		else if (args.v[i].n == 0 || args.v[i].p[0] != '-')
			return str_eq(args.v[i], STR("push")) || str_eq(args.v[i], STR("send-pack"))
				       ? GIT_PUSHES
				       : GIT_USED;
	}
	return GIT_USED;
}

static struct strs tail(struct strs l, size_t from)
{
	return (struct strs){ .v = l.v + from, .n = l.n - from };
}

/* sh -c TEXT, also -lc and the like */
static enum git_use of_shell(struct strs args, unsigned depth)
{
	for (size_t i = 0; i + 1 < args.n && args.v[i].n > 1 && args.v[i].p[0] == '-'; i++)
		if (args.v[i].p[args.v[i].n - 1] == 'c')
			return of_text(args.v[i + 1], depth + 1);
	return GIT_NONE;
}

static enum git_use of_words(struct strs w, unsigned depth)
{
	bool wrapped = false;

	for (size_t i = 0; i < w.n; i++) {
		struct str program = path_base(w.v[i]);

		if (str_eq(program, STR("git")))
			return of_git(tail(w, i + 1));
		if (any_of(program, shells))
			return depth < DEPTH_MAX ? of_shell(tail(w, i + 1), depth) : GIT_NONE;
		if (any_of(program, wrappers))
			wrapped = true;
		else if (!any_of(program, openers) && !has(w.v[i], '=') && !(wrapped && is_skipped(w.v[i])))
			return GIT_NONE;
	}
	return GIT_NONE;
}

static bool ends_command(char c)
{
	return c == ';' || c == '&' || c == '|' || c == '\n' || c == '(' || c == ')' || c == '`' ||
	       c == '{' || c == '}';
}

static bool is_quote(char c)
{
	return c == '\'' || c == '"' || c == '\\';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* A word without the quotes around it. */
static struct str bare(struct str w)
{
	while (w.n > 0 && (is_quote(w.p[0]) || w.p[0] == '$'))
		w = str_from(w, 1);
	while (w.n > 0 && is_quote(w.p[w.n - 1]))
		w.n--;
	return w;
}

/* One command of the text, from *at on. */
static struct strs next_words(struct str text, size_t *at, struct str words[static WORDS_MAX])
{
	size_t n = 0, i = *at;

	while (i < text.n && !ends_command(text.p[i])) {
		size_t start = i;

		while (i < text.n && !is_blank(text.p[i]) && !ends_command(text.p[i]))
			i++;
		if (i > start && n < WORDS_MAX) {
			words[n] = bare((struct str){ .p = text.p + start, .n = i - start });
			n += words[n].n > 0;
		}
		while (i < text.n && is_blank(text.p[i]))
			i++;
	}
	*at = i + 1;
	return (struct strs){ .v = words, .n = n };
}

static enum git_use of_text(struct str text, unsigned depth)
{
	enum git_use most = GIT_NONE, use;
	struct str words[WORDS_MAX];

	for (size_t at = 0; at < text.n;) {
		use = of_words(next_words(text, &at, words), depth);
		most = use > most ? use : most;
	}
	return most;
}

enum git_use git_use(struct strs argv)
{
	return of_words(argv, 0);
}
