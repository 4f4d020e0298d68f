/* SPDX-License-Identifier: Apache-2.0 */
#include "entries.h"

#include "base/clock.h"

#include <signal.h>

#define ARENA(name)                                \
	_cleanup_arena_ struct arena name = { 0 }; \
	arena_init(&name, (size_t)64 << 20)
#define REGISTRY(name, p) _cleanup_(registry_closep) struct registry *name = open_registry(p)

static void check_same(const struct reg_entry *a, const struct reg_entry *b)
{
	CHECK_STR(a->key, b->key);
	CHECK_STR(a->session, b->session);
	CHECK_STR(a->agent, b->agent);
	CHECK_STR(a->profile_digest, b->profile_digest);
	CHECK_STR(a->mounts_digest, b->mounts_digest);
	CHECK_STR(a->workspace, b->workspace);
	CHECK_STR(a->socket, b->socket);
	assert_int_equal(a->scope, b->scope);
	assert_int_equal(a->backend, b->backend);
	assert_int_equal(a->state, b->state);
	assert_int_equal(a->supervisor.pid, b->supervisor.pid);
	assert_int_equal(a->supervisor.start, b->supervisor.start);
	assert_int_equal(a->warden.start, b->warden.start);
	assert_string_equal(a->supervisor.boot, b->supervisor.boot);
	assert_int_equal(a->created_ms, b->created_ms);
	assert_int_equal(a->used_ms, b->used_ms);
	assert_int_equal(a->warned_ms, b->warned_ms);
	assert_int_equal(a->calls, b->calls);
}

TEST(c16_what_is_put_is_found_by_its_key_for_every_scope)
{
	SPOT(p);
	REGISTRY(r, &p);
	ARENA(a);

	for (int s = 0; s < SCOPE_COUNT_; s++) {
		struct reg_entry en = entry("k"), found;

		en.scope = (enum scope)s;
		en.calls = (uint64_t)s;
		put(r, &en);
		OK(registry_find(r, STR("k"), &a, &found, e));
		check_same(&found, &en);
	}
	assert_int_equal(count(r), 1);
}

TEST(it_is_there_after_closing_and_opening)
{
	SPOT(p);
	struct registry *r = open_registry(&p);
	struct reg_entry en = entry("k");
	struct stat st;

	put(r, &en);
	registry_close(r);
	r = open_registry(&p);
	assert_int_equal(count(r), 1);
	assert_int_equal(stat(spot_file(&p, REGISTRY_FILE), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(stat(spot_file(&p, REGISTRY_FILE "-wal"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(stat(p.dir, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	registry_close(r);
}

static off_t log_size(const struct spot *p)
{
	struct stat st;

	return stat(spot_file(p, REGISTRY_FILE "-wal"), &st) == 0 ? st.st_size : -1;
}

static void put_and_die(void *ctx)
{
	struct registry *r = open_registry(ctx);
	struct reg_entry en = entry("of one that died");

	put(r, &en);
	(void)kill(getpid(), SIGKILL);
}

TEST(a_short_log_is_left_to_the_next_one_and_a_long_one_is_written_back)
{
	SPOT(p);
	struct registry *r = open_registry(&p);
	struct reg_entry en = entry("k");
	char key[32];

	put(r, &en);
	registry_close(r);
	assert_true(log_size(&p) > 0);
	assert_int_not_equal(spot_fork(put_and_die, &p), 0);
	r = open_registry(&p);
	assert_int_equal(count(r), 2);
	for (unsigned i = 0; log_size(&p) <= 512 << 10; i++) {
		(void)snprintf(key, sizeof(key), "key %u", i);
		en = entry(key);
		put(r, &en);
	}
	registry_close(r);
	assert_int_equal(log_size(&p), -1);
	r = open_registry(&p);
	assert_true(count(r) > 2);
	registry_close(r);
}

TEST(any_bytes_can_be_a_key_and_are_no_sql)
{
	static const char *const keys[] = {
		"'; DROP TABLE sandboxes; --", "%", "a'b", "\xff\xfe", "ключ", "a\nb", "?1"
	};
	SPOT(p);
	REGISTRY(r, &p);
	ARENA(a);
	struct reg_entry found;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		struct reg_entry en = entry(keys[i]);

		put(r, &en);
		OK(registry_find(r, en.key, &a, &found, e));
		CHECK_STR(found.key, en.key);
	}
	assert_int_equal(count(r), 7);
}

TEST(what_cannot_be_stored_as_it_is_is_refused)
{
	static char huge[REGISTRY_TEXT_MAX + 1];
	SPOT(p);
	REGISTRY(r, &p);
	struct reg_entry bad[6];
	struct err e = { 0 };

	memset(huge, 'x', sizeof(huge));
	for (size_t i = 0; i < 6; i++)
		bad[i] = entry("k");
	bad[0].key = STR("");
	bad[1].key = (struct str){ huge, REGISTRY_KEY_MAX + 1 };
	bad[2].key = STR("a\0b");
	bad[3].workspace = (struct str){ huge, sizeof(huge) };
	bad[4].created_ms = UINT64_MAX;
	bad[5].scope = (enum scope)99;
	for (size_t i = 0; i < 6; i++)
		CHECK_CASE(registry_put(r, &bad[i], &e) < 0, "case %zu", i);
	assert_int_equal(count(r), 0);
}

TEST(a_list_is_of_the_session_agent_scope_or_state_that_was_asked_for)
{
	SPOT(p);
	REGISTRY(r, &p);
	ARENA(a);
	struct reg_entry one = entry("one"), two = entry("two"), three = entry("three"), *v;
	size_t n;

	two.session = STR("other"), two.used_ms = 9000;
	three.scope = SCOPE_SHARED, three.agent = STR("else"), three.state = REG_LOST;
	put(r, &one), put(r, &two), put(r, &three);
	OK(registry_list(r, NULL, &a, &v, &n, e));
	assert_int_equal(n, 3);
	CHECK_STR(v[0].key, STR("two")); /* used last */
	OK(registry_list(r, &(struct reg_filter){ .session = STR("other") }, &a, &v, &n, e));
	assert_true(n == 1 && str_eq(v[0].key, STR("two")));
	OK(registry_list(r, &(struct reg_filter){ .agent = STR("else") }, &a, &v, &n, e));
	assert_true(n == 1 && str_eq(v[0].key, STR("three")));
	OK(registry_list(r, &(struct reg_filter){ .has_scope = true, .scope = SCOPE_SESSION }, &a, &v, &n,
			 e));
	assert_int_equal(n, 2);
	OK(registry_list(r,
			 &(struct reg_filter){ .has_state = true, .state = REG_LOST, .agent = STR("main") },
			 &a, &v, &n, e));
	assert_int_equal(n, 0);
}

TEST(jobs_are_not_counted_as_kept_and_spares_are)
{
	static const struct {
		const char *key;
		enum scope scope;
		enum reg_state state;
		uint64_t kept;
	} rows[] = { { "a", SCOPE_SESSION, REG_READY, 1 }, { "b", SCOPE_JOB, REG_READY, 1 },
		     { "c", SCOPE_JOB, REG_SPARE, 2 },     { "d", SCOPE_SHARED, REG_STARTING, 3 },
		     { "c", SCOPE_JOB, REG_READY, 2 },     { "e", SCOPE_LEASE, REG_LOST, 3 } };
	SPOT(p);
	REGISTRY(r, &p);
	uint64_t n = 99;

	OK(registry_count_kept(r, &n, e));
	assert_int_equal(n, 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct reg_entry en = entry(rows[i].key);

		en.scope = rows[i].scope;
		en.state = rows[i].state;
		put(r, &en);
		OK(registry_count_kept(r, &n, e));
		CHECK_CASE(n == rows[i].kept, "%s: %ju", rows[i].key, (uintmax_t)n);
	}
}

TEST(calls_are_counted_in_memory_and_written_later)
{
	SPOT(p);
	REGISTRY(r, &p);
	REGISTRY(other, &p);
	ARENA(a);
	struct reg_entry en = entry("k"), found;

	put(r, &en);
	assert_true(registry_flush_deadline(r) == CLOCK_NEVER);
	for (unsigned i = 0; i < 1000; i++)
		OK(registry_touch(r, en.key, 5000 + i, e));
	assert_true(registry_flush_deadline(r) != CLOCK_NEVER);
	OK(registry_find(other, en.key, &a, &found, e));
	assert_int_equal(found.calls, 1); /* not yet */
	OK(registry_find(r, en.key, &a, &found, e));
	assert_int_equal(found.calls, 1001); /* who asks himself gets the truth */
	assert_int_equal(found.used_ms, 5999);
	OK(registry_find(other, en.key, &a, &found, e));
	assert_int_equal(found.calls, 1001);
}

TEST(more_keys_than_memory_has_room_for_are_written_in_between)
{
	SPOT(p);
	REGISTRY(r, &p);
	ARENA(a);
	struct reg_entry found;
	char key[16];

	for (unsigned i = 0; i < 200; i++) {
		struct reg_entry en;

		(void)snprintf(key, sizeof(key), "k%u", i);
		en = entry(key);
		put(r, &en);
	}
	for (unsigned i = 0; i < 600; i++) {
		(void)snprintf(key, sizeof(key), "k%u", i % 200);
		OK(registry_touch(r, str_z(key), 3000, e));
	}
	OK(registry_find(r, STR("k77"), &a, &found, e));
	assert_int_equal(found.calls, 4);
}

TEST(a_clock_that_went_back_does_not_make_it_look_unused)
{
	SPOT(p);
	REGISTRY(r, &p);
	ARENA(a);
	struct reg_entry en = entry("k"), found;

	en.used_ms = 50000;
	put(r, &en);
	OK(registry_touch(r, en.key, 10, e));
	OK(registry_find(r, en.key, &a, &found, e));
	assert_int_equal(found.used_ms, 50000);
	assert_int_equal(found.calls, 2);
}

TEST(only_the_one_that_was_meant_is_removed_or_changed)
{
	SPOT(p);
	REGISTRY(r, &p);
	struct reg_entry en = entry("k");
	struct reg_proc other = gone(), me = self();
	struct err e = { 0 };

	put(r, &en);
	assert_int_equal(registry_remove(r, en.key, &other, &e), 0);
	assert_int_equal(registry_set_state(r, en.key, REG_LOST, &other, &e), 0);
	assert_int_equal(state_of(r, "k"), REG_READY);
	assert_int_equal(registry_set_state(r, en.key, REG_STOPPING, &me, &e), 1);
	assert_int_equal(state_of(r, "k"), REG_STOPPING);
	assert_int_equal(registry_remove(r, en.key, &me, &e), 1);
	assert_int_equal(registry_remove(r, en.key, NULL, &e), 0);
	assert_int_equal(count(r), 0);
}

/* ---- who is gone ---- */

TEST(we_live_a_stranger_with_our_pid_does_not)
{
	struct reg_proc p = self(), q = p;
	struct err e = { 0 };

	assert_int_equal(reg_proc_alive(&p), REG_ALIVE);
	q.start++;
	assert_int_equal(reg_proc_alive(&q), REG_GONE);
	q = p, q.boot[0] = q.boot[0] == 'x' ? 'y' : 'x';
	assert_int_equal(reg_proc_alive(&q), REG_GONE); /* before the reboot */
	q = p, q.pidns++;
	assert_int_equal(reg_proc_alive(&q), REG_UNKNOWN); /* in a container of its own */
	assert_int_equal(reg_proc_alive(&(struct reg_proc){ 0 }), REG_GONE);
	assert_true(reg_proc_of(0, &q, &e) < 0);
	assert_true(reg_proc_of(-1, &q, &e) < 0);
}

TEST(a_process_that_ended_is_gone_even_before_it_is_reaped)
{
	pid_t pid = fork();
	struct reg_proc p;
	siginfo_t info;

	assert_true(pid >= 0);
	if (pid == 0) {
		(void)pause();
		_exit(0);
	}
	OK(reg_proc_of(pid, &p, e));
	assert_int_equal(reg_proc_alive(&p), REG_ALIVE);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(reg_proc_alive(&p), REG_GONE);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(reg_proc_alive(&p), REG_GONE);
}

TEST(after_a_crash_or_reboot_the_registry_tells_the_truth)
{
	SPOT(p);
	REGISTRY(r, &p);
	struct reg_entry lives = entry("lives"), died = entry("died"), job = entry("job"),
			 before = entry("before"), remote = entry("remote"), elsewhere = entry("elsewhere");
	struct reg_reaped done = { 0 };

	died.supervisor = gone();
	job.supervisor = gone(), job.scope = SCOPE_JOB;
	before.supervisor.boot[0] ^= 1;
	remote.supervisor = (struct reg_proc){ 0 }, remote.backend = BACKEND_DOCKER;
	elsewhere.supervisor.pidns++;
	put(r, &lives), put(r, &died), put(r, &job), put(r, &before), put(r, &remote), put(r, &elsewhere);
	OK(registry_reap(r, &done, e));
	assert_int_equal(done.lost, 2);
	assert_int_equal(done.removed, 1);
	assert_int_equal(state_of(r, "lives"), REG_READY);
	assert_int_equal(state_of(r, "died"), REG_LOST);
	assert_int_equal(state_of(r, "before"), REG_LOST);
	assert_int_equal(state_of(r, "remote"), REG_READY);
	assert_int_equal(state_of(r, "elsewhere"), REG_READY);
	assert_int_equal(count(r), 5);
	OK(registry_reap(r, &done, e));
	assert_int_equal(done.lost + done.removed, 0);
}

TEST(ten_thousand_entries_are_listed_and_reaped)
{
	SPOT(p);
	REGISTRY(r, &p);
	struct reg_entry en = entry("k");
	struct reg_reaped done = { 0 };
	char key[32];

	for (unsigned i = 0; i < 10000; i++) {
		(void)snprintf(key, sizeof(key), "agent:main:%u", i);
		en.key = str_z(key);
		en.supervisor.start = self().start + (i % 100 == 0);
		en.scope = i % 200 == 0 ? SCOPE_JOB : SCOPE_SESSION;
		put(r, &en);
	}
	assert_int_equal(count(r), 10000);
	OK(registry_reap(r, &done, e));
	assert_int_equal(done.lost, 50);
	assert_int_equal(done.removed, 50);
	assert_int_equal(count(r), 9950);
}

/* ---- leases ---- */

TEST(c16_a_lease_is_kept_renewed_and_removed_by_session_and_tool)
{
	SPOT(p);
	REGISTRY(r, &p);
	ARENA(a);
	const struct reg_lease lease = { .key = STR("sess-1:browser"),
					 .backend = BACKEND_OPENSANDBOX,
					 .remote_id = STR("sb-1"),
					 .template = STR("img:1"),
					 .created_ms = 1,
					 .used_ms = 1,
					 .expires_ms = 300001 };
	struct reg_lease found, *v;
	struct err e = { 0 };
	size_t n;

	assert_true(registry_lease_find(r, lease.key, &a, &found, &e) < 0);
	assert_int_equal(e.kind, ERR_NOTFOUND);
	assert_int_equal(registry_lease_put(r, &lease, &e), 0);
	assert_int_equal(registry_lease_renew(r, lease.key, STR("sb-0"), 5, 9, &e),
			 0); /* that one is not ours any more */
	assert_int_equal(registry_lease_renew(r, lease.key, STR("sb-1"), 1000, 301000, &e), 1);
	assert_int_equal(registry_lease_find(r, lease.key, &a, &found, &e), 0);
	assert_true(found.expires_ms == 301000 && found.renewed == 1 && found.used_ms == 1000);
	CHECK_STR(found.template, STR("img:1"));
	assert_int_equal(registry_lease_list(r, &a, &v, &n, &e), 0);
	assert_int_equal(n, 1);
	assert_int_equal(registry_lease_remove(r, lease.key, STR("sb-0"), &e), 0);
	assert_int_equal(registry_lease_remove(r, lease.key, STR("sb-1"), &e), 1);
	assert_true(registry_lease_find(r, lease.key, &a, &found, &e) < 0);
}

TEST_MAIN()
