/* SPDX-License-Identifier: Apache-2.0 */
/* What policy makes of what the tools say they would run: the arguments as a caller sends them, to the verdict. */
#include "policy/world.h"

#include "data/json.h"
#include "tools/tool.h"

static void judge(struct world *w, const char *session, const char *tool, const char *args)
{
	struct tool_ask asked = { 0 };
	struct value v;

	assert_int_equal(json_parse(&w->a, str_z(args), &(struct json_opts){ .json5 = true }, &v, &w->e), 0);
	if (tools_ask(tools_find(str_z(tool)), &w->a, &v, &asked, &w->e) < 0)
		fail_msg("%s %s: %s", tool, args, w->e.msg);
	w->r.argv = asked.argv;
	w->r.command = asked.command;
	w->r.has_timeout = asked.has_timeout;
	w->r.timeout_s = asked.timeout_s;
	(void)ask_for(w, session, tool);
}

/* S0-12 and S0-13 as printed. */
static void clients_and_strangers(struct world *w)
{
	static struct trust_rule rules[2];

	rules[0] =
		(struct trust_rule){ .match = STR("client:*"),
				     .trust = TRUST_LIGHT,
				     .has_deny = true,
				     .deny = KEEP(w, STR("secrets"), STR("external_api"), STR("git_push")) };
	rules[1] = (struct trust_rule){ .match = STR("untrusted:*"),
					.trust = TRUST_DOCKER,
					.has_allow = true,
					.allow = KEEP(w, STR("bash"), STR("read"), STR("edit")),
					.has_deny = true,
					.deny = KEEP(w, STR("browser"), STR("network"), STR("git")) };
	w->c.rules = rules;
	w->c.n_rules = 2;
}

TEST(s0_12_a_push_is_refused_before_anything_runs_however_it_is_asked_for)
{
	static const char *const pushes[][2] = {
		{ "git", "{args: ['push', 'origin', 'main']}" },
		{ "git", "{command: 'push'}" },
		{ "git", "{command: 'git -C sub push --force'}" },
		{ "exec", "{command: 'git push'}" },
		{ "bash", "{command: 'make && git push origin'}" },
		{ "exec", "{command: ['git', 'push']}" },
		{ "code_exec", "{language: 'bash', code: 'git push'}" },
	};
	static const char *const fine[][2] = {
		{ "git", "{args: ['status']}" },
		{ "git", "{command: 'log -1 --format=%h'}" },
		{ "exec", "{command: 'git commit -m push'}" },
		{ "exec", "{command: 'make test'}" },
	};
	WORLD(w);

	clients_and_strangers(w);
	for (size_t i = 0; i < sizeof(pushes) / sizeof(pushes[0]); i++) {
		judge(w, "client:leon", pushes[i][0], pushes[i][1]);
		CHECK_DENY(w, CODE_CAPABILITY_DENIED);
		CHECK_STR(w->d.message, STR("Action 'git_push' denied in sandbox mode 'light'"));
	}
	for (size_t i = 0; i < sizeof(fine) / sizeof(fine[0]); i++) {
		judge(w, "client:leon", fine[i][0], fine[i][1]);
		CHECK_ALLOW(w);
	}
}

TEST(s0_13_strangers_have_no_git_and_have_commands)
{
	WORLD(w);

	clients_and_strangers(w);
	judge(w, "untrusted:pr", "git", "{args: ['status']}");
	CHECK_DENY(w, CODE_CAPABILITY_DENIED);
	judge(w, "untrusted:pr", "exec", "{command: 'git status'}");
	CHECK_DENY(w, CODE_CAPABILITY_DENIED);
	judge(w, "untrusted:pr", "exec", "{command: 'make test; echo $?'}");
	CHECK_ALLOW(w);
	CHECK_STR(w->d.tool.argv.v[0], STR("sh"));
	judge(w, "untrusted:pr", "code_exec", "{language: 'py', code: 'print(1)', session: true}");
	CHECK_ALLOW(w);
	CHECK_STR(w->d.tool.argv.v[0], STR("python3"));
}

TEST(the_git_tool_runs_nothing_else)
{
	static const char *const other[] = { "{command: 'status; rm -rf x'}", "{command: 'log | sh'}",
					     "{command: '$(reboot)'}" };
	WORLD(w);

	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		judge(w, "client:leon", "git", other[i]);
		CHECK_DENY(w, CODE_INVALID_CMD);
	}
}

TEST(a_timeout_is_what_policy_makes_of_it)
{
	WORLD(w);

	w->c.base.timeout_max_s = 100;
	judge(w, "main", "exec", "{command: 'true', timeout: 7}");
	assert_int_equal(w->d.limits.timeout_s, 7);
	judge(w, "main", "exec", "{command: 'true', timeout: 1e9}");
	assert_int_equal(w->d.limits.timeout_s, 100);
	judge(w, "main", "exec", "{command: 'true', timeout: 0.2}");
	assert_int_equal(w->d.limits.timeout_s, 1);
	judge(w, "main", "shell_exec", "{cmd: ['true'], timeout_s: 99}");
	assert_int_equal(w->d.limits.timeout_s, 60);
}

TEST_MAIN()
