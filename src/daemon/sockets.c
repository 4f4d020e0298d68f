/* SPDX-License-Identifier: Apache-2.0 */
/* The sockets that the services serve on. They outlive each service. */
#include "daemon/parent.h"

#include "http/listen.h"
#include "policy/policy.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define LOCK_WAIT_MS 0u
#define BACKLOG 1024

/* ---- what is said ---- */

static int address_of(const struct service *s, enum kind kind, char out[static SERVICE_PATH_MAX],
		      struct err *e)
{
	struct str guard = s->config.base.serve_guard;
	char path[SERVICE_PATH_MAX];
	int n = 0;

	switch (kind) {
	case KIND_GUARD:
		n = snprintf(out, SERVICE_PATH_MAX, "%.*s", (int)guard.n, guard.p);
		break;
	case KIND_RUNNER:
		return service_runner_address(s, out, e);
	case KIND_EGRESS:
		if (service_socket_path(s, "egress.sock", path, e) < 0)
			return -1;
		n = snprintf(out, SERVICE_PATH_MAX, "unix:%.1000s", path);
		break;
	case KIND_COUNT_:
		break;
	}
	return n > 0 && n < (int)SERVICE_PATH_MAX
		       ? 0
		       : err_set(e, ERR_USAGE, "serve.%s: no address is given", kind_names[kind]);
}

/* IP:PORT, [IP]:PORT. */
static int split_tcp(const char *text, char host[static 64], uint16_t *port)
{
	const char *colon = strrchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : 0;
	uint64_t number;

	if (n == 0 || str_to_u64(str_z(colon + 1), 65535, &number) < 0)
		return -1;
	if (text[0] == '[' && text[n - 1] == ']') {
		text++;
		n -= 2;
	}
	if (n == 0 || n >= 64)
		return -1;
	memcpy(host, text, n);
	host[n] = '\0';
	if (strcmp(host, "localhost") == 0) /* the one name that needs nobody to look it up */
		memcpy(host, "127.0.0.1", sizeof("127.0.0.1"));
	*port = (uint16_t)number;
	return 0;
}

static bool is_loopback(const char *host)
{
	return strncmp(host, "127.", 4) == 0 || strcmp(host, "::1") == 0;
}

/* Policy says what may not be served. */
int sockets_check(const struct service *s, struct err *e)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct diags d = { .arena = &a };
	const struct diag *why;

	arena_init(&a, (size_t)16 << 20);
	lint(&s->config, &s->facts, &d);
	why = serve_refusal(&s->config, &d);
	if (!why)
		return 0;
	/* Whole: the fix is at its end. */
	return err_set(e, ERR_DENIED, "%.*s: %.*s; fix: %.*s", (int)why->key.n, why->key.p, (int)why->text.n,
		       why->text.p, (int)why->fix.n, why->fix.p);
}

/* ---- from systemd ---- */

static enum kind kind_of(struct str name)
{
	for (int k = 0; k < KIND_COUNT_; k++)
		if (str_eq(name, str_z(kind_names[k])))
			return (enum kind)k;
	return KIND_COUNT_;
}

/* Policy judges what the configuration says: a socket that is more open than that was judged by nobody. */
static int check_given(const struct service *s, enum kind kind, int fd, struct err *e)
{
	if (!http_is_public(fd) || (kind == KIND_GUARD && serve_is_public(&s->config)))
		return 0;
	if (kind == KIND_GUARD)
		return err_set(
			e, ERR_DENIED,
			"LISTEN_FDS: the guard's socket can be reached from outside, and serve.guard says '" STR_FMT
			"'; fix: the same address in serve.guard and in ListenStream= of the socket unit",
			STR_ARG(s->config.base.serve_guard));
	return err_set(e, ERR_DENIED,
		       "LISTEN_FDS: the socket of %s can be reached from outside; fix: a unix socket",
		       kind_names[kind]);
}

/* 1 when there are some. */
static int take_given(struct parent *p, const struct service *s, struct err *e)
{
	const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS"),
		   *names = getenv("LISTEN_FDNAMES"); /* NOLINT(concurrency-mt-unsafe) */
	struct str rest = names ? str_z(names) : (struct str){ 0 }, name;
	uint64_t of = 0, n = 0;

	if (!pid || !fds || str_to_u64(str_z(pid), INT32_MAX, &of) < 0 || of != (uint64_t)getpid())
		return 0;
	if (str_to_u64(str_z(fds), SOCKETS_MAX * KIND_COUNT_, &n) < 0)
		return err_set(e, ERR_USAGE, "LISTEN_FDS: '%s' is not a number up to %d", fds,
			       SOCKETS_MAX * KIND_COUNT_);
	for (uint64_t i = 0; i < n; i++) {
		int fd = SERVICE_LISTEN_FIRST + (int)i;
		struct kind_state *k;

		if (!str_cut(rest, ':', &name, &rest)) {
			name = rest;
			rest = (struct str){ 0 };
		}
		if (kind_of(name) == KIND_COUNT_)
			return err_set(
				e, ERR_USAGE,
				"LISTEN_FDNAMES: '" STR_FMT
				"' is not accepted: guard, runner or egress (FileDescriptorName= of the socket unit)",
				STR_ARG(name));
		k = &p->kinds[kind_of(name)];
		if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 || k->n_fds == SOCKETS_MAX)
			return err_set(e, ERR_USAGE, "LISTEN_FDS: descriptor %d cannot be taken for %.*s", fd,
				       (int)name.n, name.p);
		k->fds[k->n_fds++] = fd;
		if (check_given(s, kind_of(name), fd, e) < 0)
			return -1;
	}
	return n > 0;
}

/* ---- opened by us ---- */

/* SEQPACKET: what is said to egress are messages. The name is there only once nobody else may connect. */
static int listen_messages(const char *path, int *ret_fd, struct err *e)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	mode_t old;
	int r;

	if (fd < 0 || strlen(path) >= sizeof(sa.sun_path))
		return err_sys(e, fd < 0 ? errno : ENAMETOOLONG, "listen on '%s'", path);
	memcpy(sa.sun_path, path, strlen(path));
	old = umask(0177);
	r = bind(fd, (const struct sockaddr *)&sa, sizeof(sa));
	(void)umask(old);
	if (r < 0 || listen(fd, BACKLOG) < 0)
		return err_sys(e, errno, "listen on '%s'", path);
	*ret_fd = TAKE_FD(fd);
	return 0;
}

static int listen_at(struct kind_state *k, enum kind kind, const char *path, int *ret_fd, struct err *e)
{
	struct stat st;
	int r = kind == KIND_EGRESS ? listen_messages(path, ret_fd, e)
				    : http_listen_unix(path, 0600, ret_fd, e);

	if (r >= 0 && lstat(path, &st) == 0) {
		k->id[0] = st.st_dev;
		k->id[1] = st.st_ino;
	}
	return r;
}

/* Who holds the lock beside it may remove the name that a killed one has left. */
static int open_unix(struct kind_state *k, enum kind kind, const char *path, struct err *e)
{
	char lock[SERVICE_PATH_MAX];
	struct stat st;

	if (path[0] != '/' || snprintf(lock, sizeof(lock), "%s.lock", path) >= (int)sizeof(lock))
		return err_set(e, ERR_USAGE, "serve.%s: 'unix:%s' is not accepted: an absolute path",
			       kind_names[kind], path);
	k->lock = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (k->lock < 0)
		return err_sys(e, errno, "open '%s'", lock);
	if (fd_lock(k->lock, LOCK_EX, LOCK_WAIT_MS) < 0)
		return err_set(
			e, ERR_UNAVAIL,
			"another creeld serves on '%s'; fix: end it, or give another --state-dir or address",
			path);
	if (lstat(path, &st) == 0) {
		if (!S_ISSOCK(st.st_mode) || st.st_uid != geteuid())
			return err_set(e, ERR_DENIED, "'%s' is there, and is no socket of ours", path);
		if (unlink(path) < 0)
			return err_sys(e, errno, "remove '%s'", path);
	}
	return listen_at(k, kind, path, &k->fds[0], e);
}

static int open_one(struct parent *p, const struct service *s, enum kind kind, struct err *e)
{
	struct kind_state *k = &p->kinds[kind];
	uint16_t port = 0, got = 0;
	char host[64];
	int r;

	r = address_of(s, kind, k->address, e);
	if (r < 0)
		return r;
	if (strncmp(k->address, "unix:", 5) == 0) {
		r = open_unix(k, kind, k->address + 5, e);
	} else if (split_tcp(k->address, host, &port) < 0) {
		r = err_set(e, ERR_USAGE, "serve.%s: '%s' is not accepted: IP:PORT, [IPv6]:PORT or unix:PATH",
			    kind_names[kind], k->address);
	} else if (kind == KIND_RUNNER && !is_loopback(host)) {
		r = err_set(e, ERR_DENIED,
			    "serve.runner: '%s' is not loopback; fix: 127.0.0.1:%u, or unix:PATH", k->address,
			    port);
	} else {
		r = http_listen_tcp(host, port, &k->fds[0], &got, e);
		if (r < 0 && e->sys_errno == EADDRINUSE)
			r = err_set(
				e, ERR_UNAVAIL,
				"serve.%s: listen on %s: Address already in use; fix: end what listens there, or -e serve.%s=%s:PORT",
				kind_names[kind], k->address, kind_names[kind], host);
	}
	if (r < 0)
		return r;
	k->n_fds = 1;
	if (got)
		LOG(LOG_INFO, "listening", KV_Z("name", kind_names[kind]), KV_Z("address", host),
		    KV_U64("port", got));
	else
		LOG(LOG_INFO, "listening", KV_Z("name", kind_names[kind]), KV_Z("address", k->address));
	return 0;
}

int sockets_open(struct parent *p, const struct service *s, struct err *e)
{
	int r = take_given(p, s, e);

	for (int k = 0; r >= 0 && k < KIND_COUNT_; k++)
		if (p->kinds[k].wanted && p->kinds[k].n_fds == 0)
			r = open_one(p, s, (enum kind)k, e);
	(void)unsetenv("LISTEN_PID");
	(void)unsetenv("LISTEN_FDS");
	(void)unsetenv("LISTEN_FDNAMES");
	return r < 0 ? r : 0;
}

int sockets_same(const struct parent *p, const struct service *s, struct err *e)
{
	for (int k = 0; k < KIND_COUNT_; k++) {
		const struct kind_state *ks = &p->kinds[k];
		char now[SERVICE_PATH_MAX];

		for (size_t i = 0; ks->wanted && !ks->address[0] && i < ks->n_fds; i++)
			if (check_given(s, (enum kind)k, ks->fds[i], e) < 0)
				return -1;
		if (!ks->wanted || !ks->address[0])
			continue;
		if (address_of(s, (enum kind)k, now, e) < 0)
			return -1;
		if (strcmp(now, ks->address) != 0)
			return err_set(
				e, ERR_UNAVAIL,
				"serve.%s has changed from '%.200s' to '%.200s', which takes a restart",
				kind_names[k], ks->address, now);
	}
	return 0;
}

static void tell_lost(struct kind_state *k, const char *why)
{
	if (!k->lost)
		LOG(LOG_ERROR, "nobody reaches a socket of ours any more; fix: restart creeld",
		    KV_Z("address", k->address), KV_Z("why", why));
	k->lost = true;
}

static bool mend(struct kind_state *k, enum kind kind)
{
	const char *path = k->address + 5;
	int fd = FD_NONE;
	struct err e = { 0 };
	struct stat st;

	if (lstat(path, &st) == 0) {
		if (st.st_dev != k->id[0] || st.st_ino != k->id[1])
			tell_lost(k, "somebody has put something else there");
		return false;
	}
	if (errno != ENOENT || listen_at(k, kind, path, &fd, &e) < 0) {
		tell_lost(k, e.msg[0] ? e.msg : strerror(errno));
		return false;
	}
	LOG(LOG_WARN, "a socket of ours was removed, and is there again", KV_Z("address", k->address));
	k->fds[0] = fd_close(k->fds[0]);
	k->fds[0] = fd;
	k->lost = false;
	k->renewed = true;
	return true;
}

bool sockets_mend(struct parent *p)
{
	bool mended = false;

	for (int k = 0; k < KIND_COUNT_; k++)
		if (p->kinds[k].lock >= 0 && p->kinds[k].n_fds)
			mended |= mend(&p->kinds[k], (enum kind)k);
	return mended;
}

/* The lock stays as long as the name does. */
void sockets_close(struct parent *p)
{
	for (int i = 0; i < KIND_COUNT_; i++) {
		struct kind_state *k = &p->kinds[i];

		if (k->lock >= 0 && k->n_fds && !k->lost)
			(void)unlink(k->address + 5);
		for (size_t n = 0; n < k->n_fds; n++)
			fd_closep(&k->fds[n]);
		k->n_fds = 0;
		fd_closep(&k->lock);
	}
}
