/* SPDX-License-Identifier: Apache-2.0 */
/* S0's four modes as a person meets them: from the session's key to the place, the mounts and the environment. */
#include "walls.h"

static const char *const keys[] = { [TRUST_READONLY] = "analysis:q",
				    [TRUST_DOCKER] = "untrusted:pr-1",
				    [TRUST_LIGHT] = "client:leon",
				    [TRUST_NONE] = "main:home" };

/* A gateway that has a secret to give, and a network for whoever may have one. */
static void with_secret_and_network(void)
{
	static const struct str set[] = { { .p = "GH_TOKEN", .n = 8 } };

	walls_reset();
	SAY(NET_PRIMARY, net_primary, STR("bridge"));
	SAY(ENV_SECRET_SCOPE, env_secret_scope, SECRET_SCOPE_BOTH);
	SAY(ENV_SET, env_set, walls_env(STR("GH_TOKEN=${GH_TOKEN}")));
	w.r.facts.env_names = (struct strs){ .v = set, .n = 1 };
}

static void check_refused(const char *key, const char *tools)
{
	struct str rest = str_z(tools);

	while (rest.n) {
		const struct decision *d = ask(key, arena_str(&w.a, walls_list_item(&rest)).p);

		CHECK_CASE(d->code == CODE_CAPABILITY_DENIED, STR_FMT " in %s: %s", STR_ARG(d->tool.asked),
			   key, code_word(d->code));
	}
}

static void check_allowed(const char *key, const char *tools)
{
	struct str rest = str_z(tools);

	while (rest.n)
		CHECK_OK(ask(key, arena_str(&w.a, walls_list_item(&rest)).p));
}

TEST(s0_4_mode_none_may_do_everything_and_runs_on_the_host)
{
	walls_reset();
	check_allowed("main:home", "read,write,bash,git,git_push,network,secrets,browser,external_api");
	CHECK_OK(ask("main:home", "bash"));
	assert_int_equal(w.d.place.place, PLACE_HOST);
	assert_int_equal(w.d.mode.caps, cap_matrix(TRUST_NONE));
}

TEST(s0_5_mode_light_works_without_external_apis_and_secrets)
{
	with_secret_and_network();
	check_allowed("client:leon", "read,write,bash,git,browser");
	check_refused("client:leon", "external_api,secrets,web_fetch,network");
	CHECK_OK(ask("client:leon", "bash"));
	assert_int_equal(env_named(&w.d, "GH_TOKEN")->state, ENV_WITHHELD);
	assert_int_equal(w.d.net.route, ROUTE_NONE);
}

TEST(s0_6_mode_docker_is_a_container_or_nothing_and_never_the_host)
{
	with_secret_and_network();
	CHECK_OK(ask("untrusted:pr-1", "bash"));
	assert_int_equal(w.d.place.place, PLACE_CONTAINER);
	assert_int_equal(env_named(&w.d, "GH_TOKEN")->state, ENV_WITHHELD);
	check_refused("untrusted:pr-1", "git,browser,network,external_api,secrets");
	w.r.facts.backends = 1u << BACKEND_HOST;
	CHECK_CODE(ask("untrusted:pr-1", "bash"), CODE_SANDBOX_UNAVAILABLE);
	w.r.no_sandbox = true;
	CHECK_CODE(ask("untrusted:pr-1", "bash"), CODE_NO_SANDBOX_REFUSED);
}

TEST(s0_7_mode_readonly_reads_and_writes_nothing)
{
	with_secret_and_network();
	check_allowed("analysis:q", "read,search");
	for (size_t i = 0; i < w.d.n_mounts; i++)
		CHECK_CASE(w.d.mounts[i].source == MOUNT_SCRATCH || !w.d.mounts[i].writable,
			   STR_FMT " is writable", STR_ARG(w.d.mounts[i].target));
	check_refused("analysis:q",
		      "write,edit,apply_patch,bash,process,code_exec,git,browser,network,secrets");
}

/* What each word of S0 leaves when it is the only one that a rule allows. */
TEST(s0_15_every_token_as_allow_leaves_exactly_what_it_names)
{
	static const struct {
		const char *token, *left;
	} rows[] = {
		{ "secrets", "secrets" },
		{ "external_api", "external_api,web_fetch,web_search" },
		{ "git_push", "git,git_push" },
		{ "git", "git,git_push" },
		{ "bash", "exec,process,code_exec" },
		{ "read", "read" },
		{ "edit", "edit,apply_patch" },
		{ "write", "write" },
		{ "search", "search" },
		{ "browser", "browser" },
		{ "network", "network,web_fetch,web_search" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct strs left;
		struct trust_rule *r;

		walls_reset();
		left = walls_list(str_z(rows[i].left));
		r = walls_rule("x:*", TRUST_NONE);
		r->has_allow = true;
		r->allow = walls_list(str_z(rows[i].token));
		for (size_t t = 0; t < tool_count(); t++) {
			struct str name = str_z(tool_at(t)->name);
			bool named = tool_list_has(COMPAT_DOCUMENTS, left, name, NULL);

			CHECK_CASE((ask("x:1", tool_at(t)->name)->verdict == VERDICT_ALLOW) == named,
				   "allow: [%s] and " STR_FMT, rows[i].token, STR_ARG(name));
		}
	}
}

TEST(s0_42_in_mode_docker_the_project_is_all_that_is_seen_of_the_host)
{
	walls_reset();
	CHECK_OK(ask("untrusted:pr-1", "bash"));
	assert_true(w.d.n_mounts > 0);
	for (size_t i = 0; i < w.d.n_mounts; i++)
		CHECK_CASE(w.d.mounts[i].host.n == 0 || str_eq(w.d.mounts[i].target, STR("/sandbox")),
			   STR_FMT " is seen", STR_ARG(w.d.mounts[i].host));
	CHECK_STR(mount_at(&w.d, "/sandbox")->host, STR("/srv/project"));
	CHECK_STR(w.d.workdir, STR("/sandbox"));
	assert_int_equal(mount_at(&w.d, "/tmp")->source, MOUNT_SCRATCH);
	assert_true(w.d.eff.readonly_root);
}

/* By prefix, by default, by rule and by flag: it is always the whole row, and nothing else. */
TEST(s0_34_the_permissions_are_the_row_of_the_mode_however_the_mode_came_about)
{
	for (enum trust t = 0; t < TRUST_COUNT_; t++) {
		walls_reset();
		assert_int_equal(ask(keys[t], "")->mode.caps, cap_matrix(t));
		SAY(TRUST_DEFAULT, trust_default, (int)t);
		assert_int_equal(ask("other", "")->mode.caps, cap_matrix(t));
		walls_rule("ruled:*", t);
		assert_int_equal(ask("ruled:1", "")->mode.caps, cap_matrix(t));
		walls_reset();
		w.r.has_trust = true;
		w.r.trust = t;
		assert_int_equal(ask("other", "")->mode.caps, cap_matrix(t));
	}
}

static const struct reason *trust_reason(const struct decision *d)
{
	const struct reason *last = NULL;

	for (size_t i = 0; i < d->n_reasons; i++)
		if (d->reasons[i].stage == STAGE_MODE && strcmp(d->reasons[i].what, "trust") == 0)
			last = &d->reasons[i];
	assert_non_null(last);
	return last;
}

TEST(s0_57_to_59_prefix_flag_and_rule_each_give_the_mode_and_the_record_says_which)
{
	walls_reset();
	(void)ask("client:leon", "");
	assert_int_equal(w.d.mode.trust, TRUST_LIGHT);
	assert_int_equal(trust_reason(&w.d)->origin.kind, ORIGIN_BUILTIN);
	walls_rule("client:*", TRUST_DOCKER);
	(void)ask("client:leon", "");
	assert_int_equal(w.d.mode.trust, TRUST_DOCKER);
	assert_int_equal(trust_reason(&w.d)->origin.kind, ORIGIN_FILE);
	w.r.has_trust = true;
	w.r.trust = TRUST_READONLY;
	(void)ask("client:leon", "");
	assert_int_equal(w.d.mode.trust, TRUST_READONLY);
	assert_int_equal(trust_reason(&w.d)->origin.kind, ORIGIN_FLAG);
	CHECK_STR(trust_reason(&w.d)->origin.name, STR("--sandbox"));
}

TEST(s0_60_a_session_that_is_not_named_has_a_key_and_a_mode_all_the_same)
{
	walls_reset();
	CHECK_OK(ask("", "read"));
	CHECK_STR(w.d.who.session_key, STR("agent:main:main"));
	assert_int_equal(w.d.mode.trust, TRUST_NONE);
	walls_rule("agent:main:telegram:*", TRUST_READONLY);
	w.r.channel = STR("telegram");
	w.r.chat_id = STR("-100123");
	CHECK_OK(ask("", "read"));
	CHECK_STR(w.d.who.session_key, STR("agent:main:telegram:group:-100123"));
	assert_int_equal(w.d.mode.trust, TRUST_READONLY);
}

/* Every tool that there is, in every mode. */
TEST(s0_62_below_full_trust_no_tool_passes_without_what_it_needs)
{
	walls_reset();
	SAY(SBX_ALLOW, sbx_allow, LIST("*"));
	SAY(SBX_DENY, sbx_deny, LIST(""));
	for (enum trust t = 0; t < TRUST_NONE; t++)
		for (size_t i = 0; i < tool_count(); i++) {
			const struct tool_info *info = tool_at(i);
			bool has = (info->needs & ~cap_matrix(t)) == 0;

			CHECK_CASE((ask(keys[t], info->name)->code == CODE_CAPABILITY_DENIED) == !has,
				   "%s in %s: %s", info->name, keys[t], code_word(w.d.code));
		}
}

TEST(s0_63_with_full_trust_nothing_is_enforced)
{
	walls_reset();
	for (size_t i = 0; i < tool_count(); i++)
		CHECK_CASE(ask("main:home", tool_at(i)->name)->verdict == VERDICT_ALLOW, "%s: %s",
			   tool_at(i)->name, code_word(w.d.code));
	assert_false(w.d.mode.sandboxed);
}

TEST_MAIN()
