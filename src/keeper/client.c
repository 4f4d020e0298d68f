/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clients: who may come, what they are told, and what happens when they do not listen. Nobody is asked for more while he has not
 * taken what he was told, so what is kept for him has a bound.
 */
#include "keeper/keeper_priv.h"

#include "backend/kept_dir.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define BACKLOG 128
#define BATCH 8 /* requests of one client before the others have their turn */

struct out {
	struct out *next;
	struct message_fds fds;
	size_t n;
	char bytes[];
};

/* ---- telling ---- */

static void watch(struct client *c)
{
	if (loop_mod_fd(c->k->loop, c->source, c->n_out ? EPOLLOUT : EPOLLIN) < 0)
		c->broken = true;
}

static void keep(struct client *c, const struct keeper_event *h, struct str body, struct message_fds *fds)
{
	struct out *o = c->n_out < OUT_MAX ? malloc(sizeof(*o) + sizeof(*h) + body.n) : NULL;

	if (!o) {
		c->broken = true;
		return;
	}
	o->next = NULL;
	o->fds = *fds;
	fds->n = 0;
	o->n = sizeof(*h) + body.n;
	memcpy(o->bytes, h, sizeof(*h));
	if (body.n)
		memcpy(o->bytes + sizeof(*h), body.p, body.n);
	*c->out_end = o;
	c->out_end = &o->next;
	if (c->n_out++ == 0)
		watch(c);
}

static void flush(struct client *c)
{
	while (c->out && !c->broken) {
		struct out *o = c->out;
		int r = message_send(c->fd, (struct str){ .p = o->bytes, .n = o->n }, STR(""), &o->fds);

		if (r == -EAGAIN)
			return;
		c->broken = r < 0;
		c->out = o->next;
		c->n_out--;
		message_close(&o->fds);
		free(o);
	}
	if (!c->out)
		c->out_end = &c->out;
	watch(c);
}

void client_say(struct client *c, struct keeper_event *h, struct str body, int fd)
{
	_cleanup_fds_ struct message_fds fds = { .n = 0 };
	int r = -EAGAIN;

	h->version = KEEPER_VERSION;
	h->body = (uint32_t)body.n;
	if (fd >= 0) {
		h->fds |= 1u;
		fds.v[fds.n++] = fd;
	}
	if (body.n > KEEPER_INLINE_MAX) {
		int large = message_seal(body);

		if (large < 0) {
			c->broken = true;
			return;
		}
		h->fds |= KEEPER_FD_BODY;
		fds.v[fds.n++] = large;
		body.n = 0;
	}
	if (c->broken)
		return;
	if (!c->n_out)
		r = message_send(c->fd, (struct str){ .p = (const char *)h, .n = sizeof(*h) }, body, &fds);
	if (r == -EAGAIN)
		keep(c, h, body, &fds);
	else if (r < 0)
		c->broken = true;
}

void client_reply(struct client *c, uint32_t op, uint64_t id, struct str body, int fd)
{
	client_say(c, &(struct keeper_event){ .msg = KEEPER_REPLY, .op = op, .id = id }, body, fd);
}

void client_refuse(struct client *c, uint32_t op, uint64_t id, const struct err *e)
{
	struct keeper_event h = { .msg = op == KEEPER_EXEC ? KEEPER_EVENT : KEEPER_REPLY,
				  .op = op,
				  .id = id,
				  .kind = op == KEEPER_EXEC ? BOX_FAILED : 0,
				  .err_kind = (int32_t)e->kind,
				  .sys_errno = e->sys_errno };

	if (op != KEEPER_CANCEL && op != KEEPER_SIGNAL)
		client_say(c, &h, str_z(e->msg), FD_NONE);
}

/* ---- a question that waits ---- */

void client_answered(struct client *c)
{
	(void)loop_del(c->k->loop, c->waiting.timer);
	c->waiting = (struct waiting){ 0 };
}

static void late(struct loop *l, void *ctx)
{
	struct client *c = ctx;

	(void)l;
	job_late(c);
	keeper_settle(c->k);
}

void client_wait(struct client *c, const struct keeper_request *h, struct job *job, uint64_t wait_ms)
{
	client_answered(c); /* who asks again does not wait for the first answer any more */
	c->waiting = (struct waiting){ .op = h->msg, .id = h->id, .size = h->size, .job = job };
	if (loop_add_timer(c->k->loop, clock_deadline(wait_ms), late, c, &c->waiting.timer) < 0)
		c->broken = true;
}

/* ---- hearing ---- */

static void refuse_text(struct client *c, const struct keeper_request *h, enum err_kind kind,
			const char *text)
{
	struct err e;

	(void)err_set(&e, kind, "%s", text);
	client_refuse(c, h->msg, h->id, &e);
}

/* False when there is nothing more to hear now. */
static bool hear(struct client *c)
{
	static char body[KEEPER_INLINE_MAX];
	_cleanup_fds_ struct message_fds fds = { .n = 0 };
	struct keeper_request h = { 0 };
	ssize_t n = message_take(c->fd, 0, &h, sizeof(h), body, sizeof(body), &fds);
	int r;

	if (n == -EAGAIN)
		return false;
	if (n == -EMFILE) {
		refuse_text(c, &h, ERR_LIMIT, "the keeper has no room for more descriptors");
		return true;
	}
	r = n <= 0 ? -EPIPE : keeper_request_check(&h, (size_t)n, fds.n);
	if (r == -EPROTONOSUPPORT)
		refuse_text(c, &h, ERR_PROTO, "another version of creel keeps this sandbox");
	c->broken = r < 0;
	if (r >= 0) {
		size_t inside = (size_t)n - sizeof(h);

		keeper_active(c->k);
		request_take(c, &h, (struct str){ .p = body, .n = inside }, &fds);
		explicit_bzero(body, inside); /* an environment may hold secrets */
	}
	return !c->broken;
}

static void client_ready(struct loop *l, void *ctx, uint32_t events)
{
	struct client *c = ctx;
	struct keeper *k = c->k;

	(void)l;
	if (events & EPOLLOUT)
		flush(c);
	if (!c->n_out && events & (EPOLLIN | EPOLLHUP | EPOLLERR))
		for (int i = 0; i < BATCH && !c->n_out && hear(c); i++)
			;
	else if (events & (EPOLLHUP | EPOLLERR))
		c->broken = true;
	keeper_settle(k);
}

/* ---- coming and going ---- */

static bool welcome(int fd)
{
	struct ucred who;
	socklen_t n = sizeof(who);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) == 0 &&
	       (who.uid == geteuid() || who.uid == 0);
}

/* -EAGAIN when nobody is at the door. */
static int admit(struct keeper *k)
{
	_cleanup_close_ int fd = accept4(k->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct client *c;
	int r;

	if (fd < 0)
		return -errno;
	if (k->n_clients == CLIENTS_MAX || !welcome(fd))
		return -EPERM;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->k = k;
	c->out_end = &c->out;
	r = loop_add_fd(k->loop, fd, EPOLLIN, client_ready, c, &c->source);
	if (r < 0) {
		free(c);
		return r;
	}
	c->fd = TAKE_FD(fd);
	c->next = k->clients;
	k->clients = c;
	k->n_clients++;
	return 0;
}

static void door(struct loop *l, void *ctx, uint32_t events)
{
	struct keeper *k = ctx;
	int r;

	(void)l;
	(void)events;
	/* Whoever comes now waits at the door until another one goes: to hang up would mean that there is nobody. */
	if (k->n_clients >= CLIENTS_MAX) {
		(void)loop_mod_fd(k->loop, k->listener_source, 0);
		return;
	}
	r = admit(k);
	/* No room for a descriptor: not to be asked again and again. Some client has to go first, or the timer comes. */
	if (r == -EMFILE || r == -ENFILE || r == -ENOMEM || r == -ENOBUFS)
		(void)usleep(1000);
	keeper_settle(k);
}

static void client_free(struct client *c)
{
	struct keeper *k = c->k;
	struct err ignored;

	client_answered(c);
	if (c->clerk && !k->gone)
		(void)call_signal(k, c->clerk, 0, true, &ignored);
	calls_forsake(k, c);
	(void)loop_del(k->loop, c->source);
	(void)fd_close(c->fd);
	while (c->out) {
		struct out *o = c->out;

		c->out = o->next;
		message_close(&o->fds);
		free(o);
	}
	free(c);
	if (k->n_clients-- == CLIENTS_MAX && k->listener >= 0)
		(void)loop_mod_fd(k->loop, k->listener_source, EPOLLIN);
	keeper_active(k);
}

void clients_settle(struct keeper *k)
{
	for (struct client **at = &k->clients; *at;) {
		struct client *c = *at;

		if (!c->broken) {
			at = &c->next;
			continue;
		}
		*at = c->next;
		client_free(c);
	}
}

void clients_done(struct keeper *k)
{
	for (struct client *c = k->clients; c; c = c->next)
		c->broken = true;
	clients_settle(k);
}

int clients_listen(struct keeper *k, struct err *e)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un a = kept_dir_socket_name(k->dir);
	struct stat st;
	mode_t before;
	int r;

	if (fd < 0)
		return err_sys(e, errno, "listen for clients");
	(void)unlinkat(k->dir, KEEPER_SOCKET, 0); /* of one that was killed: we have the lock */
	before = umask(0177);
	r = bind(fd, (const struct sockaddr *)&a, sizeof(a));
	(void)umask(before);
	/* There, and not where a directory that was moved has been. */
	if (r >= 0)
		r = fstatat(k->dir, KEEPER_SOCKET, &st, AT_SYMLINK_NOFOLLOW);
	if (r < 0 || listen(fd, BACKLOG) < 0)
		return err_sys(e, errno, "listen for clients in the session directory");
	r = loop_add_fd(k->loop, fd, EPOLLIN, door, k, &k->listener_source);
	if (r < 0)
		return err_sys(e, -r, "listen for clients");
	k->listener = TAKE_FD(fd);
	return 0;
}

bool clients_retire(struct keeper *k)
{
	uint32_t before = k->n_clients;
	struct err e;

	(void)unlinkat(k->dir, KEEPER_SOCKET, 0);
	while (admit(k) != -EAGAIN)
		;
	if (k->n_clients == before)
		return true;
	(void)loop_del(k->loop, k->listener_source);
	k->listener = fd_close(k->listener);
	return clients_listen(k, &e) < 0;
}
