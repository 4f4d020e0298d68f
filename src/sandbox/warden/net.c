/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The network namespace: making one takes the kernel as long as all the mounts together, so a task beside us makes it meanwhile,
 * brings the loopback interface up, and leaves a descriptor of the namespace.
 */
#include "sandbox/warden/warden.h"

#include <linux/if.h>
#include <linux/net_namespace.h>
#include <linux/sched.h>
#include <linux/sockios.h>

#define AF_INET_ 2
#define SOCK_STREAM_ 1
#define SOCK_DGRAM_ 2
#define LISTEN_BACKLOG 64
#define SOCK_CLOEXEC_ 02000000

static const char *doing; /* the report belongs to the other task */

/* The descriptor comes from the socket and not from /proc, which the other task is mounting things on. */
static long make(void)
{
	struct ifreq req = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	long r = SYS1(unshare, CLONE_NEWNET), fd, ns;

	if (r < 0)
		return r;
	doing = "open a socket for the loopback interface";
	fd = SYS3(socket, AF_INET_, SOCK_DGRAM_ | SOCK_CLOEXEC_, 0);
	if (fd < 0)
		return fd;
	doing = "bring the loopback interface up";
	r = SYS3(ioctl, fd, SIOCSIFFLAGS, &req);
	ns = r < 0 ? r : SYS2(ioctl, fd, SIOCGSKNS);
	SYS1(close, fd);
	return ns;
}

/*
 * The kernel does not let go of a processor while it makes the namespace. Where we wait for the plan meanwhile, we would wake up on
 * the processor that we slept on, and wait for this one as well: so it stays here, and we go elsewhere until the plan is there.
 */
void net_begin(struct warden *w)
{
	long r;

	doing = "create a network namespace";
	if (!w->plan)
		cpus_stay();
	r = task_begin(&w->net, make);
	if (r < 0)
		fail(w, 0, r, doing);
	cpus_elsewhere();
}

/* Waits for the other task, and enters what it made. */
long do_net(struct warden *w, const struct step *s)
{
	long ns = task_end(&w->net), r = ns < 0 ? ns : SYS2(setns, ns, CLONE_NEWNET);
	size_t at = 0;

	(void)s;
	if (ns >= 0)
		SYS1(close, ns);
	w->has_net = r >= 0;
	if (r < 0)
		text_put(w->report.what, sizeof(w->report.what), &at, doing);
	return r;
}

#define INADDR_LOOPBACK_ "\x7f\0\0\1"

struct sockaddr_in_ {
	uint16_t family;
	unsigned char port[2], addr[4], zero[8];
};

/* Whoever has it answers what is connected to in here, from outside; nothing of what is outside can be reached but what it answers. */
long do_listen(struct warden *w, const struct step *s)
{
	struct warden_report m = { .msg = MSG_LISTEN };
	struct sockaddr_in_ at = { .family = AF_INET_,
				   .port = { (unsigned char)(s->x >> 8), (unsigned char)s->x } };
	long fd = SYS3(socket, AF_INET_, SOCK_STREAM_ | SOCK_CLOEXEC_, 0), r = fd;
	size_t n = 0;

	memcpy(at.addr, INADDR_LOOPBACK_, sizeof(at.addr));
	if (r >= 0)
		r = SYS3(bind, fd, &at, sizeof(at));
	if (r >= 0)
		r = SYS2(listen, fd, LISTEN_BACKLOG);
	if (r >= 0)
		r = control_send(&m, (int)fd);
	if (fd >= 0)
		SYS1(close, fd);
	if (r < 0)
		text_put(w->report.what, sizeof(w->report.what), &n,
			 "listen for what wants to go to the proxy");
	return r < 0 ? r : 0;
}
