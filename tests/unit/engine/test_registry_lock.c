/* SPDX-License-Identifier: Apache-2.0 */
#include "entries.h"

#include <signal.h>
#include <sys/mman.h>

#define REGISTRY(name, p) _cleanup_(registry_closep) struct registry *name = open_registry(p)

TEST(a_lock_is_one_holders_until_he_lets_go)
{
	SPOT(p);
	REGISTRY(r, &p);
	REGISTRY(s, &p);
	struct reg_lock lock, other;
	struct reg_holder holder;
	struct err e = { 0 };

	assert_int_equal(registry_lock(r, STR("k"), 60000, &lock, NULL, &e), 1);
	assert_int_equal(registry_lock(s, STR("k"), 60000, &other, &holder, &e), 0);
	assert_int_equal(holder.proc.pid, getpid());
	assert_true(holder.left_ms > 30000 && holder.left_ms <= 60000);
	assert_int_equal(registry_lock(s, STR("another"), 60000, &other, NULL, &e), 1);
	assert_int_equal(registry_renew(r, &lock, 60000, &e), 0);
	assert_int_equal(registry_unlock(r, &lock, &e), 0);
	assert_int_equal(registry_lock(s, STR("k"), 60000, &other, NULL, &e), 1);
	assert_true(other.generation > lock.generation);
	assert_int_equal(registry_unlock(r, &lock, &e), 0); /* not his any more: nothing happens */
	assert_int_equal(registry_lock(r, STR("k"), 60000, &lock, NULL, &e), 0);
}

TEST(an_expired_lock_is_taken_over_and_its_holder_learns_it)
{
	SPOT(p);
	REGISTRY(r, &p);
	struct reg_lock lock, other;
	struct err e = { 0 };

	assert_int_equal(registry_lock(r, STR("k"), 1, &lock, NULL, &e), 1);
	usleep(5000);
	assert_int_equal(registry_lock(r, STR("k"), 60000, &other, NULL, &e), 1);
	assert_true(registry_renew(r, &lock, 60000, &e) < 0);
	assert_int_equal(e.kind, ERR_DENIED);
	assert_int_equal(registry_renew(r, &other, 60000, &e), 0);
}

static void lock_and_die(void *ctx)
{
	struct registry *r = open_registry(ctx);
	struct reg_lock lock;
	struct err e = { 0 };

	if (registry_lock(r, STR("k"), 3600000, &lock, NULL, &e) != 1)
		_exit(1);
	(void)kill(getpid(), SIGKILL);
}

TEST(a_dead_holders_lock_is_taken_over_at_once)
{
	SPOT(p);
	REGISTRY(r, &p);
	struct reg_lock lock;
	struct reg_reaped done = { 0 };
	struct err e = { 0 };

	assert_int_equal(spot_fork(lock_and_die, &p), 1000 + SIGKILL);
	assert_int_equal(registry_lock(r, STR("k"), 60000, &lock, NULL, &e), 1);
	assert_int_equal(registry_unlock(r, &lock, &e), 0);
	assert_int_equal(spot_fork(lock_and_die, &p), 1000 + SIGKILL);
	assert_int_equal(registry_reap(r, &done, &e), 0);
	assert_int_equal(done.locks, 1);
}

/* ---- two never hold it at once ---- */

struct arena_of_war {
	const struct spot *p;
	int *inside, *worst, *times;
};

static void fight(struct arena_of_war *w, unsigned rounds)
{
	struct registry *r = open_registry(w->p);
	struct reg_lock lock;
	struct err e = { 0 };

	for (unsigned i = 0; i < rounds; i++) {
		int got = registry_lock(r, STR("k"), 60000, &lock, NULL, &e);

		if (got < 0)
			_exit(2);
		if (got == 0)
			continue;
		if (__atomic_add_fetch(w->inside, 1, __ATOMIC_SEQ_CST) != 1)
			__atomic_store_n(w->worst, 1, __ATOMIC_SEQ_CST);
		usleep(200);
		__atomic_sub_fetch(w->times, -1, __ATOMIC_SEQ_CST);
		__atomic_sub_fetch(w->inside, 1, __ATOMIC_SEQ_CST);
		if (registry_unlock(r, &lock, &e) < 0)
			_exit(3);
	}
	registry_close(r);
	_exit(0);
}

TEST(of_six_processes_never_two_hold_one_lock)
{
	SPOT(p);
	int *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct arena_of_war w = { .p = &p, .inside = shared, .worst = shared + 1, .times = shared + 2 };
	pid_t pids[6];

	assert_ptr_not_equal(shared, MAP_FAILED);
	for (unsigned i = 0; i < 6; i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (pids[i] == 0)
			fight(&w, 60);
	}
	for (unsigned i = 0; i < 6; i++) {
		int status;

		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	assert_int_equal(*w.worst, 0);
	assert_true(*w.times > 6);
	(void)munmap(shared, 4096);
}

TEST(a_lock_needs_a_name_and_a_time)
{
	SPOT(p);
	REGISTRY(r, &p);
	struct reg_lock lock;
	struct err e = { 0 };

	assert_true(registry_lock(r, STR(""), 1000, &lock, NULL, &e) < 0);
	assert_true(registry_lock(r, STR("k"), 0, &lock, NULL, &e) < 0);
	assert_int_equal(registry_lock(r, STR("k"), UINT64_MAX, &lock, NULL, &e),
			 1); /* for ever, and nothing wraps */
	assert_int_equal(registry_lock(r, STR("k"), 1000, &lock, NULL, &e), 0);
}

TEST_MAIN()
