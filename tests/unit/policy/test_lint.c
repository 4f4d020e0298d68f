/* SPDX-License-Identifier: Apache-2.0 */
#include "walls.h"

#include "policy/lint.h"

static struct diags found;

static void check(void)
{
	found = (struct diags){ .arena = &w.a };
	lint(&w.c, &w.r.facts, &found);
	assert_false(w.a.failed);
	for (size_t i = 0; i < found.n; i++) {
		CHECK_CASE(found.v[i].fix.n > 0, "%s has no fix", found.v[i].code);
		CHECK_CASE(!memmem(found.v[i].text.p, found.v[i].text.n, "hunter2", 7), "%s shows a secret",
			   found.v[i].code);
		CHECK_CASE(!memmem(found.v[i].fix.p, found.v[i].fix.n, "hunter2", 7), "%s shows a secret",
			   found.v[i].code);
	}
}

static const struct diag *finding(const char *code)
{
	for (size_t i = 0; i < found.n; i++)
		if (strcmp(found.v[i].code, code) == 0)
			return &found.v[i];
	return NULL;
}

#define FOUND(code)                                               \
	do {                                                      \
		check();                                          \
		CHECK_CASE(finding(code) != NULL, "no %s", code); \
	} while (0)
#define NOT_FOUND(code)                                        \
	do {                                                   \
		check();                                       \
		CHECK_CASE(finding(code) == NULL, "%s", code); \
	} while (0)

static size_t count(const char *code)
{
	size_t n = 0;

	for (size_t i = 0; i < found.n; i++)
		n += strcmp(found.v[i].code, code) == 0;
	return n;
}

TEST(the_defaults_have_no_findings)
{
	walls_reset();
	check();
	CHECK_CASE(found.n == 0, "%s: " STR_FMT, found.v[0].code, STR_ARG(found.v[0].text));
}

TEST(a_finding_has_the_place_it_is_about)
{
	walls_reset();
	SAY(NET_PRIMARY, net_primary, STR("host"));
	FOUND("network_host_blocked");
	assert_int_equal(finding("network_host_blocked")->origin.kind, ORIGIN_FILE);
	assert_int_equal(finding("network_host_blocked")->origin.line, 3);
}

/* --- rules --- */

static bool covers(const char *a, const char *b)
{
	return glob_covers(str_z(a), str_z(b));
}

TEST(a_glob_covers_what_it_matches_whatever_the_other_stands_for)
{
	static const struct {
		const char *a, *b;
	} yes[] = {
		{ "*", "" },
		{ "*", "x*" },
		{ "client:*", "client:leon" },
		{ "client:*", "client:*:x" },
		{ "a*b", "a*b" },
		{ "a*b", "axb" },
		{ "?", "x" },
		{ "?*", "?x*" },
		{ "[ab]", "a" },
		{ "[ab]x", "[ab]x" },
		{ "[!a]", "b" },
		{ "*a*", "xay" },
		{ "**", "*" },
		{ "?", "\xc3\xa9" },
		{ "[", "[" },
		{ "a?c", "a[xy]c" },
	};
	static const struct {
		const char *a, *b;
	} no[] = {
		{ "client:*", "*" },  { "a", "b" },    { "?", "*" },    { "?", "" },
		{ "*a", "*" },        { "*ab", "*b" }, { "[ab]", "c" }, { "[ab]", "[abc]" },
		{ "??", "\xc3\xa9" }, { "a*", "?b" },  { "[a]", "?" },  { "ab", "a" },
	};

	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		CHECK_CASE(covers(yes[i].a, yes[i].b), "'%s' covers '%s'", yes[i].a, yes[i].b);
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		CHECK_CASE(!covers(no[i].a, no[i].b), "'%s' does not cover '%s'", no[i].a, no[i].b);
}

TEST(a_rule_behind_one_that_covers_it_never_matches)
{
	walls_reset();
	walls_rule("client:*", TRUST_LIGHT);
	walls_rule("client:leon", TRUST_NONE);
	FOUND("rule_never_matches");
	walls_reset();
	walls_rule("client:leon", TRUST_NONE);
	walls_rule("client:*", TRUST_LIGHT);
	NOT_FOUND("rule_never_matches");
	walls_rule("client:*", TRUST_DOCKER);
	FOUND("rule_never_matches");
}

static struct trust_rule *rule(enum trust trust, const char *allow, const char *deny)
{
	struct trust_rule *r = walls_rule("x:*", trust);

	r->has_allow = allow != NULL;
	r->has_deny = deny != NULL;
	r->allow = allow ? walls_list(str_z(allow)) : (struct strs){ 0 };
	r->deny = deny ? walls_list(str_z(deny)) : (struct strs){ 0 };
	return r;
}

TEST(the_samples_of_s0_have_no_findings)
{
	walls_reset();
	rule(TRUST_LIGHT, NULL, "secrets,external_api,git_push")->match = STR("client:*");
	rule(TRUST_DOCKER, "bash,read,edit", "browser,network,git")->match = STR("untrusted:*");
	rule(TRUST_READONLY, "read,search", "write,bash,git")->match = STR("analysis:*");
	check();
	CHECK_CASE(found.n == 0, "%s: " STR_FMT, found.v[0].code, STR_ARG(found.v[0].text));
}

TEST(a_rule_that_allows_and_denies_the_same_contradicts_itself)
{
	walls_reset();
	rule(TRUST_NONE, "read,Bash", "bash");
	FOUND("rule_contradicts");
}

TEST(a_rule_cannot_grant_beyond_its_mode)
{
	static const struct {
		enum trust trust;
		const char *allow;
	} rows[] = { { TRUST_READONLY, "bash" },   { TRUST_READONLY, "write" }, { TRUST_DOCKER, "git" },
		     { TRUST_DOCKER, "browser" },  { TRUST_LIGHT, "secrets" },  { TRUST_LIGHT, "network" },
		     { TRUST_LIGHT, "web_fetch" }, { TRUST_LIGHT, "group:web" } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		walls_reset();
		rule(rows[i].trust, rows[i].allow, NULL);
		FOUND("rule_beyond_trust");
		walls_reset();
		rule(TRUST_NONE, rows[i].allow, NULL);
		NOT_FOUND("rule_beyond_trust");
	}
	walls_reset();
	rule(TRUST_DOCKER, "*", NULL);
	NOT_FOUND("rule_beyond_trust");
}

TEST(a_rule_about_a_tool_that_nobody_knows_is_told)
{
	walls_reset();
	rule(TRUST_NONE, "raed", NULL);
	FOUND("rule_unknown_tool");
	walls_reset();
	rule(TRUST_NONE, NULL, "group:nonsense");
	FOUND("rule_unknown_tool");
}

TEST(a_rule_about_an_agent_that_is_not_configured_is_told)
{
	walls_reset();
	walls_agent("main");
	walls_rule("agent:ghost:*", TRUST_DOCKER);
	FOUND("rule_unknown_agent");
	walls_reset();
	walls_agent("main");
	walls_rule("agent:main:*", TRUST_DOCKER);
	walls_rule("agent:*:x", TRUST_DOCKER);
	walls_rule("ghost:*", TRUST_DOCKER);
	NOT_FOUND("rule_unknown_agent");
	w.c.has_roster = false;
	w.c.n_agents = 0;
	NOT_FOUND("rule_unknown_agent");
}

TEST(a_rule_that_adds_hosts_and_denies_the_network_contradicts_itself)
{
	struct trust_rule *r;

	walls_reset();
	r = rule(TRUST_DOCKER, NULL, "network");
	SAY_IN(r->over, ROUTE_HOSTS, route_hosts, LIST("a.example"));
	FOUND("rule_contradicts");
	SAY_IN(r->over, ROUTE_HOSTS, route_hosts, LIST("http://a.example"));
	FOUND("host_invalid");
}

/* --- tool lists --- */

TEST(a_tool_name_that_is_nearly_right_is_a_mistake_and_another_may_be_a_plugin_s)
{
	walls_reset();
	SAY(TOOLS_ALLOW, tools_allow, LIST("exce,mcp_fetch,read,group:fs,*"));
	FOUND("tool_pattern_unknown");
	assert_int_equal(count("tool_pattern_unknown"), 2);
	assert_int_equal(found.n_warnings, 1);
	assert_int_equal(finding("tool_pattern_unknown")->severity, SEVERITY_WARN);
}

TEST(an_unknown_group_covers_nothing)
{
	walls_reset();
	SAY(SBX_DENY, sbx_deny, LIST("group:runtme,group:runtime,group:plugins"));
	FOUND("tool_group_unknown");
	assert_int_equal(count("tool_group_unknown"), 1);
}

TEST(an_agent_s_list_is_checked_under_its_name)
{
	struct agent *a;

	walls_reset();
	a = walls_agent("build");
	SAY_IN(a->over, TOOLS_DENY, tools_deny, LIST("group:nope"));
	FOUND("tool_group_unknown");
	CHECK_STR(finding("tool_group_unknown")->key, STR("agents.build.tools.deny"));
}

TEST(an_entry_in_both_lists_contradicts_itself_also_under_an_alias)
{
	walls_reset();
	SAY(TOOLS_ALLOW, tools_allow, LIST("bash,read"));
	SAY(TOOLS_DENY, tools_deny, LIST("exec"));
	FOUND("tool_list_contradiction");
	SAY(TOOLS_DENY, tools_deny, LIST("write"));
	NOT_FOUND("tool_list_contradiction");
	SAY(SBX_ALSO_ALLOW, sbx_also_allow, LIST("group:web"));
	SAY(SBX_DENY, sbx_deny, LIST("GROUP:WEB"));
	FOUND("tool_list_contradiction");
}

TEST(an_agent_s_allow_that_the_base_denies_contradicts)
{
	struct agent *a;

	walls_reset();
	SAY(TOOLS_DENY, tools_deny, LIST("browser"));
	a = walls_agent("b");
	SAY_IN(a->over, TOOLS_ALLOW, tools_allow, LIST("browser"));
	FOUND("tool_list_contradiction");
	CHECK_STR(finding("tool_list_contradiction")->key, STR("agents.b.tools.allow"));
}

TEST(denying_the_file_tools_while_exec_stays_is_told)
{
	walls_reset();
	SAY(TOOLS_DENY, tools_deny, LIST("write,edit,apply_patch"));
	FOUND("exec_still_writes");
	SAY(TOOLS_DENY, tools_deny, LIST("write,edit,group:runtime"));
	NOT_FOUND("exec_still_writes");
	SAY(TOOLS_DENY, tools_deny, LIST("group:fs"));
	SAY(WHEN, when, WHEN_ALL);
	SAY(WS_ACCESS, ws_access, ACCESS_RO);
	NOT_FOUND("exec_still_writes");
	SAY(WS_ACCESS, ws_access, ACCESS_RW);
	FOUND("exec_still_writes");
}

TEST(exec_that_must_be_sandboxed_while_nothing_is_is_told)
{
	struct agent *a;

	walls_reset();
	SAY(EXEC_HOST, exec_host, EXEC_HOST_SANDBOX);
	FOUND("exec_host_no_sandbox");
	SAY(WHEN, when, WHEN_ALL);
	NOT_FOUND("exec_host_no_sandbox");
	a = walls_agent("b");
	SAY_IN(a->over, WHEN, when, WHEN_OFF);
	FOUND("exec_host_no_sandbox");
	CHECK_STR(finding("exec_host_no_sandbox")->key, STR("agents.b.tools.exec.host"));
}

static void elevated(size_t n, struct str first)
{
	struct str *v = ARENA_ARRAY(&w.a, struct str, n);
	struct listmap_entry *e = ARENA_NEW(&w.a, struct listmap_entry);

	for (size_t i = 0; i < n; i++)
		v[i] = i ? STR("1") : first;
	*e = (struct listmap_entry){ .key = STR("telegram"),
				     .values = { .v = v, .n = n },
				     .origin = walls_file };
	SAY(ELEV_ALLOW, elev_allow, ((struct listmap){ .v = e, .n = 1 }));
}

TEST(elevated_for_everybody_or_for_many_is_told)
{
	walls_reset();
	elevated(1, STR(" * "));
	FOUND("elevated_wildcard");
	CHECK_STR(finding("elevated_wildcard")->key, STR("tools.elevated.allowFrom.telegram"));
	elevated(25, STR("1"));
	NOT_FOUND("elevated_large");
	elevated(26, STR("1"));
	FOUND("elevated_large");
}

TEST(elevated_for_nobody_is_noted)
{
	walls_reset();
	SAY(ELEV_ENABLED, elev_enabled, true);
	FOUND("elevated_nobody");
	elevated(1, STR("1"));
	NOT_FOUND("elevated_nobody");
}

/* --- S4 --- */

static struct tool_setting *per(const char *tool, enum enforce enforce)
{
	struct tool_setting *t = walls_per_tool(tool);

	t->has_enforce = true;
	t->enforce = enforce;
	t->template = STR("alpine:3.20");
	return t;
}

TEST(c9_require_with_provider_none_is_told)
{
	walls_reset();
	w.c.formats = 1u << FORMAT_OPENCLAW_NET;
	per("exec", ENFORCE_REQUIRE);
	FOUND("require_without_provider");
	w.c.base.when = WHEN_ALL;
	NOT_FOUND("require_without_provider"); /* it has a sandbox, of this host */
	w.c.base.when = WHEN_OFF;
	w.c.formats = 1u << FORMAT_CREEL;
	NOT_FOUND("require_without_provider");
}

TEST(s4_47_prefer_on_a_public_bind_is_told)
{
	walls_reset();
	per("exec", ENFORCE_PREFER);
	NOT_FOUND("prefer_public_bind");
	SAY(SERVE_BIND, serve_bind, STR("0.0.0.0:8080"));
	FOUND("prefer_public_bind");
	w.c.per_tool[0].enforce = ENFORCE_REQUIRE;
	NOT_FOUND("prefer_public_bind");
}

TEST(s4_47_a_profile_s_prefer_counts_once_there_is_a_provider)
{
	walls_reset();
	per("exec", ENFORCE_PREFER)->origin.kind = ORIGIN_PROFILE;
	SAY(SERVE_BIND, serve_bind, STR("0.0.0.0:8080"));
	NOT_FOUND("prefer_public_bind");
	SAY(OSB_PROVIDER, osb_provider, PROVIDER_OPENSANDBOX);
	FOUND("prefer_public_bind");
}

TEST(a_shell_on_the_host_behind_a_public_address_is_told)
{
	walls_reset();
	SAY(SERVE_BIND, serve_bind, STR("0.0.0.0:8080"));
	FOUND("local_shell_public");
	per("exec", ENFORCE_REQUIRE);
	NOT_FOUND("local_shell_public");
	w.c.formats = 1u << FORMAT_OPENCLAW_NET;
	FOUND("local_shell_public");
	SAY(WHEN, when, WHEN_ALL);
	NOT_FOUND("local_shell_public");
	SAY(WHEN, when, WHEN_OFF);
	SAY(SERVE_UNSAFE, serve_unsafe, true);
	NOT_FOUND("local_shell_public");
	FOUND("unsafe_public_bind");
}

TEST(c33_a_provider_that_is_not_built_in_is_an_error)
{
	walls_reset();
	SAY(OSB_PROVIDER, osb_provider, PROVIDER_OPENSANDBOX);
	FOUND("backend_not_built");
	assert_int_equal(finding("backend_not_built")->severity, SEVERITY_ERROR);
	FOUND("endpoint_missing");
	w.r.facts.opensandbox_built = true;
	SAY(OSB_ENDPOINT, osb_endpoint, STR("http://localhost:5000"));
	NOT_FOUND("backend_not_built");
	NOT_FOUND("endpoint_missing");
}

TEST(a_tool_of_s4_without_template_or_without_meaning_is_told)
{
	walls_reset();
	SAY(OSB_PROVIDER, osb_provider, PROVIDER_OPENSANDBOX);
	w.c.formats = 1u << FORMAT_OPENCLAW_NET;
	per("exec", ENFORCE_REQUIRE)->template = (struct str){ 0 };
	FOUND("template_missing");
	w.c.per_tool[0].enforce = ENFORCE_OFF;
	NOT_FOUND("template_missing");
	per("read", ENFORCE_REQUIRE);
	FOUND("per_tool_ignored");
	per("nonsense", ENFORCE_REQUIRE);
	FOUND("per_tool_unknown");
}

TEST(an_unknown_backend_in_the_order_is_an_error)
{
	walls_reset();
	SAY(BACKEND_ORDER, backend_order, LIST("native,Docker,podman,opensandbox"));
	NOT_FOUND("unknown_backend");
	SAY(BACKEND_ORDER, backend_order, LIST("native,docekr"));
	FOUND("unknown_backend");
}

TEST(an_unknown_backend_by_name_is_an_error_for_all_and_for_one_agent)
{
	struct agent *a;

	walls_reset();
	SAY(BACKEND_NAME, backend_name, STR(" Podman "));
	NOT_FOUND("unknown_backend");
	a = walls_agent("b");
	SAY_IN(a->over, BACKEND_NAME, backend_name, STR("ssh"));
	FOUND("unknown_backend");
	CHECK_STR(finding("unknown_backend")->key, STR("agents.b.backend.name"));
	assert_int_equal(finding("unknown_backend")->severity, SEVERITY_ERROR);
	SAY(BACKEND_NAME, backend_name, STR("nosuch"));
	check();
	assert_int_equal(count("unknown_backend"), 2);
}

TEST(a_raw_secret_on_a_public_bind_is_an_error_and_is_not_shown)
{
	struct token t = { .ref = { .kind = REF_RAW, .text = STR("hunter2") },
			   .origin = walls_file,
			   .n_pairs = 1 };

	walls_reset();
	SAY(OSB_API_KEY, osb_api_key, ((struct secret_ref){ .kind = REF_RAW, .text = STR("hunter2") }));
	NOT_FOUND("raw_secret_public");
	SAY(SERVE_GUARD, serve_guard, STR("0.0.0.0:18888"));
	FOUND("raw_secret_public");
	assert_int_equal(finding("raw_secret_public")->severity, SEVERITY_ERROR);
	FOUND("public_without_tls");
	SAY(SERVE_RAW, serve_raw, true);
	FOUND("raw_secret_public");
	assert_int_equal(finding("raw_secret_public")->severity, SEVERITY_WARN);
	w.c.base.osb_api_key.kind = REF_ENV;
	NOT_FOUND("raw_secret_public");
	w.c.tokens = &t;
	w.c.n_tokens = 1;
	FOUND("raw_secret_public");
}

TEST(d2_9_a_guard_that_can_be_reached_from_outside_needs_both_parts_of_tls)
{
	walls_reset();
	NOT_FOUND("public_without_tls");
	SAY(SERVE_GUARD, serve_guard, STR("0.0.0.0:18888"));
	FOUND("public_without_tls");
	assert_int_equal(finding("public_without_tls")->severity, SEVERITY_ERROR);
	SAY(SERVE_TLS_CERT, serve_tls_cert, STR("/c"));
	FOUND("tls_incomplete");
	SAY(SERVE_TLS_KEY, serve_tls_key, STR("/k"));
	NOT_FOUND("tls_incomplete");
	NOT_FOUND("public_without_tls");
	NOT_FOUND("public_address");
	SAY(SERVE_TLS_CERT, serve_tls_cert, STR(""));
	FOUND("tls_incomplete");
}

static const char *refusal(void)
{
	const struct diag *d;

	check();
	d = serve_refusal(&w.c, &found);
	return d ? d->code : "none";
}

TEST(s4_46_s4_47_what_is_unfit_for_strangers_is_not_served_to_them)
{
	struct tool_setting shell = { .tool = STR("exec"), .has_enforce = true, .enforce = ENFORCE_PREFER };

	walls_reset();
	SAY(OSB_API_KEY, osb_api_key, ((struct secret_ref){ .kind = REF_RAW, .text = STR("hunter2") }));
	w.c.per_tool = &shell;
	w.c.n_per_tool = 1;
	assert_string_equal(refusal(), "none"); /* on loopback all of it is the operator's own business */
	SAY(SERVE_BIND, serve_bind, STR("0.0.0.0:1"));
	assert_string_equal(refusal(), "none"); /* and another program's address is told of alone */
	SAY(SERVE_TLS_CERT, serve_tls_cert, STR("/c"));
	assert_string_equal(refusal(), "tls_incomplete");
	SAY(SERVE_TLS_KEY, serve_tls_key, STR("/k"));
	SAY(SERVE_GUARD, serve_guard, STR("[::]:18888"));
	assert_string_equal(refusal(), "prefer_public_bind");
	shell.enforce = ENFORCE_REQUIRE;
	assert_string_equal(refusal(), "raw_secret_public");
	SAY(SERVE_RAW, serve_raw, true);
	w.c.n_per_tool = 0;
	w.c.base.when = WHEN_OFF;
	w.c.base.trust_default = TRUST_NONE;
	assert_string_equal(refusal(), "local_shell_public");
	SAY(WHEN, when, WHEN_ALL);
	assert_string_equal(refusal(), "none");
	SAY(SERVE_TLS_CERT, serve_tls_cert, STR(""));
	SAY(SERVE_TLS_KEY, serve_tls_key, STR(""));
	assert_string_equal(refusal(), "public_without_tls");
}

/* --- binds --- */

TEST(a_bind_that_would_be_refused_is_an_error)
{
	static const struct {
		const char *bind, *code;
	} rows[] = {
		{ "/etc:/x:ro", "bind_blocked" },
		{ "rel:/x:ro", "bind_invalid" },
		{ "/srv/a", "bind_invalid" },
		{ "/srv/a:/workspace:ro", "bind_reserved_target" },
		{ "/var/run/docker.sock:/s", "bind_blocked" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		walls_reset();
		SAY(WHEN, when, WHEN_ALL);
		SAY(BINDS, binds, BINDS(rows[i].bind));
		FOUND(rows[i].code);
		assert_int_equal(finding(rows[i].code)->severity, SEVERITY_ERROR);
	}
}

TEST(s1_28_a_writable_bind_is_told_and_a_sensitive_one_by_its_own_word)
{
	walls_reset();
	SAY(WHEN, when, WHEN_ALL);
	SAY(BINDS, binds, BINDS("/srv/a:/a:rw", "/srv/.ssh:/s:rw", "/srv/b:/b", "/srv/c:/c:ro", " "));
	check();
	assert_int_equal(count("bind_rw_no_overlay"), 1);
	assert_int_equal(count("bind_sensitive_rw"), 1);
	assert_int_equal(count("bind_mode_missing"), 1);
	assert_int_equal(found.n, 3);
}

TEST(two_binds_of_one_target_are_told)
{
	struct agent *a;

	walls_reset();
	SAY(WHEN, when, WHEN_ALL);
	SAY(BINDS, binds, BINDS("/srv/a:/x:ro", "/srv/b:/x/:ro"));
	FOUND("bind_target_twice");
	walls_reset();
	SAY(WHEN, when, WHEN_ALL);
	SAY(BINDS, binds, BINDS("/srv/a:/x:ro"));
	a = walls_agent("main");
	SAY_IN(a->over, BINDS, binds, BINDS("/srv/b:/x:ro"));
	FOUND("bind_target_twice");
}

TEST(c32_a_bind_in_tier1_is_an_error)
{
	walls_reset();
	SAY(PROFILE, profile, PROFILE_TIER1);
	SAY(BROWSER_BINDS, browser_binds, BINDS("/srv/a:/x:ro"));
	FOUND("bind_forbidden_in_tier1");
}

TEST(c21_a_writable_vault_without_overlay_is_told)
{
	walls_reset();
	SAY(VAULT_ENABLED, vault_enabled, true);
	FOUND("vault_rw_no_overlay");
	SAY(WS_OVERLAY, ws_overlay, true);
	NOT_FOUND("vault_rw_no_overlay");
	SAY(WS_OVERLAY, ws_overlay, false);
	SAY(VAULT_ACCESS, vault_access, RW_RO);
	NOT_FOUND("vault_rw_no_overlay");
}

/* --- walls --- */

TEST(networks_that_would_be_refused_are_errors)
{
	static const struct {
		const char *name, *code;
	} rows[] = { { "HOST", "network_host_blocked" },
		     { "container:x", "network_join_blocked" },
		     { "a b", "network_name_invalid" } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		walls_reset();
		SAY(NET_PRIMARY, net_primary, str_z(rows[i].name));
		FOUND(rows[i].code);
		walls_reset();
		SAY(ROUTE_NETWORK, route_network, str_z(rows[i].name));
		FOUND(rows[i].code);
		walls_reset();
		SAY(BROWSER_NETWORK, browser_network, str_z(rows[i].name));
		FOUND(rows[i].code);
	}
	walls_reset();
	SAY(NET_JOIN, net_join, true);
	SAY(NET_PRIMARY, net_primary, STR("container:x"));
	FOUND("network_join");
	FOUND("dangerous_flag");
}

TEST(a_network_name_from_the_environment_is_not_shown)
{
	walls_reset();
	SAY(NET_PRIMARY, net_primary, STR("hunter2 x"));
	w.c.base.origin[OPT_NET_PRIMARY].raw = STR("${N}");
	FOUND("network_name_invalid");
}

TEST(s1_46_who_may_reach_the_browser_is_a_network)
{
	static const char *const good[] = { "172.21.0.1/32", "10.0.0.0/8", "::1", "fd00::/8", " ", "" };
	static const char *const bad[] = { "172.21.0.1/33", "10.0.0.1/8", "banana",
					   "172.21.0.1/32,10.0.0.0/8" };

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		walls_reset();
		SAY(WHEN, when, WHEN_ALL);
		SAY(BROWSER_CDP_RANGE, browser_cdp_range, str_z(good[i]));
		NOT_FOUND("cdp_range_invalid");
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		walls_reset();
		SAY(WHEN, when, WHEN_ALL);
		SAY(BROWSER_CDP_RANGE, browser_cdp_range, str_z(bad[i]));
		FOUND("cdp_range_invalid");
		assert_int_equal(finding("cdp_range_invalid")->severity, SEVERITY_ERROR);
	}
}

TEST(an_unconfined_profile_is_an_error)
{
	walls_reset();
	SAY(SECCOMP_PROFILE, seccomp_profile, STR(" Unconfined"));
	FOUND("profile_unconfined");
	walls_reset();
	SAY(APPARMOR_PROFILE, apparmor_profile, STR("unconfined"));
	FOUND("profile_unconfined");
}

TEST(s1_40_and_41_setup_that_cannot_work_is_told_with_the_fix)
{
	struct agent *a;

	walls_reset();
	SAY(WHEN, when, WHEN_ALL);
	SAY(SETUP_COMMAND, setup_command, STR("apt-get install -y python3"));
	FOUND("setup_needs_root");
	assert_true(memmem(finding("setup_needs_root")->fix.p, finding("setup_needs_root")->fix.n, "0:0", 3));
	FOUND("setup_readonly_root");
	FOUND("setup_no_network");
	a = walls_agent("b");
	check();
	assert_int_equal(count("setup_needs_root"), 1);
	SAY_IN(a->over, USER, user, STR("0:0"));
	SAY_IN(a->over, READONLY_ROOT, readonly_root, false);
	SAY_IN(a->over, NET_PRIMARY, net_primary, STR("bridge"));
	check();
	assert_int_equal(count("setup_needs_root"), 1);
	assert_int_equal(count("setup_readonly_root"), 1);
}

TEST(d3_7_route_lists_beside_a_primary_network_have_no_effect)
{
	walls_reset();
	SAY(WHEN, when, WHEN_ALL);
	SAY(ROUTE_EXEC, route_exec, LIST("gh"));
	NOT_FOUND("route_without_effect");
	SAY(NET_PRIMARY, net_primary, STR("bridge"));
	FOUND("route_without_effect");
	SAY(ROUTE_HOSTS, route_hosts, LIST("a/b"));
	FOUND("host_invalid");
}

TEST(limits_that_cannot_be_had_are_told)
{
	walls_reset();
	SAY(TIMEOUT_S, timeout_s, 90);
	SAY(TIMEOUT_MAX_S, timeout_max_s, 60);
	SAY(READ_BYTES, read_bytes, 10);
	SAY(READ_MAX, read_max, 5);
	FOUND("timeout_above_max");
	FOUND("read_above_max");
}

TEST(o04_a_wall_that_may_be_missing_is_told)
{
	static const struct str named[] = { STR("landlock") };

	walls_reset();
	SAY(WALLS_OPTIONAL, walls_optional, ((struct strs){ named, 1 }));
	FOUND("wall_optional");
	assert_int_equal(finding("wall_optional")->severity, SEVERITY_WARN);
}

TEST(sandbox_settings_while_nothing_is_sandboxed_are_told)
{
	struct agent *a;

	walls_reset();
	SAY(IMAGE, image, STR("x:1"));
	FOUND("sandbox_settings_unused");
	assert_int_equal(finding("sandbox_settings_unused")->severity,
			 SEVERITY_INFO); /* untrusted:* uses it */
	SAY(ATHENA_LITERAL, athena_literal, true);
	FOUND("sandbox_settings_unused");
	assert_int_equal(finding("sandbox_settings_unused")->severity, SEVERITY_WARN);
	SAY(ATHENA_LITERAL, athena_literal, false);
	w.c.formats = 1u << FORMAT_OPENCLAW;
	FOUND("sandbox_settings_unused");
	assert_int_equal(finding("sandbox_settings_unused")->severity, SEVERITY_WARN);
	walls_rule("untrusted:*", TRUST_DOCKER);
	NOT_FOUND("sandbox_settings_unused");
	walls_reset();
	SAY(IMAGE, image, STR("x:1"));
	a = walls_agent("b");
	SAY_IN(a->over, WHEN, when, WHEN_ALL);
	NOT_FOUND("sandbox_settings_unused");
	SAY_IN(a->over, WHEN, when, WHEN_OFF);
	SAY_IN(a->over, IMAGE, image, STR("y:1"));
	check();
	assert_int_equal(count("sandbox_settings_unused"), 2);
}

TEST(an_agent_s_container_settings_under_a_shared_scope_are_told)
{
	struct agent *a;

	walls_reset();
	SAY(WHEN, when, WHEN_ALL);
	SAY(SCOPE, scope, SCOPE_SHARED);
	a = walls_agent("b");
	SAY_IN(a->over, IMAGE, image, STR("y:1"));
	FOUND("shared_scope_ignores_agent");
	SAY_IN(a->over, SCOPE, scope, SCOPE_AGENT);
	NOT_FOUND("shared_scope_ignores_agent");
}

TEST(dangerous_flags_are_listed)
{
	walls_reset();
	SAY(WHEN, when, WHEN_ALL);
	SAY(BINDS_RESERVED, binds_reserved, true);
	SAY(BINDS_EXTERNAL, binds_external, true);
	SAY(NET_JOIN, net_join, false);
	check();
	assert_int_equal(count("dangerous_flag"), 2);
}

/* --- env --- */

TEST(a_secret_written_into_the_file_is_told_and_not_shown)
{
	walls_reset();
	SAY(ENV_SET, env_set, walls_env(STR("GH_TOKEN=hunter2,MODE=fast,EMPTY_TOKEN=")));
	SAY(ROUTE_ENV, route_env, walls_env(STR("X_API_KEY=hunter2")));
	check();
	assert_int_equal(count("env_literal_secret"), 2);
}

TEST(variables_that_are_kept_out_are_told)
{
	walls_reset();
	SAY(ENV_SET, env_set, walls_env(STR("LD_PRELOAD=x,CREEL_X=1")));
	check();
	assert_int_equal(count("env_kept_out"), 2);
	SAY(ENV_SET, env_set, walls_env(STR("1X=x")));
	FOUND("env_invalid");
}

TEST(a_secret_that_never_arrives_is_told)
{
	struct trust_rule *r;

	walls_reset();
	SAY(WHEN, when, WHEN_ALL);
	SAY(ENV_SET, env_set, walls_env(STR("GH_TOKEN=${GH_TOKEN}")));
	FOUND("env_never_delivered");
	SAY(ENV_SECRET_SCOPE, env_secret_scope, SECRET_SCOPE_BOTH);
	NOT_FOUND("env_never_delivered");
	SAY(ENV_SECRET_SCOPE, env_secret_scope, SECRET_SCOPE_NETWORK);
	SAY(ROUTE_EXEC, route_exec, LIST("gh"));
	NOT_FOUND("env_never_delivered");
	SAY(ROUTE_EXEC, route_exec, LIST(""));
	r = walls_rule("x:*", TRUST_NONE);
	SAY_IN(r->over, ROUTE_TOOLS, route_tools, LIST("web_fetch"));
	NOT_FOUND("env_never_delivered");
}

TEST(a_secret_for_a_trust_without_secrets_is_told)
{
	walls_reset();
	SAY(TRUST_DEFAULT, trust_default, TRUST_LIGHT);
	SAY(ENV_SECRETS, env_secrets, LIST("GH_TOKEN"));
	FOUND("env_never_delivered");
	SAY(TRUST_DEFAULT, trust_default, TRUST_NONE);
	NOT_FOUND("env_never_delivered");
}

/* --- identity --- */

TEST(a_token_for_every_pair_is_told_and_so_is_one_for_none)
{
	struct token t[2] = { { .all_pairs = true, .origin = walls_file }, { .origin = walls_file } };

	walls_reset();
	w.c.tokens = t;
	w.c.n_tokens = 2;
	FOUND("token_all_pairs");
	FOUND("token_without_pairs");
}

static void pairs(size_t n, struct pair *p)
{
	for (size_t i = 0; i < n; i++)
		p[i].origin = walls_file;
	walls_reset();
	w.c.pairs = p;
	w.c.n_pairs = n;
}

TEST(a_pair_that_nobody_filled_in_is_told)
{
	struct pair p[] = {
		{ .channel = STR("telegram"), .agent = STR("g-coder"), .chat_id = STR("TG_GROUP_CODER_ID") }
	};
	struct pair real[] = {
		{ .channel = STR("telegram"), .agent = STR("g-coder"), .chat_id = STR("-100123") }
	};

	pairs(1, p);
	FOUND("pair_placeholder");
	p[0].chat_id = STR("ChangeMe");
	FOUND("pair_placeholder");
	pairs(1, real);
	check();
	assert_int_equal(found.n, 0);
}

TEST(a_pair_that_no_caller_can_say_and_a_pair_twice_are_told)
{
	struct pair p[] = { { .channel = STR("telegram"), .agent = STR("G Coder"), .chat_id = STR("1") },
			    { .channel = STR("telegram"), .agent = STR("a"), .chat_id = STR("x/../y") },
			    { .channel = STR("telegram"), .agent = STR("a"), .chat_id = STR("7") },
			    { .channel = STR("telegram"), .agent = STR("a"), .chat_id = STR("7") } };

	pairs(4, p);
	check();
	assert_int_equal(count("pair_never_matches"), 2);
	assert_int_equal(count("pair_twice"), 1);
	walls_agent("b");
	check();
	assert_int_equal(count("pair_unknown_agent"), 4);
}

TEST(two_agents_in_one_directory_are_told)
{
	struct agent *a, *b;

	walls_reset();
	a = walls_agent("a");
	SAY_IN(a->over, WS_PATH, ws_path, STR("~/ws"));
	b = walls_agent("b");
	SAY_IN(b->over, WS_PATH, ws_path, STR("/home/u/ws/"));
	walls_agent("c");
	FOUND("agents_share_workspace");
	assert_int_equal(count("agents_share_workspace"), 1);
	SAY_IN(b->over, WS_PATH, ws_path, STR("/home/u/ws2"));
	NOT_FOUND("agents_share_workspace");
}

TEST(an_internal_host_has_to_be_readable_and_should_have_an_address)
{
	walls_reset();
	SAY(INTERNAL_HOSTS, internal_hosts, LIST("ollama:11434=127.0.0.1:11434"));
	NOT_FOUND("host_invalid");
	NOT_FOUND("internal_host_without_address");
	SAY(INTERNAL_HOSTS, internal_hosts, LIST("ollama"));
	FOUND("internal_host_without_address");
	CHECK_STR(finding("internal_host_without_address")->fix, STR("ollama:PORT=ADDRESS:PORT"));
	SAY(INTERNAL_HOSTS, internal_hosts, LIST("ollama:11434"));
	FOUND("internal_host_without_address");
	CHECK_STR(finding("internal_host_without_address")->fix, STR("ollama:11434=ADDRESS"));
	SAY(INTERNAL_HOSTS, internal_hosts, LIST("meta=169.254.169.254"));
	FOUND("host_invalid");
}

TEST_MAIN()
