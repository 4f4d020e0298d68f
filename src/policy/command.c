/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The splitter of the exec route: is this text one program with literal arguments, whatever shell reads it?
 *
 * It is not a shell parser. It knows words, both quotes and the backslash, and gives up (COMPLEX) at the first byte
 * that any shell may take for more. A line that starts with an allowed program but carries a second one
 * ("gh x; curl y") must not take that one along, so what is SIMPLE is run as this argv and never handed to a shell.
 */
#include "policy/policy_priv.h"

#include "policy/path.h"

enum { WORDS_MAX = 1024, TEXT_MAX = 128 << 10 };

/* Programs that start another one named in their arguments: the first word says nothing about what runs. */
static const char *const wrappers[] = {
	"ash",      "bash",   "busybox", "bwrap",   "chroot", "csh",         "dash",    "doas",   "env",
	"fish",     "flock",  "ionice",  "ksh",     "ltrace", "mksh",        "nice",    "nohup",  "nsenter",
	"parallel", "pkexec", "rbash",   "runuser", "script", "setarch",     "setpriv", "setsid", "sh",
	"ssh",      "stdbuf", "strace",  "su",      "sudo",   "systemd-run", "taskset", "tcsh",   "time",
	"timeout",  "toybox", "unshare", "watch",   "xargs",  "yash",        "zsh",
};

/* Words that a shell acts on itself: reserved words, and builtins that no program stands in for. */
static const char *const shell_words[] = {
	".",        ":",       "alias",   "bg",    "break", "builtin", "case",     "cd",      "command",
	"continue", "coproc",  "declare", "do",    "done",  "elif",    "else",     "esac",    "eval",
	"exec",     "exit",    "export",  "fg",    "fi",    "for",     "function", "getopts", "hash",
	"if",       "in",      "jobs",    "let",   "local", "read",    "readonly", "return",  "select",
	"set",      "shift",   "source",  "then",  "times", "trap",    "type",     "typeset", "ulimit",
	"umask",    "unalias", "unset",   "until", "wait",  "while",
};

static bool is_listed(const char *const *list, size_t n, struct str word)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(str_z(list[i]), word))
			return true;
	return false;
}
#define LISTED(list, word) is_listed((list), sizeof(list) / sizeof((list)[0]), (word))

static bool is_control(char c)
{
	unsigned char u = (unsigned char)c;

	return (u < 0x20 && u != '\t') || u == 0x7f;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Means something to some shell wherever it stands outside quotes. */
static bool is_meta(char c)
{
	return is_control(c) || (c && strchr(";&|`$()<>{}*?[", c));
}

struct split {
	struct str text;
	size_t at;
	char *out; /* the word being built */
	size_t n;
	bool in_word;
};

static void put(struct split *s, char c)
{
	s->out[s->n++] = c;
}

/* Behind the opening quote. False when it never closes or holds a control character. */
static bool single_quoted(struct split *s)
{
	while (s->at < s->text.n) {
		char c = s->text.p[s->at++];

		if (c == '\'')
			return true;
		if (is_control(c))
			return false;
		put(s, c);
	}
	return false;
}

static bool double_quoted(struct split *s)
{
	while (s->at < s->text.n) {
		char c = s->text.p[s->at++];

		if (c == '"')
			return true;
		if (c == '$' || c == '`' || is_control(c))
			return false;
		if (c == '\\') {
			if (s->at == s->text.n)
				return false;
			/* Before any other byte the backslash stays, as in every shell; that byte is judged next round. */
			if (strchr("\"\\$`", s->text.p[s->at]) && s->text.p[s->at])
				c = s->text.p[s->at++];
		}
		put(s, c);
	}
	return false;
}

static bool escaped(struct split *s)
{
	if (s->at == s->text.n || is_control(s->text.p[s->at]))
		return false;
	put(s, s->text.p[s->at++]);
	return true;
}

/* One byte outside quotes that is not blank. */
static bool bare(struct split *s, bool first_word)
{
	char c = s->text.p[s->at];
	char before = s->in_word && s->at > 0 ? s->text.p[s->at - 1] : '\0';

	if (is_meta(c))
		return false;
	if (c == '#' && !s->in_word)
		return false;
	/* bash also expands "~" behind "=" and ":". */
	if (c == '~' && (!s->in_word || before == '=' || before == ':'))
		return false;
	if (first_word && (c == '=' || (c == '!' && !s->in_word)))
		return false;
	s->at++;
	put(s, c);
	return true;
}

/* One word, or nothing at the end. `*ret_ok` is false when the text is not certainly literal. */
static bool next_word(struct split *s, bool first_word, struct str *ret, bool *ret_ok)
{
	*ret_ok = true;
	while (s->at < s->text.n && is_blank(s->text.p[s->at]))
		s->at++;
	s->in_word = false;
	s->n = 0;
	while (*ret_ok && s->at < s->text.n && !is_blank(s->text.p[s->at])) {
		char c = s->text.p[s->at];

		if (c == '\'' || c == '"' || c == '\\') {
			s->at++;
			*ret_ok = c == '\'' ? single_quoted(s) : c == '"' ? double_quoted(s) : escaped(s);
		} else {
			*ret_ok = bare(s, first_word);
		}
		s->in_word = true;
	}
	*ret = (struct str){ .p = s->out, .n = s->n };
	s->out += s->n;
	return s->in_word;
}

static bool is_plain_program(struct str word)
{
	return word.n > 0 && !LISTED(wrappers, path_base(word)) && !LISTED(shell_words, word);
}

enum command_kind command_split(struct arena *a, struct str text, struct strs *ret_argv)
{
	struct split s = { .text = text };
	struct str *argv = NULL, word;
	size_t n = 0, cap = 0;
	bool ok;

	if (text.n > TEXT_MAX || !(s.out = arena_alloc(a, text.n + 1, 1)))
		return COMMAND_COMPLEX;
	while (next_word(&s, n == 0, &word, &ok)) {
		if (!ok || n == WORDS_MAX || (n == 0 && !is_plain_program(word)))
			return COMMAND_COMPLEX;
		if (n == cap && !(argv = arena_grow(a, argv, n, &cap, sizeof(*argv), alignof(struct str))))
			return COMMAND_COMPLEX;
		argv[n++] = word;
	}
	if (n == 0)
		return COMMAND_COMPLEX;
	*ret_argv = (struct strs){ .v = argv, .n = n };
	return COMMAND_SIMPLE;
}
