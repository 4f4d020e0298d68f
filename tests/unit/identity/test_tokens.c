/* SPDX-License-Identifier: Apache-2.0 */
/* Who has a token gets in as whom it was made for, for as long as it is good, and the file tells nobody what it is. */
#include "policy/world.h"
#include "spot.h"

#include "identity/tokens.h"

#include <sys/file.h>

#define DAY ((uint64_t)86400 * 1000)
#define NOW ((uint64_t)1700000000000)

static struct token_store *open_store(const struct spot *p)
{
	struct token_store *s = NULL;
	struct err e = { 0 };

	if (token_store_open(p->dir, &s, &e) < 0 || token_store_load(s, &e) < 0)
		fail_msg("%s", e.msg);
	return s;
}
#define STORE(name, p) _cleanup_(token_store_closep) struct token_store *name = open_store(&p)

struct made {
	char token[TOKEN_TEXT_MAX], id[TOKEN_ID_MAX];
};

static int make(struct token_store *s, const char *pairs, const char *name, uint64_t expires,
		struct made *ret, struct err *e)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct token_entry bound = { 0 };
	struct token_opts o = { .name = str_z(name), .pairs = &bound, .now_ms = NOW, .expires_ms = expires };

	arena_init(&a, 1 << 20);
	assert_int_equal(token_pairs_parse(&a, str_z(pairs), &bound, e), 0);
	return token_new(s, &o, ret->token, ret->id, e);
}

static struct made made(struct token_store *s, const char *pairs, const char *name, uint64_t expires)
{
	struct made m = { 0 };
	struct err e = { 0 };

	if (make(s, pairs, name, expires, &m, &e) < 0)
		fail_msg("%s", e.msg);
	return m;
}

static enum token_state state_of(const struct token_store *s, const char *token, uint64_t now)
{
	size_t i = 0;

	return tokens_find(token_store_tokens(s), str_z(token), now, &i);
}

TEST(a_token_is_known_again_and_nothing_like_it_is)
{
	SPOT(p);
	STORE(s, p);
	struct made a = made(s, "g-coder:-100123", "coder", 0), b = made(s, "g-hello:1", "", 0);
	char other[TOKEN_TEXT_MAX];

	assert_int_equal(strlen(a.token), TOKEN_TEXT_MAX - 1);
	assert_int_not_equal(strcmp(a.token, b.token), 0);
	assert_int_equal(state_of(s, a.token, NOW), TOKEN_VALID);
	assert_int_equal(state_of(s, b.token, NOW), TOKEN_VALID);
	for (size_t i = 0; i < strlen(a.token); i++) {
		memcpy(other, a.token, sizeof(other));
		other[i] ^= 1;
		assert_int_equal(state_of(s, other, NOW), TOKEN_UNKNOWN);
	}
	assert_int_equal(state_of(s, "", NOW), TOKEN_UNKNOWN);
	assert_int_equal(state_of(s, a.id, NOW), TOKEN_UNKNOWN);
	assert_int_equal(state_of(s, token_store_tokens(s)->v[0].hash, NOW), TOKEN_UNKNOWN);
}

TEST(the_file_holds_no_token_and_is_for_its_owner_alone)
{
	SPOT(p);
	STORE(s, p);
	struct made a = made(s, "g-coder:-100123", "", 0);
	struct str text = spot_read(&p, TOKENS_FILE);
	struct stat st;

	assert_null(memmem(text.p, text.n, a.token + 6, 16));
	assert_int_equal(stat(spot_file(&p, TOKENS_FILE), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(stat(p.dir, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	free((void *)(uintptr_t)text.p);
}

TEST(a_token_ends_when_it_expires_or_is_revoked)
{
	SPOT(p);
	STORE(s, p);
	struct made a = made(s, "g-coder:1", "a", NOW + DAY), b = made(s, "g-coder:1", "b", 0);
	char id[TOKEN_ID_MAX];
	struct err e = { 0 };

	assert_int_equal(state_of(s, a.token, NOW + DAY - 1), TOKEN_VALID);
	assert_int_equal(state_of(s, a.token, NOW + DAY), TOKEN_EXPIRED);
	assert_int_equal(token_revoke(s, str_z(b.id), NOW, id, &e), 1);
	assert_string_equal(id, b.id);
	assert_int_equal(state_of(s, b.token, NOW), TOKEN_REVOKED);
	assert_int_equal(token_revoke(s, STR("b"), NOW, id, &e), 0);
	assert_true(token_revoke(s, STR("nobody"), NOW, id, &e) < 0);
	assert_int_equal(e.kind, ERR_NOTFOUND);
	assert_true(token_revoke(s, STR(""), NOW, id, &e) < 0); /* tokens without a name have none */
}

TEST(a_name_is_one_tokens_as_long_as_that_is_good)
{
	SPOT(p);
	STORE(s, p);
	struct made a = made(s, "g-coder:1", "a", NOW + DAY), b;
	char id[TOKEN_ID_MAX];
	struct err e = { 0 };

	assert_true(make(s, "g-coder:1", "a", 0, &b, &e) < 0);
	assert_int_equal(e.kind, ERR_USAGE);
	assert_int_equal(token_revoke(s, STR("a"), NOW, id, &e), 1);
	b = made(s, "g-coder:1", "a", 0);
	assert_int_equal(state_of(s, a.token, NOW), TOKEN_REVOKED);
	assert_int_equal(token_revoke(s, STR("a"), NOW, id, &e), 1); /* the one that is good */
	assert_string_equal(id, b.id);
}

TEST(what_another_process_changes_is_seen_without_a_restart)
{
	SPOT(p);
	STORE(one, p);
	STORE(two, p);
	struct made a = made(one, "g-coder:1", "a", 0);
	char id[TOKEN_ID_MAX];
	struct err e = { 0 };

	assert_int_equal(state_of(two, a.token, NOW), TOKEN_UNKNOWN);
	assert_int_equal(token_store_load(two, &e), 1);
	assert_int_equal(state_of(two, a.token, NOW), TOKEN_VALID);
	assert_int_equal(token_store_load(two, &e), 0);
	assert_int_equal(token_revoke(one, STR("a"), NOW, id, &e), 1);
	assert_int_equal(token_store_load(two, &e), 1);
	assert_int_equal(state_of(two, a.token, NOW), TOKEN_REVOKED);
	assert_int_equal(unlink(spot_file(&p, TOKENS_FILE)), 0);
	assert_int_equal(token_store_load(two, &e), 1);
	assert_int_equal(token_store_tokens(two)->n, 0);
}

TEST(a_broken_file_is_refused_with_its_place_and_the_old_tokens_stay)
{
	SPOT(p);
	STORE(s, p);
	struct made a = made(s, "g-coder:1", "a", 0);
	struct err e = { 0 };

	spot_write(&p, TOKENS_FILE,
		   STR("{\"version\": 1, \"tokens\": [\n{\"hash\": \"x\", \"pairs\": \"*\"}]}"));
	assert_true(token_store_load(s, &e) < 0);
	assert_non_null(strstr(e.msg, "tokens.json:2:10: hash has to be 64"));
	assert_int_equal(state_of(s, a.token, NOW), TOKEN_VALID);
	assert_true(make(s, "g-coder:2", "", 0, &a, &e) < 0); /* and nothing is written over it */
	spot_write(&p, TOKENS_FILE, STR("{\"version\": 1, \"tokens\": []}"));
	assert_int_equal(chmod(spot_file(&p, TOKENS_FILE), 0640), 0);
	assert_true(token_store_load(s, &e) < 0);
	assert_non_null(strstr(e.msg, "can be reached by others"));
}

TEST(writers_do_not_lose_each_others_tokens)
{
	enum { WRITERS = 4, EACH = 10 };
	SPOT(p);
	STORE(s, p);
	struct err e = { 0 };
	int status;

	for (int i = 0; i < WRITERS; i++)
		if (fork() == 0) {
			struct token_store *own = open_store(&p);
			struct made m;

			for (int k = 0; k < EACH; k++)
				if (make(own, "g-coder:1", "", 0, &m, &e) < 0)
					_exit(1);
			_exit(0);
		}
	for (int i = 0; i < WRITERS; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_int_equal(token_store_load(s, &e), 1);
	assert_int_equal(token_store_tokens(s)->n, WRITERS * EACH);
}

/* As the workers of a service do it, all day: each knows the tokens as it has read them last. */
static void note_uses(const struct spot *p, uint64_t upto)
{
	struct token_store *own = open_store(p);
	struct err e = { 0 };

	if (token_store_load(own, &e) < 0)
		_exit(1);
	for (uint64_t at = 1; at <= upto; at++) {
		const struct tokens *t = token_store_tokens(own);
		uint64_t now = NOW + at * 60000;
		struct token_use uses[2] = { { .ms = now }, { .ms = now } };

		token_id(&t->v[0], uses[0].id);
		token_id(&t->v[at % t->n], uses[1].id);
		if ((at & 1 ? tokens_used(own, uses, 2, &e) : token_used(own, at % t->n, now, &e)) < 0)
			_exit(2);
	}
	_exit(0);
}

TEST(a_revoked_token_stays_revoked_however_many_note_its_use)
{
	enum { WORKERS = 3, TOKENS = 60, USES = 401 };
	SPOT(p);
	STORE(s, p);
	struct made all[TOKENS];
	char id[TOKEN_ID_MAX];
	struct err e = { 0 };
	int status;

	for (int i = 0; i < TOKENS / 2; i++)
		all[i] = made(s, "g-coder:1", "", 0);
	for (int i = 0; i < WORKERS; i++)
		if (fork() == 0)
			note_uses(&p, USES);
	/* The first is used throughout, and is the last one to go. */
	for (int i = 1; i <= TOKENS / 2; i++) {
		int gone = i % (TOKENS / 2);
		STORE(fresh, p);

		assert_int_equal(token_revoke(s, str_z(all[gone].id), NOW, id, &e), 1);
		all[TOKENS / 2 + i - 1] = made(s, "g-coder:1", "", 0);
		assert_int_equal(token_store_load(fresh, &e), 1);
		for (int k = 1; k <= i; k++)
			assert_int_equal(state_of(fresh, all[k % (TOKENS / 2)].token, NOW), TOKEN_REVOKED);
		for (int k = TOKENS / 2; k < TOKENS / 2 + i; k++)
			assert_int_equal(state_of(fresh, all[k].token, NOW), TOKEN_VALID);
	}
	for (int i = 0; i < WORKERS; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_true(token_store_load(s, &e) >= 0);
	assert_int_equal(token_store_tokens(s)->n, TOKENS);
	assert_int_equal(token_store_tokens(s)->v[0].used_ms, NOW + USES * 60000ull); /* nor is a use lost */
	for (int i = 0; i < TOKENS; i++)
		assert_int_equal(state_of(s, all[i].token, NOW),
				 i < TOKENS / 2 ? TOKEN_REVOKED : TOKEN_VALID);
}

TEST(the_last_use_is_noted_and_not_written_with_every_call)
{
	SPOT(p);
	STORE(s, p);
	STORE(other, p);
	struct made a = made(s, "g-coder:1", "a", 0);
	struct err e = { 0 };

	assert_int_equal(token_used(s, 0, NOW, &e), 0);
	assert_int_equal(token_used(s, 0, NOW + 1000, &e), 0);
	assert_int_equal(token_store_load(other, &e), 1);
	assert_int_equal(token_store_tokens(other)->v[0].used_ms, NOW);
	assert_int_equal(token_used(s, 0, NOW + 61000, &e), 0);
	assert_int_equal(token_store_load(other, &e), 1);
	assert_int_equal(token_store_tokens(other)->v[0].used_ms, NOW + 61000);
	assert_int_equal(state_of(s, a.token, NOW), TOKEN_VALID);
	assert_true(token_used(s, 1, NOW, &e) < 0);
}

TEST(when_there_are_too_many_the_oldest_that_is_dead_makes_room)
{
	SPOT(p);
	STORE(s, p);
	_cleanup_buf_ struct buf text = { 0 };
	struct made a;
	struct err e = { 0 };
	char id[TOKEN_ID_MAX];

	buf_init(&text, TOKENS_FILE_MAX);
	buf_puts(&text, "{\"version\": 1, \"tokens\": [");
	for (unsigned i = 0; i < TOKENS_MAX; i++)
		buf_printf(&text,
			   "%s{\"hash\":\"%04x%060u\",\"name\":\"n%u\",\"pairs\":\"*\",\"created\":%u}",
			   i ? "," : "", i, 0u, i, i + 1);
	buf_puts(&text, "]}");
	spot_write(&p, TOKENS_FILE, buf_str(&text));
	assert_true(make(s, "g-coder:1", "new", 0, &a, &e) < 0);
	assert_int_equal(e.kind, ERR_LIMIT);
	assert_int_equal(token_revoke(s, STR("n7"), NOW, id, &e), 1);
	a = made(s, "g-coder:1", "new", 0);
	assert_int_equal(state_of(s, a.token, NOW), TOKEN_VALID);
	assert_int_equal(token_store_tokens(s)->n, TOKENS_MAX);
	assert_true(token_revoke(s, STR("n7"), NOW, id, &e) < 0);
}

/* S2-24 */
TEST(a_token_from_the_file_of_one_pair_is_refused_for_another)
{
	static struct pair listed[] = {
		{ .channel = { "telegram", 8 }, .agent = { "g-coder", 7 }, .chat_id = { "-100123", 7 } },
		{ .channel = { "telegram", 8 }, .agent = { "g-hello", 7 }, .chat_id = { "-100456", 7 } },
	};
	SPOT(p);
	STORE(s, p);
	WORLD(w);
	struct made all = made(s, "*", "", 0), one = made(s, "g-hello:-100456", "", 0);

	w->c.pairs = listed;
	w->c.n_pairs = 2;
	w->c.tokens = tokens_for_policy(token_store_tokens(s), &w->a);
	w->c.n_tokens = token_store_tokens(s)->n;
	w->r.via = VIA_GUARD;
	w->r.auth = AUTH_TOKEN;
	w->r.channel = STR("telegram");
	w->r.tool = STR("file_read");
	assert_int_equal(tokens_find(token_store_tokens(s), str_z(one.token), NOW, &w->r.token), TOKEN_VALID);
	w->r.agent = STR("g-coder");
	w->r.chat_id = STR("-100123");
	ask(w);
	CHECK_DENY(w, CODE_PAIR_NOT_ALLOWED);
	w->r.agent = STR("g-hello");
	ask(w);
	CHECK_DENY(w, CODE_PAIR_NOT_ALLOWED);
	w->r.chat_id = STR("-100456");
	ask(w);
	CHECK_ALLOW(w);
	assert_int_equal(tokens_find(token_store_tokens(s), str_z(all.token), NOW, &w->r.token), TOKEN_VALID);
	ask(w);
	CHECK_ALLOW(w);
	w->c.n_pairs = 1; /* no token opens what the allowlist does not */
	ask(w);
	CHECK_DENY(w, CODE_PAIR_NOT_ALLOWED);
}

TEST(pairs_are_read_as_people_write_them)
{
	static const char *const wrong[] = { "",    "g-coder", "g-coder:", ":1",    "g-coder:1,",
					     "G:1", "a:b:c:d", "a:1 ",     "*,a:1", "a:../x" };
	_cleanup_arena_ struct arena a = { 0 };
	struct token_entry t = { 0 };
	struct err e = { 0 };

	arena_init(&a, 1 << 20);
	assert_int_equal(token_pairs_parse(&a, STR("g-coder:-100123,slack:work:C1"), &t, &e), 0);
	assert_int_equal(t.n_pairs, 2);
	CHECK_STR(t.pairs[0].channel, STR("telegram"));
	CHECK_STR(t.pairs[0].chat_id, STR("-100123"));
	CHECK_STR(t.pairs[1].channel, STR("slack"));
	CHECK_STR(t.pairs[1].agent, STR("work"));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		t = (struct token_entry){ 0 };
		assert_true(token_pairs_parse(&a, str_z(wrong[i]), &t, &e) < 0);
		assert_int_equal(e.kind, ERR_USAGE);
	}
}

TEST_MAIN()
