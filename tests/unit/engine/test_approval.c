/* SPDX-License-Identifier: Apache-2.0 */
#include "entries.h"

#include "base/clock.h"
#include "data/json.h"
#include "engine/approval.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define REGISTRY(name, p) _cleanup_(registry_closep) struct registry *name = open_registry(p)
#define ARENA(name)                                \
	_cleanup_arena_ struct arena name = { 0 }; \
	arena_init(&name, (size_t)64 << 20)
#define BIT(s) (1u << (s))

/* ---- the store ---- */

struct log {
	unsigned n;
	bool full;
	enum approval_state last;
};

static int record(void *ctx, const struct reg_approval *row, struct err *e)
{
	struct log *l = ctx;

	if (l->full)
		return err_set(e, ERR_SYS, "the log is full");
	l->n++;
	l->last = row->state;
	return 0;
}

static struct reg_approval row_of(const char *id, const char *session)
{
	return (struct reg_approval){ .id = str_z(id),
				      .kind = APPROVAL_HOST,
				      .state = APPROVAL_WAITING,
				      .session = str_z(session),
				      .tool = STR("exec"),
				      .call = STR("aa"),
				      .command = STR("make"),
				      .created_ms = 1000,
				      .expires_ms = 2000,
				      .until_boot_ms = clock_boot_ms() + 1000,
				      .waiter = self() };
}

static void add(struct registry *r, const char *id)
{
	struct reg_approval row = row_of(id, "s");
	struct log l = { 0 };

	OK(registry_approval_add(r, &row, record, &l, e));
	assert_int_equal(l.n, 1);
}

static enum approval_state approval_state_of(struct registry *r, const char *id)
{
	struct reg_approval row;
	ARENA(a);

	OK(registry_approval_find(r, str_z(id), &a, &row, e));
	return row.state;
}

static int change(struct registry *r, const char *id, unsigned from, enum approval_state to, struct log *l)
{
	const struct approval_change c = {
		.id = str_z(id), .from = from, .to = to, .by = STR("me"), .now_ms = 5
	};
	struct err bad = { 0 };
	int code = registry_approval_change(r, &c, record, l, &bad);

	if (code < 0 && !l->full)
		fail_msg("%s", bad.msg);
	return code;
}

TEST(an_approval_is_there_as_it_was_put_and_its_id_is_taken)
{
	SPOT(p);
	REGISTRY(r, &p);
	ARENA(a);
	struct reg_approval row = row_of("k1", "s"), *all, found;
	struct log l = { 0 };
	struct err bad = { 0 };
	size_t n;

	row.kind = APPROVAL_ELEVATED;
	row.reason = STR("why");
	row.arguments = STR("{}");
	OK(registry_approval_add(r, &row, record, &l, e));
	assert_int_equal(registry_approval_add(r, &row, record, &l, &bad), -EEXIST);
	assert_int_equal(bad.kind, ERR_NONE);
	OK(registry_approval_find(r, STR("k1"), &a, &found, e));
	CHECK_STR(found.command, STR("make"));
	CHECK_STR(found.reason, STR("why"));
	assert_int_equal(found.kind, APPROVAL_ELEVATED);
	assert_int_equal(found.waiter.pid, getpid());
	assert_int_equal(found.expires_ms, row.expires_ms);
	OK(registry_approval_list(r, false, &a, &all, &n, e));
	assert_int_equal(n, 1);
	assert_true(registry_approval_find(r, STR("k2"), &a, &found, &bad) < 0);
	assert_int_equal(bad.kind, ERR_NOTFOUND);
}

TEST(what_cannot_be_recorded_has_not_happened)
{
	SPOT(p);
	REGISTRY(r, &p);
	ARENA(a);
	struct log full = { .full = true }, l = { 0 };
	struct reg_approval row = row_of("k1", "s");
	struct err bad = { 0 };

	assert_true(registry_approval_add(r, &row, record, &full, &bad) < 0);
	assert_true(registry_approval_find(r, STR("k1"), &a, &row, &bad) < 0);
	add(r, "k2");
	assert_true(change(r, "k2", BIT(APPROVAL_WAITING), APPROVAL_ALLOWED, &full) < 0);
	assert_int_equal(approval_state_of(r, "k2"), APPROVAL_WAITING);
	assert_int_equal(change(r, "k2", BIT(APPROVAL_WAITING), APPROVAL_ALLOWED, &l), 1);
	assert_true(change(r, "k2", BIT(APPROVAL_ALLOWED), APPROVAL_USED, &full) < 0);
	assert_int_equal(approval_state_of(r, "k2"), APPROVAL_ALLOWED);
}

enum { USERS = 8 };
struct race {
	const struct spot *p;
	_Atomic int ready, won;
};

static void use_once(struct race *x)
{
	struct registry *r = open_registry(x->p);
	struct log l = { 0 };

	x->ready++;
	while (x->ready < USERS)
		sched_yield();
	if (change(r, "k1", BIT(APPROVAL_ALLOWED), APPROVAL_USED, &l) == 1)
		x->won++;
	registry_close(r);
	_exit(0);
}

TEST(one_answer_is_used_once_whoever_races_for_it)
{
	SPOT(p);
	struct race *x = mmap(NULL, sizeof(*x), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct registry *r = open_registry(&p);
	struct log l = { 0 };

	assert_ptr_not_equal(x, MAP_FAILED);
	x->p = &p;
	add(r, "k1");
	assert_int_equal(change(r, "k1", BIT(APPROVAL_WAITING), APPROVAL_ALLOWED, &l), 1);
	assert_int_equal(change(r, "k1", BIT(APPROVAL_WAITING), APPROVAL_ALLOWED, &l), 0);
	registry_close(r);
	for (int i = 0; i < USERS; i++)
		if (fork() == 0)
			use_once(x);
	while (wait(NULL) > 0)
		;
	assert_int_equal(x->ready, USERS);
	assert_int_equal(x->won, 1);
	(void)munmap(x, sizeof(*x));
}

TEST(whose_waiter_is_gone_is_withdrawn_and_a_grant_stays_until_its_time)
{
	SPOT(p);
	REGISTRY(r, &p);
	ARENA(a);
	struct reg_approval dead = row_of("k1", "s"), late = row_of("k2", "s"), found;
	struct log l = { 0 };
	const struct approval_change grant = { .id = STR("k3"),
					       .from = BIT(APPROVAL_WAITING),
					       .to = APPROVAL_GRANTED,
					       .by = STR("me"),
					       .now_ms = 1000,
					       .for_ms = 600000 };

	dead.waiter = gone();
	late.until_boot_ms = 0; /* it should have ended when the host was started */
	OK(registry_approval_add(r, &dead, record, &l, e));
	OK(registry_approval_add(r, &late, record, &l, e));
	add(r, "k3");
	OK(registry_approval_change(r, &grant, record, &l, e));
	l.n = 0;
	OK(registry_approval_sweep(r, 60000, record, &l, e));
	assert_int_equal(l.n, 2);
	assert_int_equal(approval_state_of(r, "k1"), APPROVAL_WITHDRAWN);
	assert_int_equal(approval_state_of(r, "k2"), APPROVAL_EXPIRED);
	assert_int_equal(approval_state_of(r, "k3"), APPROVAL_GRANTED);
	for (int i = 1; i <= 2; i++) {
		struct err bad = { 0 };

		assert_int_equal(
			registry_approval_use_grant(r, STR("aa"), 1000, &a, &found, record, &l, &bad), 1);
		assert_int_equal(found.used, i);
		assert_int_equal(found.until_ms, 601000);
		assert_int_equal(
			registry_approval_use_grant(r, STR("ab"), 1000, &a, &found, record, &l, &bad), 0);
	}
}

TEST(a_grant_that_is_over_covers_nothing)
{
	SPOT(p);
	REGISTRY(r, &p);
	ARENA(a);
	struct reg_approval found;
	struct log l = { 0 };
	struct err bad = { 0 };
	const struct approval_change grant = { .id = STR("k3"),
					       .from = BIT(APPROVAL_WAITING),
					       .to = APPROVAL_GRANTED,
					       .by = STR("me"),
					       .now_ms = UINT32_MAX, /* what a clock says does not matter */
					       .for_ms = 1 };

	add(r, "k3");
	OK(registry_approval_change(r, &grant, record, &l, e));
	usleep(5000);
	assert_int_equal(registry_approval_use_grant(r, STR("aa"), 1000, &a, &found, record, &l, &bad), 0);
	OK(registry_approval_sweep(r, 0, record, &l, e));
	assert_int_equal(l.last, APPROVAL_EXPIRED);
	assert_int_equal(approval_state_of(r, "k3"), APPROVAL_EXPIRED);
}

TEST(a_grant_is_over_by_the_wall_clock_too_and_one_that_is_set_back_gives_no_more_time)
{
	static const struct {
		uint64_t now_ms;
		int covers;
	} looks[] = {
		{ 1000000, 1 }, { 1000000 + 3599999, 1 }, { 1000000 + 3600000, 0 }, { UINT64_MAX / 2, 0 },
		{ 0, 1 }, /* a jump back: the other clock goes on */
	};
	SPOT(p);
	REGISTRY(r, &p);
	ARENA(a);
	struct reg_approval found;
	struct log l = { 0 };
	struct approval_change grant = { .id = STR("k3"),
					 .from = BIT(APPROVAL_WAITING),
					 .to = APPROVAL_GRANTED,
					 .by = STR("me"),
					 .now_ms = 1000000,
					 .for_ms = 3600000 };

	add(r, "k3");
	OK(registry_approval_change(r, &grant, record, &l, e));
	for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++) {
		struct err bad = { 0 };
		int got = registry_approval_use_grant(r, STR("aa"), looks[i].now_ms, &a, &found, record, &l,
						      &bad);

		CHECK_CASE(got == looks[i].covers, "look %zu: %d", i, got);
	}
	OK(registry_approval_sweep(r, 1000000 + 3600000, record, &l, e));
	assert_int_equal(approval_state_of(r, "k3"), APPROVAL_EXPIRED);
}

TEST(who_waits_is_not_ended_by_a_jump_of_the_wall_clock)
{
	SPOT(p);
	REGISTRY(r, &p);
	struct log l = { 0 };

	add(r, "k3");
	OK(registry_approval_sweep(r, UINT64_MAX / 2, record, &l, e));
	assert_int_equal(approval_state_of(r, "k3"), APPROVAL_WAITING);
}

TEST(so_many_wait_and_no_more_and_the_oldest_that_ended_are_forgotten)
{
	SPOT(p);
	REGISTRY(r, &p);
	ARENA(a);
	struct log l = { 0 };
	struct err bad = { 0 };
	struct reg_approval *all;
	size_t n;
	char id[16], session[16];

	for (unsigned i = 0; i < APPROVAL_WAITING_MAX; i++) {
		struct reg_approval row;

		(void)snprintf(id, sizeof(id), "w%u", i);
		(void)snprintf(session, sizeof(session), "s%u", i / APPROVAL_WAITING_SESSION_MAX);
		row = row_of(id, session);
		OK(registry_approval_add(r, &row, record, &l, e));
	}
	{
		struct reg_approval row = row_of("x", "other");

		assert_true(registry_approval_add(r, &row, record, &l, &bad) < 0);
		assert_int_equal(bad.kind, ERR_LIMIT);
	}
	for (unsigned round = 0; round < 3; round++)
		for (unsigned i = 0; i < APPROVAL_WAITING_MAX; i++) {
			struct reg_approval row;

			(void)snprintf(id, sizeof(id), round ? "r%uw%u" : "w%.0u%u", round, i);
			row = row_of(id, "s");
			if (round)
				OK(registry_approval_add(r, &row, record, &l, e));
			assert_int_equal(change(r, id, BIT(APPROVAL_WAITING), APPROVAL_DENIED, &l), 1);
		}
	OK(registry_approval_sweep(r, 0, record, &l, e));
	OK(registry_approval_list(r, true, &a, &all, &n, e));
	assert_int_equal(n, APPROVAL_KEPT_MAX);
}

/* ---- which call it is ---- */

static struct decision decided;

static struct approval_call call_of(struct arena *a, const char *args, struct value *v)
{
	static const struct str argv[] = { { "make", 4 }, { "all", 3 } };
	const struct json_opts o = { .name = "arguments" };
	struct err bad = { 0 };

	if (json_parse(a, str_z(args), &o, v, &bad) < 0)
		fail_msg("%s", bad.msg);
	decided = (struct decision){ .who = { .session_key = STR("agent:main:main"), .agent = STR("main") },
				     .tool = { .name = STR("exec"), .argv = { argv, 2 } } };
	return (struct approval_call){
		.d = &decided, .args = v, .workdir = STR("/w"), .path = STR("/bin"), .sender = STR("42")
	};
}

static const char *digest(const struct approval_call *q, struct arena *a)
{
	static char out[4][SHA256_HEX];
	static unsigned n;
	char *to = out[n++ % 4];

	assert_int_equal(approval_digest(q, a, to), 0);
	return to;
}

TEST(the_same_call_has_the_same_digest_in_whatever_order_its_arguments_come)
{
	ARENA(a);
	struct value v1, v2;
	struct approval_call one = call_of(&a, "{\"a\": 1, \"b\": {\"x\": [1, 2], \"y\": null}}", &v1);
	const char *first = digest(&one, &a);
	struct approval_call two = call_of(&a, "{ \"b\":{\"y\":null,\"x\":[1,2]},\"a\":1}", &v2);

	assert_string_equal(first, digest(&two, &a));
}

TEST(whatever_differs_is_another_call)
{
	static const struct str other_argv[] = { { "makeal", 6 }, { "l", 1 } }, env[] = { { "A=b", 3 } };
	ARENA(a);
	struct value v, w;
	struct approval_call q = call_of(&a, "{\"a\": [1, 2]}", &v);
	char base[SHA256_HEX];

	assert_int_equal(approval_digest(&q, &a, base), 0);
#define DIFFERS(change)                                        \
	do {                                                   \
		q = call_of(&a, "{\"a\": [1, 2]}", &v);        \
		change;                                        \
		assert_string_not_equal(base, digest(&q, &a)); \
	} while (0)
	DIFFERS(decided.who.session_key = STR("agent:main:other"));
	DIFFERS(decided.who.agent = STR("x"));
	DIFFERS(decided.who.chat_id = STR("x"));
	DIFFERS(decided.who.user_id = STR("x"));
	DIFFERS(decided.who.via = VIA_API);
	DIFFERS(decided.tool.name = STR("git"));
	DIFFERS(decided.tool.argv.v = other_argv);
	DIFFERS(decided.tool.argv.n = 1);
	DIFFERS(decided.place.elevated.used = true);
	DIFFERS(q.sender = STR("43"));
	DIFFERS(q.workdir = STR("/w/"));
	DIFFERS(q.path = STR("/tmp:/bin"));
	DIFFERS(q.env = ((struct strs){ env, 1 }));
	DIFFERS(q = call_of(&a, "{\"a\": [2, 1]}", &w));
	DIFFERS(q = call_of(&a, "{\"a\": [1, 2], \"b\": 1}", &w));
	DIFFERS(q = call_of(&a, "{\"a\": [\"1\", 2]}", &w));
#undef DIFFERS
}

TEST(what_people_see_is_quoted_cut_in_the_middle_and_obeyed_by_no_terminal)
{
	static char longer[20000];
	struct str argv[] = {
		STR("sh"), STR("-c"), STR("a 'b'\x1b[2J\n"), { longer, sizeof(longer) }, STR("END")
	};
	ARENA(a);
	struct value v;
	struct approval_call q = call_of(&a, "{\"x\": \"\\u202e\"}", &v);
	struct str command, arguments;

	memset(longer, 'x', sizeof(longer));
	decided.tool.argv = (struct strs){ argv, 3 };
	approval_show(&q, &a, &command, &arguments);
	CHECK_STR(command, STR("sh -c 'a '\\''b'\\''\\x1b[2J\\x0a'"));
	assert_null(memmem(arguments.p, arguments.n, "\xe2\x80\xae", 3));
	decided.tool.argv.n = 5;
	approval_show(&q, &a, &command, &arguments);
	assert_true(command.n < APPROVAL_SHOWN_MAX + 100);
	assert_true(str_starts(command, STR("sh -c 'a ")) && str_ends(command, STR("xx END")));
	assert_non_null(memmem(command.p, command.n, "not shown", 9));
	decided.tool.argv.n = 0;
	approval_show(&q, &a, &command, &arguments);
	assert_true(str_starts(command, STR("exec {\"x\":")));
}

TEST_MAIN()
