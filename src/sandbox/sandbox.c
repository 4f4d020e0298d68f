/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/sandbox.h"
#include "base/fd.h"
#include "base/procfs.h"
#include "base/root.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef CREEL_LIBEXEC
#define CREEL_LIBEXEC "/usr/libexec/creel"
#endif
#define MFD_NOEXEC_SEAL_ 8u
#define MFD_EXEC_ 16u
#define PROGRAM_MAX ((off_t)4 << 20)
#define END_MS 5000u
#define SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

static char library[4096]; /* that we are a part of; empty = of a program */

void sandbox_look_beside(const char *file)
{
	(void)snprintf(library, sizeof(library) - 64, "%s", file);
}

/* A build tree runs uninstalled: there a program lies in a sibling of the directory that holds this one. */
static int open_beside(const char *room, const char *name)
{
	char path[4096];
	ssize_t n = library[0] ? snprintf(path, sizeof(path), "%s", library)
			       : readlink("/proc/self/exe", path, sizeof(path) - 64);
	char *slash;

	if (n <= 0)
		return -ENOENT;
	path[n] = '\0';
	for (int up = 0; up < 2; up++) {
		slash = strrchr(path, '/');
		if (!slash)
			return -ENOENT;
		*slash = '\0';
	}
	(void)snprintf(path + strlen(path), 64, "/%s/%s", room, name);
	n = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	return n < 0 ? -errno : (int)n;
}

/* Whether a file in memory may be executed has to be said since Linux 6.3 (vm.memfd_noexec); before, it is unknown. */
static int new_memfd(const char *name, unsigned how)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | how);

	return fd < 0 && errno == EINVAL ? memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING) : fd;
}

int sandbox_seal_program(int file, const char *name, int *ret_fd, struct err *e)
{
	_cleanup_close_ int fd = new_memfd(name, MFD_EXEC_);
	struct stat st;
	off_t at = 0;

	if (fd < 0 && errno == EACCES)
		return err_set(e, ERR_UNAVAIL,
			       "this host forbids programs in memory; fix: sysctl vm.memfd_noexec=0");
	if (fd < 0)
		return err_sys(e, errno, "memfd_create");
	if (fstat(file, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > PROGRAM_MAX)
		return err_set(e, ERR_UNAVAIL, "%s is not a program of ours", name);
	while (at < st.st_size) {
		ssize_t n = sendfile(fd, file, &at, (size_t)(st.st_size - at));

		if (n <= 0)
			return err_sys(e, n < 0 ? errno : EIO, "copy %s", name);
	}
	if (fcntl(fd, F_ADD_SEALS, SEALS) < 0)
		return err_sys(e, errno, "seal the copy of %s", name);
	*ret_fd = TAKE_FD(fd);
	return 0;
}

/* Installed by root: none of the users in a sandbox is root, so nobody in there could write to it. */
static bool is_safe_in_place(int file)
{
	struct stat st;

	return fstat(file, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == 0 && !(st.st_mode & 022);
}

int sandbox_find_program(const char *room, const char *name, int *ret_fd, struct err *e)
{
	int file = open_beside(room, name); /* first: a build tree must not start an installed, older one */
	char path[256];

	if (file < 0) {
		(void)snprintf(path, sizeof(path), CREEL_LIBEXEC "/%s", name);
		file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	}
	if (file < 0)
		return err_set(e, ERR_UNAVAIL,
			       "%s is not installed: expected " CREEL_LIBEXEC
			       "/%s; fix: install all of creel there (meson install), or "
			       "start creel from the directory it was built in",
			       name, name);
	*ret_fd = file;
	return 0;
}

int sandbox_open_program(const char *room, const char *name, int *ret_fd, struct err *e)
{
	_cleanup_close_ int file = FD_NONE;
	int r = sandbox_find_program(room, name, &file, e);

	return r < 0 ? r : sandbox_seal_program(file, name, ret_fd, e);
}

int sandbox_open_warden(int *ret_fd, struct err *e)
{
	_cleanup_close_ int file = FD_NONE;
	int r = sandbox_find_program("sandbox", "creel-warden", &file, e);

	if (r < 0)
		return r;
	/* Under its own name, which AppArmor's profile (packaging/apparmor) is attached to. */
	if (is_safe_in_place(file)) {
		*ret_fd = TAKE_FD(file);
		return 0;
	}
	return sandbox_seal_program(file, "creel-warden", ret_fd, e);
}

/*
 * memfd for the plan, channel, and the one that says go; the other ends of the last two are the warden's. Sockets, because those can be shut
 * down: somebody whom another thread forked meanwhile has a copy of each of our ends for as long as he likes.
 */
struct ends {
	int control, go;
};

static void ends_done(struct ends *x)
{
	x->control = fd_close(x->control);
	x->go = fd_close(x->go);
}

static int make_channels(struct sandbox *s, struct ends *theirs, struct err *e)
{
	int pair[2];

	s->plan = new_memfd("creel-plan", MFD_NOEXEC_SEAL_);
	if (s->plan < 0)
		return err_sys(e, errno, "memfd_create");
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(e, errno, "socketpair");
	s->control = pair[0];
	theirs->control = pair[1];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(e, errno, "socketpair");
	s->go = pair[0];
	theirs->go = pair[1];
	s->owner = getpid();
	return 0;
}

static int begin_warden(int warden_fd, const struct sandbox_stdio *io, unsigned how,
			const struct ends *theirs, struct sandbox *s)
{
	static char name[] = "creel-warden", wait[] = WARDEN_WAIT, early[] = WARDEN_EARLY,
		    plain[] = WARDEN_PLAIN;
	const int fds[] = { io->in, io->out, io->err, s->plan, theirs->control, theirs->go };
	const struct proc_spec spec = { .exec_fd = warden_fd,
					.argv = s->argv,
					.fds = s->fds,
					.n_fds = sizeof(fds) / sizeof(fds[0]),
					.beside = how & SPAWN_BESIDE };

	memcpy(s->fds, fds, sizeof(fds));
	s->argv[0] = name;
	s->argv[1] = how & SPAWN_WAITS ? wait : early;
	s->waits = how & SPAWN_WAITS;
	s->argv[2] = geteuid() == 0 && !root_of_host() ? plain : NULL;
	s->argv[3] = NULL;
	return proc_begin(&spec, &s->begun, &s->warden);
}

static int told(int r, struct err *e)
{
	if (r == -EAGAIN)
		return err_set(e, ERR_UNAVAIL, "start creel-warden: " SANDBOX_NO_TASKS);
	return r < 0 ? err_sys(e, -r, "start creel-warden") : r;
}

int sandbox_spawn(int warden_fd, const struct sandbox_stdio *io, unsigned how, struct sandbox *ret,
		  struct err *e)
{
	_cleanup_(ends_done) struct ends theirs = { FD_NONE, FD_NONE };
	int r;

	*ret = SANDBOX_NONE;
	/* Before anything is written there: by our numbers, another namespace's /proc tells of other processes. */
	r = procfs_check(e);
	if (r >= 0)
		r = make_channels(ret, &theirs, e);
	if (r >= 0)
		r = told(begin_warden(warden_fd, io, how, &theirs, ret), e);
	if (r < 0)
		sandbox_done(ret);
	return r;
}

/* A warden that is dead by now must not be the end of us, too: our caller decides about SIGPIPE. */
static int tell_group(const struct sandbox *s, enum group_record kind, const char *dir)
{
	char record[CGROUP_PATH_MAX + 2];
	size_t size = (size_t)snprintf(record, sizeof(record), "%c%s", (char)kind, dir) + 1;
	ssize_t n;

	do
		n = send(s->go, record, size, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : (size_t)n == size ? 0 : -EIO;
}

int sandbox_tell_group(void *sandbox, enum cgroup_version version, const char *dir)
{
	struct sandbox *s = sandbox;

	s->heir = true;
	return tell_group(s, version == CGROUP_V2 ? GROUP_V2 : GROUP_V1, dir);
}

static int write_plan(struct sandbox *s, struct str plan, struct err *e)
{
	int r = fd_write_all(s->plan, plan);

	if (r >= 0 && fcntl(s->plan, F_ADD_SEALS, SEALS) < 0)
		r = -errno;
	return r < 0 ? err_sys(e, -r, "write the plan") : 0;
}

int sandbox_tell_birth(struct sandbox *s, const struct cgroup *cgroup, struct err *e)
{
	int r = s->born || cgroup->version != CGROUP_V2 ? 0 : tell_group(s, GROUP_BORN, cgroup->dir[0]);

	s->born = cgroup->version == CGROUP_V2;
	return r < 0 ? err_sys(e, -r, "start the sandbox in its cgroup") : 0;
}

/* Of copies as well, unless we are one: a child of whoever began it only lets go of what it was born with. */
static int hang_up(const struct sandbox *s, int fd)
{
	if (fd >= 0 && s->owner == getpid())
		(void)shutdown(fd, SHUT_RDWR);
	return fd_close(fd);
}

int sandbox_go(struct sandbox *s, struct str plan, const struct cgroup *cgroup, struct err *e)
{
	int r = told(proc_begun(&s->begun, &s->warden), e);

	if (r >= 0)
		r = sandbox_tell_birth(s, cgroup, e);
	if (r < 0)
		return r;
	r = cgroup->version == CGROUP_V2 ? 0 : cgroup_add(cgroup, s->warden.pid);
	/* Before the seal: a sealed plan is carried out. */
	if (r < 0)
		return err_sys(e, -r, "move the sandbox into its cgroup");
	r = write_plan(s, plan, e);
	if (r < 0)
		return r;
	s->plan = fd_close(s->plan);
	s->go = hang_up(s, s->go);
	return 0;
}

static int tell_groups(struct sandbox *s, const struct cgroup *cgroup, struct err *e)
{
	for (int i = 0; i < 3; i++) {
		int r = cgroup->dir[i][0] ? sandbox_tell_group(s, cgroup->version, cgroup->dir[i]) : 0;

		if (r < 0)
			return err_sys(e, -r, "tell the warden of its cgroup");
	}
	return 0;
}

int sandbox_resume(struct sandbox *s, struct str plan, const struct cgroup *cgroup, struct err *e)
{
	int r;

	if (cgroup->version != CGROUP_NONE && !s->waits)
		return err_set(e, ERR_BUG, "a sandbox that was begun without a cgroup can have none");
	r = told(proc_begun(&s->begun, &s->warden), e);
	if (r >= 0 && !s->heir)
		r = tell_groups(s, cgroup, e);
	return r < 0 ? r : sandbox_go(s, plan, cgroup, e);
}

int sandbox_start(int warden_fd, struct str plan, const struct sandbox_stdio *io, const struct cgroup *cgroup,
		  struct sandbox *ret, struct err *e)
{
	int r = sandbox_spawn(warden_fd, io, cgroup->version == CGROUP_NONE ? 0 : SPAWN_WAITS, ret, e);

	return r < 0 ? r : sandbox_resume(ret, plan, cgroup, e);
}

int sandbox_next(struct sandbox *s, struct warden_report *ret, int *ret_fd, struct err *e)
{
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} c;
	struct iovec iov = { .iov_base = ret, .iov_len = sizeof(*ret) };
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof(c)
	};
	ssize_t n;

	*ret_fd = FD_NONE;
	do
		n = recvmsg(s->control, &m, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n == 0 || (n < 0 && errno == ECONNRESET))
		return 0;
	if (n < 0)
		return err_sys(e, errno, "hear from the warden");
	if (m.msg_controllen >= sizeof(struct cmsghdr) && c.h.cmsg_type == SCM_RIGHTS)
		memcpy(ret_fd, CMSG_DATA(&c.h), sizeof(int));
	if (n != (ssize_t)sizeof(*ret)) {
		*ret_fd = fd_close(*ret_fd);
		return err_set(e, ERR_PROTO, "the warden sent %zd bytes instead of %zu", n, sizeof(*ret));
	}
	ret->what[sizeof(ret->what) - 1] = '\0';
	return 1;
}

static int tell(struct sandbox *s, uint32_t msg, int value)
{
	const struct warden_report m = { .msg = msg, .value = value };

	return send(s->control, &m, sizeof(m), MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int sandbox_end(struct sandbox *s)
{
	return tell(s, MSG_END, 0);
}

int sandbox_signal(struct sandbox *s, int signo)
{
	return tell(s, MSG_SIGNAL, signo);
}

int sandbox_continue(struct sandbox *s, bool foreground)
{
	return tell(s, MSG_CONTINUE, foreground);
}

/* Wardens that were not waited for. Of one thread, because only pids of its own making are in it. */
#define LEFT_MAX 64u
static _Thread_local pid_t left[LEFT_MAX];
static _Thread_local unsigned n_left;

static void reap_left(void)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < n_left; i++)
		if (waitpid(left[i], NULL, WNOHANG) == 0)
			left[kept++] = left[i];
	n_left = kept;
}

/*
 * What a command has left may take long to remove, as it likes: that is no reason to leave it there. The warden goes on alone, and is reaped
 * later; beyond so many of them it is killed.
 */
static void leave(struct proc *p)
{
	if (n_left == LEFT_MAX)
		return;
	left[n_left++] = p->pid;
	p->pid = 0;
}

void sandbox_done(struct sandbox *s)
{
	struct proc_status ignored;

	reap_left();

	/* The warden ends everything when this goes, and itself last; killed, it could not wait for the rest. */
	s->control = hang_up(s, s->control);
	s->plan = fd_close(s->plan);
	s->go = hang_up(s, s->go);
	(void)proc_begun(&s->begun, &s->warden);
	if (s->warden.pid > 0)
		(void)proc_wait(&s->warden, clock_deadline(END_MS), &ignored);
	if (s->warden.pid > 0)
		leave(&s->warden);
	proc_done(&s->warden);
}
