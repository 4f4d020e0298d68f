/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A clerk that is the payload: whatever it answers, creel gets an error, in time, keeps no descriptor of it, and asks it no more.
 */
#include "check.h"

#include "backend/clerk_wire.h"
#include "backend/files_wire.h"
#include "base/clock.h"
#include "base/fd.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_MS 300u
#define LIE_FDS 100u

struct lie {
	const char *name;
	void (*tell)(int socket, struct clerk_reply r); /* filled as an honest success would be */
};

static void say(int socket, const void *bytes, size_t n, const int *fds, size_t n_fds)
{
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int) * LIE_FDS)];
	} c = { .h = { .cmsg_level = SOL_SOCKET,
		       .cmsg_type = SCM_RIGHTS,
		       .cmsg_len = CMSG_LEN(sizeof(int) * n_fds) } };
	char copy[CLERK_MESSAGE_MAX / 8];
	struct iovec iov = { .iov_base = copy, .iov_len = n };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

	memcpy(copy, bytes, n);
	if (n_fds) {
		memcpy(CMSG_DATA(&c.h), fds, sizeof(int) * n_fds);
		m.msg_control = &c;
		m.msg_controllen = CMSG_SPACE(sizeof(int) * n_fds);
	}
	(void)sendmsg(socket, &m, MSG_NOSIGNAL);
}

static void say_fd(int socket, struct clerk_reply r, int fd)
{
	say(socket, &r, sizeof(r), &fd, fd >= 0);
}

static int file_of(size_t size)
{
	int fd = memfd_create("lie", MFD_CLOEXEC);

	return ftruncate(fd, (off_t)size) < 0 ? -1 : fd;
}

/* ---- lies about an open ---- */

static void no_fd(int s, struct clerk_reply r)
{
	say_fd(s, r, -1);
}

static void a_hundred(int s, struct clerk_reply r)
{
	int fds[LIE_FDS];

	for (size_t i = 0; i < LIE_FDS; i++)
		fds[i] = file_of(1);
	say(s, &r, sizeof(r), fds, LIE_FDS);
}

static void two(int s, struct clerk_reply r)
{
	int fds[2] = { open("/proc/self/exe", O_RDONLY), open("/proc/self/exe", O_RDONLY) };

	say(s, &r, sizeof(r), fds, 2);
}

static void fifo(int s, struct clerk_reply r)
{
	int p[2];

	(void)!pipe(p);
	say_fd(s, r, p[0]);
}

static void socket_fd(int s, struct clerk_reply r)
{
	int p[2];

	(void)!socketpair(AF_UNIX, SOCK_STREAM, 0, p);
	say_fd(s, r, p[0]);
}

static void device(int s, struct clerk_reply r)
{
	say_fd(s, r, open("/dev/zero", O_RDONLY));
}

static void directory(int s, struct clerk_reply r)
{
	say_fd(s, r, open("/", O_RDONLY | O_DIRECTORY));
}

static void path_only(int s, struct clerk_reply r)
{
	say_fd(s, r, open("/proc/self/exe", O_PATH));
}

static void of_the_kernel(int s, struct clerk_reply r)
{
	say_fd(s, r, open("/proc/self/status", O_RDONLY));
}

static void writable(int s, struct clerk_reply r)
{
	say_fd(s, r, file_of(1));
}

static void error_with_fd(int s, struct clerk_reply r)
{
	r.result = -ENOENT;
	say_fd(s, r, open("/proc/self/exe", O_RDONLY));
}

/* ---- lies about anything ---- */

static void too_short(int s, struct clerk_reply r)
{
	say(s, &r, sizeof(r) - 1, NULL, 0);
}

static void too_long(int s, struct clerk_reply r)
{
	char bytes[sizeof(r) + 8] = { 0 };

	memcpy(bytes, &r, sizeof(r));
	say(s, bytes, sizeof(bytes), NULL, 0);
}

static void other_question(int s, struct clerk_reply r)
{
	r.seq--;
	say_fd(s, r, -1);
}

static void positive(int s, struct clerk_reply r)
{
	r.result = 7;
	say_fd(s, r, -1);
}

static void no_errno(int s, struct clerk_reply r)
{
	r.result = INT32_MIN;
	say_fd(s, r, -1);
}

static void negative_size(int s, struct clerk_reply r)
{
	r.st.size = UINT64_MAX;
	say_fd(s, r, -1);
}

static void unknown_flags(int s, struct clerk_reply r)
{
	r.flags = UINT32_MAX;
	say_fd(s, r, -1);
}

static void hang_up(int s, struct clerk_reply r)
{
	(void)r;
	(void)close(s);
}

static void silence(int s, struct clerk_reply r)
{
	(void)s;
	(void)r;
}

/* ---- lies in a list ---- */

static void say_entry(int s, struct clerk_reply r, const char *name, size_t n, unsigned said, unsigned size)
{
	struct clerk_entry e = { .size = (uint16_t)size, .name = (uint16_t)said, .mode = S_IFREG };
	char bytes[sizeof(r) + 64] = { 0 };
	size_t whole = (sizeof(e) + n + 1 + 7) & ~(size_t)7;

	r.bytes = (uint32_t)whole;
	memcpy(bytes, &r, sizeof(r));
	memcpy(bytes + sizeof(r), &e, sizeof(e));
	memcpy(bytes + sizeof(r) + sizeof(e), name, n);
	say(s, bytes, sizeof(r) + whole, NULL, 0);
}

static void slash(int s, struct clerk_reply r)
{
	say_entry(s, r, "../../etc", 9, 9, 24);
}

static void dotdot(int s, struct clerk_reply r)
{
	say_entry(s, r, "..", 2, 2, 16);
}

static void inner_nul(int s, struct clerk_reply r)
{
	say_entry(s, r, "a\0b", 3, 3, 16);
}

static void no_name(int s, struct clerk_reply r)
{
	say_entry(s, r, "", 0, 0, 16);
}

static void long_name(int s, struct clerk_reply r)
{
	say_entry(s, r, "a", 1, 65535, 16);
}

static void past_the_end(int s, struct clerk_reply r)
{
	say_entry(s, r, "a", 1, 1, 65528);
}

static void no_size(int s, struct clerk_reply r)
{
	say_entry(s, r, "a", 1, 1, 0);
}

static void more_without_number(int s, struct clerk_reply r)
{
	r.flags = CLERK_R_MORE;
	say_fd(s, r, -1);
}

static void say_content(int s, struct clerk_reply r, size_t said, size_t n, int fd)
{
	char bytes[CLERK_MESSAGE_MAX / 16] = { 0 };

	r.bytes = (uint32_t)said;
	memcpy(bytes, &r, sizeof(r));
	say(s, bytes, sizeof(r) + n, &fd, fd >= 0);
}

static void content_of_another_length(int s, struct clerk_reply r)
{
	r.flags = CLERK_R_WHOLE;
	say_content(s, r, 6, 5, -1);
}

static void content_without_a_word(int s, struct clerk_reply r)
{
	say_content(s, r, 5, 5, file_of(5));
}

static void content_and_fd(int s, struct clerk_reply r)
{
	r.flags = CLERK_R_WHOLE;
	say_content(s, r, 5, 5, file_of(5));
}

static void whole_and_fd(int s, struct clerk_reply r)
{
	r.flags = CLERK_R_WHOLE;
	say_fd(s, r, file_of(0));
}

static void content_of_an_error(int s, struct clerk_reply r)
{
	r.flags = CLERK_R_WHOLE;
	r.result = -ENOENT;
	say_content(s, r, 5, 5, -1);
}

static void content_with_number(int s, struct clerk_reply r)
{
	r.flags = CLERK_R_WHOLE;
	r.number = 1;
	say_content(s, r, 5, 5, -1);
}

static const struct lie get_lies[] = {
	{ "a content of another length", content_of_another_length },
	{ "a content, and not the word", content_without_a_word },
	{ "a content and an fd", content_and_fd },
	{ "nothing, and an fd", whole_and_fd },
	{ "a content and an error", content_of_an_error },
	{ "a content with a number", content_with_number },
};
static const struct lie open_lies[] = {
	{ "no fd", no_fd },
	{ "a hundred fds", a_hundred },
	{ "two fds", two },
	{ "a FIFO", fifo },
	{ "a socket", socket_fd },
	{ "a device", device },
	{ "a directory", directory },
	{ "O_PATH", path_only },
	{ "a file of /proc", of_the_kernel },
	{ "opened for writing", writable },
	{ "an error and an fd", error_with_fd },
};
static const struct lie all_lies[] = {
	{ "too short", too_short },
	{ "too long", too_long },
	{ "of another question", other_question },
	{ "positive", positive },
	{ "no errno", no_errno },
	{ "a negative size", negative_size },
	{ "unknown flags", unknown_flags },
	{ "hangs up", hang_up },
	{ "says nothing", silence },
};
static const struct lie list_lies[] = {
	{ "a slash", slash },
	{ "dot dot", dotdot },
	{ "a NUL", inner_nul },
	{ "no name", no_name },
	{ "a long name", long_name },
	{ "beyond the end", past_the_end },
	{ "an entry of no size", no_size },
	{ "more, without a number", more_without_number },
};

/* ---- hearing them ---- */

static size_t count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	size_t n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	(void)closedir(d);
	return n;
}

/* A process that answers one request with the lie, or every one with `more`. */
static pid_t liar(int socket, const struct lie *lie)
{
	pid_t pid = fork();
	char bytes[8192];

	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	while (recv(socket, bytes, sizeof(bytes), 0) > 0) {
		struct clerk_request h;

		memcpy(&h, bytes, sizeof(h));
		lie->tell(socket, (struct clerk_reply){ .op = h.op, .seq = h.seq });
	}
	_exit(0);
}

static int each_any(void *ctx, const struct files_entry *entry)
{
	(void)ctx;
	(void)entry;
	return 0;
}

enum asked { OPEN, GET, STAGE, LIST, STAT, ASKED_ };

static int ask(struct files *f, enum asked what)
{
	struct files_content c;
	struct files_stage s;
	struct files_stat st;

	switch (what) {
	case OPEN:
		return f->ops->open(f, "a", 0, 0, &st);
	case GET:
		return f->ops->get(f, "a", 0, &c);
	case STAGE:
		return f->ops->stage(f, "a", 0, 0666, &s);
	case LIST:
		return f->ops->list(f, ".", 0, each_any, NULL);
	case STAT:
	case ASKED_:
	default:
		return f->ops->stat(f, "a", 0, &st);
	}
}

static void check_lie(const struct lie *lie, enum asked what)
{
	size_t before = count_fds();
	struct files_wire *w = NULL;
	struct files *f;
	uint64_t start = clock_mono_ms();
	int pair[2], r;
	pid_t pid;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(files_wire_open(pair[0], ANSWER_MS, &w), 0);
	pid = liar(pair[1], lie);
	(void)close(pair[1]);
	f = files_wire_files(w);
	r = ask(f, what);
	CHECK_CASE(r == -ECONNRESET || r == -ETIMEDOUT, "%s, asked for %u: %d", lie->name, (unsigned)what, r);
	CHECK_CASE(files_wire_broken(w), "%s, asked for %u: it would be asked again", lie->name,
		   (unsigned)what);
	CHECK_CASE(ask(f, what) == -ECONNRESET, "%s, asked for %u: it is asked again", lie->name,
		   (unsigned)what);
	CHECK_CASE(clock_mono_ms() - start < 20000, "%s: it took for ever", lie->name);
	w = files_wire_close(w);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	CHECK_CASE(count_fds() == before, "%s, asked for %u: a descriptor is left", lie->name,
		   (unsigned)what);
}

#define N(list) (sizeof(list) / sizeof((list)[0]))

TEST(wire_believes_no_lie_about_an_open_file)
{
	for (size_t i = 0; i < N(open_lies); i++) {
		check_lie(&open_lies[i], OPEN);
		check_lie(&open_lies[i], GET);
		if (open_lies[i].tell != writable)
			check_lie(&open_lies[i], STAGE);
	}
}

TEST(wire_believes_no_lie_about_a_content)
{
	for (size_t i = 0; i < N(get_lies); i++)
		check_lie(&get_lies[i], GET);
}

TEST(wire_believes_no_answer_that_is_none)
{
	for (size_t i = 0; i < N(all_lies); i++)
		for (enum asked what = OPEN; what < ASKED_; what++)
			check_lie(&all_lies[i], what);
}

TEST(wire_believes_no_name_that_is_none)
{
	for (size_t i = 0; i < N(list_lies); i++)
		check_lie(&list_lies[i], LIST);
}

/* One more empty batch, each time. */
static void for_ever(int s, struct clerk_reply r)
{
	r.flags = CLERK_R_MORE;
	r.number = 1;
	say_fd(s, r, -1);
}

TEST(wire_ends_a_list_that_never_ends)
{
	check_lie(&(struct lie){ "a list without end", for_ever }, LIST);
}

/* What is said of the size is not what there is. */
static void lies_about_size(int s, struct clerk_reply r)
{
	int fd = file_of(5), read_only;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	read_only = open(path, O_RDONLY | O_CLOEXEC);
	r.st.size = (uint64_t)1 << 40;
	r.st.mode = S_IFDIR | 0777;
	say_fd(s, r, read_only);
}

TEST(wire_looks_at_the_size_itself)
{
	const struct lie lie = { "a size", lies_about_size };
	struct files_wire *w = NULL;
	struct files_stat st = { 0 };
	int pair[2], fd;
	pid_t pid;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(files_wire_open(pair[0], ANSWER_MS, &w), 0);
	pid = liar(pair[1], &lie);
	(void)close(pair[1]);
	fd = files_wire_files(w)->ops->open(files_wire_files(w), "a", 0, 0, &st);
	assert_true(fd >= 0);
	assert_int_equal(st.size, 5);
	assert_true(S_ISREG(st.mode));
	(void)close(fd);
	w = files_wire_close(w);
	(void)kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

TEST(wire_is_whole_again_with_another_clerk_and_forgets_the_stages_of_the_first)
{
	const struct lie dead = { "hangs up", hang_up }, says = { "a success", no_fd };
	struct files_stage old = FILES_STAGE_NONE;
	struct files_wire *w = NULL;
	struct files_stat st;
	struct files *f;
	int pair[2];
	pid_t pid;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(files_wire_open(pair[0], ANSWER_MS, &w), 0);
	f = files_wire_files(w);
	pid = liar(pair[1], &dead);
	(void)close(pair[1]);
	old.number = 1 | 1u << 16; /* as the first one's would be */
	assert_int_equal(f->ops->stat(f, "a", 0, &st), -ECONNRESET);
	(void)kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(files_wire_renew(w, pair[0]), 0);
	pid = liar(pair[1], &says);
	(void)close(pair[1]);
	assert_false(files_wire_broken(w));
	assert_int_equal(f->ops->stat(f, "a", 0, &st), 0);
	assert_int_equal(f->ops->commit(f, &old, 0), -ECONNRESET);
	assert_false(files_wire_broken(w));
	w = files_wire_close(w);
	(void)kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

TEST_MAIN()
