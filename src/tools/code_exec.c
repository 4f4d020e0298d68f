/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_exec: a text in a language, run by its interpreter. A short one is an argument, so that policy and whoever reads the audit log
 * see it. One that is longer than the kernel takes comes first on standard input, where the interpreter is told to read exactly
 * that many bytes; what the program reads itself follows. With `session` it is run by an interpreter that stays.
 */
#include "tools/interpreter.h"

#include <stdio.h>

#define INLINE_MAX ((size_t)120 << 10)
#define SESSION_MAX ((size_t)JOBS_INPUT_MAX - 1024)

/* Each is told the number of bytes in its first argument, reads no byte more than that, and takes the argument away. */
#define PYTHON_BOOT                                                             \
	"import os, sys\n"                                                      \
	"_n = int(sys.argv.pop(1)); _c = b''\n"                                 \
	"while len(_c) < _n:\n"                                                 \
	"    _b = os.read(0, _n - len(_c))\n"                                   \
	"    if not _b: sys.exit('code_exec: the code did not arrive whole')\n" \
	"    _c += _b\n"                                                        \
	"_c = compile(_c, '<code>', 'exec'); del _n, _b\n"                      \
	"exec(_c)\n"
#define NODE_BOOT                                                                                           \
	"(() => { const n = Number(process.argv.splice(1, 1)[0]), b = Buffer.alloc(n), fs = require('fs');" \
	" let at = 0; while (at < n) { let k = 0; try { k = fs.readSync(0, b, at, n - at, null); }"         \
	" catch (e) { if (e.code === 'EAGAIN') continue; throw e; }"                                        \
	" if (!k) throw new Error('code_exec: the code did not arrive whole'); at += k; }"                  \
	" return b.toString(); })()"
#define BASH_BOOT "_n=$1; shift; eval \"$(head -c \"$_n\")\""

static const struct language {
	const char *names; /* a space between two */
	const char *program, *flag, *boot, *before_args;
	struct interpreter stays;
} languages[] = {
	{ "python py python3", "python3", "-c", PYTHON_BOOT, NULL, { "python", interpreter_python } },
	{ "javascript js node",
	  "node",
	  "-e",
	  "(0, eval)(" NODE_BOOT ")",
	  "--",
	  { "javascript", interpreter_node } },
	{ "bash sh shell", "bash", "-c", BASH_BOOT, "bash", { "bash", interpreter_bash } },
};

static const struct language *find_language(struct str name)
{
	for (size_t i = 0; i < sizeof(languages) / sizeof(languages[0]); i++)
		if (tools_has_word(languages[i].names, name, true))
			return &languages[i];
	return NULL;
}

/* The argument vector: program, flag, code or what reads it, then the program's own. */
static int build(struct arena *a, const struct language *l, struct str code, const struct value *args,
		 struct strs *ret, struct err *e)
{
	bool is_long = code.n > INLINE_MAX;
	struct strs own = { 0 };
	struct str *v;
	size_t n = 0;
	int r = args ? program_words(a, args, &own, e) : 0;

	if (r < 0)
		return r;
	v = ARENA_ARRAY(a, struct str, own.n + 5);
	if (!v)
		return 0; /* tools_ask() says it */
	v[n++] = str_z(l->program);
	v[n++] = str_z(l->flag);
	v[n++] = is_long ? str_z(l->boot) : code;
	if (l->before_args)
		v[n++] = str_z(l->before_args);
	if (is_long)
		v[n++] = arena_printf(a, "%zu", code.n);
	for (size_t i = 0; i < own.n; i++)
		v[n++] = own.v[i];
	*ret = (struct strs){ .v = v, .n = n };
	return 0;
}

/* The interpreter is what policy judges: it is started with this, once, and is given the texts later. */
static int ask_session(struct arena *a, const struct language *l, const struct tool_in *in,
		       struct tool_ask *ret, struct err *e)
{
	if (in->v[SCRIPT_ARGS] || in->v[SCRIPT_STDIN] || in->v[SCRIPT_WORKDIR])
		return err_set(e, ERR_USAGE, "args, stdin and workdir are not for an interpreter that stays");
	if (tools_str(in, SCRIPT_CODE).n > SESSION_MAX)
		return err_set(e, ERR_LIMIT, "'code' has %zu bytes, and an interpreter that stays takes %zu",
			       tools_str(in, SCRIPT_CODE).n, SESSION_MAX);
	return build(a, l, str_z(l->stays.driver), NULL, &ret->argv, e);
}

int tool_code_exec_ask(struct arena *a, const struct tool_in *in, struct tool_ask *ret, struct err *e)
{
	struct str name = tools_str(in, SCRIPT_LANGUAGE), code = tools_str(in, SCRIPT_CODE);
	const struct language *l = find_language(name);

	if (!l)
		return err_set(e, ERR_USAGE,
			       "'language' is '" STR_FMT "', and must be python, javascript or bash",
			       STR_ARG(name));
	if (memchr(code.p, '\0', code.n))
		return err_set(e, ERR_USAGE, "'code' holds a NUL byte");
	ret->has_timeout = in->v[SCRIPT_TIMEOUT] != NULL;
	ret->timeout_s = (uint64_t)tools_int(in, SCRIPT_TIMEOUT, 0);
	if (tools_bool(in, SCRIPT_SESSION))
		return ask_session(a, l, in, ret, e);
	return build(a, l, code, in->v[SCRIPT_ARGS], &ret->argv, e);
}

int tool_code_exec(struct tool_ctx *x, const struct tool_in *in, struct jsonw *w, struct err *e)
{
	struct str code = tools_str(in, SCRIPT_CODE), text = tools_str(in, SCRIPT_STDIN);
	struct program q = { .cwd = tools_str(in, SCRIPT_WORKDIR),
			     .has_input = in->v[SCRIPT_STDIN] != NULL,
			     .input = text };

	if (tools_bool(in, SCRIPT_SESSION))
		return interpreter_run(x, &find_language(tools_str(in, SCRIPT_LANGUAGE))->stays, code,
				       tools_bool(in, SCRIPT_RESET), w, e);
	if (tools_bool(in, SCRIPT_RESET))
		return err_set(e, ERR_USAGE, "'reset' is for 'session'");
	if (code.n > INLINE_MAX) {
		char *both = arena_alloc(x->arena, code.n + text.n, 1);

		if (!both)
			return 0; /* tools_run() says it */
		memcpy(both, code.p, code.n);
		if (text.n)
			memcpy(both + code.n, text.p, text.n);
		q.has_input = true;
		q.input = (struct str){ .p = both, .n = code.n + text.n };
	}
	return program_run(x, &q, w, e);
}
