/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --tty: the command gets a PTY that was made inside its sandbox; we copy bytes between it and our own terminal, and pass the
 * window's size on. Nothing that comes out is looked at: control characters are the terminal's business.
 */
#include "cli/run.h"

#include "base/fd.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

struct tty {
	int master; /* FD_NONE until the warden has sent it */
	int winch;
	struct termios before;
	bool raw; /* our standard input is a terminal, and in raw mode */
	bool in_open;
};

int tty_open(struct tty **ret, struct err *e)
{
	struct tty *t = calloc(1, sizeof(*t));
	struct termios raw;
	sigset_t set;

	if (!t)
		return err_sys(e, ENOMEM, "terminal");
	t->master = FD_NONE;
	t->in_open = true;
	if (tcgetattr(STDIN_FILENO, &t->before) == 0) {
		raw = t->before;
		cfmakeraw(&raw);
		t->raw = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
	}
	sigemptyset(&set);
	sigaddset(&set, SIGWINCH);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	t->winch = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	*ret = t;
	return 0;
}

struct tty *tty_close(struct tty *t)
{
	if (!t)
		return NULL;
	if (t->raw)
		(void)tcsetattr(STDIN_FILENO, TCSADRAIN, &t->before);
	(void)fd_close(t->master);
	(void)fd_close(t->winch);
	free(t);
	return NULL;
}

static bool own_size(struct winsize *w)
{
	return ioctl(STDIN_FILENO, TIOCGWINSZ, w) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, w) == 0;
}

void tty_size(uint16_t *rows, uint16_t *columns)
{
	struct winsize w = { 0 };

	(void)own_size(&w);
	*rows = w.ws_row;
	*columns = w.ws_col;
}

static void copy_size(const struct tty *t)
{
	struct winsize w;

	if (own_size(&w))
		(void)ioctl(t->master, TIOCSWINSZ, &w);
}

void tty_attach(struct tty *t, int master)
{
	(void)fd_close(t->master);
	t->master = master;
	copy_size(t);
}

/* One read, all of it written. 0 = the other side has gone. */
static int copy(int from, int to)
{
	char bytes[8192];
	ssize_t n = read(from, bytes, sizeof(bytes));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 1;
	if (n <= 0)
		return 0; /* EIO: the last one inside has closed the terminal */
	return fd_write_all(to, (struct str){ .p = bytes, .n = (size_t)n }) < 0 ? 0 : 1;
}

static void take_input(struct tty *t)
{
	static const char end_of_file =
		4; /* ^D, as typed: a closed input ends the line discipline's input too */

	if (copy(STDIN_FILENO, t->master))
		return;
	t->in_open = false;
	(void)!write(t->master, &end_of_file, 1);
}

int tty_relay(struct tty *t, int control, int signals, struct err *e)
{
	while (t->master >= 0) {
		struct pollfd p[5] = { { .fd = control, .events = POLLIN },
				       { .fd = t->master, .events = POLLIN },
				       { .fd = t->in_open ? STDIN_FILENO : -1, .events = POLLIN },
				       { .fd = t->winch, .events = POLLIN },
				       { .fd = signals, .events = POLLIN } };
		struct signalfd_siginfo info;

		if (poll(p, 5, -1) < 0 && errno != EINTR)
			return err_sys(e, errno, "poll");
		if (p[3].revents && read(t->winch, &info, sizeof(info)) > 0)
			copy_size(t);
		if (p[2].revents)
			take_input(t);
		if (p[1].revents && !copy(t->master, STDOUT_FILENO))
			t->master = fd_close(t->master);
		else if (p[4].revents || (p[0].revents && !p[1].revents))
			return 0; /* what was printed before the end has been copied */
	}
	return 0;
}
