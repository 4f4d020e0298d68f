/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the documents contradict each other, and which way it was decided. Those that belong to one stage are tested
 * beside that stage (c6 in test_network.c, c8 in test_placement.c, …); here are the ones that run through several.
 */
#include "walls.h"

#define MAIN "agent:main:main"
#define GROUP "agent:main:telegram:group:1"

/* --- C1 --- */

/* All 36 settings of the three axes: each keeps its own answer, and only the stricter demand is carried out. */
TEST(c1_trust_when_and_enforce_are_three_questions_and_no_answer_changes_another)
{
	for (int trust = 0; trust < TRUST_COUNT_; trust++)
		for (int when = 0; when < WHEN_COUNT_; when++)
			for (int enforce = 0; enforce < ENFORCE_COUNT_; enforce++) {
				bool sandboxed = trust != TRUST_NONE || when == WHEN_ALL;

				walls_reset();
				SAY(TRUST_DEFAULT, trust_default, trust);
				SAY(WHEN, when, when);
				SAY(ENFORCE, enforce, enforce);
				CHECK_OK(ask(MAIN, "read"));
				assert_int_equal(w.d.mode.trust, trust);
				assert_int_equal(w.d.mode.when, when);
				assert_int_equal(w.d.mode.caps, cap_matrix((enum trust)trust));
				assert_int_equal(w.d.mode.sandboxed, sandboxed);
				assert_int_equal(w.d.place.place > PLACE_HOST, sandboxed);
				w.r.facts.backends = 1u << BACKEND_HOST;
				assert_int_equal(ask(MAIN, "read")->verdict == VERDICT_DENY, sandboxed);
			}
}

TEST(c1_a_word_of_one_axis_is_no_word_of_another)
{
	const struct enum_name *const axes[] = { trust_names, when_names, enforce_names };

	for (size_t a = 0; a < 3; a++)
		for (size_t b = 0; b < 3; b++)
			for (const struct enum_name *n = axes[a]; n->name; n++) {
				int value;
				bool shared =
					strcmp(n->name, "off") == 0 && a + b == 3; /* when and enforce */

				CHECK_CASE(enum_value(axes[b], str_z(n->name), true, &value) ==
						   (a == b || shared),
					   "%s", n->name);
			}
}

/* --- C12, C13, C14 --- */

static const char *const tokens[] = { "secrets", "external_api", "git_push", "git",     "bash",   "read",
				      "edit",    "write",        "search",   "browser", "network" };
#define TOKENS (sizeof(tokens) / sizeof(tokens[0]))

/* Every rule with one word allowed and one denied, in every mode, against every tool: nothing that the mode lacks. */
TEST(c12_a_rule_refines_its_mode_and_can_only_take_away)
{
	static const char *const tools[] = { "read", "write",   "edit",      "exec",
					     "git",  "browser", "web_fetch", "secrets" };
	static const char *const prefix[] = { [TRUST_READONLY] = "analysis:x",
					      [TRUST_DOCKER] = "untrusted:x",
					      [TRUST_LIGHT] = "client:x",
					      [TRUST_NONE] = "main:x" };

	for (enum trust t = 0; t < TRUST_COUNT_; t++)
		for (size_t allow = 0; allow <= TOKENS; allow++)
			for (size_t deny = 0; deny <= TOKENS; deny++) {
				struct trust_rule *r;

				walls_reset();
				r = walls_rule("ruled:*", t);
				r->has_allow = allow < TOKENS;
				r->has_deny = deny < TOKENS;
				r->allow = walls_list(str_z(r->has_allow ? tokens[allow] : ""));
				r->deny = walls_list(str_z(r->has_deny ? tokens[deny] : ""));
				for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
					bool ruled = ask("ruled:1", tools[i])->verdict == VERDICT_ALLOW;

					assert_int_equal(w.d.mode.caps & ~cap_matrix(t), 0);
					CHECK_CASE(!ruled ||
							   ask(prefix[t], tools[i])->verdict == VERDICT_ALLOW,
						   "%s in trust %d with a rule", tools[i], (int)t);
				}
			}
}

TEST(c12_git_stays_while_pushing_goes)
{
	struct trust_rule *r;

	walls_reset();
	r = walls_rule("client:*", TRUST_LIGHT);
	r->has_deny = true;
	r->deny = LIST("secrets,external_api,git_push");
	CHECK_OK(ask_command("client:leon", "git log"));
	CHECK_OK(ask_command("client:leon", "git commit -m x"));
	CHECK_CODE(ask_command("client:leon", "git push origin main"), CODE_CAPABILITY_DENIED);
	CHECK_STR(w.d.message, STR("Action 'git_push' denied in sandbox mode 'light'"));
}

TEST(c13_the_prefixes_hold_without_a_file_and_behind_the_users_rules)
{
	walls_reset();
	assert_int_equal(ask("untrusted:x", "")->mode.trust, TRUST_DOCKER);
	assert_int_equal(ask("agent:code:x", "")->mode.trust, TRUST_NONE);
	walls_rule("untrusted:friend-*", TRUST_LIGHT);
	assert_int_equal(ask("untrusted:friend-1", "")->mode.trust, TRUST_LIGHT);
	assert_int_equal(ask("untrusted:x", "")->mode.trust, TRUST_DOCKER);
	SAY(ATHENA_LITERAL, athena_literal, true);
	assert_int_equal(ask("untrusted:friend-1", "")->mode.trust, TRUST_LIGHT);
	assert_int_equal(ask("untrusted:x", "")->mode.trust, TRUST_NONE);
}

TEST(c14_flag_before_rule_before_prefix_before_default)
{
	walls_reset();
	SAY(TRUST_DEFAULT, trust_default, TRUST_NONE);
	assert_int_equal(ask("other:x", "")->mode.trust, TRUST_NONE);
	assert_int_equal(ask("client:x", "")->mode.trust, TRUST_LIGHT);
	walls_rule("client:*", TRUST_DOCKER);
	assert_int_equal(ask("client:x", "")->mode.trust, TRUST_DOCKER);
	w.r.has_trust = true;
	w.r.trust = TRUST_READONLY;
	assert_int_equal(ask("client:x", "")->mode.trust, TRUST_READONLY);
	w.r.trust = TRUST_LIGHT;
	CHECK_CODE(ask("client:x", ""), CODE_WEAKEN_REFUSED);
	w.r.allow_weaken = true;
	assert_int_equal(ask("client:x", "")->mode.trust, TRUST_LIGHT);
	assert_true(has_warning(&w.d, "trust_weakened"));
	w.r.via = VIA_LIBRARY;
	assert_int_equal(ask("client:x", "")->mode.trust, TRUST_DOCKER);
}

/* --- C15 --- */

static struct pair pair = { .channel = { .p = "telegram", .n = 8 },
			    .agent = { .p = "g-coder", .n = 7 },
			    .chat_id = { .p = "-100123", .n = 7 } };
static struct token token = { .all_pairs = true };

static void as_remote(enum via via)
{
	w.c.pairs = &pair;
	w.c.tokens = &token;
	w.c.n_pairs = w.c.n_tokens = 1;
	w.r.via = via;
	w.r.auth = AUTH_TOKEN;
	w.r.agent = pair.agent;
	w.r.channel = pair.channel;
	w.r.chat_id = pair.chat_id;
}

/* One chat, asked about in the four ways of the four systems. */
TEST(c15_one_identity_answers_main_key_prefix_pair_and_lease)
{
	static const char key[] = "agent:g-coder:telegram:group:-100123";

	walls_reset();
	SAY(WHEN, when, WHEN_NON_MAIN);
	walls_rule("agent:g-coder:telegram:*", TRUST_DOCKER);
	as_remote(VIA_GUARD);
	CHECK_OK(ask("", "file_read"));
	CHECK_STR(w.d.who.session_key, STR(key));
	assert_false(w.d.who.is_main);
	assert_int_equal(w.d.mode.trust, TRUST_DOCKER);
	pair.chat_id = STR("-100124");
	CHECK_CODE(ask("", "file_read"), CODE_PAIR_NOT_ALLOWED);
	pair.chat_id = STR("-100123");

	walls_reset();
	SAY(OSB_PROVIDER, osb_provider, PROVIDER_OPENSANDBOX);
	w.r.facts.opensandbox_built = true;
	w.r.facts.backends |= 1u << BACKEND_OPENSANDBOX;
	CHECK_OK(ask(key, "shell"));
	CHECK_STR(w.d.place.key, STR("agent:g-coder:telegram:group:-100123:shell"));
	w.r.session_id = STR("s-1");
	CHECK_STR(ask(key, "shell")->place.key, STR("s-1:shell"));
}

/* --- C22 --- */

TEST(c22_a_list_that_names_a_tool_by_one_name_holds_for_all_of_its_names)
{
	static const char *const names[][5] = { { "exec", "bash", "shell", "shell_exec", "execute" },
						{ "read", "file_read", "READ", "File_Read", " read " },
						{ "write", "file_write", "WRITE", "FILE_WRITE", " write" },
						{ "apply_patch", "apply-patch", "Apply_Patch", "APPLY-PATCH",
						  "apply_patch " } };

	for (size_t n = 0; n < 4; n++)
		for (size_t listed = 0; listed < 5; listed++)
			for (size_t asked = 0; asked < 5; asked++) {
				walls_reset();
				SAY(TOOLS_DENY, tools_deny, walls_list(str_z(names[n][listed])));
				CHECK_CASE(ask(MAIN, names[n][asked])->code == CODE_TOOL_DENIED_BY_POLICY,
					   "deny %s, ask %s", names[n][listed], names[n][asked]);
				CHECK_STR(w.d.tool.name, str_z(names[n][0]));
				SAY(TOOLS_DENY, tools_deny, LIST(""));
				SAY(TOOLS_ALLOW, tools_allow, walls_list(str_z(names[n][listed])));
				CHECK_OK(ask(MAIN, names[n][asked]));
			}
}

/* --- C26 --- */

static void say_much(unsigned bits)
{
	w.r.has_trust = bits & 1;
	w.r.trust = bits & 2 ? TRUST_NONE : TRUST_READONLY;
	w.r.allow_weaken = bits & 4;
	w.r.no_sandbox = bits & 8;
	w.r.force_sandbox = bits & 16;
	w.r.caller_policy = bits & 32;
}

/* Whatever a remote caller sends besides its question, the answer is that of the bare question. */
TEST(c26_over_the_network_nothing_that_a_caller_says_changes_the_policy)
{
	static const enum via doors[] = { VIA_GUARD, VIA_RUNNER, VIA_API };
	static const char *const tools[] = { "file_read", "file_write", "shell_exec" };

	for (size_t door = 0; door < 3; door++)
		for (size_t t = 0; t < 3; t++) {
			struct decision plain;

			walls_reset();
			walls_rule("agent:g-coder:*", TRUST_DOCKER);
			as_remote(doors[door]);
			(void)ask_argv("", "python3 x.py");
			plain = *ask("", tools[t]);
			for (unsigned bits = 0; bits < 64; bits++) {
				say_much(bits);
				(void)ask("", tools[t]);
				assert_int_equal(w.d.verdict, plain.verdict);
				assert_int_equal(w.d.code, plain.code);
				assert_int_equal(w.d.mode.trust, plain.mode.trust);
				assert_int_equal(w.d.mode.caps, plain.mode.caps);
				assert_int_equal(w.d.place.place, plain.place.place);
				assert_int_equal(w.d.net.route, plain.net.route);
				assert_int_equal(w.d.n_mounts, plain.n_mounts);
				for (size_t i = 0; i < plain.n_mounts; i++)
					assert_int_equal(w.d.mounts[i].writable, plain.mounts[i].writable);
			}
		}
}

TEST(c26_elevated_is_nothing_that_a_remote_caller_can_have)
{
	static const enum via doors[] = { VIA_GUARD, VIA_RUNNER, VIA_API };
	static const struct str senders[] = { { .p = "*", .n = 1 } };
	static const struct listmap_entry entry = { .key = { .p = "telegram", .n = 8 },
						    .values = { .v = senders, .n = 1 } };

	for (size_t door = 0; door < 3; door++) {
		walls_reset();
		SAY(ELEV_ENABLED, elev_enabled, true);
		SAY(ELEV_ALLOW, elev_allow, ((struct listmap){ .v = &entry, .n = 1 }));
		as_remote(doors[door]);
		w.r.sender = STR("7");
		w.r.wants_elevated = true;
		(void)ask_argv("", "python3 x.py");
		CHECK_CODE(ask("", "shell_exec"), CODE_ELEVATED_REFUSED);
	}
}

/* --- C30 --- */

TEST(c30_a_remote_caller_gets_a_short_stable_word_and_the_operator_the_reason)
{
	static const char *const programs[] = { "/opt/secret-place/run", "rm", "nc" };

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		walls_reset();
		as_remote(VIA_GUARD);
		w.r.request_id = STR("6f1c");
		(void)ask_argv("", programs[i]);
		CHECK_CODE(ask("", "shell_exec"), CODE_BINARY_DENIED);
		assert_string_equal(code_detail(w.d.code), "binary denied");
		assert_int_equal(code_http(w.d.code), 403);
		CHECK_STR(w.d.request_id, STR("6f1c"));
		assert_non_null(memmem(w.d.message.p, w.d.message.n, programs[i], strlen(programs[i])));
		assert_true(w.d.n_reasons > 3);
	}
}

/* The words are made of the code alone, so nothing of the request or the host can be in them. */
TEST(c30_every_refusal_has_such_a_word_and_a_status_of_its_kind)
{
	for (enum code c = 0; c < CODE_COUNT_; c++) {
		assert_in_range(strlen(code_detail(c)), 1, 48);
		assert_true(c == CODE_OK ? code_http(c) == 200 : code_http(c) >= 400 && code_http(c) < 600);
		for (enum code other = 0; other < c; other++)
			assert_string_not_equal(code_word(c), code_word(other));
	}
}

/* S3-76 wants grace, S1-58 the fix: a bind that is missing is left out at the engine, a tool that is denied says how. */
TEST(c30_what_is_missing_is_skipped_and_what_is_refused_says_what_to_change)
{
	walls_reset();
	SAY(WHEN, when, WHEN_ALL);
	SAY(BINDS, binds, BINDS("/srv/gone:/gone:ro"));
	CHECK_OK(ask(GROUP, "exec"));
	assert_true(mount_at(&w.d, "/gone")->optional);
	SAY(TOOLS_DENY, tools_deny, LIST("exec"));
	CHECK_CODE(ask(GROUP, "exec"), CODE_TOOL_DENIED_BY_POLICY);
	assert_true(has_fix(&w.d, "tools.deny: remove exec"));
}

/* --- C31 --- */

TEST(c31_a_key_that_is_main_for_one_system_alone_is_sandboxed_unless_the_operator_says_so)
{
	walls_reset();
	SAY(WHEN, when, WHEN_NON_MAIN);
	CHECK_OK(ask("main:foo", "exec"));
	assert_int_equal(w.d.mode.trust, TRUST_NONE);
	assert_true(w.d.mode.sandboxed);
	assert_int_equal(w.d.place.place, PLACE_CONTAINER);
	SAY(MAIN_PATTERNS, main_patterns, LIST("main:*"));
	CHECK_OK(ask("main:foo", "exec"));
	assert_int_equal(w.d.place.place, PLACE_HOST);
	assert_int_equal(ask("client:foo", "exec")->mode.trust, TRUST_LIGHT);
	assert_true(w.d.mode.sandboxed);
}

TEST_MAIN()
