/* SPDX-License-Identifier: Apache-2.0 */
#include "server/service.h"

#include "base/clock.h"

#include <inttypes.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { TEXT_MAX = 1024 };

int notify_open(const char *address, int *ret_fd, struct err *e)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	_cleanup_close_ int fd = FD_NONE;
	socklen_t n;

	*ret_fd = FD_NONE;
	if (!address || !address[0])
		return 0;
	n = (socklen_t)strlen(address);
	if ((address[0] != '/' && address[0] != '@') || n < 2 || n >= sizeof(sa.sun_path))
		return err_set(
			e, ERR_USAGE,
			"NOTIFY_SOCKET '%s' is not accepted: an absolute path or '@' and a name, at most %zu "
			"bytes",
			address, sizeof(sa.sun_path) - 1);
	memcpy(sa.sun_path, address, n);
	if (address[0] == '@')
		sa.sun_path[0] = '\0';
	n += (socklen_t)offsetof(struct sockaddr_un, sun_path) + (address[0] == '/');
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&sa, n) < 0)
		return err_sys(e, errno, "connect to NOTIFY_SOCKET '%s'", address);
	*ret_fd = TAKE_FD(fd);
	return 0;
}

void notify_send(int fd, const char *text)
{
	ssize_t n;

	if (fd < 0)
		return;
	/* A parent that does not listen any more is not our trouble: it ends us when it wants to. */
	do
		n = send(fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
}

/* A status is one line: what comes behind a new line would be another assignment. */
static void put_line(struct buf *out, const char *status)
{
	for (; *status; status++)
		buf_putc(out, *status == '\n' || *status == '\r' ? ' ' : *status);
}

static void tell(struct service *s, const char *assignments, const char *status)
{
	char memory[TEXT_MAX];
	struct buf b;

	if (s->notify < 0)
		return;
	buf_init_on(&b, TEXT_MAX, memory, sizeof(memory));
	buf_puts(&b, assignments);
	if (status) {
		buf_puts(&b, "STATUS=");
		put_line(&b, status);
		buf_putc(&b, '\n');
	}
	/* A status that is too long is left out; the rest has to arrive. */
	notify_send(s->notify, b.failed ? assignments : b.p);
	buf_done(&b);
}

void service_ready(struct service *s, const char *status)
{
	tell(s, "READY=1\n", status);
}

void service_status(struct service *s, const char *status)
{
	tell(s, "", status);
}

void service_stopping(struct service *s)
{
	tell(s, "STOPPING=1\n", NULL);
}

void service_reloading(struct service *s)
{
	char text[80];

	(void)snprintf(text, sizeof(text), "RELOADING=1\nMONOTONIC_USEC=%" PRIu64 "\n",
		       clock_mono_ns() / 1000);
	tell(s, text, NULL);
}
