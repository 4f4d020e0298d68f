/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/rule.h"
#include "policy/tooltables.h"

#define READ_ CAP_BIT(CAP_FS_READ)
#define WRITE_ CAP_BIT(CAP_FS_WRITE)
#define EXEC_ CAP_BIT(CAP_PROC_EXEC)
#define VCS_ CAP_BIT(CAP_VCS)
#define NET_ (CAP_BIT(CAP_NET) | CAP_BIT(CAP_NET_INTERNAL))
#define SECRETS_ CAP_BIT(CAP_SECRETS)
#define BROWSER_ CAP_BIT(CAP_BROWSER)
#define API_ CAP_BIT(CAP_API)

#define TOKEN_TOOLS 4

/* clang-format off */
static const struct token_row {
	const char *word;
	unsigned denies;                 /* as deny: the capabilities that go */
	unsigned allows;                 /* as allow: the capabilities that may stay */
	const char *tools[TOKEN_TOOLS];  /* as allow: the tools that may stay */
	const char *denies_tool;         /* as deny: a tool without a capability of its own */
} tokens[] = {
	{ "secrets",      SECRETS_, SECRETS_,     { "secrets" },                               NULL },
	{ "external_api", API_,     API_ | NET_,  { "web_fetch", "web_search", "external_api" }, NULL },
	{ "git_push",     0,        VCS_ | EXEC_, { "git", "git_push" },                       "git_push" },
	{ "git",          VCS_,     VCS_ | EXEC_, { "git", "git_push" },                       NULL },
	{ "bash",         EXEC_,    EXEC_,        { "exec", "process", "code_exec", "git" },   NULL },
	{ "read",         READ_,    READ_,        { "read" },                                  NULL },
	{ "edit",         WRITE_,   WRITE_,       { "edit", "apply_patch" },                   NULL },
	{ "write",        WRITE_,   WRITE_,       { "write" },                                 NULL },
	{ "search",       0,        READ_,        { "search" },                                "search" },
	{ "browser",      BROWSER_, BROWSER_,     { "browser" },                               NULL },
	{ "network",      NET_,     NET_ | API_,  { "network", "web_fetch", "web_search" },    NULL },
};
/* clang-format on */

static const struct token_row *token_find(struct str entry)
{
	struct str word = str_trim(entry);

	for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++)
		if (str_eq_nocase(str_z(tokens[i].word), word))
			return &tokens[i];
	return NULL;
}

static bool token_names(const struct token_row *t, struct str tool)
{
	for (size_t i = 0; i < TOKEN_TOOLS && t->tools[i]; i++)
		if (str_eq(str_z(t->tools[i]), tool))
			return true;
	return false;
}

/* What the tools that a plain entry covers need. */
static unsigned entry_needs(enum compat compat, struct str entry)
{
	const struct strs one = { .v = &entry, .n = 1 };
	unsigned needs = 0;

	for (size_t i = 0; i < tool_count(); i++)
		if (tool_list_has(compat, one, str_z(tool_at(i)->name), NULL))
			needs |= tool_at(i)->needs;
	return needs;
}

unsigned rule_caps(enum compat compat, const struct trust_rule *rule, unsigned caps)
{
	const struct token_row *t;
	unsigned allowed = 0;

	for (size_t i = 0; rule->has_deny && i < rule->deny.n; i++)
		if ((t = token_find(rule->deny.v[i])))
			caps &= ~t->denies;
	if (!rule->has_allow)
		return caps;
	for (size_t i = 0; i < rule->allow.n; i++) {
		t = token_find(rule->allow.v[i]);
		allowed |= t ? t->allows : entry_needs(compat, rule->allow.v[i]);
	}
	return caps & allowed;
}

static bool entry_denies(enum compat compat, struct str entry, struct str tool)
{
	const struct token_row *t = token_find(entry);

	if (t)
		return t->denies_tool && str_eq(str_z(t->denies_tool), tool);
	return tool_list_has(compat, (struct strs){ .v = &entry, .n = 1 }, tool, NULL);
}

static bool entry_allows(enum compat compat, struct str entry, struct str tool)
{
	const struct token_row *t = token_find(entry);

	return t ? token_names(t, tool)
		 : tool_list_has(compat, (struct strs){ .v = &entry, .n = 1 }, tool, NULL);
}

bool rule_leaves_tool(enum compat compat, const struct trust_rule *rule, struct str canonical,
		      struct str *ret_entry)
{
	*ret_entry = (struct str){ .p = "", .n = 0 };
	for (size_t i = 0; rule->has_deny && i < rule->deny.n; i++)
		if (entry_denies(compat, rule->deny.v[i], canonical)) {
			*ret_entry = rule->deny.v[i];
			return false;
		}
	if (!rule->has_allow)
		return true;
	for (size_t i = 0; i < rule->allow.n; i++)
		if (entry_allows(compat, rule->allow.v[i], canonical))
			return true;
	return false;
}

bool rule_denies_push(const struct trust_rule *rule)
{
	for (size_t i = 0; rule->has_deny && i < rule->deny.n; i++)
		if (str_eq_nocase(str_trim(rule->deny.v[i]), STR("git_push")))
			return true;
	return false;
}
