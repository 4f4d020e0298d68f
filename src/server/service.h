/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the main functions of all services share: the options, the log, the sockets that the parent (creeld) or systemd has opened, telling it that
 * we are ready, signals, the directories. In this order:
 *
 *	static struct service s;
 *	int r = service_begin(&s, "guard", argc, argv, &e);   options; afterwards LOG() works
 *	if (r > 0)
 *		return 0;                                     --help or --version was answered
 *	if (r >= 0)
 *		r = service_load(&s, &e);                     s.config, s.facts; findings are in the log
 *	if (r >= 0)
 *		r = service_open_dirs(&s, &e);                s.state_fd, s.run_fd
 *	if (r >= 0)
 *		r = service_listeners(&s, "guard", &e);       s.listeners
 *	... make the loop and what serves; service_runner_token(); service_signals(); lock in ...
 *	service_ready(&s, "serving");                         not before an accept would be answered
 *	loop_run(); service_stopping(&s); return service_end(&s, r, &e);
 *
 * A service never opens its configuration again: a reload is a new process (docs/decisions/009-services.md). A descriptor for the notification is
 * opened by service_begin(), so that telling works from within a jail.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/loop.h"
#include "identity/runner.h"
#include "model/config.h"
#include "model/diag.h"
#include "model/request.h"
#include "server/jail.h"

#include <limits.h>

#define SERVICE_LISTENERS_MAX 8u
#define SERVICE_LISTEN_FIRST 3 /* the first descriptor of LISTEN_FDS */
#define SERVICE_ARGS_MAX 64u
#define SERVICE_PATH_MAX 1024u

/* What was said on the command line. The same words go from creeld to each service. */
struct service_args {
	struct str config[SERVICE_ARGS_MAX], sets[SERVICE_ARGS_MAX], words[8];
	size_t n_config, n_sets, n_words;
	struct str profile, compat, state_dir;
	enum log_format log_format;
	bool no_default_config, quiet, verbose, check, help, version;
};
/* ERR_USAGE tells what is wrong. `max_words`: how many words that are no options are accepted. */
int service_args_parse(int argc, char *const *argv, size_t max_words, struct service_args *ret,
		       struct err *e);
/* What --help says about the options. */
const char *service_args_help(void);

struct service {
	const char *name; /* a literal: "guard" */
	struct service_args args;
	struct arena arena;
	char *const *environ;
	struct facts facts;
	struct config config;
	struct diags diags;
	bool tells_findings; /* the parent: who is started by it reads the same files, and tells of errors alone */

	int state_fd, run_fd; /* directories; negative until service_open_dirs() */
	char state_path[SERVICE_PATH_MAX], run_path[SERVICE_PATH_MAX]; /* without links */

	int listeners[SERVICE_LISTENERS_MAX]; /* ours to close; non-blocking, close-on-exec */
	size_t n_listeners;

	int notify; /* connected; negative when nobody wants to know */
	loop_fn *drain;
	void *drain_ctx;
	unsigned n_stops; /* how often we were told to end */
};

/*
 * Options, log, notification; ignores SIGPIPE. 1 when --help or --version was answered on standard output. `max_words` for creeld alone.
 * Also sets 0, 1 and 2 in place when they were closed.
 */
int service_begin(struct service *s, const char *name, int argc, char *const *argv, struct err *e);
/* As many descriptors as we may have: for who holds connections, and starts nothing that would inherit that. */
void service_raise_files(void);
int service_begin_words(struct service *s, const char *name, int argc, char *const *argv, size_t max_words,
			const char *usage, struct err *e);

/* -c, -e, --profile, --compat, the default files: as the command line reads them. Findings go to the log. */
int service_load(struct service *s, struct err *e);

/* The state directory and the runtime directory, made where they are missing, and seen to be ours alone. */
int service_open_dirs(struct service *s, struct err *e);
/* Where a unix socket of that name lies in the runtime directory: "<run>/runner.sock". ERR_LIMIT: more than an address can hold. */
int service_socket_path(const struct service *s, const char *name, char out[static SERVICE_PATH_MAX],
			struct err *e);
/* serve.runner, or "unix:<run>/runner.sock" where that is empty. */
int service_runner_address(const struct service *s, char out[static SERVICE_PATH_MAX], struct err *e);

/*
 * service_place.c: whether nobody else could have put a socket at "unix:PATH"; other addresses are fine. ERR_DENIED tells why not. *ret_sticky: only as long
 * as it is ours that answers.
 */
int service_check_place(const char *address, bool *ret_sticky, struct err *e);

/* Those of LISTEN_FDS with that name in LISTEN_FDNAMES (all, when there are no names). ERR_USAGE: none, or no listening stream sockets. */
int service_listeners(struct service *s, const char *name, struct err *e);

/* ERR_NOTFOUND names the command that makes it. The variable is wiped from our environment. */
int service_runner_token(struct service *s, struct runner_token *ret, struct err *e);

/* "NAME=value": whether it is a token that opens a door of ours, the runner's or one of a caller; what tools can see is not the place for it. */
bool service_is_token(const struct service *s, const char *variable);
/* A caller has one that stands in no file of tokens: SANDBOX_GUARD_TOKEN, or of identity.tokens. */
bool service_has_fixed_token(const struct service *s, char *const *vars);

/*
 * SIGTERM and SIGINT: `drain` is called once (answer what has begun, then loop_stop(l, 0)), and the parent is told; the second one stops the loop with
 * SERVICE_CUT at once. SIGHUP is ignored: the parent handles it.
 */
enum { SERVICE_CUT = 1 };
int service_signals(struct service *s, struct loop *l, loop_fn *drain, void *ctx, struct err *e);

/* ---- service_notify.c: sd_notify(3)'s protocol. Each is one datagram; nothing happens when nobody wants to know. ---- */

void service_ready(struct service *s, const char *status);
void service_status(struct service *s, const char *status); /* one line */
void service_stopping(struct service *s);
void service_reloading(struct service *s);

/* Opens what NOTIFY_SOCKET names: a path or, with '@' in front, an abstract name. *ret_fd is FD_NONE when it is unset. */
int notify_open(const char *address, int *ret_fd, struct err *e);
void notify_send(int fd, const char *text);

/*
 * ---- service_jail.c: server/jail.h with what a service has. service_jail_root() comes before the loop and the stores are made: it keeps 0, 1, 2, the
 * listeners and the notification, and closes everything else, state_fd and run_fd too (so service_runner_token() comes before it). ----
 */
int service_jail_root(struct service *s, const struct jail_dir *dirs, size_t n_dirs, bool tcp,
		      struct jail_walls *walls, struct err *e);
int service_jail_seal(const struct jail_dir *dirs, size_t n_dirs, bool tcp, struct jail_walls *walls,
		      struct err *e);

/* Logs *e when r < 0, closes and wipes. The exit status: 0, or 1. */
int service_end(struct service *s, int r, const struct err *e);
