/* SPDX-License-Identifier: Apache-2.0 */
/*
 * creel-clerk: does the file tools' work inside a sandbox, as one of its processes: with the payload's user, behind the same walls,
 * and with no right that the payload has not. It takes requests from the socket that is its standard input, one at a time,
 * and ends when that is closed. It starts nothing, connects to nothing, and its memory does not grow.
 */
#include "base/fd.h"
#include "base/look.h"
#include "base/stay.h"
#include "clerk/serve.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TURN_NS 100000u /* the least that the kernel takes */

static struct clerk clerk;
static char message[CLERK_MESSAGE_MAX] __attribute__((aligned(8)));

static int send_answer(const struct answer *a)
{
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} c = {
		.h = { .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS }
	};
	struct clerk_reply head = a->head;
	struct iovec iov[2] = { { .iov_base = &head, .iov_len = sizeof(head) },
				{ .iov_base = clerk.answer.entries, .iov_len = head.bytes } };
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = head.bytes ? 2 : 1 };
	ssize_t n;

	if (a->fd >= 0) {
		m.msg_control = &c;
		m.msg_controllen = sizeof(c.room);
		memcpy(CMSG_DATA(&c.h), &a->fd, sizeof(int));
	}
	do
		n = sendmsg(STDIN_FILENO, &m, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

/* 0 at the end of it all, or a negative errno. Who was just answered often asks again at once; only then is it worth looking. */
static int next_request(bool answered, struct request *ret)
{
	static struct looking worth;
	uint64_t look = answered ? look_begin(&worth, CLERK_LOOK_US) : 0;
	ssize_t n = -1;

	while (n < 0 && look_on(look))
		n = recv(STDIN_FILENO, message, sizeof(message), MSG_TRUNC | MSG_DONTWAIT);
	look_end(&worth, look, n >= 0 ? LOOK_FOUND : LOOK_VAIN);
	while (n < 0 && (n = recv(STDIN_FILENO, message, sizeof(message), MSG_TRUNC)) < 0 && errno == EINTR)
		;
	if (n <= 0)
		return n < 0 ? -errno : 0;
	return (size_t)n > sizeof(message) || request_parse(message, (size_t)n, ret) < 0 ? -EPROTO : 1;
}

static int serve_all(void)
{
	struct following follow = { .at = 0 };
	struct request r;
	int e = next_request(false, &r);

	for (; e > 0; e = next_request(true, &r)) {
		clerk_serve(&clerk, &r);
		clerk.answer.head.cpu = follow.at;
		e = send_answer(&clerk.answer);
		if (clerk.answer.give)
			(void)fd_close(clerk.answer.fd);
		if (e < 0)
			break;
		stay_follow(&follow, r.head.cpu);
	}
	return e;
}

/*
 * A short turn is a turn soon (Linux 6.12): whoever asks from our processor gives way at once, instead of having to sleep first. Only a hint, which
 * every process may give; nobody waits longer for it.
 */
static void take_short_turns(void)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} a = { .size = sizeof(a) };

	if (syscall(SYS_sched_getattr, 0, &a, sizeof(a), 0) < 0 || a.policy != SCHED_OTHER)
		return;
	a.runtime = TURN_NS;
	(void)syscall(SYS_sched_setattr, 0, &a, 0);
}

int main(void)
{
	int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int work = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int e;

	/* Others of the same user must not look into us: that costs nothing. They can still kill us. */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || prctl(PR_SET_NAME, "creel-clerk", 0, 0, 0) < 0 ||
	    signal(SIGXFSZ, SIG_IGN) == SIG_ERR || root < 0 || work < 0)
		return 1;
	take_short_turns();
	clerk_init(&clerk, root, work);
	e = serve_all();
	clerk_done(&clerk);
	return e < 0 && e != -EPIPE && e != -ECONNRESET;
}
