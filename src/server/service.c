/* SPDX-License-Identifier: Apache-2.0 */
#include "server/service.h"

#include "config/config.h"
#include "prepare/prepare.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define ARENA_BYTES ((size_t)256 << 20)

extern char **environ;

/* ---- start ---- */

/* A closed 0, 1 or 2 would be the next file that is opened, and get what is meant for a terminal. */
static int hold_standard_fds(struct err *e)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
			return err_set(e, ERR_SYS, "descriptor %d is closed and cannot be replaced", fd);
	return 0;
}

void service_raise_files(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) < 0)
		return;
	l.rlim_cur = l.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &l);
}

/* systemd says which file its journal is; it is that only as long as nobody has redirected us. */
static bool stderr_is_journal(char *const *vars)
{
	const char *said = environ_get(vars, "JOURNAL_STREAM");
	char want[64];
	struct stat st;

	if (!said || fstat(STDERR_FILENO, &st) < 0)
		return false;
	(void)snprintf(want, sizeof(want), "%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
	return strcmp(said, want) == 0;
}

static void open_log(const struct service *s)
{
	log_setup(&(struct log_opts){
		.out = stderr,
		.max = s->args.quiet     ? LOG_WARN
		       : s->args.verbose ? LOG_DEBUG
					 : LOG_INFO,
		.format = s->args.log_format,
		.journal_prefix = stderr_is_journal(s->environ),
		.service = s->name,
	});
}

static int answer(const struct service *s, const char *usage)
{
	if (s->args.version)
		printf("creel " CREEL_VERSION "\n");
	else
		printf("usage: %s [options]\n\n%s", usage, service_args_help());
	return fflush(stdout) == 0 ? 1 : -1;
}

int service_begin_words(struct service *s, const char *name, int argc, char *const *argv, size_t max_words,
			const char *usage, struct err *e)
{
	int r;

	*s = (struct service){ .name = name, .environ = environ };
	s->state_fd = s->run_fd = s->notify = FD_NONE;
	arena_init(&s->arena, ARENA_BYTES);
	s->diags.arena = &s->arena;
	(void)signal(SIGPIPE, SIG_IGN);
	(void)umask(
		022); /* nothing of ours has more; and nothing less: a jail lets nobody change a mode by name */
	open_log(s);
	r = hold_standard_fds(e);
	if (r >= 0)
		r = service_args_parse(argc, argv, max_words, &s->args, e);
	if (r < 0)
		return r;
	open_log(s);
	if (s->args.help || s->args.version)
		return answer(s, usage) < 0 ? err_sys(e, errno, "print") : 1;
	r = notify_open(environ_get(s->environ, "NOTIFY_SOCKET"), &s->notify, e);
	if (r < 0)
		return r;
	(void)unsetenv("NOTIFY_SOCKET"); /* what we start has nobody to tell */
	s->environ = environ;
	return 0;
}

int service_begin(struct service *s, const char *name, int argc, char *const *argv, struct err *e)
{
	return service_begin_words(s, name, argc, argv, 0, argc > 0 ? argv[0] : name, e);
}

/* ---- configuration ---- */

static void log_findings(const struct service *s, enum severity least)
{
	for (size_t i = 0; i < s->diags.n; i++) {
		const struct diag *d = &s->diags.v[i];
		_cleanup_buf_ struct buf text = { 0 };

		if (d->severity > least)
			continue;
		buf_init(&text, 4096);
		diag_put(&text, d);
		LOG(d->severity == SEVERITY_ERROR ? LOG_ERROR
		    : s->tells_findings           ? LOG_WARN
						  : LOG_DEBUG,
		    "configuration", KV_STR("finding", str_trim(buf_str(&text))));
	}
}

static int find_sources(struct service *s, struct config_source **ret, struct err *e)
{
	struct config_source *v = ARENA_ARRAY(&s->arena, struct config_source, s->args.n_config);

	if (!v)
		return err_set(e, ERR_LIMIT, "out of memory");
	for (size_t i = 0; i < s->args.n_config; i++) {
		if (config_source_parse(s->args.config[i], &v[i], e) < 0)
			return err_wrap(e, "--config");
		v[i].origin = (struct origin){ .kind = ORIGIN_FLAG, .name = STR("--config") };
	}
	*ret = v;
	return 0;
}

int service_load(struct service *s, struct err *e)
{
	struct config_source *files = NULL;
	struct config_input in;
	int r;

	if (s->args.state_dir.n)
		s->environ = environ_with_state_dir(&s->arena, s->environ, s->args.state_dir);
	r = facts_find(&(struct facts_input){ .environ = s->environ, .state_dir = s->args.state_dir },
		       &s->arena, &s->facts, e);
	if (r >= 0)
		r = find_sources(s, &files, e);
	if (r < 0)
		return r;
	in = (struct config_input){
		.files = files,
		.n_files = s->args.n_config,
		.sets = { .v = s->args.sets, .n = s->args.n_sets },
		.profile = s->args.profile,
		.compat = s->args.compat,
		.environ = s->environ,
		.home = s->facts.home,
		.cwd = s->facts.cwd,
		.no_default_file = s->args.no_default_config,
	};
	r = config_load(&in, &s->arena, &s->diags, &s->config, e);
	if (r >= 0)
		facts_take(&s->config, &s->facts);
	log_findings(s, r < 0 || s->args.quiet ? SEVERITY_ERROR : SEVERITY_WARN);
	return r < 0 ? err_wrap(e, "the configuration is refused") : 0;
}

/* ---- listeners ---- */

static int check_listener(int fd, struct err *e)
{
	int type = 0, listens = 0, flags = fcntl(fd, F_GETFL);
	socklen_t n = sizeof(int);

	if (flags < 0 || getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n) < 0)
		return err_sys(e, errno, "LISTEN_FDS: descriptor %d", fd);
	n = sizeof(int);
	if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &n) < 0 ||
	    (type != SOCK_STREAM && type != SOCK_SEQPACKET) || !listens)
		return err_set(e, ERR_USAGE, "LISTEN_FDS: descriptor %d is not a socket that listens", fd);
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return err_sys(e, errno, "LISTEN_FDS: descriptor %d", fd);
	return 0;
}

/* The next of the names that stand between colons; false when there is none. */
static bool next_name(struct str *names, struct str *ret)
{
	if (!names->p)
		return false;
	if (!str_cut(*names, ':', ret, names)) {
		*ret = *names;
		*names = (struct str){ 0 };
	}
	return true;
}

static int take_listeners(struct service *s, const char *name, uint64_t n, struct str names, struct err *e)
{
	bool named = names.p && names.n;

	for (uint64_t i = 0; i < n; i++) {
		int fd = SERVICE_LISTEN_FIRST + (int)i;
		struct str is = STR("");

		if (named && (!next_name(&names, &is) || !str_eq(is, str_z(name)))) {
			(void)fd_close(fd); /* somebody else's */
			continue;
		}
		if (check_listener(fd, e) < 0)
			return -1;
		if (s->n_listeners == SERVICE_LISTENERS_MAX)
			return err_set(e, ERR_LIMIT, "LISTEN_FDS: more than %u sockets for %s",
				       SERVICE_LISTENERS_MAX, name);
		s->listeners[s->n_listeners++] = fd;
	}
	return 0;
}

int service_listeners(struct service *s, const char *name, struct err *e)
{
	const char *pid = environ_get(s->environ, "LISTEN_PID"), *fds = environ_get(s->environ, "LISTEN_FDS");
	const char *names = environ_get(s->environ, "LISTEN_FDNAMES");
	uint64_t n_pid = 0, n = 0;
	int r;

	if (!pid || !fds || str_to_u64(str_z(pid), INT32_MAX, &n_pid) < 0 || n_pid != (uint64_t)getpid())
		return err_set(
			e, ERR_USAGE,
			"no sockets were handed to this process (LISTEN_FDS for LISTEN_PID %d): it is started "
			"by creeld",
			(int)getpid());
	if (str_to_u64(str_z(fds), 64, &n) < 0)
		return err_set(e, ERR_USAGE, "LISTEN_FDS: '%s' is not a number up to 64", fds);
	r = take_listeners(s, name, n, names ? str_z(names) : (struct str){ 0 }, e);
	(void)unsetenv("LISTEN_PID");
	(void)unsetenv("LISTEN_FDS");
	(void)unsetenv("LISTEN_FDNAMES");
	if (r >= 0 && s->n_listeners == 0)
		r = err_set(e, ERR_USAGE, "LISTEN_FDNAMES has no socket that is named '%s'", name);
	return r;
}

/* ---- signals and the end ---- */

static void on_stop(struct loop *l, void *ctx)
{
	struct service *s = ctx;

	if (s->n_stops++) {
		LOG(LOG_WARN, "told to end again: ending at once");
		loop_stop(l, SERVICE_CUT);
		return;
	}
	LOG(LOG_INFO, "stopping");
	service_stopping(s);
	s->drain(l, s->drain_ctx);
}

int service_signals(struct service *s, struct loop *l, loop_fn *drain, void *ctx, struct err *e)
{
	struct loop_id ignored;
	int r;

	s->drain = drain;
	s->drain_ctx = ctx;
	(void)signal(SIGHUP, SIG_IGN);
	r = loop_add_signal(l, SIGTERM, on_stop, s, &ignored);
	if (r >= 0)
		r = loop_add_signal(l, SIGINT, on_stop, s, &ignored);
	return r < 0 ? err_sys(e, -r, "wait for signals") : 0;
}

int service_end(struct service *s, int r, const struct err *e)
{
	if (r < 0)
		LOG(LOG_ERROR, "cannot go on", KV_Z("why", e->msg));
	for (size_t i = 0; i < s->n_listeners; i++)
		fd_closep(&s->listeners[i]);
	s->n_listeners = 0;
	fd_closep(&s->state_fd);
	fd_closep(&s->run_fd);
	fd_closep(&s->notify);
	arena_done(&s->arena);
	return r < 0 ? 1 : 0;
}
