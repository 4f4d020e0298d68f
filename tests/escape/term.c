/* SPDX-License-Identifier: Apache-2.0 */
/* Typing into somebody's terminal: number 41. argv[0] is a file descriptor, or "tty" for /dev/tty. */
#include "attack.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <termios.h>

static int which(const char *text)
{
	return strcmp(text, "tty") == 0 ? open("/dev/tty", O_RDWR) : atoi(text);
}

static int type_in(char **argv, unsigned long request)
{
	const char *text = "evil";
	int fd = which(argv[0]);

	if (fd < 0)
		return -errno;
	for (; *text; text++)
		if (syscall(SYS_ioctl, fd, request, text) < 0)
			return -errno;
	return 0;
}

static int sti(char **argv)
{
	return type_in(argv, TIOCSTI);
}

/* A filter that compares all 64 bits does not recognise these; the kernel looks at the lower 32. */
static int sti_high(char **argv)
{
	return type_in(argv, TIOCSTI | 1ull << 32);
}

static int sti_sign(char **argv)
{
	return type_in(argv, TIOCSTI | 0xffffffffull << 32);
}

static int console(char **argv)
{
	char sub = 2; /* select text, then 3 pastes it */
	int fd = which(argv[0]);

	return fd < 0 ? -errno : outcome(ioctl(fd, TIOCLINUX, &sub));
}

static int console_high(char **argv)
{
	char sub = 3;
	int fd = which(argv[0]);

	return fd < 0 ? -errno : outcome(syscall(SYS_ioctl, fd, TIOCLINUX | 7ull << 32, &sub));
}

static int steal(char **argv)
{
	int fd = which(argv[0]);

	return fd < 0 ? -errno : outcome(ioctl(fd, TIOCSCTTY, 1));
}

static int take_console(char **argv)
{
	int fd = which(argv[0]);

	return fd < 0 ? -errno : outcome(ioctl(fd, TIOCCONS, 0));
}

static int change_settings(char **argv)
{
	struct termios t;
	int fd = which(argv[0]);

	if (fd < 0 || tcgetattr(fd, &t) < 0)
		return -errno;
	t.c_lflag &= ~(tcflag_t)ECHO;
	return outcome(tcsetattr(fd, TCSANOW, &t));
}

static int is_tty(char **argv)
{
	return isatty(atoi(argv[0])) ? 0 : -errno;
}

static const struct attempt attempts[] = {
	{ "tiocsti", sti },
	{ "tiocsti_high", sti_high },
	{ "tiocsti_sign", sti_sign },
	{ "tioclinux", console },
	{ "tioclinux_high", console_high },
	{ "tiocsctty", steal },
	{ "tioccons", take_console },
	{ "settings", change_settings },
	{ "isatty", is_tty },
	{ NULL, NULL },
};

int main(int argc, char **argv)
{
	return attack_main(argc, argv, attempts);
}
