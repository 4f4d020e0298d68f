/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run_tty.h"

#include "base/fd.h"
#include "base/termsafe.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define CHUNK ((size_t)4096) /* what a pipe that can be written to takes without waiting */
#define TURN_MS 200          /* how soon we see that the terminal is ours again: no signal tells */

struct tty {
	struct run *run;
	struct terminal term;
	int master; /* FD_NONE until the warden has sent it, and when nobody can be written to any more */
	int winch;
	bool foreground; /* the keys are the command's */
	bool in_open;
	bool untouched;  /* --tty: what is printed passes as it is */
	bool typed_stop; /* the operator did, on the keys: our whole group is meant, not the command alone */
	struct termsafe safe;
	struct buf out; /* to the terminal, from out_at on */
	size_t out_at;
	char in[CHUNK]; /* to the command */
	size_t in_at, in_n;
	char last_in;
};

/* ---- beginning ---- */

static int open_winch(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGWINCH);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int tty_open(struct run *r, struct tty **ret, struct err *e)
{
	_cleanup_(tty_closep) struct tty *t = calloc(1, sizeof(*t));
	int rc;

	if (!t)
		return err_sys(e, ENOMEM, "terminal");
	t->run = r;
	t->master = FD_NONE;
	t->term = TERMINAL_NONE;
	t->in_open = true;
	t->untouched = r->cli->tty;
	t->foreground = r->profile.tty.foreground;
	t->safe.ascii = !output_reads_utf8(r->cli);
	t->last_in = '\n';
	buf_init(&t->out, TERMSAFE_ROOM(CHUNK));
	t->winch = open_winch();
	rc = terminal_open(r->terminals, r->cli->tty, &t->term, e);
	if (rc < 0)
		return rc;
	*ret = TAKE_PTR(t);
	return 0;
}

static void copy_size(const struct tty *t)
{
	struct winsize w;

	if (t->master >= 0 && terminal_size(&t->term, &w))
		(void)ioctl(t->master, TIOCSWINSZ, &w);
}

void tty_attach(struct tty *t, int master)
{
	(void)fd_close(t->master);
	t->master = master;
	(void)fcntl(master, F_SETFL, O_RDWR | O_NONBLOCK);
	copy_size(t);
}

/* ---- out ---- */

static struct str unwritten(const struct tty *t)
{
	return str_from(buf_str(&t->out), t->out_at);
}

/* Nobody sees what it prints, nobody will type: what a terminal that is gone means to a command. */
static void hang_up(struct tty *t)
{
	t->master = fd_close(t->master);
	t->out.n = t->out_at = 0;
	t->in_open = false;
	(void)sandbox_signal(&t->run->box, SIGHUP);
}

static void write_out(struct tty *t)
{
	struct str s = unwritten(t);
	ssize_t n;

	s.n = s.n < CHUNK ? s.n : CHUNK;
	n = terminal_write(&t->term, s);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n < 0) {
		hang_up(t);
		return;
	}
	t->out_at += (size_t)n;
	if (t->out_at == t->out.n)
		t->out.n = t->out_at = 0;
}

/* False when the last one inside has closed it. Only when everything has been written: so it is never more than one piece. */
static bool read_out(struct tty *t)
{
	char bytes[CHUNK];
	ssize_t n = read(t->master, bytes, sizeof(bytes));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	if (n <= 0)
		return false;
	if (t->run->relay) /* --output-limit: what is printed here counts as well */
		n = (ssize_t)relay_count(t->run->relay, (size_t)n);
	t->safe.keys = t->foreground && terminal_is_ours(&t->term);
	if (t->untouched)
		buf_put(&t->out, (struct str){ .p = bytes, .n = (size_t)n });
	else
		termsafe_put(&t->safe, (struct str){ .p = bytes, .n = (size_t)n }, &t->out);
	if (t->out.failed)
		hang_up(t);
	else
		write_out(t);
	return !relay_over(t->run->relay);
}

/* ---- in ---- */

/* ^D, as typed: twice where a line has been begun, because the first ends that. */
static void end_input(struct tty *t)
{
	static const char end[] = { 4, 4 };

	t->in_open = false;
	if (t->term.controlled)
		return;
	t->in_at = 0;
	t->in_n = t->last_in == '\n' ? 1 : 2;
	memcpy(t->in, end, t->in_n);
}

static void read_in(struct tty *t)
{
	ssize_t n = read(t->term.in, t->in, sizeof(t->in));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		end_input(t);
		return;
	}
	t->in_at = 0;
	t->in_n = (size_t)n;
	t->last_in = t->in[n - 1];
	if (t->term.raw && memchr(t->in, t->term.before.c_cc[VSUSP], (size_t)n))
		t->typed_stop = true;
	for (size_t i = 0; i < 2 && t->term.raw; i++)
		if (memchr(t->in, t->term.before.c_cc[i ? VQUIT : VINTR], (size_t)n)) {
			t->run->interrupted = i ? SIGQUIT : SIGINT;
			t->run->typed = true;
		}
}

static void write_in(struct tty *t)
{
	ssize_t n = write(t->master, t->in + t->in_at, t->in_n - t->in_at);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	t->in_at = n < 0 ? t->in_n : t->in_at + (size_t)n;
}

/* ---- the loop ---- */

/* Whether the keys are ours to pass on now; a shell gives and takes the terminal without a word to us. */
static bool have_keys(struct tty *t)
{
	if (!t->foreground || !t->in_open)
		return false;
	if (!t->term.controlled && !t->run->started)
		return false; /* it would be echoed, and there may never be a command to read it */
	if (!terminal_is_ours(&t->term)) {
		t->term.raw = false; /* its modes are somebody else's */
		return false;
	}
	if (t->term.controlled && !t->term.raw) {
		terminal_raw(&t->term);
		copy_size(t);
	}
	return true;
}

int tty_wants(struct tty *t, struct pollfd p[static TTY_POLL])
{
	bool keys = t->master >= 0 && have_keys(t);
	bool pending = t->in_at<t->in_n, full = unwritten(t).n> 0;

	p[0] = (struct pollfd){ .fd = t->master,
				.events = (short)((full ? 0 : POLLIN) | (pending ? POLLOUT : 0)) };
	p[1] = (struct pollfd){ .fd = full ? t->term.out : -1, .events = POLLOUT };
	p[2] = (struct pollfd){ .fd = keys && !pending ? t->term.in : -1, .events = POLLIN };
	p[3] = (struct pollfd){ .fd = t->winch, .events = POLLIN };
	if (full && !pending)
		p[0].fd = -1; /* hung up, it would be said again and again */
	return t->master >= 0 && t->foreground && t->in_open && !keys ? TURN_MS : -1;
}

void tty_serve(struct tty *t, const struct pollfd p[static TTY_POLL])
{
	struct signalfd_siginfo info;

	if (p[3].revents && read(t->winch, &info, sizeof(info)) > 0) {
		copy_size(t);
		if (!t->foreground) /* the kernel tells only whoever is in front */
			(void)sandbox_signal(&t->run->box, SIGWINCH);
	}
	if (p[2].revents)
		read_in(t);
	if (p[1].revents)
		write_out(t);
	if (t->master >= 0 && p[0].revents & (POLLOUT | POLLHUP | POLLERR) && t->in_at < t->in_n)
		write_in(t);
	if (t->master >= 0 && p[0].revents & (POLLIN | POLLHUP | POLLERR) && unwritten(t).n == 0 &&
	    !read_out(t))
		t->master = fd_close(t->master);
}

/* ---- stopping and going on ---- */

/* What is left of an unfinished sequence, and of modes and colours. */
static void leave_screen(struct tty *t)
{
	if (!t->untouched && t->term.out >= 0)
		termsafe_end(&t->safe, &t->out);
	while (unwritten(t).n > 0) {
		struct pollfd p = { .fd = t->term.out, .events = POLLOUT };

		if (poll(&p, 1, TURN_MS) <= 0)
			return;
		write_out(t);
	}
}

/* As the kernel does it to a job; true when we were stopped, and not exempt because no shell is there to continue us. */
static bool stop_ourselves(int sig, bool group)
{
	sigset_t set, before, pending;

	sigemptyset(&set);
	sigaddset(&set, sig);
	(void)sigprocmask(SIG_UNBLOCK, &set, &before);
	(void)kill(group ? 0 : getpid(), sig);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	return sigpending(&pending) == 0 && sigismember(&pending, SIGCONT) == 1;
}

static void take_keys(struct tty *t)
{
	t->foreground = true;
	(void)sandbox_continue(&t->run->box, true);
}

static void stop_and_go_on(struct tty *t, int sig, bool wants_keys)
{
	bool had_keys = t->foreground, was_stopped;

	leave_screen(t);
	terminal_restore(&t->term);
	was_stopped = stop_ourselves(sig, t->typed_stop && sig == SIGTSTP);
	t->typed_stop = false;
	if ((had_keys || wants_keys) && terminal_is_ours(&t->term)) {
		take_keys(t);
	} else if (wants_keys && !was_stopped) {
		/* Nobody will ever give us the terminal: there is nothing to read. */
		take_keys(t);
		t->in_open = false;
		t->in[0] = t->in[1] = 4;
		t->in_at = 0;
		t->in_n = 2;
	} else {
		t->foreground = false;
		(void)sandbox_continue(&t->run->box, false);
	}
	copy_size(t);
}

void tty_stopped(struct tty *t, int sig)
{
	bool wants_keys = sig == SIGTTIN || sig == SIGTTOU;

	if (wants_keys && !t->foreground && terminal_is_ours(&t->term))
		take_keys(t);
	else
		stop_and_go_on(t, wants_keys ? sig : SIGTSTP, wants_keys);
}

void tty_signal(struct tty *t, int sig)
{
	if (sig == SIGCONT && t->foreground && terminal_is_ours(&t->term))
		terminal_raw(&t->term);
}

/* ---- end ---- */

static bool wants_us_to_end(int signals)
{
	struct signalfd_siginfo info;

	while (read(signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
		if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT || info.ssi_signo == SIGHUP ||
		    info.ssi_signo == SIGQUIT)
			return true;
	return false;
}

void tty_drain(struct tty *t, int signals)
{
	while (t->master >= 0 || unwritten(t).n > 0) {
		bool full = unwritten(t).n > 0;
		struct pollfd p[2] = { { .fd = full ? t->term.out : t->master,
					 .events = full ? POLLOUT : POLLIN },
				       { .fd = signals, .events = POLLIN } };

		/* Everybody inside is dead: what they printed can be read now. */
		if (poll(p, 2, full ? -1 : 0) <= 0 || (p[1].revents && wants_us_to_end(signals)))
			break;
		if (full && p[0].revents)
			write_out(t);
		else if (p[0].revents && !read_out(t))
			t->master = fd_close(t->master);
	}
}

struct tty *tty_close(struct tty *t)
{
	if (!t)
		return NULL;
	leave_screen(t);
	terminal_close(&t->term);
	buf_done(&t->out);
	(void)fd_close(t->master);
	(void)fd_close(t->winch);
	free(t);
	return NULL;
}
