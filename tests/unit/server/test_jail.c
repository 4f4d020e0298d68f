/* SPDX-License-Identifier: Apache-2.0 */
/* A service that was taken over, from inside: what it tries does not work; the same without the jail does. As root and as an ordinary user. */
#include "spot.h"

#include "base/sanitize.h"
#include "server/jail.h"

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

enum { ORDINARY = 12345, FREE = 0, LOCKED = 1, NOT_BUILT = 77 };

struct cell {
	char dir[128], readonly[128];
	int listener, other;
	bool tcp;
};

typedef bool attack_fn(const struct cell *c); /* whether it worked */

static bool reads_passwd(const struct cell *c)
{
	(void)c;
	return open("/etc/passwd", O_RDONLY) >= 0;
}

static bool climbs_out(const struct cell *c)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s/../../../../../../etc/passwd", c->dir);
	return open(path, O_RDONLY) >= 0;
}

static bool starts_a_program(const struct cell *c)
{
	char *argv[] = { NULL, NULL }, *envp[] = { NULL };

	(void)c;
	(void)execve("/bin/true", argv, envp);
	return errno != EPERM; /* in the test, where it works, we are not here any more */
}

static bool makes_a_process(const struct cell *c)
{
	long pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	(void)c;
	if (pid == 0)
		_exit(0);
	return pid > 0;
}

static bool makes_code(const struct cell *c)
{
	(void)c;
	return mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
	       MAP_FAILED;
}

static bool signals_the_parent(const struct cell *c)
{
	(void)c;
	return kill(getppid(), 0) == 0;
}

static bool opens_a_network_socket(const struct cell *c)
{
	(void)c;
	return socket(AF_INET, SOCK_STREAM, 0) >= 0;
}

static bool speaks_netlink(const struct cell *c)
{
	(void)c;
	return socket(AF_NETLINK, SOCK_RAW, 0) >= 0;
}

static bool traces(const struct cell *c)
{
	(void)c;
	return ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0;
}

static bool has_another_descriptor(const struct cell *c)
{
	struct stat st;

	return fstat(c->other, &st) == 0 &&
	       S_ISDIR(st.st_mode); /* the number may be somebody else's by now */
}

static bool writes_to_the_readonly_one(const struct cell *c)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s/new", c->readonly);
	return open(path, O_WRONLY | O_CREAT, 0600) >= 0;
}

static bool makes_a_link_in_its_directory(const struct cell *c)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s/link", c->dir);
	return symlink("/etc/passwd", path) == 0;
}

static bool is_dumpable_again(const struct cell *c)
{
	(void)c;
	return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0;
}

static bool binds_a_socket(const struct cell *c)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)c;
	return fd >= 0 && bind(fd, (struct sockaddr *)&sa, sizeof(sa.sun_family)) == 0;
}

/* egress.sock is beside the runner's: who can send it a listening socket reaches what he likes. */
static bool opens_a_socket_for_messages(const struct cell *c)
{
	(void)c;
	return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0) >= 0 ||
	       socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0) >= 0;
}

static const struct {
	const char *name;
	attack_fn *fn;
	bool no_control; /* where it works, the test itself ends or stops */
} attacks[] = {
	{ "reads /etc/passwd", reads_passwd, false },
	{ "climbs out of its directory", climbs_out, false },
	{ "starts a program", starts_a_program, true },
	{ "makes a process", makes_a_process, false },
	{ "makes executable memory", makes_code, false },
	{ "signals its parent", signals_the_parent, false },
	{ "opens a network socket", opens_a_network_socket, false },
	{ "speaks netlink", speaks_netlink, false },
	{ "is traced", traces, true },
	{ "has another descriptor", has_another_descriptor, false },
	{ "writes where it may only read", writes_to_the_readonly_one, false },
	{ "makes a link", makes_a_link_in_its_directory, false },
	{ "is dumpable again", is_dumpable_again, false },
	{ "binds a socket", binds_a_socket, false },
	{ "opens a socket for messages", opens_a_socket_for_messages, false },
};

/* What a service has to be able to do: take a connection, rewrite a file, open another one. */
static bool still_works(const struct cell *c)
{
	char path[160];
	int fd = accept4(c->listener, NULL, NULL, SOCK_CLOEXEC);
	bool ok = fd >= 0 && write(fd, "x", 1) == 1;

	(void)snprintf(path, sizeof(path), "%s/tokens", c->dir);
	ok = ok && fd_write_atomic(AT_FDCWD, path, STR("new"), 0600) == 0;
	return ok && socket(AF_UNIX, SOCK_STREAM, 0) >= 0 && open(path, O_RDONLY) >= 0;
}

static int lock_in(const struct cell *c, int report)
{
	const struct jail_dir dirs[] = { { c->dir, true }, { c->readonly, false } };
	const int keep[] = { c->listener, report };
	const struct jail_opts o = { .dirs = dirs, .n_dirs = 2, .keep = keep, .n_keep = 2, .tcp = c->tcp };
	struct jail_walls w;
	struct err e = { 0 };

	if (jail_root(&o, &w, &e) < 0 || jail_seal(&o, &w, &e) < 0) {
		(void)!write(report, e.msg, strlen(e.msg));
		return -1;
	}
	return 0;
}

/* One byte of the report per attack: '1' worked; then one for the work. */
static void run(const struct cell *c, bool locked, int report)
{
	char out[64];
	size_t n = 0;

	if (locked && lock_in(c, report) < 0)
		_exit(NOT_BUILT);
	for (size_t i = 0; i < sizeof(attacks) / sizeof(attacks[0]); i++)
		out[n++] = !locked && attacks[i].no_control ? '1' : attacks[i].fn(c) ? '1' : '0';
	out[n++] = still_works(c) ? '1' : '0';
	(void)!write(report, out, n);
	_exit(0);
}

static void make_cell(struct cell *c, const struct spot *p, uid_t uid)
{
	struct sockaddr_in { /* as little as is needed of one */
		uint16_t family, port;
		uint32_t address;
		char zero[8];
	} sa = { .family = AF_INET };
	socklen_t n = sizeof(sa);
	int client;

	*c = (struct cell){ .other = open("/", O_RDONLY | O_DIRECTORY) };
	(void)snprintf(c->dir, sizeof(c->dir), "%s/w", p->path);
	(void)snprintf(c->readonly, sizeof(c->readonly), "%s/r", p->path);
	assert_int_equal(mkdir(c->dir, 0700), 0);
	assert_int_equal(mkdir(c->readonly, 0700), 0);
	assert_int_equal(chmod(p->path, 0755), 0);
	assert_int_equal(chown(c->dir, uid, (gid_t)-1) | chown(c->readonly, uid, (gid_t)-1), 0);
	sa.address = 0x0100007f;
	c->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(c->listener, (struct sockaddr *)&sa, n), 0);
	assert_int_equal(listen(c->listener, 4), 0);
	assert_int_equal(getsockname(c->listener, (struct sockaddr *)&sa, &n), 0);
	client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(client, (struct sockaddr *)&sa, n), 0); /* waits to be accepted */
}

static void try_all(bool locked, uid_t uid, bool tcp)
{
	SPOT(p);
	struct cell c;
	char out[512] = "";
	int report[2], status;
	pid_t pid;

	if (uid != geteuid() && geteuid() != 0)
		return; /* an ordinary user can be nobody else */
	make_cell(&c, &p, uid);
	c.tcp = tcp;
	assert_int_equal(pipe2(report, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		if (uid != geteuid() && (setgroups(0, NULL) < 0 || setgid(uid) < 0 || setuid(uid) < 0))
			_exit(1);
		(void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); /* as after an execve(), which there is in life */
		run(&c, locked, report[1]);
	}
	(void)close(report[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(read(report[0], out, sizeof(out) - 1) >= 0);
	CHECK_CASE(status == 0, "uid %u: status %d: %s", uid, status, out);
	for (size_t i = 0; i < sizeof(attacks) / sizeof(attacks[0]); i++) {
		bool may = !locked || (tcp && (attacks[i].fn == opens_a_network_socket ||
					       attacks[i].fn == opens_a_socket_for_messages));

		if (uid != 0 && !locked && attacks[i].fn == signals_the_parent)
			continue; /* root's */
		CHECK_CASE(out[i] == (may ? '1' : '0'), "uid %u, %s: %s: %c", uid, locked ? "locked" : "free",
			   attacks[i].name, out[i]);
	}
	CHECK_CASE(out[sizeof(attacks) / sizeof(attacks[0])] == '1', "uid %u: its own work", uid);
	(void)close(report[0]);
	(void)close(c.listener);
	(void)close(c.other);
}

TEST(what_is_tried_from_inside_works_without_the_jail)
{
	try_all(FREE, geteuid(), false);
	try_all(FREE, ORDINARY, false);
}

TEST(a_locked_in_service_does_its_work_and_nothing_else)
{
	try_all(LOCKED, geteuid(), false);
	try_all(LOCKED, geteuid(), true);
}

TEST(an_ordinary_users_service_is_locked_in_as_well)
{
	try_all(LOCKED, ORDINARY, false);
}

TEST(a_jail_whose_directory_is_not_there_is_not_entered)
{
	struct cell c = { .dir = "/nowhere/at/all", .readonly = "/nowhere/too" };
	int report[2], status;
	char out[512] = "";
	pid_t pid;

	assert_int_equal(pipe2(report, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0)
		_exit(lock_in(&c, report[1]) < 0 ? NOT_BUILT : 0);
	(void)close(report[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), NOT_BUILT);
	assert_true(read(report[0], out, sizeof(out) - 1) > 0);
	assert_non_null(strstr(out, "the wall 'mounts' cannot be built (/nowhere/at/all)"));
	(void)close(report[0]);
}

TEST_MAIN()
