/* SPDX-License-Identifier: Apache-2.0 */
/* A keeper: who may come, what it outlives, when it goes, and that nothing of it is left whoever is killed. */
#include "boxes.h"

#include "backend/jobs.h"
#include "base/sanitize.h"

#include <poll.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/un.h>

static bool exists(const struct den *d, const char *name)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", d->dir, name);
	return access(path, F_OK) == 0;
}

static void path_of(const struct den *d, const char *name, char out[static 128])
{
	(void)snprintf(out, 128, "%s/%s", d->dir, name);
}

WITH_KEEPER(outlives_the_client_and_keeps_its_state)
{
	struct box_stat st;
	struct err e = { 0 };

	check_sh(d, "cd /tmp && echo hi > a", 0, "");
	d->box = box_close(d->box);
	d->box = den_connect(d);
	check_sh(d, "cat /tmp/a", 0, "hi\n");
	MUST(d->box->ops->stat(d->box, &st, &e) == 0);
	MUST(strcmp(st.walls, d->keeper.walls) == 0 && st.probes == d->keeper.probes && st.probes > 20);
	MUST(d->keeper.pid > 1 && is_alive(d->keeper.pid) && d->keeper.pid != getpid());
}

static void read_proc(pid_t pid, const char *what, char *out, size_t size)
{
	char path[64];
	int fd;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", pid, what);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, out, size - 1);
	out[n > 0 ? n : 0] = '\0';
	(void)fd_close(fd);
}

WITH_KEEPER(inherits_nothing)
{
	char text[4096], link[256] = "", path[64];
	ssize_t n;
	int fds = 0;
	DIR *dir;

	read_proc(d->keeper.pid, "status", text, sizeof(text));
	MUST(strstr(text, "Name:\tcreel-keeper\n"));
	(void)snprintf(path, sizeof(path), "/proc/%d/stat", d->keeper.pid);
	MUST(getsid(d->keeper.pid) != getsid(0));
	if (geteuid() != 0)
		return; /* it cannot be dumped: root alone sees the rest */
	read_proc(d->keeper.pid, "environ", text, sizeof(text));
	MUST(text[0] == '\0');
	(void)snprintf(path, sizeof(path), "/proc/%d/cwd", d->keeper.pid);
	n = readlink(path, link, sizeof(link) - 1);
	MUST(n == 1 && link[0] == '/');
	for (int fd = 0; fd < 3; fd++) {
		memset(link, 0, sizeof(link));
		(void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", d->keeper.pid, fd);
		MUST(readlink(path, link, sizeof(link) - 1) > 0 && strcmp(link, "/dev/null") == 0);
	}
	(void)snprintf(path, sizeof(path), "/proc/%d/fd", d->keeper.pid);
	dir = opendir(path);
	while (dir && readdir(dir))
		fds++;
	MUST(dir && closedir(dir) == 0 && fds < 22);
}

WITH_KEEPER(each_client_hears_of_its_own_calls_alone)
{
	struct den other = *d;
	struct box_event ev;
	struct box_call c = sh("exit 5");
	struct err e = { 0 };
	uint64_t mine, its;

	other.box = den_connect(d);
	mine = ask(d, &c);
	c = sh("exit 6");
	its = ask(&other, &c);
	MUST(mine == 1 && its == 1); /* numbers are each client's own */
	MUST(hear_end(d, mine).value == 5 && hear_end(&other, its).value == 6);
	MUST(d->box->ops->next(d->box, false, &ev, &e) == -EAGAIN);
	MUST(other.box->ops->next(other.box, false, &ev, &e) == -EAGAIN);
	c = sh("exec sleep $MARK");
	mine = ask(d, &c);
	wait_marked(1);
	/* A number that is another's is nobody's here. */
	c = sh("exit 0");
	its = ask(&other, &c);
	MUST(hear_end(&other, its).value == 0);
	MUST(other.box->ops->cancel(other.box, its, 0, &e) == 0);
	(void)other.box->ops->cancel(other.box, mine, 0, &e);
	check_sh(&other, "echo pause", 0, "pause\n");
	MUST(count_marked(NULL) == 1);
	MUST(d->box->ops->cancel(d->box, mine, 0, &e) == 0 && hear_end(d, mine).reason == BOX_CANCELLED);
	(void)box_close(other.box);
}

#define DAEMONS "(setsid setsid sleep $MARK </dev/null >/dev/null 2>&1 &) ; (sleep $MARK &) ; "

WITH_KEEPER(a_killed_client_loses_its_calls_and_no_other)
{
	struct box_call c;
	pid_t pid = fork();
	int status;

	MUST(pid >= 0);
	if (pid == 0) {
		struct den own = *d;

		own.box = den_connect(d);
		c = sh(DAEMONS "exec sleep $MARK");
		(void)ask(&own, &c);
		(void)ask(&own, &c);
		wait_marked(6);
		(void)kill(getpid(), SIGKILL);
	}
	check_sh(d, "echo mine", 0, "mine\n");
	MUST(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
	wait_marked(0);
	check_sh(d, "echo mine", 0, "mine\n");
}

WITH_KEEPER(killed_itself_takes_everything_with_it)
{
	struct box_call c = sh(DAEMONS "exec sleep $MARK");
	struct err e = { 0 };
	struct box *again = NULL;
	char path[128];
	uint64_t id;

	c.keep = true;
	id = ask(d, &c);
	wait_marked(3);
	MUST(kill(d->keeper.pid, SIGKILL) == 0);
	check_gone_within(1000);
	MUST(hear_end(d, id).reason == BOX_LOST && hear(d).kind == BOX_GONE);
	MUST(exists(d, "socket"));
	MUST(kept_open(str_z(d->dir), &again, &e) < 0 && e.kind == ERR_NOTFOUND);
	/* The next keeper takes the directory over. */
	MUST(try_keeper(d->dir, &(struct keeper_spec){ .idle_s = 60 }, &d->keeper, &e) == 0);
	(void)box_close(d->box);
	d->box = den_connect(d);
	check_sh(d, "echo again", 0, "again\n");
	path_of(d, "socket", path);
	MUST(access(path, F_OK) == 0);
}

/* Nobody but who writes it out opens it. What the keeper leaves to others to reap comes to us, who reap orphans here: only itself does. */
WITH_KEEPER(writes_out_what_was_written_about_it_a_moment_after)
{
	struct den other = { .kind = KEPT };
	int watch = inotify_init1(IN_CLOEXEC);
	struct pollfd p = { .fd = watch, .events = POLLIN };
	char path[128];

	path_of(d, "log", path);
	MUST(watch >= 0 && close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)) == 0);
	MUST(inotify_add_watch(watch, path, IN_CLOSE) >= 0);
	MUST(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
	den_start(&other, &(struct keeper_spec){ .idle_s = 60, .durable = str_z(path) });
	MUST(poll(&p, 1, 20000) == 1);
	MUST(kill(other.keeper.pid, SIGTERM) == 0);
	MUST(waitpid(other.keeper.pid, NULL, 0) == other.keeper.pid);
	MUST(waitpid(-1, NULL, 0) < 0 && errno == ECHILD);
	MUST(prctl(PR_SET_CHILD_SUBREAPER, 0) == 0);
	(void)close(watch);
	MUST(unlink(path) == 0);
	path_of(&other, "keeper.lock", path);
	MUST(unlink(path) == 0 && rmdir(other.dir) == 0);
}

/* As many as there are places; who comes then waits for one. */
WITH_KEEPER(has_a_queue_at_its_door)
{
	enum { PLACES = 1536 };
	static struct box *v[PLACES]; /* with d->box one more than there are places */
	struct rlimit files;
	struct box_stat st;
	struct err e = { 0 };

	MUST(getrlimit(RLIMIT_NOFILE, &files) == 0);
	files.rlim_cur = files.rlim_max;
	MUST(setrlimit(RLIMIT_NOFILE, &files) == 0);
	for (int i = 0; i < PLACES; i++) {
		MUST(kept_open_hasty(str_z(d->dir), i < PLACES - 1 ? 20000 : 300, &v[i], &e) == 0);
		if (i < PLACES - 1)
			MUST(v[i]->ops->stat(v[i], &st, &e) == 0);
	}
	MUST(v[PLACES - 1]->ops->stat(v[PLACES - 1], &st, &e) < 0 && e.kind == ERR_LIMIT);
	(void)box_close(v[PLACES - 1]);
	MUST(kept_open_hasty(str_z(d->dir), 20000, &v[PLACES - 1], &e) == 0);
	v[0] = box_close(v[0]);
	MUST(v[PLACES - 1]->ops->stat(v[PLACES - 1], &st, &e) == 0);
	for (int i = 1; i < PLACES; i++)
		(void)box_close(v[i]);
	check_sh(d, "echo still", 0, "still\n");
}

WITH_KEEPER(term_ends_everything)
{
	struct box_call c = sh(DAEMONS "trap '' TERM; exec sleep $MARK");
	uint64_t id = ask(d, &c);

	wait_marked(3);
	MUST(kill(d->keeper.pid, SIGTERM) == 0);
	MUST(hear_end(d, id).reason == BOX_LOST && hear(d).kind == BOX_GONE);
	wait_dead(d->keeper.pid);
	MUST(count_marked(NULL) == 0 && !exists(d, "socket") && !exists(d, "logs"));
}

WITH_KEEPER(there_is_one_per_directory)
{
	struct keeper_started second;
	struct err e = { 0 };

	MUST(try_keeper(d->dir, &(struct keeper_spec){ .idle_s = 60 }, &second, &e) < 0);
	MUST(e.kind == ERR_LIMIT && strstr(e.msg, "another keeper"));
	check_sh(d, "echo still here", 0, "still here\n");
}

WITH_KEEPER(the_socket_is_ours_alone)
{
	struct stat st;
	char path[128];

	path_of(d, "socket", path);
	MUST(stat(path, &st) == 0 && S_ISSOCK(st.st_mode) && (st.st_mode & 0777) == 0600 &&
	     st.st_uid == geteuid());
}

WITH_KEEPER(a_directory_that_others_may_enter_is_refused)
{
	struct keeper_started second;
	struct box *box = NULL;
	struct err e = { 0 };
	char open_dir[] = "/tmp/creel-test-open-XXXXXX";

	MUST(mkdtemp(open_dir) && chmod(open_dir, 0755) == 0);
	MUST(try_keeper(open_dir, &(struct keeper_spec){ .idle_s = 60 }, &second, &e) < 0);
	MUST(e.kind == ERR_DENIED && strstr(e.msg, "0700"));
	MUST(kept_open(str_z(open_dir), &box, &e) < 0 && e.kind == ERR_DENIED);
	MUST(chmod(open_dir, 0700) == 0);
	MUST(kept_open(str_z(open_dir), &box, &e) < 0 && e.kind == ERR_NOTFOUND);
	MUST(rmdir(open_dir) == 0);
	MUST(kept_open(str_z(open_dir), &box, &e) < 0 && e.kind == ERR_NOTFOUND);
	check_sh(d, "echo still here", 0, "still here\n");
}

/* Longer than the address of a socket can be. */
static void long_path(struct den *d)
{
	char deep[512], name[101];
	struct den far = { .kind = KEPT };
	struct err e = { 0 };
	size_t n = (size_t)snprintf(deep, sizeof(deep), "%s", d->dir);

	memset(name, 'x', 100);
	name[100] = '\0';
	for (int i = 0; i < 3; i++) {
		n += (size_t)snprintf(deep + n, sizeof(deep) - n, "/%s", name);
		MUST(mkdir(deep, 0700) == 0);
	}
	if (try_keeper(deep, &(struct keeper_spec){ .idle_s = 60 }, &far.keeper, &e) < 0)
		fail_with("keeper_start", &e);
	if (kept_open(str_z(deep), &far.box, &e) < 0)
		fail_with("kept_open", &e);
	check_sh(&far, "echo far", 0, "far\n");
	MUST(far.box->ops->stop(far.box, &e) == 0);
	(void)box_close(far.box);
	(void)snprintf(deep + n, sizeof(deep) - n, "/keeper.lock");
	wait_dead(far.keeper.pid);
	MUST(unlink(deep) == 0);
	for (int i = 0; i < 3; i++) {
		*strrchr(deep, '/') = '\0';
		MUST(rmdir(deep) == 0);
	}
}

TEST(keeper_is_reached_however_long_the_path_is)
{
	FOR_EACH_USER(user) den_run(KEPT, user, long_path);
}

WITH_KEEPER(goes_when_it_is_idle_and_not_before)
{
	struct den own = { .kind = KEPT };
	struct box_call c = sh("sleep 2.5; exit 7");
	uint64_t id;

	(void)d;
	den_start(&own, &(struct keeper_spec){ .idle_s = 1 });
	own.box = den_connect(&own);
	id = ask(&own, &c); /* longer than it may be idle */
	MUST(hear_end(&own, id).value == 7);
	MUST(hear(&own).kind == BOX_GONE); /* we are there, but ask for nothing */
	(void)box_close(own.box);
	den_end(&own);
}

/* With a job that goes on: nobody could ever ask for it again. */
WITH_KEEPER(goes_when_its_directory_is_removed)
{
	struct den own = { .kind = KEPT };
	struct box_call c = sh("sleep 1000");
	struct jobs_info i;
	struct err e = { 0 };
	char path[96];

	(void)d;
	den_start(&own, &(struct keeper_spec){ .idle_s = 1 });
	own.box = den_connect(&own);
	MUST(own.box->jobs->start(own.box, &c, STR("sleep"), &i, &e) == 0);
	own.box = box_close(own.box);
	(void)snprintf(path, sizeof(path), "%s/socket", own.dir);
	MUST(unlink(path) == 0);
	wait_dead(own.keeper.pid);
	den_end(&own);
}

WITH_KEEPER(tells_which_wall_does_not_stand)
{
	struct keeper_spec spec = { .plan = STR("no plan at all"), .workdir = STR("/") };
	struct keeper_started started;
	struct err e = { 0 };
	char dir[] = "/tmp/creel-test-none-XXXXXX", path[64];

	(void)d;
	MUST(mkdtemp(dir));
	spec.dir = str_z(dir);
	spec.keeper_fd = open(getenv("CREEL_KEEPER"), O_RDONLY | O_CLOEXEC);
	MUST(keeper_start(&spec, &started, &e) < 0 && strstr(e.msg, "plan"));
	(void)close(spec.keeper_fd);
	(void)snprintf(path, sizeof(path), "%s/keeper.lock", dir);
	MUST(unlink(path) == 0 && rmdir(dir) == 0); /* nothing else is left */
}

/* The group is the keeper's, and goes with it, also when it is killed. */
static void with_group(struct den *d)
{
	const struct cgroup_limits limits = { .must = CGROUP_PIDS, .pids = 50 };
	struct cgroup c = CGROUP_EMPTY, copy;
	struct den own = { .kind = KEPT };
	struct err e = { 0 };

	(void)d;
	for (int killed = 0; killed < 2; killed++) {
		uint64_t end;

		if (cgroup_new(&limits, STR(""), &c, &e) < 0) {
			MUST(e.kind == ERR_UNAVAIL);
			return;
		}
		copy = c;
		den_start(&own, &(struct keeper_spec){ .cgroup = &c, .idle_s = 60 });
		MUST(c.version == CGROUP_NONE && access(copy.dir[1], F_OK) == 0);
		own.box = den_connect(&own);
		check_sh(&own, "echo in a group", 0, "in a group\n");
		MUST(kill(own.keeper.pid, killed ? SIGKILL : SIGTERM) == 0);
		MUST(hear(&own).kind == BOX_GONE);
		(void)box_close(own.box);
		for (end = clock_deadline(5000); access(copy.dir[1], F_OK) == 0;)
			MUST(clock_mono_ms() < end && usleep(2000) == 0);
		if (!killed)
			den_end(&own);
	}
	/* Of the killed one the socket and the logs are left, for the next keeper to take over. */
	MUST(try_keeper(own.dir, &(struct keeper_spec){ .idle_s = 60 }, &own.keeper, &e) == 0);
	den_end(&own);
}

TEST(keeper_removes_the_cgroup_that_it_was_given)
{
	FOR_EACH_USER(user) den_run(KEPT, user, with_group);
}

/* What was told before the keeper went is heard, although it never took what we said last. */
WITH_KEEPER(finished_results_are_heard_after_it_was_killed)
{
	struct box_call c = sh("exit 7");
	struct pollfd p = { .fd = d->box->ops->fd(d->box), .events = POLLIN };
	uint64_t first = ask(d, &c), second;
	struct box_event ev;

	MUST(poll(&p, 1, 10000) == 1); /* its end has come */
	MUST(kill(d->keeper.pid, SIGSTOP) == 0);
	second = ask(d, &c);
	MUST(kill(d->keeper.pid, SIGKILL) == 0);
	wait_dead(d->keeper.pid);
	MUST(hear_end(d, first).value == 7);
	ev = hear(d);
	MUST(ev.kind == BOX_FAILED && ev.call == second && box_is_unbegun(&ev.err));
	MUST(hear(d).kind == BOX_GONE);
	{
		struct err e = { 0 };

		MUST(try_keeper(d->dir, &(struct keeper_spec){ .idle_s = 60 }, &d->keeper, &e) == 0);
	}
}

WITH_KEEPER(is_started_by_who_ignores_his_children)
{
	struct den own = { .kind = KEPT };

	(void)d;
	MUST(signal(SIGCHLD, SIG_IGN) != SIG_ERR);
	den_start(&own, &(struct keeper_spec){ .idle_s = 60 });
	MUST(signal(SIGCHLD, SIG_DFL) != SIG_ERR);
	own.box = den_connect(&own);
	check_sh(&own, "echo hi", 0, "hi\n");
	(void)box_close(own.box);
	den_end(&own);
}

static long keeper_kib(const struct den *d)
{
	char text[4096];
	const char *at;

	read_proc(d->keeper.pid, "status", text, sizeof(text));
	at = strstr(text, "VmRSS:");
	MUST(at);
	return strtol(at + 6, NULL, 10);
}

#ifdef SANITIZE_ADDRESS_ON
#define SETTLED 1500 /* the sanitizer keeps some of what was freed, and until then more each time */
#else
#define SETTLED 300
#endif

WITH_KEEPER(thousands_of_calls_leave_it_as_it_was)
{
	const struct str program = STR(ATTACKS "/linger");
	struct box_call c = sh("");
	long before = 0;

	c.argv = (struct strs){ &program, 1 };
	for (int i = 0; i < 3000; i++) {
		uint64_t id;

		c.tell = i % 2; /* those are the keeper's to ask for; the others go past it */
		id = ask(d, &c);
		MUST(!c.tell || hear(d).kind == BOX_STARTED);
		MUST(hear_end(d, id).value == 0);
		if (i == SETTLED)
			before = keeper_kib(d);
	}
	(void)fprintf(stderr, "# the keeper takes %ld KiB, then %ld\n", before, keeper_kib(d));
	MUST(keeper_kib(d) <= before + 16 && before < 65536);
}

TEST_MAIN()
