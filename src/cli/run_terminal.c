/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The terminal of whoever called us: which of our streams it is, whose turn it is to use it, and its modes, which are changed
 * only while we are in its foreground and always given back.
 */
#include "cli/run_tty.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

unsigned terminal_streams(void)
{
	unsigned streams = 0;

	for (unsigned fd = 0; fd <= 2; fd++)
		if (isatty((int)fd))
			streams |= 1u << fd;
	return streams;
}

static int first_of(unsigned streams)
{
	return streams & 1 ? STDIN_FILENO : streams & 2 ? STDOUT_FILENO : STDERR_FILENO;
}

static bool in_foreground(int fd)
{
	return tcgetpgrp(fd) == getpgrp();
}

/*
 * In a pipeline another program may be reading the keys, and a terminal that is not our own has another job in front: there
 * the command gets the keys only when it asks for them.
 */
bool terminal_at_once(unsigned streams, bool asked)
{
	int fd = first_of(streams);

	if (streams == 0 || in_foreground(fd))
		return asked || (streams & 3) == 3;
	return asked && tcgetpgrp(fd) < 0;
}

/*
 * Whoever is in the foreground, or in our pipeline, may have the terminal in modes of its own right now: of those only the
 * keys are taken. As the kernel has them: input, output, control and local flags come first.
 */
static void make_sane(uint32_t modes[4])
{
	modes[0] = ICRNL | IXON | (modes[0] & IUTF8);
	modes[1] = OPOST | ONLCR;
	modes[3] = ISIG | ICANON | IEXTEN | ECHO | ECHOE | ECHOK | ECHOCTL | ECHOKE;
}

void terminal_describe(unsigned streams, struct arena *a, struct profile_tty *t)
{
	uint32_t modes[16] = { 0 }; /* the kernel's own struct, which is smaller; libc's is another */
	struct winsize w = { 0 };
	int fd = first_of(streams);

	if (streams == 0)
		return;
	if (ioctl(fd, TIOCGWINSZ, &w) == 0) {
		t->rows = w.ws_row;
		t->columns = w.ws_col;
	}
	if (ioctl(fd, TCGETS, modes) < 0)
		return;
	if (!t->foreground)
		make_sane(modes);
	t->modes = arena_str(a, (struct str){ .p = (const char *)modes, .n = TTY_MODES_BYTES });
}

/*
 * A description of our own where it can be had: that we never wait for the terminal is not for others who hold it. After
 * su(1) the terminal may belong to somebody else; then it is shared.
 */
static int reopen(int fd, int access)
{
	char path[32];
	unsigned number;
	int own;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	/* The other side of a PTY is a terminal, too, and opening its name makes another. */
	own = isatty(fd) && syscall(SYS_ioctl, fd, (unsigned long)TIOCGPTN, &number) < 0
		      ? open(path, access | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
		      : -1;
	return own >= 0 ? own : fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

static void nothing(int sig)
{
	(void)sig;
}

/* A terminal that nobody reads would keep us in write(2), deaf to everything; so there a clock gets us out. */
static void prepare_clock(struct terminal *t)
{
	const struct sigaction a = { .sa_handler = nothing };

	t->waits = isatty(t->out) && !(fcntl(t->out, F_GETFL) & O_NONBLOCK);
	if (t->waits)
		(void)sigaction(SIGALRM, &a, NULL);
}

ssize_t terminal_write(const struct terminal *t, struct str s)
{
	const struct itimerval often = { .it_value.tv_usec = 50000, .it_interval.tv_usec = 50000 },
			       never = { 0 };
	ssize_t n;
	int error;

	if (t->waits)
		(void)setitimer(ITIMER_REAL, &often, NULL);
	n = write(t->out, s.p, s.n);
	error = errno;
	if (t->waits)
		(void)setitimer(ITIMER_REAL, &never, NULL);
	errno = error;
	return n;
}

int terminal_open(unsigned streams, bool asked, struct terminal *ret, struct err *e)
{
	int in = asked || streams & 1 ? STDIN_FILENO : first_of(streams);
	int out = asked || streams & 2 ? STDOUT_FILENO : streams & 4 ? STDERR_FILENO : STDIN_FILENO;

	ret->in = reopen(in, O_RDONLY);
	ret->out = reopen(out, O_WRONLY);
	if (ret->in < 0 || ret->out < 0)
		return err_sys(e, errno, "open the terminal again");
	ret->controlled = isatty(ret->in);
	prepare_clock(ret);
	ret->shared = !asked && !(streams & 2);
	return 0;
}

void terminal_close(struct terminal *t)
{
	terminal_restore(t);
	t->in = fd_close(t->in);
	t->out = fd_close(t->out);
}

/* One that is nobody's controlling terminal here knows no foreground: whoever has it may use it. */
bool terminal_is_ours(const struct terminal *t)
{
	return !t->controlled || in_foreground(t->in) || (tcgetpgrp(t->in) < 0 && errno == ENOTTY);
}

static bool same_modes(const struct termios *a, const struct termios *b)
{
	return a->c_iflag == b->c_iflag && a->c_oflag == b->c_oflag && a->c_lflag == b->c_lflag;
}

/* Again after we were stopped: a shell may have set its own modes meanwhile. */
void terminal_raw(struct terminal *t)
{
	struct termios now;

	if (!t->controlled || tcgetattr(t->in, &now) < 0 || (t->raw && same_modes(&now, &t->ours)))
		return;
	t->before = now;
	t->ours = now;
	cfmakeraw(&t->ours);
	if (t->shared)
		t->ours.c_oflag = now.c_oflag;
	t->raw = tcsetattr(t->in, TCSANOW, &t->ours) == 0;
}

void terminal_restore(struct terminal *t)
{
	if (t->raw && terminal_is_ours(t))
		(void)tcsetattr(t->in, TCSANOW, &t->before);
	t->raw = false;
}

bool terminal_size(const struct terminal *t, struct winsize *ret)
{
	return ioctl(t->in, TIOCGWINSZ, ret) == 0 || ioctl(t->out, TIOCGWINSZ, ret) == 0;
}
