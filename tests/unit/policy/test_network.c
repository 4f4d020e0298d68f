/* SPDX-License-Identifier: Apache-2.0 */
#include "walls.h"

#define GROUP "agent:main:telegram:group:1"

static void sandbox_all(void)
{
	walls_reset();
	SAY(WHEN, when, WHEN_ALL);
	SAY(SBX_ALLOW, sbx_allow, LIST("*"));
	SAY(SBX_DENY, sbx_deny, LIST(""));
}

/* S3's two sandboxes. */
static void dual(void)
{
	sandbox_all();
	SAY(ROUTE_TOOLS, route_tools, LIST("web_fetch,web_search"));
	SAY(ROUTE_EXEC, route_exec, LIST("gh"));
}

static enum route route_of(const struct decision *d)
{
	CHECK_OK(d);
	return d->net.route;
}

/* --- names --- */

TEST(c6_network_host_is_refused_in_any_spelling)
{
	static const char *const words[] = { "host", "HOST", " host ", "Host\t" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		sandbox_all();
		SAY(NET_PRIMARY, net_primary, str_z(words[i]));
		CHECK_CODE(ask(GROUP, "exec"), CODE_NETWORK_HOST_BLOCKED);
		assert_true(has_fix(&w.d, "network.primary=bridge"));
	}
}

TEST(c6_nothing_overrides_the_refusal_of_network_host)
{
	sandbox_all();
	SAY(NET_PRIMARY, net_primary, STR("host"));
	SAY(NET_JOIN, net_join, true);
	CHECK_CODE(ask(GROUP, "read"), CODE_NETWORK_HOST_BLOCKED);
}

TEST(c6_the_network_sandbox_and_the_browser_cannot_have_the_host_s_network_either)
{
	dual();
	SAY(ROUTE_NETWORK, route_network, STR("host"));
	CHECK_CODE(ask_command(GROUP, "gh pr list"), CODE_NETWORK_HOST_BLOCKED);
	sandbox_all();
	SAY(BROWSER_NETWORK, browser_network, STR("HOST"));
	CHECK_CODE(ask(GROUP, "browser"), CODE_NETWORK_HOST_BLOCKED);
}

TEST(c7_joining_another_container_is_refused_by_default)
{
	static const char *const words[] = { "container:abc", " container:abc", "CONTAINER:abc",
					     "Container:" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		sandbox_all();
		SAY(NET_PRIMARY, net_primary, str_z(words[i]));
		CHECK_CODE(ask(GROUP, "exec"), CODE_NETWORK_JOIN_BLOCKED);
	}
}

TEST(c7_joining_another_container_needs_the_dangerous_flag_and_a_name)
{
	sandbox_all();
	SAY(NET_JOIN, net_join, true);
	SAY(NET_PRIMARY, net_primary, STR("container:abc"));
	assert_int_equal(route_of(ask(GROUP, "exec")), ROUTE_PRIMARY);
	CHECK_STR(w.d.net.network, STR("container:abc"));
	SAY(NET_PRIMARY, net_primary, STR("container:/proc/1"));
	CHECK_CODE(ask(GROUP, "exec"), CODE_NETWORK_NAME_INVALID);
}

TEST(a_network_has_a_name_or_is_none)
{
	static const char *const bad[] = { "ns:/proc/1/ns/net", "-x", ".x", "a b", "a/b", "a;b", "_x" };
	static const char *const good[] = { "bridge", "my-net_1.2", "openclaw_sandbox_net", "9net" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		sandbox_all();
		SAY(NET_PRIMARY, net_primary, str_z(bad[i]));
		CHECK_CODE(ask(GROUP, "exec"), CODE_NETWORK_NAME_INVALID);
	}
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		sandbox_all();
		SAY(NET_PRIMARY, net_primary, str_z(good[i]));
		assert_int_equal(route_of(ask(GROUP, "exec")), ROUTE_PRIMARY);
	}
	sandbox_all();
	SAY(NET_PRIMARY, net_primary, STR(""));
	assert_int_equal(route_of(ask(GROUP, "exec")), ROUTE_NONE);
}

TEST(a_network_name_from_the_environment_is_not_shown)
{
	sandbox_all();
	SAY(NET_PRIMARY, net_primary, STR("bad hunter2"));
	w.c.base.origin[OPT_NET_PRIMARY].raw = STR("${NET}");
	CHECK_CODE(ask(GROUP, "exec"), CODE_NETWORK_NAME_INVALID);
	assert_false(memmem(w.d.message.p, w.d.message.n, "hunter2", 7));
	assert_true(memmem(w.d.message.p, w.d.message.n, "${NET}", 6));
}

/* --- where nothing is reached --- */

TEST(s1_31_a_sandbox_has_no_network_by_default)
{
	sandbox_all();
	assert_int_equal(route_of(ask(GROUP, "exec")), ROUTE_NONE);
	CHECK_STR(w.d.net.network, STR("none"));
	assert_false(w.d.net.twin);
}

TEST(s1_32_bridge_is_a_network)
{
	sandbox_all();
	SAY(NET_PRIMARY, net_primary, STR("bridge"));
	assert_int_equal(route_of(ask(GROUP, "exec")), ROUTE_PRIMARY);
	CHECK_STR(w.d.net.network, STR("bridge"));
}

TEST(without_capability_net_nothing_is_reached_whatever_is_configured)
{
	dual();
	SAY(NET_PRIMARY, net_primary, STR("bridge"));
	assert_int_equal(route_of(ask("untrusted:x", "exec")), ROUTE_NONE);
	dual();
	assert_int_equal(route_of(ask_command("untrusted:x", "gh pr list")), ROUTE_NONE);
	assert_true(has_reason(&w.d, STAGE_NETWORK, "capability net is absent"));
}

TEST(on_the_host_the_network_is_the_host_s)
{
	walls_reset();
	assert_int_equal(route_of(ask("agent:main:main", "exec")), ROUTE_HOST);
	assert_false(has_warning(&w.d, "network_not_enforced"));
}

TEST(a_rule_that_takes_the_network_from_a_host_session_is_told_to_be_without_effect)
{
	struct trust_rule *r;

	walls_reset();
	r = walls_rule("x:*", TRUST_NONE);
	r->has_deny = true;
	r->deny = LIST("network");
	assert_int_equal(route_of(ask("x:1", "exec")), ROUTE_HOST);
	assert_true(has_warning(&w.d, "network_not_enforced"));
}

/* --- the two sandboxes --- */

TEST(s3_30_a_listed_program_goes_to_the_network_sandbox)
{
	dual();
	assert_int_equal(route_of(ask_command(GROUP, "gh pr create --title \"Fix bug\"")), ROUTE_NETWORK);
	CHECK_STR(w.d.net.network, STR("bridge"));
	assert_true(w.d.net.twin);
	CHECK_STR(w.d.tool.argv.v[0], STR("gh"));
	assert_false(w.d.tool.shell);
}

TEST(s3_31_a_tool_that_is_not_listed_stays_isolated)
{
	dual();
	assert_int_equal(route_of(ask(GROUP, "read")), ROUTE_NONE);
	assert_true(w.d.net.twin);
	assert_int_equal(route_of(ask_command(GROUP, "ls -l")), ROUTE_NONE);
}

TEST(s3_27_a_listed_tool_goes_to_the_network_sandbox_by_name_alias_glob_or_group)
{
	static const char *const lists[] = { "web_fetch", "WEB_FETCH", "web_*", "group:web",
					     "read,web_fetch" };

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		sandbox_all();
		SAY(ROUTE_TOOLS, route_tools, walls_list(str_z(lists[i])));
		CHECK_CASE(route_of(ask(GROUP, "web_fetch")) == ROUTE_NETWORK, "list %s", lists[i]);
	}
	sandbox_all();
	SAY(ROUTE_TOOLS, route_tools, LIST("bash"));
	assert_int_equal(route_of(ask_command(GROUP, "ls; curl x")), ROUTE_NETWORK);
}

TEST(c22_a_tool_is_routed_alike_under_all_of_its_names)
{
	static const char *const names[] = { "exec", "bash", "shell", "shell_exec", "execute", "EXEC" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		dual();
		w.r.command = STR("gh pr list");
		CHECK_CASE(route_of(ask(GROUP, names[i])) == ROUTE_NETWORK, "%s", names[i]);
		CHECK_STR(w.d.tool.name, STR("exec"));
	}
}

TEST(c23_a_line_for_a_shell_is_run_by_one_inside_the_sandbox)
{
	dual();
	CHECK_OK(ask_command(GROUP, "ls | wc -l"));
	assert_true(w.d.tool.shell);
	assert_int_equal(w.d.place.place, PLACE_CONTAINER);
	assert_int_equal(w.d.tool.argv.n, 3);
	CHECK_STR(w.d.tool.argv.v[2], STR("ls | wc -l"));
	SAY(SHELLS, shells, SHELLS_DENY);
	CHECK_CODE(ask_command(GROUP, "ls | wc -l"), CODE_SHELL_DENIED);
	CHECK_OK(ask_command(GROUP, "ls -l"));
}

TEST(d3_1_a_line_with_a_second_command_stays_isolated)
{
	static const char *const lines[] = { "gh x; curl y",  "gh --version; curl https://evil.example",
					     "gh x | curl y", "gh x && curl y",
					     "gh $(curl y)",  "GH_TOKEN=x gh y",
					     "env gh x",      "sh -c 'gh x'",
					     "gh x\ncurl y" };

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		dual();
		CHECK_CASE(route_of(ask_command(GROUP, lines[i])) == ROUTE_NONE, "line: %s", lines[i]);
	}
}

TEST(d3_1_a_line_for_a_shell_is_not_the_program_sh)
{
	dual();
	SAY(ROUTE_EXEC, route_exec, LIST("sh"));
	assert_int_equal(route_of(ask_command(GROUP, "ls; curl y")), ROUTE_NONE);
	SAY(ROUTE_EXEC, route_exec, LIST("*"));
	assert_int_equal(route_of(ask_command(GROUP, "ls; curl y")), ROUTE_NONE);
	assert_int_equal(route_of(ask_command(GROUP, "ls -l")), ROUTE_NETWORK);
}

TEST(d3_2_either_list_alone_makes_the_network_sandbox)
{
	sandbox_all();
	SAY(ROUTE_EXEC, route_exec, LIST("gh"));
	assert_int_equal(route_of(ask_command(GROUP, "gh api")), ROUTE_NETWORK);
	assert_true(w.d.net.twin);
	sandbox_all();
	SAY(ROUTE_TOOLS, route_tools, LIST("web_fetch"));
	assert_int_equal(route_of(ask(GROUP, "web_fetch")), ROUTE_NETWORK);
	assert_true(w.d.net.twin);
}

TEST(s3_50_with_both_lists_empty_there_is_one_air_gapped_sandbox)
{
	sandbox_all();
	SAY(ROUTE_TOOLS, route_tools, LIST(""));
	SAY(ROUTE_EXEC, route_exec, LIST(""));
	assert_int_equal(route_of(ask_command(GROUP, "gh api")), ROUTE_NONE);
	assert_false(w.d.net.twin);
}

TEST(s3_49_d3_7_with_a_primary_network_there_is_one_sandbox_and_the_lists_say_nothing)
{
	dual();
	SAY(NET_PRIMARY, net_primary, STR("bridge"));
	assert_int_equal(route_of(ask_command(GROUP, "gh api")), ROUTE_PRIMARY);
	assert_false(w.d.net.twin);
	CHECK_STR(w.d.place.key, STR(GROUP));
	assert_int_equal(route_of(ask_command(GROUP, "ls")), ROUTE_PRIMARY);
}

TEST(a_program_matches_exactly_as_written)
{
	static const char *const no[] = { "/usr/bin/gh x", "GH x", "ghx", "./gh x", "gh-extra" };

	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
		dual();
		CHECK_CASE(route_of(ask_command(GROUP, no[i])) == ROUTE_NONE, "%s", no[i]);
	}
	dual();
	SAY(ROUTE_EXEC, route_exec, LIST("/usr/bin/gh, npm ,gh-*"));
	assert_int_equal(route_of(ask_command(GROUP, "/usr/bin/gh x")), ROUTE_NETWORK);
	assert_int_equal(route_of(ask_command(GROUP, "npm ci")), ROUTE_NETWORK);
	assert_int_equal(route_of(ask_command(GROUP, "gh-extra")), ROUTE_NETWORK);
	assert_int_equal(route_of(ask_command(GROUP, "gh x")), ROUTE_NONE);
}

TEST(words_of_an_argv_are_routed_like_a_simple_command)
{
	dual();
	assert_int_equal(route_of(ask_argv(GROUP, "gh pr list")), ROUTE_NETWORK);
	dual();
	assert_int_equal(route_of(ask_argv(GROUP, "sh -c gh")), ROUTE_NONE);
}

TEST(c16_the_network_sandbox_has_a_key_of_its_own)
{
	dual();
	CHECK_STR(ask_command(GROUP, "gh x")->place.key, STR(GROUP "-net"));
	SAY(SCOPE, scope, SCOPE_SHARED);
	CHECK_STR(ask_command(GROUP, "gh x")->place.key, STR("shared-net"));
	CHECK_STR(ask_command(GROUP, "ls")->place.key, STR("shared"));
}

TEST(the_network_sandbox_is_read_only_and_without_capabilities_whatever_is_configured)
{
	dual();
	SAY(READONLY_ROOT, readonly_root, false);
	SAY(CAP_DROP, cap_drop, LIST("NET_RAW"));
	(void)route_of(ask_command(GROUP, "gh x"));
	assert_true(w.d.eff.readonly_root);
	assert_int_equal(w.d.eff.cap_drop.n, 1);
	CHECK_STR(w.d.eff.cap_drop.v[0], STR("ALL"));
	(void)route_of(ask_command(GROUP, "ls"));
	assert_false(w.d.eff.readonly_root);
	CHECK_STR(w.d.eff.cap_drop.v[0], STR("NET_RAW"));
}

TEST(a_network_sandbox_with_network_none_is_no_route)
{
	dual();
	SAY(ROUTE_NETWORK, route_network, STR("none"));
	assert_int_equal(route_of(ask_command(GROUP, "gh x")), ROUTE_NONE);
	CHECK_STR(w.d.place.key, STR(GROUP));
}

/* --- hosts --- */

TEST(c24_with_a_host_list_the_destination_decides)
{
	dual();
	SAY(ROUTE_HOSTS, route_hosts, LIST("api.github.com,*.example.com:8443"));
	assert_int_equal(route_of(ask_command(GROUP, "gh x")), ROUTE_HOSTS);
	assert_true(w.d.net.has_hosts);
	assert_int_equal(w.d.net.hosts.n, 2);
	assert_int_equal(route_of(ask_command(GROUP, "curl https://api.github.com")), ROUTE_NONE);
}

TEST(c24_a_host_list_that_is_set_and_empty_lets_no_host_through)
{
	dual();
	SAY(ROUTE_HOSTS, route_hosts, LIST(""));
	assert_int_equal(route_of(ask_command(GROUP, "gh x")), ROUTE_NONE);
	CHECK_STR(w.d.net.network, STR("none"));
	assert_true(w.d.net.has_hosts);
}

TEST(c24_a_host_list_holds_for_a_primary_network_too)
{
	sandbox_all();
	SAY(NET_PRIMARY, net_primary, STR("bridge"));
	SAY(ROUTE_HOSTS, route_hosts, LIST("a.example"));
	assert_int_equal(route_of(ask(GROUP, "exec")), ROUTE_HOSTS);
}

TEST(a_host_list_with_something_else_in_it_is_refused)
{
	dual();
	SAY(ROUTE_HOSTS, route_hosts, LIST("a.example,http://b.example"));
	CHECK_CODE(ask_command(GROUP, "gh x"), CODE_HOST_NOT_ALLOWED);
}

/* --- browser --- */

TEST(c28_the_browser_has_a_network_of_its_own_beside_primary_none)
{
	sandbox_all();
	assert_int_equal(route_of(ask(GROUP, "browser")), ROUTE_BROWSER);
	CHECK_STR(w.d.net.network, STR("openclaw-sandbox-browser"));
	SAY(BROWSER_NETWORK, browser_network, STR("none"));
	assert_int_equal(route_of(ask(GROUP, "browser")), ROUTE_NONE);
}

TEST(c11_under_light_the_browser_starts_without_network)
{
	walls_reset();
	SAY(SBX_ALLOW, sbx_allow, LIST("*"));
	SAY(SBX_DENY, sbx_deny, LIST(""));
	assert_int_equal(route_of(ask("client:leon", "browser")), ROUTE_NONE);
	assert_true(has_reason(&w.d, STAGE_NETWORK, "sees loopback alone"));
}

static struct trust_rule *rule_with_hosts(const char *match, enum trust trust, const char *hosts)
{
	struct trust_rule *r = walls_rule(match, trust);

	SAY_IN(r->over, ROUTE_HOSTS, route_hosts, walls_list(str_z(hosts)));
	return r;
}

TEST(c11_a_rule_may_add_hosts_for_the_browser)
{
	walls_reset();
	SAY(SBX_ALLOW, sbx_allow, LIST("*"));
	SAY(SBX_DENY, sbx_deny, LIST(""));
	rule_with_hosts("client:*", TRUST_LIGHT, "docs.example");
	assert_int_equal(route_of(ask("client:leon", "browser")), ROUTE_HOSTS);
	CHECK_STR(w.d.net.hosts.v[0], STR("docs.example"));
	assert_int_equal(route_of(ask("client:leon", "exec")), ROUTE_NONE);
}

TEST(c11_hosts_of_the_base_are_not_hosts_of_a_rule)
{
	walls_reset();
	SAY(SBX_ALLOW, sbx_allow, LIST("*"));
	SAY(SBX_DENY, sbx_deny, LIST(""));
	SAY(ROUTE_HOSTS, route_hosts, LIST("docs.example"));
	(void)walls_rule("client:*", TRUST_LIGHT);
	assert_int_equal(route_of(ask("client:leon", "browser")), ROUTE_NONE);
}

TEST(a_rule_may_open_a_narrow_route_for_one_program)
{
	struct trust_rule *r;

	walls_reset();
	r = rule_with_hosts("untrusted:*", TRUST_DOCKER, "packages.example");
	SAY_IN(r->over, ROUTE_EXEC, route_exec, LIST("npm"));
	assert_int_equal(route_of(ask_command("untrusted:pr-1", "npm ci")), ROUTE_HOSTS);
	CHECK_STR(w.d.place.key, STR("untrusted:pr-1-net"));
	assert_int_equal(route_of(ask_command("untrusted:pr-1", "node x")), ROUTE_NONE);
}

TEST(deny_network_in_a_rule_beats_the_hosts_it_adds)
{
	struct trust_rule *r;

	walls_reset();
	r = rule_with_hosts("untrusted:*", TRUST_DOCKER, "packages.example");
	SAY_IN(r->over, ROUTE_EXEC, route_exec, LIST("npm"));
	r->has_deny = true;
	r->deny = LIST(" Network ");
	assert_int_equal(route_of(ask_command("untrusted:pr-1", "npm ci")), ROUTE_NONE);
}

TEST(a_rule_that_adds_no_host_adds_nothing)
{
	struct trust_rule *r;

	walls_reset();
	r = rule_with_hosts("untrusted:*", TRUST_DOCKER, "");
	SAY_IN(r->over, ROUTE_EXEC, route_exec, LIST("npm"));
	assert_int_equal(route_of(ask_command("untrusted:pr-1", "npm ci")), ROUTE_NONE);
}

/* --- tier 1 --- */

static void tier1(void)
{
	sandbox_all();
	SAY(PROFILE, profile, PROFILE_TIER1);
	SAY(INTERNAL_HOSTS, internal_hosts, LIST("ollama,rag-service"));
	SAY(ROUTE_EXEC, route_exec, LIST("python3,curl"));
	SAY(NET_PRIMARY, net_primary, STR("bridge"));
}

TEST(s2_18_curl_to_a_listed_host_gets_the_internal_network_and_that_host_alone)
{
	tier1();
	assert_int_equal(route_of(ask_argv(GROUP, "curl -fsS -m 5 http://ollama:11434/api/tags")),
			 ROUTE_INTERNAL);
	CHECK_STR(w.d.net.network, STR("openclaw_sandbox_net"));
	assert_true(w.d.net.has_hosts);
	assert_int_equal(w.d.net.hosts.n, 1);
	CHECK_STR(w.d.net.hosts.v[0], STR("ollama:11434"));
	assert_int_equal(w.d.net.n_dests, 1);
	assert_int_equal(w.d.net.dests[0].addr.n, 0); /* nobody has said where it is, and nobody is asked */
}

TEST(s2_19_the_address_of_an_internal_host_is_the_one_that_was_configured)
{
	tier1();
	SAY(INTERNAL_HOSTS, internal_hosts,
	    LIST("ollama,ollama:11434=127.0.0.1:9000,rag=10.0.0.7,web:443=[fd00::1]:8443"));
	assert_int_equal(route_of(ask_argv(GROUP, "curl http://ollama:11434/ http://RAG./x https://web/")),
			 ROUTE_INTERNAL);
	assert_int_equal(w.d.net.n_dests, 3);
	CHECK_STR(w.d.net.hosts.v[0], STR("ollama:11434"));
	CHECK_STR(w.d.net.hosts.v[1], STR("rag:80"));
	CHECK_STR(w.d.net.hosts.v[2], STR("web:443"));
	assert_int_equal(w.d.net.dests[0].addr_port, 9000);
	assert_memory_equal(w.d.net.dests[0].addr.bytes, "\x7f\0\0\1", 4);
	assert_int_equal(w.d.net.dests[1].addr_port, 80);
	assert_memory_equal(w.d.net.dests[1].addr.bytes, "\x0a\0\0\7", 4);
	assert_int_equal(w.d.net.dests[2].addr_port, 8443);
	assert_int_equal(w.d.net.dests[2].addr.n, 16);
}

static struct str variable(const char *name)
{
	for (size_t i = 0; i < w.d.n_env; i++)
		if (str_eq(w.d.env[i].name, str_z(name)))
			return w.d.env[i].value;
	return STR("(unset)");
}

TEST(only_the_internal_route_gets_the_variables_of_the_proxy_and_nothing_overrides_them)
{
	static const struct env_var own[] = {
		{ .name = { "http_proxy", 10 }, .kind = ENV_LITERAL, .value = { "http://evil", 11 } }
	};

	tier1();
	w.c.base.env_set = (struct env_vars){ .v = own, .n = 1 };
	assert_int_equal(route_of(ask_argv(GROUP, "curl http://ollama/")), ROUTE_INTERNAL);
	CHECK_STR(variable("http_proxy"), STR(PROXY_URL));
	CHECK_STR(variable("HTTPS_PROXY"), STR(PROXY_URL));
	CHECK_STR(variable("no_proxy"), STR(""));
	w.c.base.env_set = (struct env_vars){ 0 };
	assert_int_equal(route_of(ask_argv(GROUP, "python3 x.py")), ROUTE_NONE);
	CHECK_STR(variable("http_proxy"), STR("(unset)"));
}

TEST(s2_17_every_other_tier1_call_reaches_nothing)
{
	tier1();
	assert_int_equal(route_of(ask_argv(GROUP, "python3 x.py")), ROUTE_NONE);
	w.r.argv = (struct strs){ 0 };
	assert_int_equal(route_of(ask(GROUP, "read")), ROUTE_NONE);
}

TEST(tier1_curl_without_capability_net_internal_reaches_nothing)
{
	struct trust_rule *r;

	tier1();
	r = walls_rule("agent:*", TRUST_NONE);
	r->has_deny = true;
	r->deny = LIST("network");
	assert_int_equal(route_of(ask_argv(GROUP, "curl http://ollama/")), ROUTE_NONE);
}

TEST(the_internal_network_is_checked_like_any_other)
{
	tier1();
	SAY(INTERNAL_NAME, internal_name, STR("host"));
	CHECK_CODE(ask_argv(GROUP, "curl http://ollama/"), CODE_NETWORK_HOST_BLOCKED);
}

TEST_MAIN()
