/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/files_wire.h"
#include "backend/files_reply.h"
#include "backend/kernel_fs.h"
#include "base/clock.h"
#include "base/look.h"
#include "base/stay.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#define NUMBER_BITS 16   /* of a stage's number; above them, which clerk it is of */
#define STAY_MS 2        /* the longest that we stay on our processor for an answer */
#define LIST_ANSWERS 10u /* a whole list may take as long as so many answers */

struct files_wire {
	struct files files;
	int socket;
	uint32_t seq, clerk;
	uint64_t answer_ms;
	bool broken;
	struct looking look;      /* for answers */
	struct clerk_reply reply; /* to what was asked last */
};

static struct files_wire *wire_of(struct files *f)
{
	return (struct files_wire *)(void *)f; /* the first member */
}

/* It is not asked again: what it says from now on may be about anything. */
static int give_up(struct files_wire *w, int err)
{
	w->broken = true;
	w->socket = fd_close(w->socket); /* it ends, when it still can */
	return err;
}

/* ---- one exchange ---- */

struct asking {
	struct clerk_request head;
	const char *path, *to; /* NULL = none */
	struct str content;
};

/* Beside the head: where entries go, and the descriptor that came. */
struct coming {
	char *entries;
	size_t size, n;
	int fd;
};

static int put_path(const char *path, uint32_t *ret_n)
{
	size_t n = path ? strlen(path) + 1 : 0;

	if (n > FILES_PATH_MAX)
		return -ENAMETOOLONG;
	*ret_n = (uint32_t)n;
	return 0;
}

static int send_request(struct files_wire *w, struct asking *a)
{
	union {
		const char *in;
		void *out;
	} path = { .in = a->path }, to = { .in = a->to },
	  content = { .in = a->content.p }; /* sendmsg() does not write to them */
	struct iovec iov[4] = { { .iov_base = &a->head, .iov_len = sizeof(a->head) } };
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = 4 };
	ssize_t n;
	int r = put_path(a->path, &a->head.n_path);

	if (r == 0)
		r = put_path(a->to, &a->head.n_to);
	if (r < 0)
		return r;
	a->head.n_content = (uint32_t)a->content.n;
	a->head.seq = ++w->seq;
	a->head.cpu = stay_here();
	iov[1] = (struct iovec){ .iov_base = path.out, .iov_len = a->head.n_path };
	iov[2] = (struct iovec){ .iov_base = to.out, .iov_len = a->head.n_to };
	iov[3] = (struct iovec){ .iov_base = content.out, .iov_len = a->head.n_content };
	do
		n = sendmsg(w->socket, &m, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return give_up(w, errno == EAGAIN ? -ETIMEDOUT : -ECONNRESET);
	w->files.heard++;
	return 0;
}

/* The clerk cannot run before we sleep. If we were woken elsewhere, the next request would wake it on a processor that sleeps. */
static void wait_here(const struct files_wire *w)
{
	struct pollfd p = { .fd = w->socket, .events = POLLIN };
	struct staying stay;

	(void)stay_begin(&stay);
	(void)poll(&p, 1, STAY_MS);
	stay_end(&stay);
}

/*
 * Most answers come at once: from a clerk on another processor they are looked for before we sleep. The socket has a timeout; signals that
 * come again and again must not make a longer one of it.
 */
static ssize_t receive(struct files_wire *w, struct msghdr *m)
{
	bool here = w->reply.cpu && w->reply.cpu == stay_here();
	uint64_t end = 0, look = here ? 0 : look_begin(&w->look, CLERK_LOOK_US);
	ssize_t n;

	do
		n = recvmsg(w->socket, m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	while (n < 0 && errno == EAGAIN && look_on(look));
	look_end(&w->look, look, n >= 0 ? LOOK_FOUND : LOOK_VAIN);
	if (n < 0 && errno == EAGAIN && here) {
		wait_here(w);
		errno = EAGAIN;
	}
	while (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		n = recvmsg(w->socket, m, MSG_CMSG_CLOEXEC);
		if (n >= 0 || errno != EINTR)
			break;
		end = end ? end : clock_deadline(w->answer_ms);
		if (clock_mono_ms() >= end)
			return -ETIMEDOUT;
	}
	if (n < 0 && errno == ECONNRESET) /* it went, and our request was still there */
		w->files.heard--;
	if (n < 0)
		return errno == EAGAIN ? -ETIMEDOUT : -ECONNRESET;
	return n;
}

static int hear(struct files_wire *w, struct coming *c)
{
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov[2] = { { .iov_base = &w->reply, .iov_len = sizeof(w->reply) },
				{ .iov_base = c->entries, .iov_len = c->size } };
	struct msghdr m = { .msg_iov = iov,
			    .msg_iovlen = 2,
			    .msg_control = &control,
			    .msg_controllen = CMSG_LEN(sizeof(int)) }; /* with its padding two would fit */
	ssize_t n = receive(w, &m);

	c->fd = FD_NONE;
	if (n >= 0 && m.msg_controllen >= CMSG_LEN(sizeof(int)) && control.h.cmsg_level == SOL_SOCKET &&
	    control.h.cmsg_type == SCM_RIGHTS && control.h.cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&c->fd, CMSG_DATA(&control.h), sizeof(int));
	if (n >= 0 && ((size_t)n < sizeof(w->reply) || m.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
		n = -ECONNRESET;
	if (n < 0) {
		c->fd = fd_close(c->fd);
		return (int)n;
	}
	c->n = (size_t)n - sizeof(w->reply);
	return 0;
}

/* Asks and hears. A descriptor has come exactly when one belongs to the answer. */
static int exchange(struct files_wire *w, struct asking *a, struct coming *c)
{
	bool with_fd = a->head.op == CLERK_OPEN || a->head.op == CLERK_STAGE;
	int r;

	c->fd = FD_NONE;
	if (w->broken)
		return -ECONNRESET;
	r = send_request(w, a);
	if (r < 0)
		return r;
	r = hear(w, c);
	if (r < 0)
		return give_up(w, r);
	with_fd |= a->head.op == CLERK_GET && !(w->reply.flags & CLERK_R_WHOLE);
	if (reply_check(&w->reply, &a->head, c->n) < 0 || (c->fd >= 0) != (with_fd && w->reply.result == 0)) {
		c->fd = fd_close(c->fd);
		return give_up(w, -ECONNRESET);
	}
	return w->reply.result;
}

static int ask(struct files *f, struct asking a)
{
	struct coming c = { 0 };

	return exchange(wire_of(f), &a, &c);
}

/* ---- descriptors ---- */

/*
 * A regular file, opened as was asked for, of a file system where only who opens it is looked at. Reading and writing it then waits
 * for nobody inside.
 */
static bool is_file_for(int fd, int access, struct stat *ret)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && (flags & O_ACCMODE) == access && !(flags & O_PATH) && fstat(fd, ret) == 0 &&
	       S_ISREG(ret->st_mode) && !kernel_fs(fd);
}

static int take_file(struct files_wire *w, struct coming *c, int access, struct stat *ret)
{
	if (is_file_for(c->fd, access, ret))
		return 0;
	c->fd = fd_close(c->fd);
	return give_up(w, -ECONNRESET);
}

/* Of a regular file; the size is what there is to read, whatever was said. */
static struct files_stat stat_of(const struct files_wire *w, uint64_t size)
{
	struct files_stat st = reply_stat(&w->reply.st);

	st.mode = S_IFREG | (st.mode & 07777);
	st.size = size;
	return st;
}

static int op_open(struct files *f, const char *path, unsigned flags, mode_t mode, struct files_stat *ret_st)
{
	struct files_wire *w = wire_of(f);
	struct asking a = { .head = { .op = CLERK_OPEN, .flags = flags, .mode = mode & 07777 },
			    .path = path };
	struct coming c = { 0 };
	struct stat st;
	int r = exchange(w, &a, &c);

	if (r == 0)
		r = take_file(w, &c, flags & FILES_APPEND ? O_WRONLY : O_RDONLY, &st);
	if (r < 0)
		return r;
	if (ret_st)
		*ret_st = stat_of(w, (uint64_t)st.st_size);
	return c.fd;
}

static int op_get(struct files *f, const char *path, unsigned flags, struct files_content *ret)
{
	struct files_wire *w = wire_of(f);
	struct asking a = { .head = { .op = CLERK_GET, .flags = flags }, .path = path };
	_cleanup_free_ char *content = malloc(CLERK_GET_MAX + 1);
	struct coming c = { .entries = content, .size = CLERK_GET_MAX };
	struct stat st;
	int r = content ? exchange(w, &a, &c) : -ENOMEM;

	if (r == 0 && c.fd >= 0)
		r = take_file(w, &c, O_RDONLY, &st);
	if (r < 0)
		return r;
	*ret = (struct files_content){ .fd = c.fd };
	if (c.fd >= 0) {
		ret->st = stat_of(w, (uint64_t)st.st_size);
		return 0;
	}
	content[c.n] = '\0';
	ret->st = stat_of(w, c.n);
	ret->n = c.n;
	ret->p = content;
	content = NULL;
	return 0;
}

/* ---- names ---- */

static int op_stat(struct files *f, const char *path, unsigned flags, struct files_stat *ret)
{
	int r = ask(f, (struct asking){ .head = { .op = CLERK_STAT, .flags = flags }, .path = path });

	if (r == 0)
		*ret = reply_stat(&wire_of(f)->reply.st);
	return r;
}

static int op_mkdir(struct files *f, const char *path, unsigned flags, mode_t mode)
{
	return ask(f, (struct asking){ .head = { .op = CLERK_MKDIR, .flags = flags, .mode = mode & 07777 },
				       .path = path });
}

static int op_remove(struct files *f, const char *path, unsigned flags)
{
	return ask(f, (struct asking){ .head = { .op = CLERK_REMOVE, .flags = flags }, .path = path });
}

static int op_rename(struct files *f, const char *from, const char *to, unsigned flags)
{
	return ask(f,
		   (struct asking){ .head = { .op = CLERK_RENAME, .flags = flags }, .path = from, .to = to });
}

static int op_chmod(struct files *f, const char *path, mode_t mode)
{
	return ask(f, (struct asking){ .head = { .op = CLERK_CHMOD, .mode = mode & 07777 }, .path = path });
}

/* ---- lists ---- */

/* 0: go on; else what ended it. */
static int tell_batch(struct reply_entries *batch, files_each *each, void *ctx)
{
	struct files_entry entry;
	int r;

	while ((r = reply_next(batch, &entry)) == 1) {
		r = each(ctx, &entry);
		if (r != 0)
			return r;
	}
	return r;
}

static int list_all(struct files_wire *w, struct asking *a, struct coming *c, files_each *each, void *ctx)
{
	uint64_t end = clock_deadline(w->answer_ms * LIST_ANSWERS);
	bool with_stat = a->head.flags & FILES_WITH_STAT;

	for (;;) {
		int r = exchange(w, a, c);
		uint32_t number = r < 0 ? 0 : w->reply.number;
		struct reply_entries batch = { .p = c->entries, .n = c->n, .with_stat = with_stat };

		if (r < 0)
			return r;
		r = tell_batch(&batch, each, ctx);
		if (r == -EPROTO)
			return give_up(w, -ECONNRESET);
		if (number == 0)
			return r;
		*a = (struct asking){ .head = { .op = r == 0 ? CLERK_NEXT : CLERK_END, .number = number } };
		if (r != 0) {
			(void)exchange(w, a, c);
			return r;
		}
		if (clock_mono_ms() >= end)
			return give_up(w, -ETIMEDOUT);
	}
}

/* A buffer of its own, because `each` may ask for something, too. */
static int op_list(struct files *f, const char *path, unsigned flags, files_each *each, void *ctx)
{
	struct asking a = { .head = { .op = CLERK_LIST, .flags = flags }, .path = path };
	_cleanup_free_ char *entries = malloc(CLERK_MESSAGE_MAX);
	struct coming c = { .entries = entries, .size = CLERK_MESSAGE_MAX };

	return entries ? list_all(wire_of(f), &a, &c, each, ctx) : -ENOMEM;
}

/* ---- stages ---- */

static int op_stage(struct files *f, const char *path, unsigned flags, mode_t mode, struct files_stage *ret)
{
	struct files_wire *w = wire_of(f);
	struct asking a = { .head = { .op = CLERK_STAGE, .flags = flags, .mode = mode & 07777 },
			    .path = path };
	struct coming c = { 0 };
	struct stat st;
	int r = exchange(w, &a, &c);

	if (r == 0)
		r = take_file(w, &c, O_RDWR, &st);
	if (r < 0)
		return r;
	*ret = FILES_STAGE_NONE;
	ret->fd = c.fd;
	ret->exists = w->reply.flags & CLERK_R_EXISTS;
	ret->old = reply_stat(&w->reply.st);
	ret->number = w->reply.number | w->clerk << NUMBER_BITS;
	return 0;
}

static int ask_stage(struct files *f, struct files_stage *s, enum clerk_op op, unsigned flags)
{
	uint32_t number = s->number & ((1u << NUMBER_BITS) - 1);
	int r;

	if (!s->number)
		return -EINVAL;
	if (s->number >> NUMBER_BITS != wire_of(f)->clerk)
		return -ECONNRESET;
	r = ask(f, (struct asking){ .head = { .op = (uint16_t)op, .flags = flags, .number = number } });
	if (r == 0 && wire_of(f)->reply.flags & CLERK_R_OVER)
		s->number = 0;
	return r;
}

static int op_commit(struct files *f, struct files_stage *s, unsigned flags)
{
	return ask_stage(f, s, CLERK_COMMIT, flags);
}

/* A stage that nobody has was never committed: there is nothing to take back. */
static int op_undo(struct files *f, struct files_stage *s)
{
	return s->number ? ask_stage(f, s, CLERK_UNDO, 0) : 0;
}

static void op_drop(struct files *f, struct files_stage *s)
{
	(void)fd_close(s->fd);
	if (s->number)
		(void)ask_stage(f, s, CLERK_DROP, 0);
	*s = FILES_STAGE_NONE;
}

static int op_put(struct files *f, const char *path, unsigned flags, const struct files_put *what,
		  bool *ret_existed)
{
	struct asking a = { .head = { .op = CLERK_PUT, .flags = flags, .mode = what->mode & 07777 },
			    .path = path,
			    .content = what->content };
	const struct files_stat *seen = what->seen;
	struct coming c = { 0 };
	int r;

	if (what->content.n > CLERK_PUT_MAX)
		return files_put_staged(f, path, flags, what, ret_existed);
	if (seen)
		a.head.seen = (struct clerk_stat){ .size = seen->size,
						   .dev = seen->dev,
						   .ino = seen->ino,
						   .mtime_ms = seen->mtime_ms,
						   .given = 1 };
	r = exchange(wire_of(f), &a, &c);
	if (r == 0)
		*ret_existed = wire_of(f)->reply.flags & CLERK_R_EXISTS;
	return r;
}

static const struct files_ops ops = {
	.open = op_open,
	.get = op_get,
	.stat = op_stat,
	.list = op_list,
	.mkdir = op_mkdir,
	.remove = op_remove,
	.rename = op_rename,
	.chmod = op_chmod,
	.stage = op_stage,
	.commit = op_commit,
	.undo = op_undo,
	.drop = op_drop,
	.put = op_put,
};

/* ---- the whole ---- */

static int set_patience(int socket, uint64_t ms)
{
	const struct timeval t = { .tv_sec = (time_t)(ms / 1000),
				   .tv_usec = (suseconds_t)(ms % 1000 * 1000) };

	return setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t)) < 0 ||
			       setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof(t)) < 0
		       ? -errno
		       : 0;
}

int files_wire_renew(struct files_wire *w, int socket)
{
	int r = set_patience(socket, w->answer_ms);

	if (r < 0) {
		(void)fd_close(socket);
		return r;
	}
	(void)fd_close(w->socket);
	w->socket = socket;
	w->broken = false;
	w->clerk = (w->clerk + 1) & ((1u << NUMBER_BITS) - 1);
	return 0;
}

int files_wire_open(int socket, uint64_t answer_ms, struct files_wire **ret)
{
	struct files_wire *w = calloc(1, sizeof(*w));
	int r;

	if (!w) {
		(void)fd_close(socket);
		return -ENOMEM;
	}
	*w = (struct files_wire){ .files.ops = &ops,
				  .socket = FD_NONE,
				  .answer_ms = answer_ms ? answer_ms : FILES_WIRE_ANSWER_MS };
	r = files_wire_renew(w, socket);
	if (r < 0)
		free(w);
	else
		*ret = w;
	return r;
}

struct files *files_wire_files(struct files_wire *w)
{
	return &w->files;
}

bool files_wire_broken(const struct files_wire *w)
{
	return w->broken;
}

struct files_wire *files_wire_close(struct files_wire *w)
{
	if (w) {
		(void)fd_close(w->socket);
		free(w);
	}
	return NULL;
}
