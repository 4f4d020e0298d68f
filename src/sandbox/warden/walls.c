/* SPDX-License-Identifier: Apache-2.0 */
/* The walls that are not mounts. */
#include "sandbox/warden/warden.h"

#include <asm/ioctls.h>
#include <linux/capability.h>
#include <linux/fcntl.h>
#include <linux/filter.h>
#include <linux/keyctl.h>
#include <linux/openat2.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>

static long note(struct warden *w, long err, const char *text)
{
	size_t at = 0;

	if (err < 0)
		text_put(w->report.what, sizeof(w->report.what), &at, text);
	return err;
}

/* At birth: a program that asks before creel has the master would find no size and other modes. */
static long dress_tty(struct warden *w, const struct step *s, long master, long slave)
{
	const uint16_t size[4] = { (uint16_t)(s->x >> 16), (uint16_t)s->x, 0, 0 };
	uint8_t modes[TTY_MODES_BYTES];
	long r = SYS3(ioctl, master, TIOCSWINSZ, size);

	if (r < 0 || s->y == 0)
		return r;
	if (s->y != sizeof(modes) || s->b >= w->plan->n_strings || s->y > w->plan->n_strings - s->b)
		return -EINVAL;
	memcpy(modes, w->strings + s->b, sizeof(modes));
	return SYS3(ioctl, slave, TCSETS, modes);
}

/*
 * pid 1 leads the session of the terminal. So the payload is a job of that session and not an orphan: it can be stopped,
 * by a key or because it reads while the terminal is not its own, and we are told.
 */
static long lead_session(struct warden *w, const struct step *s)
{
	long r = SYS0(setsid);

	w->tty_flags = s->flags;
	return r < 0 ? r : SYS3(ioctl, w->tty_fd, TIOCSCTTY, 0);
}

long do_tty(struct warden *w, const struct step *s)
{
	struct warden_report m = { .msg = MSG_TTY };
	int unlock = 0;
	long slave, r, master = SYS4(openat, AT_FDCWD, "/dev/pts/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC, 0);

	if (master < 0)
		return note(w, master, "open a terminal of our own");
	r = SYS3(ioctl, master, TIOCSPTLCK, &unlock);
	slave = r < 0 ? r : SYS3(ioctl, master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	r = slave < 0 ? slave : dress_tty(w, s, master, slave);
	/* It was born with our user; programs open it again by its name. */
	if (r >= 0 && w->plan->flags & PLAN_F_PARENT_MAPS)
		r = SYS3(fchown, slave, w->plan->inner_uid, -1);
	if (r >= 0)
		r = control_send(&m, (int)master);
	SYS1(close, master);
	w->tty_fd = (int)slave;
	if (r >= 0)
		r = lead_session(w, s);
	return note(w, r < 0 ? r : 0, "make a terminal of our own");
}

long do_hostname(struct warden *w, const struct step *s)
{
	const char *name = plan_str(w, s->a);

	return note(w, SYS2(sethostname, name, strlen(name)), "set the host name");
}

long do_rlimit(struct warden *w, const struct step *s)
{
	uint64_t old[2] = { 0 }, lim[2] = { s->y, s->y };
	long r = SYS4(prlimit64, 0, s->x, 0, old);

	/* Never raised: what the caller was given is the ceiling. */
	if (r >= 0 && old[1] < s->y)
		lim[0] = lim[1] = old[1];
	if (r >= 0)
		r = SYS4(prlimit64, 0, s->x, lim, 0);
	return note(w, r, "set a resource limit");
}

long do_keyring(struct warden *w, const struct step *s)
{
	long r = SYS2(keyctl, KEYCTL_JOIN_SESSION_KEYRING, 0);

	(void)s;
	/* Without keys in the kernel there is nothing to separate. */
	return note(w, r == -ENOSYS ? 0 : r, "join a session keyring of our own");
}

long do_chdir(struct warden *w, const struct step *s)
{
	/* Links inside the sandbox are the payload's business; those of /proc lead to descriptors, and out. */
	long fd = open_how(AT_FDCWD, plan_str(w, s->a), O_PATH | O_DIRECTORY, RESOLVE_NO_MAGICLINKS);
	long r = fd < 0 ? fd : SYS1(fchdir, fd);

	if (fd >= 0)
		SYS1(close, fd);
	return note(w, r, "change to the working directory");
}

/* ABI 1 to 9, in our own words: the distribution's headers may be older than its kernel. */
struct landlock_ruleset {
	uint64_t fs, net, scoped;
};
struct landlock_path {
	uint64_t rights;
	int32_t fd;
} __attribute__((packed));

long do_landlock(struct warden *w, const struct step *s)
{
	struct landlock_ruleset rs = { .fs = s->x, .scoped = s->y };
	long abi = SYS3(landlock_create_ruleset, 0, 0, 1), r;

	if (abi < 0)
		return note(w, abi, "Landlock is not available");
	w->landlock_abi = (uint32_t)abi;
	if (abi < 2)
		rs.fs &= (1ull << 13) - 1; /* REFER */
	if (abi < 3)
		rs.fs &= (1ull << 14) - 1; /* TRUNCATE */
	if (abi < 5)
		rs.fs &= (1ull << 15) - 1; /* IOCTL_DEV */
	r = SYS3(landlock_create_ruleset, &rs, abi >= 6 ? 24 : abi >= 4 ? 16 : 8, 0);
	w->rules_fd = (int)r;
	return note(w, r, "create a Landlock rule set");
}

long do_landlock_rule(struct warden *w, const struct step *s)
{
	struct landlock_path rule = { .rights = s->x };
	/* The very place that was mounted on: a link that took its name since must not get its rights. */
	long fd = open_how(AT_FDCWD, plan_str(w, s->a), O_PATH, RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS),
	     r;
	uint32_t abi = w->landlock_abi;

	if (fd == -ENOENT && s->flags & STEP_F_OPTIONAL)
		return 0;
	if (fd < 0)
		return note(w, fd, "open a directory for a Landlock rule");
	rule.rights &= abi < 2   ? (1ull << 13) - 1
		       : abi < 3 ? (1ull << 14) - 1
		       : abi < 5 ? (1ull << 15) - 1
				 : ~0ull;
	rule.fd = (int32_t)fd;
	r = SYS4(landlock_add_rule, w->rules_fd, 1, &rule, 0);
	SYS1(close, fd);
	return note(w, r, "add a Landlock rule");
}

long do_landlock_self(struct warden *w, const struct step *s)
{
	long r = SYS2(landlock_restrict_self, w->rules_fd, 0);

	(void)s;
	SYS1(close, w->rules_fd);
	w->rules_fd = -EBADF;
	return note(w, r, "enter the Landlock domain");
}

/* Each takes the kernel a copy of all our credentials, but the look. Past the last one that this kernel has there is -EINVAL. */
long caps_unbound(void)
{
	for (int cap = 0; cap < 64; cap++) {
		long r = SYS5(prctl, PR_CAPBSET_READ, cap, 0, 0, 0);

		if (r > 0)
			r = SYS5(prctl, PR_CAPBSET_DROP, cap, 0, 0, 0);
		if (r < 0)
			return r == -EINVAL && cap > CAP_AUDIT_READ ? 0 : r;
	}
	return 0;
}

/* x = capabilities that pid 1 keeps for itself; the payload has none. */
long do_caps(struct warden *w, const struct step *s)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { (uint32_t)s->x, (uint32_t)s->x, 0 }, { 0 } };
	long r = change_user_late(w); /* nothing of the caller's is opened any more */

	if (r < 0)
		return note(w, r, "become the warden's user");
	r = caps_unbound();
	if (r < 0)
		return note(w, r, "empty the bounding set");
	r = SYS5(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (r >= 0)
		r = SYS2(capset, &head, data);
	return note(w, r, "drop capabilities");
}

long do_no_new_privs(struct warden *w, const struct step *s)
{
	(void)s;
	return note(w, SYS5(prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "set no_new_privs");
}

long do_seccomp(struct warden *w, const struct step *s)
{
	struct sock_fprog prog = { .len = (unsigned short)s->x };
	const char *code = w->strings + s->b;

	memcpy(&prog.filter, &code, sizeof(code));
	if (s->x == 0 || s->x > BPF_MAXINSNS || s->b % 8 ||
	    s->b + s->x * sizeof(struct sock_filter) > w->plan->n_strings)
		return note(w, -EINVAL, "the system call filter is malformed");
	return note(w, SYS3(seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog), "install the system call filter");
}
