/* SPDX-License-Identifier: Apache-2.0 */
/* Background processes: that they outlive who started them, that nothing of what they write is lost or too much, and how they end. */
#include "boxes.h"

#include "backend/jobs.h"

#include <sys/mman.h>

static struct jobs_info start(struct den *d, const char *script)
{
	struct box_call c = sh(script);
	struct jobs_info i = { 0 };
	struct err e = { 0 };

	if (d->box->jobs->start(d->box, &c, str_z(script), &i, &e) < 0)
		fail_with("start", &e);
	return i;
}

static struct jobs_info info(struct den *d, const char *id)
{
	struct jobs_info i = { 0 };
	struct err e = { 0 };

	if (d->box->jobs->info(d->box, str_z(id), &i, &e) < 0)
		fail_with("info", &e);
	return i;
}

static struct jobs_info await_end(struct den *d, const char *id)
{
	uint64_t end = clock_deadline(20000);
	struct jobs_info i = info(d, id);

	while (i.running) {
		MUST(clock_mono_ms() < end && usleep(2000) == 0);
		i = info(d, id);
	}
	return i;
}

struct polled {
	char out[65536], err[65536];
	struct jobs_part part[JOBS_STREAMS_];
	struct jobs_info info;
};

static struct polled *poll_job(struct den *d, const char *id, uint64_t wait_ms)
{
	static struct polled p;
	char *out[JOBS_STREAMS_] = { p.out, p.err };
	struct err e = { 0 };

	if (d->box->jobs->poll(d->box, str_z(id), wait_ms, out, sizeof(p.out) - 1, p.part, &p.info, &e) < 0)
		fail_with("poll", &e);
	p.out[p.part[0].n] = p.err[p.part[1].n] = '\0';
	return &p;
}

static void check_log(struct den *d, const char *id, enum jobs_stream s, uint64_t at, const char *want)
{
	char out[4096];
	struct jobs_part part;
	struct err e = { 0 };

	if (d->box->jobs->log(d->box, str_z(id), s, at, out, sizeof(out) - 1, &part, &e) < 0)
		fail_with("log", &e);
	out[part.n] = '\0';
	if (part.at != at || strcmp(out, want) != 0) {
		(void)fprintf(stderr, "at %ju: '%s', not '%s'\n", (uintmax_t)part.at, out, want);
		_exit(1);
	}
}

/* Who has written it does not wait until the keeper has read it. */
static void await_log(struct den *d, const char *id, enum jobs_stream s)
{
	uint64_t end = clock_deadline(20000);
	struct jobs_part part = { 0 };
	struct err e = { 0 };
	char out[64];

	while (part.n == 0) {
		MUST(clock_mono_ms() < end && usleep(2000) == 0);
		MUST(d->box->jobs->log(d->box, str_z(id), s, 0, out, sizeof(out), &part, &e) >= 0);
	}
}

static void reconnect(struct den *d)
{
	d->box = box_close(d->box);
	d->box = den_connect(d);
}

WITH_KEEPER(jobs_outlive_who_started_them)
{
	struct jobs_info i = start(d, "echo one; echo two >&2; read x; echo got $x; exit 3"), list[4];
	struct err e = { 0 };
	size_t n;

	MUST(strcmp(i.id, "p1") == 0 && i.running && i.input && i.pid > 1 && i.started_ms > 0);
	reconnect(d);
	MUST(d->box->jobs->list(d->box, list, 4, &n, &e) == 0 && n == 1 && strcmp(list[0].id, "p1") == 0);
	MUST(strcmp(list[0].text, "echo one; echo two >&2; read x; echo got $x; exit 3") == 0);
	MUST(d->box->jobs->write(d->box, STR("p1"), STR("this\n"), false, &e) == 0);
	i = await_end(d, "p1");
	MUST(i.end.reason == BOX_EXITED && i.end.value == 3 && i.ended_ms >= i.started_ms && !i.input);
	check_log(d, "p1", JOBS_OUT, 0, "one\ngot this\n");
	check_log(d, "p1", JOBS_OUT, 4, "got this\n");
	check_log(d, "p1", JOBS_OUT, 13, "");
	check_log(d, "p1", JOBS_ERR, 0, "two\n");
	MUST(strcmp(start(d, "exit 0").id, "p2") == 0);
}

static void must_not_be_there(struct den *d, const char *id)
{
	char room[16], *out[JOBS_STREAMS_] = { room, room };
	struct jobs_part part[JOBS_STREAMS_];
	struct box *b = d->box;
	struct jobs_info i;
	struct err e = { 0 };

	MUST(b->jobs->info(b, str_z(id), &i, &e) < 0 && e.kind == ERR_NOTFOUND);
	MUST(b->jobs->poll(b, str_z(id), 0, out, sizeof(room), part, &i, &e) < 0 && e.kind == ERR_NOTFOUND);
	MUST(b->jobs->log(b, str_z(id), JOBS_OUT, 0, room, sizeof(room), part, &e) < 0);
	MUST(b->jobs->write(b, str_z(id), STR("x"), true, &e) < 0 && e.kind == ERR_NOTFOUND);
	MUST(b->jobs->signal(b, str_z(id), SIGKILL, &e) < 0 && e.kind == ERR_NOTFOUND);
	MUST(b->jobs->kill(b, str_z(id), &i, &e) < 0 && e.kind == ERR_NOTFOUND);
	MUST(b->jobs->remove(b, str_z(id), &e) < 0 && e.kind == ERR_NOTFOUND);
}

static size_t count(struct den *d)
{
	struct jobs_info all[8];
	struct err e = { 0 };
	size_t n = 0;

	if (d->box->jobs->list(d->box, all, 8, &n, &e) < 0)
		fail_with("list", &e);
	return n;
}

WITH_KEEPER(jobs_are_there_for_whose_they_are_and_for_who_looks_after_all)
{
	struct jobs_info mine, theirs;

	d->box->jobs_owner = 1;
	mine = start(d, "echo mine; sleep 1000");
	reconnect(d);
	d->box->jobs_owner = 2;
	theirs = start(d, "sleep 1000");
	MUST(strcmp(mine.id, theirs.id) != 0 && count(d) == 1);
	must_not_be_there(d, mine.id);
	d->box->jobs_owner = 1;
	MUST(count(d) == 1 && info(d, mine.id).running);
	must_not_be_there(d, theirs.id);
	d->box->jobs_any = true;
	MUST(count(d) == 2 && info(d, theirs.id).running && info(d, mine.id).running);
	/* What it starts is its own all the same. */
	mine = start(d, "sleep 1000");
	d->box->jobs_any = false;
	MUST(count(d) == 2 && info(d, mine.id).running);
}

WITH_KEEPER(who_is_nobody_sees_no_jobs)
{
	const struct jobs_adopt none = { .fd = { FD_NONE, FD_NONE } };
	struct jobs_info mine = start(d, "sleep 1000"), seen[2];
	struct err e = { 0 };
	size_t n = 0;

	d->box->jobs_owner = 0;
	MUST(d->box->jobs->list(d->box, seen, 2, &n, &e) < 0 && e.kind == ERR_BUG && n == 0);
	MUST(d->box->jobs->info(d->box, str_z(mine.id), seen, &e) < 0 && e.kind == ERR_BUG);
	d->box->jobs_any = true; /* the operator is not somebody, and may look, and starts nothing */
	MUST(count(d) == 1 && info(d, mine.id).running);
	MUST(d->box->jobs->adopt(d->box, &none, seen, &e) < 0 && e.kind == ERR_BUG);
	d->box->jobs_any = false;
	d->box->jobs_owner = 1;
	MUST(count(d) == 1);
}

WITH_KEEPER(polls_tell_what_is_new)
{
	struct polled *p;
	struct err e = { 0 };

	(void)start(d, "while read x; do echo $x; echo err $x >&2; done; exit 4");
	p = poll_job(d, "p1", 0);
	MUST(p->info.running && p->part[0].n == 0 && p->part[1].n == 0);
	MUST(d->box->jobs->write(d->box, STR("p1"), STR("a\n"), false, &e) == 0);
	for (size_t out = 0, err = 0; out < 2 || err < 6;) {
		p = poll_job(d, "p1", 10000);
		MUST(p->info.running && p->part[0].at == out && p->part[1].at == err);
		out += p->part[0].n;
		err += p->part[1].n;
	}
	check_log(d, "p1", JOBS_OUT, 0, "a\n"); /* which no poll notices */
	reconnect(d);
	p = poll_job(d, "p1", 0);
	MUST(p->part[0].n == 0 && p->part[0].at == 2 && p->info.running);
	MUST(d->box->jobs->write(d->box, STR("p1"), STR("last"), true, &e) == 0);
	while (poll_job(d, "p1", 10000)->info.running)
		;
	MUST(info(d, "p1").end.value == 4);
	MUST(d->box->jobs->write(d->box, STR("p1"), STR("x"), false, &e) < 0 && e.kind == ERR_USAGE);
}

/* Whoever waits for output does not keep others from asking, and is answered in time. */
WITH_KEEPER(a_poll_that_waits_holds_nobody_up)
{
	struct den other = *d;
	pid_t pid;
	int status;

	(void)start(d, "read x; echo $x");
	pid = fork();
	MUST(pid >= 0);
	if (pid == 0) {
		other.box = den_connect(d);
		MUST(strcmp(poll_job(&other, "p1", 30000)->out, "go\n") == 0);
		_exit(0);
	}
	for (int i = 0; i < 20; i++)
		check_sh(d, "echo others", 0, "others\n");
	MUST(poll_job(d, "p1", 50)->part[0].n == 0); /* the end of the wait */
	{
		struct err e = { 0 };

		MUST(d->box->jobs->write(d->box, STR("p1"), STR("go\n"), false, &e) == 0);
	}
	MUST(waitpid(pid, &status, 0) == pid && status == 0);
}

WITH_KEEPER(chatty_jobs_are_never_held_up_and_their_logs_stay_small)
{
	struct den own = { .kind = KEPT };
	struct jobs_info i;
	struct jobs_part part;
	static char out[1 << 20];
	char path[128];
	struct err e = { 0 };
	long long used = 0;
	DIR *dir;

	(void)d;
	den_start(&own, &(struct keeper_spec){ .idle_s = 60, .log_bytes = 1 << 20 });
	own.box = den_connect(&own);
	(void)start(&own, "seq 1 1000000; echo end");
	i = await_end(&own, "p1");
	MUST(i.end.value == 0 && i.log[JOBS_OUT].total == 6888896 + 4);
	MUST(i.log[JOBS_OUT].first > 0 && i.log[JOBS_OUT].total - i.log[JOBS_OUT].first <= 1 << 20 &&
	     i.log[JOBS_OUT].total - i.log[JOBS_OUT].first >= 1 << 19);
	/* From an offset that was dropped: what is still there, and where it begins. */
	MUST(own.box->jobs->log(own.box, STR("p1"), JOBS_OUT, 5, out, sizeof(out), &part, &e) == 0);
	MUST(part.at == i.log[JOBS_OUT].first && part.n == i.log[JOBS_OUT].total - part.at);
	MUST(memcmp(out + part.n - 12, "1000000\nend\n", 12) == 0);
	/* Lines across the seam of both files are whole: 7 bytes each, from 100000 on. */
	for (size_t k = 0; k + 16 < part.n; k++)
		MUST(out[k] == '\n' || (out[k] >= '0' && out[k] <= '9'));
	(void)snprintf(path, sizeof(path), "%s/logs", own.dir);
	dir = opendir(path);
	MUST(dir);
	for (struct dirent *ent; (ent = readdir(dir)) != NULL;) {
		struct stat st;

		MUST(fstatat(dirfd(dir), ent->d_name, &st, 0) == 0);
		used += S_ISREG(st.st_mode) ? st.st_size : 0;
		MUST(!S_ISREG(st.st_mode) || (st.st_mode & 0777) == 0600);
	}
	(void)closedir(dir);
	MUST(used == (long long)(i.log[JOBS_OUT].total - i.log[JOBS_OUT].first));
	(void)box_close(own.box);
	den_end(&own);
}

WITH_KEEPER(all_logs_together_have_a_limit)
{
	struct den own = { .kind = KEPT };
	struct jobs_info list[8];
	struct err e = { 0 };
	uint64_t sum = 0;
	size_t n;

	(void)d;
	den_start(&own, &(struct keeper_spec){ .idle_s = 60, .log_bytes = 1 << 20, .logs_bytes = 2 << 20 });
	own.box = den_connect(&own);
	for (int i = 0; i < 6; i++) {
		char id[8];

		(void)start(&own, "head -c 1000000 /dev/zero");
		(void)snprintf(id, sizeof(id), "p%d", i + 1);
		(void)await_end(&own, id);
	}
	MUST(own.box->jobs->list(own.box, list, 8, &n, &e) == 0 && n >= 1 && n <= 2);
	for (size_t i = 0; i < n; i++)
		sum += list[i].log[0].total - list[i].log[0].first;
	MUST(sum <= 2 << 20 && strcmp(list[n - 1].id, "p6") == 0);
	(void)box_close(own.box);
	den_end(&own);
}

#define DAEMONS "(setsid setsid sleep $MARK </dev/null >/dev/null 2>&1 &) ; (sleep $MARK &) ; "

WITH_KEEPER(kill_ends_the_whole_tree_and_remove_forgets_it)
{
	struct jobs_info i = start(d, DAEMONS "trap '' TERM; sleep $MARK"), list[4];
	struct err e = { 0 };
	char path[128];
	size_t n;

	wait_marked(3);
	MUST(d->box->jobs->kill(d->box, STR("p1"), &i, &e) == 0);
	MUST(!i.running && i.end.reason == BOX_CANCELLED && count_marked(NULL) == 0);
	MUST(d->box->jobs->kill(d->box, STR("p1"), &i, &e) == 0); /* again is fine */
	MUST(d->box->jobs->signal(d->box, STR("p1"), SIGTERM, &e) < 0 && e.kind == ERR_NOTFOUND);
	(void)start(d, "echo x; " DAEMONS "exec sleep $MARK");
	wait_marked(3);
	MUST(poll_job(d, "p2", 10000)->part[0].n == 2);
	(void)snprintf(path, sizeof(path), "%s/logs/p2.out.0", d->dir);
	MUST(access(path, F_OK) == 0);
	MUST(d->box->jobs->remove(d->box, STR("p2"), &e) == 0);
	MUST(count_marked(NULL) == 0 && access(path, F_OK) < 0);
	MUST(d->box->jobs->list(d->box, list, 4, &n, &e) == 0 && n == 1);
	MUST(d->box->jobs->info(d->box, STR("p2"), &i, &e) < 0 && e.kind == ERR_NOTFOUND);
	MUST(d->box->jobs->remove(d->box, STR("p1"), &e) == 0);
	MUST(strcmp(start(d, "exit 0").id, "p3") == 0); /* a name means one thing for ever */
}

WITH_KEEPER(signals_reach_the_group)
{
	struct err e = { 0 };
	struct jobs_info i;

	(void)start(d, "trap 'echo asked; exit 9' TERM; echo ready; while :; do sleep 0.02; done");
	MUST(strcmp(poll_job(d, "p1", 10000)->out, "ready\n") == 0);
	MUST(d->box->jobs->signal(d->box, STR("p1"), SIGTERM, &e) == 0);
	i = await_end(d, "p1");
	MUST(i.end.reason == BOX_EXITED && i.end.value == 9);
	check_log(d, "p1", JOBS_OUT, 0, "ready\nasked\n");
}

WITH_KEEPER(a_job_can_have_a_terminal)
{
	struct box_call c = sh("tty; stty size; read x; echo got $x; cat >/dev/null; echo end");
	struct jobs_info i;
	struct err e = { 0 };
	char out[512];
	struct jobs_part part;

	c.pty = true;
	c.rows = 11;
	c.columns = 22;
	if (d->box->jobs->start(d->box, &c, STR("tty"), &i, &e) < 0)
		fail_with("start", &e);
	MUST(i.pty && i.input);
	MUST(d->box->jobs->write(d->box, STR("p1"), STR("hello\n"), false, &e) == 0);
	MUST(d->box->jobs->write(d->box, STR("p1"), STR("more"), true, &e) == 0);
	i = await_end(d, "p1");
	MUST(i.end.value == 0);
	MUST(d->box->jobs->log(d->box, STR("p1"), JOBS_OUT, 0, out, sizeof(out) - 1, &part, &e) == 0);
	out[part.n] = '\0';
	MUST(strstr(out, "/dev/pts/") && strstr(out, "11 22\r\n") && strstr(out, "got hello\r\n") &&
	     strstr(out, "end\r\n"));
}

WITH_KEEPER(input_that_is_not_read_waits_up_to_a_limit)
{
	static char big[1 << 20];
	struct err e = { 0 };
	struct jobs_info i;

	memset(big, 'y', sizeof(big));
	(void)start(d, "read x; head -c 1000000 | wc -c; cat | wc -c");
	MUST(d->box->jobs->write(d->box, STR("p1"), (struct str){ big, 1000000 }, false, &e) == 0);
	MUST(d->box->jobs->write(d->box, STR("p1"), (struct str){ big, 500000 }, false, &e) < 0);
	MUST(e.kind == ERR_LIMIT && strstr(e.msg, "does not read its input"));
	MUST(d->box->jobs->kill(d->box, STR("p1"), &i, &e) == 0);
	(void)start(d, "cat | wc -c");
	for (int k = 0; k < 20; k++) {
		uint64_t end = clock_deadline(10000);

		while (d->box->jobs->write(d->box, STR("p2"), (struct str){ big, 500000 }, k == 19, &e) < 0)
			MUST(e.kind == ERR_LIMIT && clock_mono_ms() < end && usleep(1000) == 0);
	}
	(void)await_end(d, "p2");
	check_log(d, "p2", JOBS_OUT, 0, "10000000\n");
	(void)start(d, "exec <&-; echo closed; exec sleep $MARK");
	MUST(poll_job(d, "p3", 10000)->part[0].n > 0);
	MUST(d->box->jobs->write(d->box, STR("p3"), STR("x"), false, &e) < 0 && e.kind == ERR_UNAVAIL);
}

WITH_KEEPER(what_cannot_start_is_told_and_not_listed)
{
	const struct str missing = STR("no-such");
	struct box_call c = sh("exit 0");
	struct jobs_info i;
	struct err e = { 0 };
	size_t n;

	c.argv = (struct strs){ &missing, 1 };
	MUST(d->box->jobs->start(d->box, &c, STR("x"), &i, &e) < 0 && e.kind == ERR_NOTFOUND);
	MUST(strstr(e.msg, "'no-such': no such program"));
	c = sh("exit 0");
	c.stdio[1] = 1;
	MUST(d->box->jobs->start(d->box, &c, STR("x"), &i, &e) < 0 && e.kind == ERR_USAGE);
	MUST(d->box->jobs->list(d->box, &i, 1, &n, &e) == 0 && n == 0);
	for (const char *const *id = (const char *const[]){ "", "p", "p0", "p01", "x1", "p1", "p4294967296",
							    "p-1", "1", "p99999999999999999999", NULL };
	     *id; id++)
		MUST(d->box->jobs->info(d->box, str_z(*id), &i, &e) < 0 && e.kind == ERR_NOTFOUND);
}

WITH_KEEPER(there_are_not_too_many_jobs)
{
	static struct jobs_info list[400];
	struct box_call c = sh("exec sleep $MARK");
	struct jobs_info i;
	struct err e = { 0 };
	size_t n;

	for (int k = 0; k < JOBS_LIVE_MAX; k++)
		(void)start(d, "exec sleep $MARK");
	MUST(d->box->jobs->start(d->box, &c, STR("x"), &i, &e) < 0 && e.kind == ERR_LIMIT);
	check_sh(d, "echo calls still run", 0, "calls still run\n");
	MUST(d->box->jobs->list(d->box, list, 400, &n, &e) == 0 && n == JOBS_LIVE_MAX);
	for (size_t k = 0; k < n; k++)
		MUST(d->box->jobs->kill(d->box, str_z(list[k].id), &i, &e) == 0);
	for (int k = 0; k < JOBS_ENDED_MAX; k++) {
		struct jobs_info last = start(d, "exit 0");

		(void)await_end(d, last.id);
	}
	MUST(d->box->jobs->list(d->box, list, 400, &n, &e) == 0 && n == JOBS_ENDED_MAX);
	MUST(strcmp(list[0].id, "p65") == 0 && strcmp(list[n - 1].id, "p320") == 0);
}

WITH_KEEPER(spilled_output_is_kept_as_a_log)
{
	struct jobs_adopt a = { .text = STR("make all"),
				.fd = { FD_NONE, FD_NONE },
				.end = { .reason = BOX_EXITED, .value = 2, .wall_us = 77 },
				.started_ms = 1234 };
	struct jobs_info i;
	struct err e = { 0 };
	int p[2];

	a.fd[0] = memfd_create("spill", MFD_CLOEXEC);
	MUST(a.fd[0] >= 0 && fd_write_all(a.fd[0], STR("all that was too much\n")) == 0);
	if (d->box->jobs->adopt(d->box, &a, &i, &e) < 0)
		fail_with("adopt", &e);
	MUST(i.spill && !i.running && i.end.value == 2 && i.end.wall_us == 77 && i.started_ms == 1234);
	MUST(strcmp(i.text, "make all") == 0);
	(void)close(a.fd[0]);
	reconnect(d);
	check_log(d, i.id, JOBS_OUT, 0, "all that was too much\n");
	check_log(d, i.id, JOBS_OUT, 9, "was too much\n");
	check_log(d, i.id, JOBS_ERR, 0, "");
	MUST(d->box->jobs->kill(d->box, str_z(i.id), &i, &e) == 0);
	MUST(d->box->jobs->remove(d->box, str_z(i.id), &e) == 0);
	MUST(pipe2(p, O_CLOEXEC) == 0);
	a.fd[0] = p[0];
	MUST(d->box->jobs->adopt(d->box, &a, &i, &e) < 0); /* nobody is waited for */
	(void)close(p[0]);
	(void)close(p[1]);
}

/* What a kept job leaves behind goes on, and its output is still taken; both end with the session. */
WITH_KEEPER(what_a_job_leaves_behind_ends_with_the_session)
{
	struct box_call c = sh("(sleep 0.2; echo later; exec sleep $MARK) & " DAEMONS "exit 0");
	struct jobs_info i;
	struct err e = { 0 };

	c.keep = true;
	MUST(d->box->jobs->start(d->box, &c, STR("x"), &i, &e) == 0);
	i = await_end(d, i.id);
	MUST(i.end.value == 0);
	wait_marked(3);
	await_log(d, "p1", JOBS_OUT);
	check_log(d, "p1", JOBS_OUT, 0, "later\n");
}

TEST_MAIN()
