/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdalign.h>
#include <stddef.h>
#include <unistd.h>

extern char **environ;

/*
 * A caller may have closed 0, 1 or 2; then the next file we open would get that number and our output. Whatever
 * stands in for a closed one is opened the wrong way round, so that using it still fails.
 */
static void hold_standard_fds(void)
{
	static const int mode[] = { O_WRONLY, O_RDONLY, O_RDONLY };

	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", mode[fd]) != fd)
			_exit(EXIT_TROUBLE);
}

static int split_argv(struct cli *cli, int argc, char **argv, struct strs *ret, struct err *e)
{
	size_t n = argc > 1 ? (size_t)argc - 1 : 0;
	struct str *v = ARENA_ARRAY(cli->arena, struct str, n);

	if (!v)
		return err_set(e, ERR_LIMIT, "out of memory");
	for (size_t i = 0; i < n; i++)
		v[i] = str_z(argv[i + 1]);
	*ret = (struct strs){ .v = v, .n = n };
	return 0;
}

/* docker's -e gives a variable; no key of ours begins with a capital letter. */
static int check_sets(const struct cli *cli, struct err *e)
{
	if (!arg_option_find(&args_command(&cli->args)->options, STR("env")))
		return 0;
	for (size_t i = 0; i < cli->sets.n; i++) {
		struct str set = cli->sets.v[i], name, value;

		if (!str_cut(set, '=', &name, &value))
			name = set;
		if (name.n && name.p[0] >= 'A' && name.p[0] <= 'Z')
			return err_set(e, ERR_USAGE,
				       "-e sets an option of creel, and there is no '" STR_FMT
				       "'; a variable of the command is given with --env " STR_FMT,
				       STR_ARG(name), STR_ARG(name));
	}
	return 0;
}

static int run(struct cli *cli, int argc, char **argv, struct err *e)
{
	struct strs words = { 0 };
	int r = split_argv(cli, argc, argv, &words, e);

	if (r < 0)
		return r;
	r = args_parse(&creel_command, words, cli->arena, cli, &cli->args, e);
	if (r < 0)
		return r;
	if (cli->help && !(args_command(&cli->args)->helps && cli->args.words.n)) {
		help_put(cli->out, &cli->args);
		return 0;
	}
	if (cli->version)
		return run_version(cli, e);
	r = args_check_words(&cli->args, e);
	if (r >= 0)
		r = check_sets(cli, e);
	return r < 0 ? r : args_command(&cli->args)->run(cli, e);
}

/* "creel config show: what went wrong", and for a slip in the command line where to look it up. */
static void complain(const struct cli *cli, const struct err *e)
{
	_cleanup_buf_ struct buf text = { 0 };

	if (e->kind == ERR_NONE || e->sys_errno == EPIPE)
		return; /* already told, or nobody is listening any more */
	buf_init(&text, OUTPUT_MAX);
	if (cli->args.n_path)
		args_path_put(&text, &cli->args);
	else
		buf_puts(&text, "creel");
	buf_puts(&text, ": ");
	buf_put_visible(&text, str_z(e->msg));
	if (e->kind == ERR_USAGE)
		buf_puts(&text, " (--help tells more)");
	buf_putc(&text, '\n');
	output_complain(buf_str(&text));
}

#define POOL_SIZE ((size_t)512 << 10)

/* Most runs need no more, and none of the C library's own memory: each page of that is a trap into the kernel. */
static alignas(max_align_t) char pool[POOL_SIZE];

int main(int argc, char **argv)
{
	_cleanup_arena_ struct arena arena = { 0 };
	_cleanup_buf_ struct buf out = { 0 };
	struct cli cli = { .arena = &arena, .out = &out, .environ = environ, .argv = argv };
	struct err e = { 0 };
	int status, r;

	hold_standard_fds();
	signals_take();
	arena_init_on(&arena, ARENA_MAX, pool, sizeof(pool));
	buf_init(&out, OUTPUT_MAX);

	status = run(&cli, argc, argv, &e);
	if (status < 0) {
		complain(&cli, &e);
		explain_error(&cli, str_z(e.msg));
		status = err_kind_exit(e.kind);
	}
	if (out.failed) {
		(void)err_set(&e, ERR_LIMIT, "the output is larger than %zu bytes", OUTPUT_MAX);
		complain(&cli, &e);
		return EXIT_TROUBLE;
	}
	r = output_all(STDOUT_FILENO, buf_str(&out), &e);
	if (r < 0) {
		complain(&cli, &e);
		return EXIT_TROUBLE;
	}
	return status;
}
