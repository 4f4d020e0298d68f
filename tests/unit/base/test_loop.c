/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "base/loop.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#define LOOP(name)                                      \
	_cleanup_(loop_freep) struct loop *name = NULL; \
	assert_int_equal(loop_new(64, &name), 0)

/* What the handlers below write down, in the order they ran. */
struct trace {
	char text[64];
	size_t n;
};

struct named {
	struct trace *trace;
	char name;
	struct loop_id other; /* for handlers that meddle */
	uint64_t at_ms;
};

static void note(const struct named *n)
{
	assert_true(n->trace->n + 1 < sizeof(n->trace->text));
	n->trace->text[n->trace->n++] = n->name;
}

static void on_timer(struct loop *l, void *ctx)
{
	(void)l;
	note(ctx);
}

static void on_timer_stop(struct loop *l, void *ctx)
{
	note(ctx);
	loop_stop(l, 5);
}

static void on_timer_del_other(struct loop *l, void *ctx)
{
	const struct named *n = ctx;

	note(n);
	(void)loop_del(l, n->other);
}

static void on_timer_move_other(struct loop *l, void *ctx)
{
	const struct named *n = ctx;

	note(n);
	assert_int_equal(loop_mod_timer(l, n->other, n->at_ms), 0);
}

static void on_fd(struct loop *l, void *ctx, uint32_t events)
{
	(void)l;
	assert_true(events & EPOLLIN);
	note(ctx);
}

static void on_fd_del_other(struct loop *l, void *ctx, uint32_t events)
{
	const struct named *n = ctx;

	(void)events;
	note(n);
	(void)loop_del(l, n->other);
}

static void step(struct loop *l)
{
	assert_int_equal(loop_step(l, clock_deadline(2000)), 0);
}

/* Readable for ever: nobody reads it. */
static int ready_fd(void)
{
	int fd = eventfd(1, EFD_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

TEST(loop_timers_run_by_time_then_by_age)
{
	LOOP(l);
	struct trace t = { 0 };
	struct named n[6];
	static const struct {
		char name;
		uint64_t ms;
	} timers[] = { { 'd', 20 }, { 'a', 5 }, { 'e', 20 }, { 'b', 10 }, { 'f', 20 }, { 'c', 10 } };
	uint64_t base = clock_mono_ms();
	struct loop_id id;

	for (size_t i = 0; i < 6; i++) {
		n[i] = (struct named){ .trace = &t, .name = timers[i].name };
		assert_int_equal(
			loop_add_timer(l, base + timers[i].ms, i == 4 ? on_timer_stop : on_timer, &n[i], &id),
			0);
	}
	assert_int_equal(loop_run(l), 5);
	assert_string_equal(t.text, "abcdef");
	assert_true(clock_mono_ms() >= base + 20);
}

TEST(loop_timer_never_fires_early)
{
	LOOP(l);
	struct trace t = { 0 };
	struct named n = { .trace = &t, .name = 'x' };
	uint64_t at = clock_deadline(30);
	struct loop_id id;

	assert_int_equal(loop_add_timer(l, at, on_timer_stop, &n, &id), 0);
	assert_int_equal(loop_run(l), 5);
	assert_true(clock_mono_ms() >= at);
}

TEST(loop_timers_in_random_order_come_out_sorted)
{
	_cleanup_(loop_freep) struct loop *l = NULL;
	struct trace t = { 0 };
	struct named n[50];
	struct loop_id id[50];
	uint64_t now = clock_mono_ms();

	assert_int_equal(loop_new(50, &l), 0);
	for (size_t i = 0; i < 50; i++) {
		size_t k = i * 17 % 50; /* a permutation */

		n[k] = (struct named){ .trace = &t, .name = (char)('0' + k) };
		assert_int_equal(loop_add_timer(l, now - 1000 + k, on_timer, &n[k], &id[k]), 0);
	}
	for (size_t k = 0; k < 50; k += 3)
		assert_int_equal(loop_del(l, id[k]), 0);
	step(l);
	assert_int_equal(t.n, 33);
	for (size_t i = 1; i < t.n; i++)
		assert_true(t.text[i] > t.text[i - 1]);
	for (size_t i = 0; i < t.n; i++)
		assert_true((t.text[i] - '0') % 3 != 0);
}

TEST(loop_timer_removed_by_another_that_is_due_does_not_run)
{
	LOOP(l);
	struct trace t = { 0 };
	struct named a = { .trace = &t, .name = 'a' }, b = { .trace = &t, .name = 'b' };
	struct loop_id id;

	assert_int_equal(loop_add_timer(l, 1, on_timer_del_other, &a, &id), 0);
	assert_int_equal(loop_add_timer(l, 2, on_timer, &b, &a.other), 0);
	step(l);
	assert_string_equal(t.text, "a");
	assert_false(loop_has(l, a.other));
}

TEST(loop_timer_moved_while_due_waits_for_its_new_time)
{
	LOOP(l);
	struct trace t = { 0 };
	struct named a = { .trace = &t, .name = 'a', .at_ms = clock_deadline(20) },
		     b = { .trace = &t, .name = 'b' };
	struct loop_id id;

	assert_int_equal(loop_add_timer(l, 1, on_timer_move_other, &a, &id), 0);
	assert_int_equal(loop_add_timer(l, 2, on_timer_stop, &b, &a.other), 0);
	step(l);
	assert_string_equal(t.text, "a");
	assert_int_equal(loop_run(l), 5);
	assert_string_equal(t.text, "ab");
	assert_true(clock_mono_ms() >= a.at_ms);
}

TEST(loop_timer_can_be_moved_both_ways)
{
	LOOP(l);
	struct trace t = { 0 };
	struct named a = { .trace = &t, .name = 'a' }, b = { .trace = &t, .name = 'b' },
		     c = { .trace = &t, .name = 'c' };
	struct loop_id ia, ib, ic;

	assert_int_equal(loop_add_timer(l, CLOCK_NEVER, on_timer, &a, &ia), 0);
	assert_int_equal(loop_add_timer(l, 1, on_timer, &b, &ib), 0);
	assert_int_equal(loop_add_timer(l, 2, on_timer, &c, &ic), 0);
	assert_int_equal(loop_mod_timer(l, ia, 0), 0);
	assert_int_equal(loop_mod_timer(l, ib, 3), 0);
	step(l);
	assert_string_equal(t.text, "acb");
	assert_int_equal(loop_mod_timer(l, ia, 0), -ENOENT);
}

static void on_timer_again(struct loop *l, void *ctx)
{
	struct named *n = ctx;

	note(n);
	assert_false(loop_has(l, n->other)); /* used up */
	assert_int_equal(loop_add_timer(l, 0, on_timer_again, n, &n->other), 0);
}

TEST(loop_timer_that_always_rearms_leaves_room_for_descriptors)
{
	LOOP(l);
	struct trace t = { 0 };
	struct named a = { .trace = &t, .name = 't' }, b = { .trace = &t, .name = 'f' };
	_cleanup_close_ int fd = ready_fd();
	struct loop_id id;

	assert_int_equal(loop_add_timer(l, 0, on_timer_again, &a, &a.other), 0);
	assert_int_equal(loop_add_fd(l, fd, EPOLLIN, on_fd, &b, &id), 0);
	for (int i = 0; i < 3; i++)
		step(l);
	assert_string_equal(t.text, "ftftft");
}

TEST(loop_step_returns_at_its_deadline)
{
	LOOP(l);
	uint64_t at = clock_deadline(20);

	assert_int_equal(loop_step(l, at), 0);
	assert_true(clock_mono_ms() >= at);
}

TEST(loop_fd_runs_until_removed_and_while_asked_for)
{
	LOOP(l);
	struct trace t = { 0 };
	struct named a = { .trace = &t, .name = 'a' };
	struct loop_id id;
	int p[2];

	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	assert_int_equal(loop_add_fd(l, p[0], EPOLLIN, on_fd, &a, &id), 0);
	assert_int_equal(write(p[1], "x", 1), 1);
	step(l);
	step(l); /* level-triggered: nobody read it */
	assert_string_equal(t.text, "aa");
	assert_int_equal(loop_mod_fd(l, id, 0), 0);
	assert_int_equal(loop_step(l, 0), 0);
	assert_string_equal(t.text, "aa");
	assert_int_equal(loop_mod_fd(l, id, EPOLLIN), 0);
	step(l);
	assert_string_equal(t.text, "aaa");
	assert_int_equal(loop_del(l, id), 0);
	assert_int_equal(loop_step(l, 0), 0);
	assert_string_equal(t.text, "aaa");
	assert_int_equal(loop_del(l, id), -ENOENT);
	assert_int_equal(loop_mod_fd(l, id, EPOLLIN), -ENOENT);
	(void)fd_close(p[0]);
	(void)fd_close(p[1]);
}

TEST(loop_fd_removed_by_another_in_the_same_round_does_not_run)
{
	LOOP(l);
	struct trace t = { 0 };
	struct named a = { .trace = &t, .name = 'a' }, b = { .trace = &t, .name = 'b' };
	_cleanup_close_ int fa = ready_fd(), fb = ready_fd();

	/* each removes the other: whichever comes first must be the only one */
	assert_int_equal(loop_add_fd(l, fa, EPOLLIN, on_fd_del_other, &a, &b.other), 0);
	assert_int_equal(loop_add_fd(l, fb, EPOLLIN, on_fd_del_other, &b, &a.other), 0);
	step(l);
	assert_int_equal(t.n, 1);
}

TEST(loop_handler_may_remove_itself)
{
	LOOP(l);
	struct trace t = { 0 };
	struct named a = { .trace = &t, .name = 'a' };
	_cleanup_close_ int fd = ready_fd();

	assert_int_equal(loop_add_fd(l, fd, EPOLLIN, on_fd_del_other, &a, &a.other), 0);
	step(l);
	assert_int_equal(loop_step(l, 0), 0);
	assert_string_equal(t.text, "a");
}

struct reuse {
	struct trace trace;
	struct loop_id victim, added;
	struct named fresh;
	int fd;
};

/* Removes the other source and puts a new one into its slot, while an event for the old one waits. */
static void on_fd_replace(struct loop *l, void *ctx, uint32_t events)
{
	struct reuse *r = ctx;

	(void)events;
	if (!loop_has(l, r->victim))
		return;
	assert_int_equal(loop_del(l, r->victim), 0);
	assert_int_equal(loop_add_timer(l, CLOCK_NEVER, on_timer, &r->fresh, &r->added), 0);
	assert_int_equal(r->added.slot, r->victim.slot);
	assert_int_not_equal(r->added.generation, r->victim.generation);
}

TEST(loop_stale_event_does_not_reach_the_slots_next_owner)
{
	LOOP(l);
	_cleanup_close_ int fa = ready_fd(), fb = ready_fd();
	struct trace t = { 0 };
	struct named b = { .trace = &t, .name = 'b' };
	struct reuse r = { .fresh = { .trace = &r.trace, .name = 'x' } };
	struct loop_id id;

	assert_int_equal(loop_add_fd(l, fa, EPOLLIN, on_fd_replace, &r, &id), 0);
	assert_int_equal(loop_add_fd(l, fb, EPOLLIN, on_fd, &b, &r.victim), 0);
	step(l);
	assert_int_equal(r.trace.n, 0);
	assert_true(loop_has(l, r.added));
	assert_int_equal(loop_del(l, r.victim), -ENOENT); /* the old handle does not remove the new source */
	assert_true(loop_has(l, r.added));
}

static void on_fd_add_many(struct loop *l, void *ctx, uint32_t events)
{
	struct named *n = ctx;
	struct loop_id id;

	(void)events;
	note(n);
	for (int i = 0; i < 40; i++) /* the array of sources has to move */
		assert_int_equal(loop_add_timer(l, CLOCK_NEVER, on_timer, n, &id), 0);
	(void)loop_del(l, n->other);
}

TEST(loop_handler_may_add_so_many_that_the_array_moves)
{
	LOOP(l);
	struct trace t = { 0 };
	struct named a = { .trace = &t, .name = 'a' }, b = { .trace = &t, .name = 'b' };
	_cleanup_close_ int fa = ready_fd(), fb = ready_fd();
	struct loop_id id;

	assert_int_equal(loop_add_fd(l, fa, EPOLLIN, on_fd_add_many, &a, &a.other), 0);
	assert_int_equal(loop_add_fd(l, fb, EPOLLIN, on_fd, &b, &id), 0);
	step(l);
	assert_int_equal(t.n, 2);
}

TEST(loop_has_as_many_sources_as_it_was_given_and_no_more)
{
	_cleanup_(loop_freep) struct loop *l = NULL;
	struct trace t = { 0 };
	struct named a = { .trace = &t, .name = 'a' };
	struct loop_id id[20], last;

	assert_int_equal(loop_new(20, &l), 0);
	for (int i = 0; i < 20; i++)
		assert_int_equal(loop_add_timer(l, CLOCK_NEVER, on_timer, &a, &id[i]), 0);
	assert_int_equal(loop_add_timer(l, CLOCK_NEVER, on_timer, &a, &last), -EMFILE);
	assert_int_equal(loop_del(l, id[7]), 0);
	assert_int_equal(loop_add_timer(l, CLOCK_NEVER, on_timer, &a, &last), 0);
	assert_int_equal(last.slot, id[7].slot);
}

TEST(loop_zero_handle_is_none)
{
	LOOP(l);

	assert_false(loop_has(l, (struct loop_id){ 0 }));
	assert_int_equal(loop_del(l, (struct loop_id){ 0 }), -ENOENT);
	assert_int_equal(loop_del(l, (struct loop_id){ .slot = 9999, .generation = 1 }), -ENOENT);
}

TEST(loop_refused_fd_takes_no_slot)
{
	_cleanup_(loop_freep) struct loop *l = NULL;
	_cleanup_close_ int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct trace t = { 0 };
	struct named a = { .trace = &t, .name = 'a' };
	struct loop_id id = { 0 };

	assert_int_equal(loop_new(1, &l), 0);
	assert_int_equal(loop_add_fd(l, file, EPOLLIN, on_fd, &a, &id),
			 -EPERM); /* epoll takes no plain files */
	assert_int_equal(loop_add_fd(l, FD_NONE, EPOLLIN, on_fd, &a, &id), -EBADF);
	assert_int_equal(id.generation, 0);
	assert_int_equal(loop_add_timer(l, 0, on_timer, &a, &id), 0);
}

static void on_signal_stop(struct loop *l, void *ctx)
{
	note(ctx);
	loop_stop(l, 7);
}

TEST(loop_signal_arrives_through_the_loop)
{
	struct trace t = { 0 };
	struct named a = { .trace = &t, .name = 'u' };
	struct loop_id id, twice;
	sigset_t mask;

	{
		LOOP(l);

		assert_int_equal(loop_add_signal(l, SIGUSR1, on_signal_stop, &a, &id), 0);
		assert_int_equal(loop_add_signal(l, SIGUSR1, on_signal_stop, &a, &twice), -EBUSY);
		assert_int_equal(raise(SIGUSR1), 0);
		assert_int_equal(t.n, 0);
		assert_int_equal(loop_run(l), 7);
		assert_string_equal(t.text, "u");
		assert_int_equal(sigprocmask(SIG_BLOCK, NULL, &mask), 0);
		assert_true(sigismember(&mask, SIGUSR1));
		assert_int_equal(loop_del(l, id), 0);
		assert_int_equal(sigprocmask(SIG_BLOCK, NULL, &mask), 0);
		assert_false(sigismember(&mask, SIGUSR1));
		assert_int_equal(loop_add_signal(l, SIGUSR1, on_signal_stop, &a, &id), 0);
	}
	/* freeing the loop gives the signal back too */
	assert_int_equal(sigprocmask(SIG_BLOCK, NULL, &mask), 0);
	assert_false(sigismember(&mask, SIGUSR1));
}

TEST(loop_signal_that_was_blocked_before_stays_blocked_after)
{
	LOOP(l);
	struct trace t = { 0 };
	struct named a = { .trace = &t, .name = 'u' };
	struct loop_id id;
	sigset_t one, mask;

	sigemptyset(&one);
	sigaddset(&one, SIGUSR2);
	assert_int_equal(sigprocmask(SIG_BLOCK, &one, NULL), 0);
	assert_int_equal(loop_add_signal(l, SIGUSR2, on_signal_stop, &a, &id), 0);
	assert_int_equal(loop_del(l, id), 0);
	assert_int_equal(sigprocmask(SIG_BLOCK, NULL, &mask), 0);
	assert_true(sigismember(&mask, SIGUSR2));
	assert_int_equal(sigprocmask(SIG_UNBLOCK, &one, NULL), 0);
}

static void on_signal_del_other(struct loop *l, void *ctx)
{
	const struct named *n = ctx;

	note(n);
	(void)loop_del(l, n->other);
}

TEST(loop_signal_removed_while_its_event_waits_does_not_run)
{
	LOOP(l);
	struct trace t = { 0 };
	struct named a = { .trace = &t, .name = 'a' }, b = { .trace = &t, .name = 'b' };

	(void)signal(SIGUSR1, SIG_IGN); /* what is given back may still arrive: it must not kill the test */
	(void)signal(SIGUSR2, SIG_IGN);
	assert_int_equal(loop_add_signal(l, SIGUSR1, on_signal_del_other, &a, &b.other), 0);
	assert_int_equal(loop_add_signal(l, SIGUSR2, on_signal_del_other, &b, &a.other), 0);
	assert_int_equal(raise(SIGUSR1), 0);
	assert_int_equal(raise(SIGUSR2), 0);
	step(l);
	assert_int_equal(loop_step(l, 0), 0);
	assert_int_equal(t.n, 1);
	(void)signal(SIGUSR1, SIG_DFL);
	(void)signal(SIGUSR2, SIG_DFL);
}

TEST(loop_refuses_a_number_that_is_no_signal)
{
	LOOP(l);
	struct loop_id id;

	assert_int_equal(loop_add_signal(l, 0, on_timer, NULL, &id), -EINVAL);
	assert_int_equal(loop_add_signal(l, -1, on_timer, NULL, &id), -EINVAL);
	assert_int_equal(loop_add_signal(l, 1000, on_timer, NULL, &id), -EINVAL);
}

static void on_child(struct loop *l, void *ctx, struct proc_status status)
{
	struct proc_status *st = ctx;

	*st = status;
	loop_stop(l, 0);
}

static void check_child(const char *script, enum proc_end end, int code)
{
	LOOP(l);
	_cleanup_proc_ struct proc p = PROC_NONE;
	_cleanup_free_ char *text = strdup(script);
	char *argv[] = { (char[]){ "sh" }, (char[]){ "-c" }, text, NULL };
	struct proc_status st = { 0 };
	struct loop_id id;

	assert_int_equal(proc_spawn(&(struct proc_spec){ .path = "/bin/sh", .argv = argv }, &p), 0);
	assert_int_equal(loop_add_child(l, p.pidfd, on_child, &st, &id), 0);
	assert_int_equal(loop_run(l), 0);
	p.pid = 0;
	assert_int_equal(st.end, end);
	assert_int_equal(st.code, code);
	assert_false(loop_has(l, id));
}

TEST(loop_child_tells_how_it_ended)
{
	check_child("exit 3", PROC_EXITED, 3);
	check_child("kill -KILL $$", PROC_SIGNALED, SIGKILL);
}

TEST(loop_child_reaped_by_somebody_else_is_reported_once_without_a_status)
{
	LOOP(l);
	_cleanup_proc_ struct proc p = PROC_NONE;
	char *argv[] = { (char[]){ "true" }, NULL };
	struct proc_status st = { .end = PROC_EXITED, .code = 77 };
	struct loop_id id;

	assert_int_equal(proc_spawn(&(struct proc_spec){ .path = "/bin/true", .argv = argv }, &p), 0);
	assert_int_equal(loop_add_child(l, p.pidfd, on_child, &st, &id), 0);
	assert_int_equal(proc_wait(&p, clock_deadline(10000), &st), 0);
	assert_int_equal(loop_run(l), 0);
	assert_int_equal(st.end, PROC_RUNNING);
	assert_false(loop_has(l, id));
}

TEST(loop_stop_before_run_counts)
{
	LOOP(l);

	loop_stop(l, 3);
	assert_int_equal(loop_run(l), 3);
}

static struct loop *waken;

static void wake_it(int sig)
{
	(void)sig;
	loop_wake(waken);
}

TEST(loop_wake_ends_the_wait_also_from_a_signal_handler)
{
	LOOP(l);
	uint64_t start = clock_mono_ms();

	loop_wake(l);
	loop_wake(l);
	assert_int_equal(loop_step(l, clock_deadline(60000)), 0);
	assert_int_equal(loop_step(l, 0), 0); /* and the wake-up is used up */
	waken = l;
	(void)signal(SIGALRM, wake_it);
	assert_int_equal(raise(SIGALRM), 0);
	assert_int_equal(loop_step(l, clock_deadline(60000)), 0);
	(void)signal(SIGALRM, SIG_DFL);
	assert_true(clock_mono_ms() - start < 50000);
}

TEST(loop_without_descriptors_left_cannot_be_made_and_leaks_nothing)
{
	struct rlimit before, few;
	struct loop *l = NULL;
	int free_fd = fcntl(0, F_DUPFD_CLOEXEC, 3), r;

	(void)fd_close(free_fd);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	for (int n = 0; n < 3; n++) {
		few = (struct rlimit){ .rlim_cur = (rlim_t)(free_fd + n), .rlim_max = before.rlim_max };
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
		r = loop_new(4, &l);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
		assert_int_equal(r, -EMFILE);
		assert_null(l);
		r = fcntl(0, F_DUPFD_CLOEXEC, 3);
		assert_int_equal(r, free_fd);
		(void)fd_close(r);
	}
}

TEST_MAIN()
