/* SPDX-License-Identifier: Apache-2.0 */
/* code_exec with a session: interpreters that stay. */
#include "programs.h"

static void session(struct caller *c, const char *language, const char *code, int exit, const char *out)
{
	char args[1024];

	(void)snprintf(args, sizeof(args), "{language: '%s', session: true, code: \"%s\"}", language, code);
	c->programs.timeout_ms = 60000;
	must_run(c, "code_exec", args);
	if (out)
		must_be(c, "stdout", out);
	must_count(c, "exit", exit);
	must_be(c, "reason", "exited");
}

static bool stderr_has(const struct caller *c, const char *words)
{
	struct str s = member(c, "stderr")->s;

	return memmem(s.p, s.n, words, strlen(words)) != NULL;
}

WITH_KEPT(python_keeps_names_imports_and_the_directory)
{
	session(c, "python",
		"import os\\nx = 40\\ndef f(): return x + 2\\nos.makedirs('d', exist_ok=True); os.chdir('d')",
		0, "");
	MUST(is_true(c, "fresh") && !is_true(c, "stateLost"));
	session(c, "py", "print(f(), os.getcwd(), __name__)", 0, "42 /tmp/d __main__\n");
	MUST(!is_true(c, "fresh"));
	must_be(c, "stderr", "");
	session(c, "python", "1/0", 1, "");
	MUST(stderr_has(c, "ZeroDivisionError") && !stderr_has(c, "_creel"));
	session(c, "python", "def g(:", 1, "");
	MUST(stderr_has(c, "SyntaxError"));
	session(c, "python", "import sys; print(repr(sys.stdin.read())); sys.exit(7)", 7, "''\n");
	session(c, "python", "import os\\nif os.fork() == 0: pass\\nelse: os.wait(); print(f())", 0, "42\n");
	session(c, "python", "", 0, "");
	session(c, "python", "print('é' * 3, end='')", 0, "ééé");
	must_run(c, "code_exec", "{language: 'python', code: 'print(f())', session: true, reset: true}");
	must_count(c, "exit", 1);
	MUST(is_true(c, "fresh") && stderr_has(c, "NameError"));
}

WITH_KEPT(node_keeps_names_and_waits_for_promises)
{
	session(c, "javascript", "const x = 40; let y = 1; function f() { return x + y; }", 0, "");
	session(c, "js", "y++; console.log(f(), typeof require('fs').readFileSync)", 0, "42 function\n");
	session(c, "js", "new Promise(r => setTimeout(() => { console.log('later'); r(); }, 20))", 0,
		"later\n");
	session(c, "js", "throw new Error('no')", 1, "");
	MUST(stderr_has(c, "Error: no"));
	session(c, "js", "process.exit(5)", 5, "");
	session(c, "js", "console.log(require('fs').readFileSync(0, 'utf8').length, f())", 0, "0 42\n");
	MUST(!is_true(c, "stateLost"));
}

WITH_KEPT(bash_keeps_variables_functions_and_the_directory)
{
	session(c, "bash", "x=40; f() { echo $((x + 2)); }; declare -A m=([a]=b); mkdir -p e; cd e; false", 1,
		"");
	session(c, "sh", "f; pwd; echo ${m[a]}; cat", 0, "42\n/tmp/e\nb\n");
	session(c, "bash", "echo é; exec 1>/dev/null", 0, "é\n");
	session(c, "bash", "echo gone; printf err >&2", 0, "");
	must_be(c, "stderr", "err");
	/* A shell that is told to exit does. */
	session(c, "bash", "echo last >&2; exit 6", 6, "");
	MUST(is_true(c, "stateLost"));
	session(c, "bash", "echo ${x-none}", 0, "none\n");
	MUST(is_true(c, "fresh"));
}

WITH_KEPT(a_late_text_is_interrupted_and_the_state_stays)
{
	static const char *const rows[][3] = {
		{ "python", "x = 1", "import time\\nprint('begun')\\ntime.sleep(100)" },
		{ "python", "x = 1", "print('begun')\\nwhile True: pass" },
		{ "js", "var x = 1", "console.log('begun'); for (;;) {}" },
		{ "js", "var x = 1", "console.log('begun'); new Promise(r => setTimeout(r, 100000))" },
		{ "bash", "x=1", "echo begun; sleep $MARK; echo not" },
		{ "bash", "x=1", "echo begun; while :; do :; done" },
	};
	char args[256];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		session(c, rows[i][0], rows[i][1], 0, "");
		(void)snprintf(args, sizeof(args),
			       "{language: '%s', session: true, timeout: 1, code: \"%s\"}", rows[i][0],
			       rows[i][2]);
		must_run(c, "code_exec", args);
		must_be(c, "reason", "timeout");
		must_be(c, "stdout", "begun\n");
		if (is_true(c, "stateLost")) {
			(void)fprintf(stderr, "%s %s: lost\n", rows[i][0], rows[i][2]);
			_exit(1);
		}
		session(c, rows[i][0],
			rows[i][0][0] == 'b'   ? "echo $x"
			: rows[i][0][0] == 'j' ? "console.log(x)"
					       : "print(x)",
			0, "1\n");
		MUST(!is_true(c, "fresh"));
	}
	wait_marked(0);
}

WITH_KEPT(one_that_does_not_obey_is_killed_and_that_is_told)
{
	c->programs.timeout_ms = 1000;
	must_run(
		c, "code_exec",
		"{language: 'python', session: true, timeout: 1,"
		" code: 'import signal, time\\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\\nprint(1)\\nwhile True: time.sleep(1)'}");
	must_be(c, "reason", "timeout");
	must_be(c, "stdout", "1\n");
	MUST(is_true(c, "stateLost"));
	session(c, "python", "print('again')", 0, "again\n");
	MUST(is_true(c, "fresh"));
	/* Marks of somebody else are output. */
	session(c, "python", "print(chr(0) + 'creel-end 00 0')", 0, NULL);
	MUST(str_eq(member(c, "stdout")->s, (struct str){ "\0creel-end 00 0\n", 16 }));
}

WITH_KEPT(answers_are_bounded_and_stream)
{
	session(c, "python", "pass", 0, "");
	must_run(c, "code_exec",
		 "{language: 'python', session: true, code: 'print(\"x\" * 30000000); print(\"end\")'}");
	must_count(c, "exit", 0);
	must_count(c, "stdoutBytes", 30000005);
	MUST(is_true(c, "truncated") && str_ends(member(c, "stdout")->s, STR("\nend\n")));
	must_refuse(c, "code_exec", "{language: 'py', session: true, code: '', args: ['a']}", ERR_USAGE,
		    "not for an interpreter");
	must_refuse(c, "code_exec", "{language: 'py', code: '', reset: true}", ERR_USAGE, "'reset' is for");
}

static void one_of_many(const struct den *d, int i)
{
	struct den mine = { .kind = KEPT, .box = den_connect(d) };
	CALLER(c, &mine);
	char code[128], want[32];

	for (int k = 0; k < 5; k++) {
		(void)snprintf(code, sizeof(code), "n = n + 1\\nprint('from %d', %d)", i, k);
		(void)snprintf(want, sizeof(want), "from %d %d\n", i, k);
		session(&c, "python", code, 0, want);
	}
	(void)box_close(mine.box);
}

WITH_KEPT(several_callers_of_one_interpreter_get_their_own_answers)
{
	int status, bad = 0;

	session(c, "python", "n = 0", 0, "");
	for (int i = 0; i < 8; i++)
		if (fork() == 0) {
			one_of_many(c->d, i);
			_exit(0);
		}
	for (int i = 0; i < 8; i++) {
		MUST(wait(&status) > 0);
		bad += status != 0;
	}
	MUST(bad == 0);
	session(c, "python", "print(n)", 0, "40\n");
}

WITH_KEPT(an_interpreter_with_secrets_is_not_entered_without_them)
{
	struct str with[3] = { c->env[0], c->env[1], STR("TOKEN=secret") };

	c->programs.env = (struct strs){ with, 3 };
	c->programs.apart = true;
	session(c, "python", "import os; print(os.environ['TOKEN'])", 0, "secret\n");
	c->programs.env = (struct strs){ c->env, 2 };
	c->programs.apart = false;
	session(c, "python", "import os; print(os.environ.get('TOKEN'))", 0, "None\n");
	MUST(is_true(c, "fresh"));
}

TEST_MAIN()
