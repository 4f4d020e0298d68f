/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands says what decide() would say, of every member of the decision, for many thousands of configurations and calls that a small generator makes
 * with a fixed seed; and it stands only for the caller, the tool and the world that it was made for.
 */
#include "same.h"
#include "world.h"

#define ROUNDS 6000
#define CALLS 6
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const char *const tools[] = { "exec",        "exec",   "bash",   "read",      "write",   "edit",
				     "apply_patch", "search", "git",    "code_exec", "process", "browser",
				     "message",     "nope",   " exec ", "shell_exec" };
static const char *const sessions[] = { "",
					"main:x",
					"client:x",
					"analysis:x",
					"untrusted:x",
					"agent:main:main",
					"other",
					"agent:main:telegram:group:1",
					"agent:main:subagent:9" };
static const char *const commands[] = {
	"ls -l",       "git status",  "cat a | sort",  "sh x", "python3 -V", "gh pr list",
	"echo $(git)", "env git log", "curl http://a", "",     "'",          "rm -rf /tmp/x"
};
static const char *const names[] = { "exec", "read",    "write", "git",  "group:fs", "group:runtime",
				     "*",    "browser", "sh",    "curl", "gh" };

struct made {
	struct trust_rule rules[2];
	struct settings over, rule_over;
	struct agent agent;
	struct token token;
	struct pair pair, token_pair;
	struct env_var env[3];
	struct bind binds[2];
	struct listmap_entry senders;
	struct tool_setting per;
	struct str words[64];
	size_t n_words;
};

static struct str any(uint64_t *s, const char *const *v, size_t n)
{
	return str_z(v[below(s, n)]);
}

static struct strs some(struct made *m, uint64_t *s)
{
	size_t n = below(s, 3) ? 0 : below(s, 4), first = m->n_words;

	for (size_t i = 0; i < n && m->n_words < COUNT(m->words); i++)
		m->words[m->n_words++] = any(s, names, COUNT(names));
	return (struct strs){ .v = &m->words[first], .n = m->n_words - first };
}

static void make_settings(struct made *m, struct settings *b, uint64_t *s)
{
	b->tools_deny = some(m, s);
	b->tools_allow = below(s, 4) ? NO_LIST : some(m, s);
	b->has[OPT_SBX_ALLOW] = below(s, 6) == 0;
	b->sbx_allow = some(m, s);
	b->has[OPT_SBX_DENY] = below(s, 4) == 0;
	b->sbx_deny = some(m, s);
	b->has[OPT_PROGRAMS] = below(s, 6) == 0;
	b->programs = b->has[OPT_PROGRAMS] ? some(m, s) : NO_LIST;
	b->approval_programs = some(m, s);
	b->exec_mode = below(s, 2) ? EXEC_MODE_UNSET : (int)below(s, EXEC_MODE_COUNT_);
	b->route_exec = below(s, 6) ? NO_LIST : some(m, s);
	b->route_tools = below(s, 6) ? NO_LIST : some(m, s);
	b->shells = (int)below(s, 2);
	b->scope = (int)below(s, SCOPE_COUNT_);
	b->ws_access = (int)below(s, ACCESS_COUNT_);
	b->elev_enabled = b->has[OPT_ELEV_ENABLED] = below(s, 2) != 0;
	b->elev_allow = (struct listmap){ .v = &m->senders, .n = below(s, 2) };
	b->env_set = (struct env_vars){ .v = m->env, .n = below(s, 4) };
	b->binds = (struct binds){ .v = m->binds, .n = below(s, 4) ? 0 : below(s, 3) };
	b->env_secret_scope = (int)below(s, 2);
	b->timeout_s = 1 + below(s, 300);
	b->timeout_max_s = 1 + below(s, 300);
}

static void make_parts(struct made *m)
{
	static const struct str seven[] = { { "7", 1 } };

	m->env[0] = (struct env_var){ .name = STR("A"), .kind = ENV_LITERAL, .value = STR("1") };
	m->env[1] = (struct env_var){ .name = STR("T"), .kind = ENV_SECRET, .value = STR("${T}") };
	m->env[2] = (struct env_var){ .name = STR("LD_PRELOAD"), .kind = ENV_LITERAL, .value = STR("x") };
	m->binds[0] = (struct bind){ .raw = STR("/srv/a:/a:ro"),
				     .source = STR("/srv/a"),
				     .target = STR("/a"),
				     .options = STR("ro"),
				     .readonly = true };
	m->binds[1] = (struct bind){
		.raw = STR("/srv/b:/b:rw"), .source = STR("/srv/b"), .target = STR("/b"), .options = STR("rw")
	};
	m->senders = (struct listmap_entry){ .key = STR("telegram"), .values = { seven, 1 } };
	m->pair = (struct pair){ .channel = STR("telegram"), .agent = STR("main"), .chat_id = STR("1") };
	m->token_pair = m->pair;
	m->per = (struct tool_setting){ .tool = STR("exec"), .has_enforce = true, .enforce = ENFORCE_PREFER };
}

/* As somebody may change it from one call to the next: mostly one that may speak for the caller. */
static void make_token(struct world *w, struct made *m, uint64_t *s)
{
	m->token = (struct token){ .all_pairs = below(s, 2) != 0,
				   .id = below(s, 4) ? STR("t1") : STR("t2"),
				   .pairs = &m->token_pair,
				   .n_pairs = below(s, 8) != 0 };
	m->token_pair.chat_id = below(s, 8) ? STR("1") : STR("2");
	m->pair.chat_id = below(s, 8) ? STR("1") : STR("2");
	w->c.pairs = &m->pair;
	w->c.tokens = &m->token;
	w->c.n_pairs = 1;
	w->c.n_tokens = below(s, 16) != 0;
}

static void make_config(struct world *w, struct made *m, uint64_t *s)
{
	struct settings *b = &w->c.base;

	memset(m, 0, sizeof(*m));
	make_parts(m);
	make_settings(m, b, s);
	b->compat = below(s, 4) ? COMPAT_DOCUMENTS : COMPAT_OPENCLAW_2026_9;
	b->profile = below(s, 8) ? PROFILE_NONE : (int)below(s, PROFILE_COUNT_);
	b->when = (int)below(s, WHEN_COUNT_);
	b->trust_default = below(s, 2) ? TRUST_NONE : (int)below(s, TRUST_COUNT_);
	b->net_primary = below(s, 4) ? STR("none") : STR("bridge");
	b->serve_bind = below(s, 8) ? STR("127.0.0.1") : STR("0.0.0.0:1");
	if (below(s, 2)) {
		m->over = *b;
		make_settings(m, &m->over, s);
		for (size_t i = 0; i < OPT_COUNT_; i++)
			m->over.has[i] = below(s, 8) == 0;
		m->agent = (struct agent){ .id = STR("main"), .over = &m->over };
		w->c.agents = &m->agent;
		w->c.n_agents = 1;
	}
	m->rules[0] = (struct trust_rule){ .match = STR("client:*"),
					   .trust = (enum trust)below(s, TRUST_COUNT_),
					   .has_deny = below(s, 2) != 0,
					   .deny = some(m, s) };
	w->c.rules = m->rules;
	w->c.n_rules = below(s, 2);
	make_token(w, m, s);
	w->c.per_tool = &m->per;
	w->c.n_per_tool = below(s, 4) == 0;
}

static void make_caller(struct request *r, uint64_t *s)
{
	static const enum via doors[] = { VIA_LIBRARY, VIA_LIBRARY, VIA_CLI, VIA_CLI, VIA_API, VIA_GUARD };
	static const struct str env[] = { { "T", 1 } };

	r->via = doors[below(s, COUNT(doors))];
	r->auth = r->via == VIA_LIBRARY || r->via == VIA_CLI ? AUTH_LOCAL : AUTH_TOKEN;
	r->session_key = any(s, sessions, COUNT(sessions));
	if (r->auth == AUTH_TOKEN) {
		r->agent = STR("main");
		r->chat_id = STR("1");
		if (below(s, 2))
			r->session_key = below(s, 2) ? STR("agent:main:telegram:group:1") : (struct str){ 0 };
	}
	r->channel = below(s, 2) || r->auth == AUTH_TOKEN ? STR("telegram") : (struct str){ 0 };
	r->sender = below(s, 2) ? STR("7") : (struct str){ 0 };
	r->has_trust = below(s, 6) == 0;
	r->trust = (enum trust)below(s, TRUST_COUNT_);
	r->no_sandbox = below(s, 8) == 0;
	r->force_sandbox = below(s, 3) == 0;
	r->tool = any(s, tools, COUNT(tools));
	r->brief = below(s, 16) != 0;
	r->facts.env_names = (struct strs){ .v = env, .n = below(s, 2) };
	if (below(s, 8) == 0)
		r->facts.backends = 1u << BACKEND_HOST;
}

/* What only this call says. */
static void make_call(struct request *r, struct str argv[static 3], uint64_t *s)
{
	static const char *const words[] = { "ls",   "git", "sh",      "curl",    "gh",
					     "push", "-c",  "git log", "python3", "" };
	size_t n = below(s, 2) ? below(s, 4) : 0;

	for (size_t i = 0; i < n; i++)
		argv[i] = any(s, words, COUNT(words));
	r->argv = (struct strs){ .v = argv, .n = n };
	r->command = below(s, 2) ? any(s, commands, COUNT(commands)) : (struct str){ 0 };
	r->path = below(s, 2) ? STR("a/b") : (struct str){ 0 };
	r->request_id = below(s, 2) ? STR("r-1") : STR("r-22");
	r->has_timeout = below(s, 2) != 0;
	r->timeout_s = below(s, 400);
	r->wants_elevated = below(s, 6) == 0;
	r->passive = below(s, 4) == 0;
}

struct counts {
	size_t stood, asked, remote, changed;
};

static void count(struct counts *n, const struct request *r, bool changed)
{
	n->stood++;
	n->remote += r->auth == AUTH_TOKEN;
	n->changed += r->auth == AUTH_TOKEN && changed;
}

static void check_calls(struct world *w, struct made *m, uint64_t *s, size_t round, struct counts *n)
{
	struct request first = w->r;
	struct str argv[3];
	struct standing *st;

	make_call(&first, argv, s); /* whatever call it was made for */
	st = standing_new(&w->c, &first);
	assert_non_null(st);
	for (size_t i = 0; i < CALLS; i++) {
		struct decision *d = calloc(1, sizeof(*d));
		bool changed = below(s, 2) != 0;

		assert_non_null(d);
		if (changed)
			make_token(w, m, s);
		make_call(&w->r, argv, s);
		CHECK_CASE(standing_is_about(st, &w->c, &w->r), "round %zu", round);
		n->asked++;
		if (standing_decide(st, &w->r, &w->a, d)) {
			const char *what;

			count(n, &w->r, changed);
			ask(w);
			what = differs(d, &w->d);
			CHECK_CASE(!what, "round %zu, call %zu, tool %.*s: %s", round, i, (int)w->r.tool.n,
				   w->r.tool.p, what);
			CHECK_CASE(d->verdict != VERDICT_DENY, "round %zu: a refusal stands for nobody",
				   round);
		}
		free(d);
	}
	standing_free(st);
}

TEST(what_stands_is_what_would_be_decided)
{
	uint64_t state = 20261117;
	struct made *m = calloc(1, sizeof(*m));
	struct counts n = { 0 };

	assert_non_null(m);
	for (size_t i = 0; i < ROUNDS; i++) {
		WORLD(w);

		make_config(w, m, &state);
		make_caller(&w->r, &state);
		check_calls(w, m, &state, i, &n);
	}
	free(m);
	/* Or it would have compared nothing. */
	CHECK_CASE(n.stood > n.asked / 20, "%zu of %zu", n.stood, n.asked);
	CHECK_CASE(n.remote > 100 && n.changed > 50, "%zu and %zu", n.remote, n.changed);
}

static void set_up(struct world *w)
{
	w->r.via = VIA_LIBRARY;
	w->r.session_key = STR("agent:main:x");
	w->r.tool = STR("exec");
	w->r.force_sandbox = w->r.brief = true;
	w->c.base.ws_access = ACCESS_RW;
}

TEST(it_stands_for_one_caller_one_tool_and_one_world_alone)
{
	WORLD(w);
	static const struct str one[] = { { "X", 1 } };
	struct config other;
	struct standing *st;
	struct request r;

	set_up(w);
	st = standing_new(&w->c, &w->r);
	assert_non_null(st);
	other = w->c;
	assert_true(standing_is_about(st, &w->c, &w->r));
	assert_false(standing_is_about(st, &other, &w->r));
#define CHANGED(member, ...)                                                       \
	do {                                                                       \
		r = w->r;                                                          \
		r.member = __VA_ARGS__;                                            \
		CHECK_CASE(!standing_is_about(st, &w->c, &r), "another " #member); \
	} while (0)
	CHANGED(agent, STR("b"));
	CHANGED(session_key, STR("agent:main:y"));
	CHANGED(session_id, STR("1"));
	CHANGED(channel, STR("telegram"));
	CHANGED(chat_id, STR("1"));
	CHANGED(user_id, STR("1"));
	CHANGED(sender, STR("1"));
	CHANGED(provider, STR("1"));
	CHANGED(model, STR("1"));
	CHANGED(tool, STR("read"));
	CHANGED(facts.home, STR("/h"));
	CHANGED(facts.state_dir, STR("/h"));
	CHANGED(facts.own_dir, STR("/h"));
	CHANGED(facts.audit_dir, STR("/h"));
	CHANGED(facts.cwd, STR("/h"));
	CHANGED(facts.env_names, (struct strs){ .v = one, .n = 1 });
	CHANGED(facts.dirs, (struct strs){ .v = one, .n = 1 });
	CHANGED(facts.home_roots, (struct strs){ .v = one, .n = 1 });
	CHANGED(facts.backends, 1u << BACKEND_HOST);
	CHANGED(facts.opensandbox_built, true);
	CHANGED(via, VIA_CLI);
	CHANGED(auth, AUTH_TOKEN);
	CHANGED(token, 1);
	CHANGED(has_trust, true);
	CHANGED(trust, TRUST_LIGHT);
	CHANGED(allow_weaken, true);
	CHANGED(no_sandbox, true);
	CHANGED(force_sandbox, false);
	CHANGED(caller_policy, true);
	CHANGED(brief, false);
	standing_free(st);
}

/* The text of a directory may be written over: what it said then counts. */
TEST(a_text_that_was_written_over_is_another)
{
	WORLD(w);
	char cwd[] = "/home/user/project";
	struct standing *st;

	set_up(w);
	w->r.facts.cwd = str_z(cwd);
	st = standing_new(&w->c, &w->r);
	assert_non_null(st);
	assert_true(standing_is_about(st, &w->c, &w->r));
	assert_true(standing_decide(st, &w->r, &w->a, &w->d));
	assert_true(str_eq(w->d.workspace, STR("/home/user/project")));
	cwd[1] = 'H';
	assert_false(standing_is_about(st, &w->c, &w->r));
	standing_free(st);
}

TEST(what_counts_for_more_than_the_command_is_decided_from_the_start)
{
	static const struct str git[] = { { "git", 3 }, { "status", 6 } }, ls[] = { { "ls", 2 } };
	WORLD(w);
	struct standing *st;

	set_up(w);
	st = standing_new(&w->c, &w->r);
	assert_non_null(st);
	w->r.argv = (struct strs){ .v = ls, .n = 1 };
	assert_true(standing_decide(st, &w->r, &w->a, &w->d));
	w->r.argv = (struct strs){ .v = git, .n = 2 };
	assert_false(standing_decide(st, &w->r, &w->a, &w->d));
	w->r.argv = (struct strs){ .v = ls, .n = 1 };
	w->r.wants_elevated = true;
	assert_false(standing_decide(st, &w->r, &w->a, &w->d));
	standing_free(st);
	w->r.wants_elevated = false;
	w->c.base.route_exec = KEEP(w, STR("gh"));
	st = standing_new(&w->c, &w->r);
	assert_non_null(st);
	assert_false(standing_decide(st, &w->r, &w->a, &w->d));
	standing_free(st);
}

static void set_up_remote(struct world *w, struct token *token, struct pair *pair)
{
	set_up(w);
	*pair = (struct pair){ .channel = STR("telegram"), .agent = STR("main"), .chat_id = STR("1") };
	*token = (struct token){ .pairs = pair, .n_pairs = 1, .id = STR("t1") };
	w->c.tokens = token;
	w->c.pairs = pair;
	w->c.n_tokens = w->c.n_pairs = 1;
	w->r.via = VIA_API;
	w->r.auth = AUTH_TOKEN;
	w->r.agent = STR("main");
	w->r.channel = STR("telegram");
	w->r.chat_id = STR("1");
	w->r.session_key = (struct str){ 0 };
}

/* Whatever of it was changed since: what stood is of no use, or says the same. */
TEST(who_shows_a_token_is_looked_at_each_time)
{
	struct pair pair, other = { .channel = STR("telegram"), .agent = STR("main"), .chat_id = STR("2") };
	struct token token, was;
	WORLD(w);
	struct standing *st;

	set_up_remote(w, &token, &pair);
	was = token;
	assert_int_equal(ask(w), VERDICT_ALLOW);
	st = standing_new(&w->c, &w->r);
	assert_non_null(st);
	assert_true(standing_decide(st, &w->r, &w->a, &w->d));
	assert_true(str_eq(w->d.who.token, STR("t1")));
#define CHANGED_TOKEN(what)                                                                      \
	do {                                                                                     \
		what;                                                                            \
		CHECK_CASE(!standing_decide(st, &w->r, &w->a, &w->d), #what);                    \
		token = was;                                                                     \
		w->c.n_tokens = w->c.n_pairs = 1;                                                \
		w->c.pairs = &pair;                                                              \
		CHECK_CASE(standing_decide(st, &w->r, &w->a, &w->d), "before and after " #what); \
	} while (0)
	CHANGED_TOKEN(w->c.n_tokens = 0);
	CHANGED_TOKEN(w->c.n_pairs = 0);
	CHANGED_TOKEN(w->c.pairs = &other);
	CHANGED_TOKEN(token.n_pairs = 0);
	CHANGED_TOKEN(token.pairs = &other);
	CHANGED_TOKEN(token.all_pairs = true);
	token.id = STR("t2");
	assert_true(standing_decide(st, &w->r, &w->a, &w->d));
	assert_true(str_eq(w->d.who.token, STR("t2")));
	standing_free(st);
}

/* A token for all pairs may name any session; one that is bound to a pair may not name what the other did. */
TEST(what_stood_for_a_token_for_all_does_not_for_another)
{
	struct token token;
	struct pair pair;
	struct standing *st;
	WORLD(w);

	set_up_remote(w, &token, &pair);
	token.all_pairs = true;
	w->r.session_key = STR("agent:main:other");
	assert_int_equal(ask(w), VERDICT_ALLOW);
	st = standing_new(&w->c, &w->r);
	assert_non_null(st);
	assert_true(standing_decide(st, &w->r, &w->a, &w->d));
	token.all_pairs = false;
	assert_false(standing_decide(st, &w->r, &w->a, &w->d));
	assert_int_equal(ask(w), VERDICT_DENY);
	standing_free(st);
}

TEST_MAIN()
