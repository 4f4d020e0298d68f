/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The caller's terminal stays outside. A command whose streams would have been that terminal gets a PTY of its own, made
 * inside; creel copies between the two, and lets through only what is harmless unless --tty asked for everything.
 *
 * Who may read keys follows the rules of job control, one level up: the command starts in the foreground of its PTY when we
 * are in the foreground of ours and no pipeline is; otherwise it is stopped when it wants to read or to change
 * modes, and then gets the terminal if it is our turn, or we stop as it did.
 */
#pragma once

#include "cli/run.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>

/* run_terminal.c */
struct terminal {
	int in, out;     /* descriptors of ours */
	bool controlled; /* `in` is a terminal; with --tty it may be anything */
	bool waits;      /* writing may: the description is not our own */
	bool shared;     /* others in our pipeline print on it: output is processed as it was */
	bool raw;        /* its modes are `ours`, and `before` is what they have to be again */
	struct termios before, ours;
};
#define TERMINAL_NONE ((struct terminal){ .in = FD_NONE, .out = FD_NONE })

unsigned terminal_streams(void);                     /* 1 << n for each standard stream that is a terminal */
bool terminal_at_once(unsigned streams, bool asked); /* may the command have the keys from the start? */
void terminal_describe(unsigned streams, struct arena *a, struct profile_tty *t); /* size and modes */
int terminal_open(unsigned streams, bool asked, struct terminal *ret, struct err *e);
ssize_t terminal_write(const struct terminal *t, struct str s); /* as write(2), and never for long */
void terminal_close(struct terminal *t);                        /* as it was */
bool terminal_is_ours(const struct terminal *t);
void terminal_raw(struct terminal *t);
void terminal_restore(struct terminal *t);
bool terminal_size(const struct terminal *t, struct winsize *ret);

/* run_tty.c */
struct tty;
enum { TTY_POLL = 4 };

int tty_open(struct run *r, struct tty **ret, struct err *e);
struct tty *tty_close(struct tty *t);
DEFINE_CLEANUP(tty, tty_close)
void tty_attach(struct tty *t, int master);

/* What it waits for, and for how many milliseconds (-1 = for ever); then what it does when some of it has come. */
int tty_wants(struct tty *t, struct pollfd p[static TTY_POLL]);
void tty_serve(struct tty *t, const struct pollfd p[static TTY_POLL]);

void tty_stopped(struct tty *t, int sig); /* the command was, by this signal */
void tty_signal(struct tty *t, int sig);  /* we got one that was passed on */

/* All that was printed, to the end; or until somebody wants us to end. */
void tty_drain(struct tty *t, int signals);
