/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shape of openclaw.json as tables: which keys an object has, which kinds of value stand behind each,
 * which words and ranges. The tables are the keys of OpenClaw 2026.9.6, plus, marked, the older and the
 * fork's spellings.
 */
#pragma once

#include "config/openclaw_priv.h"

#define K_BOOL (1u << VALUE_BOOL)
#define K_STR (1u << VALUE_STR)
#define K_ARR (1u << VALUE_ARR)
#define K_OBJ (1u << VALUE_OBJ)
#define K_INT (1u << VALUE_INT)
#define K_NUM (K_INT | 1u << VALUE_NUM)
#define K_NULL (1u << VALUE_NULL)
#define K_ANY 0u /* not looked at */

/* JavaScript's largest whole number. */
#define SAFE_INT 9007199254740991.0

/* What a table cannot say: one function for each, in openclaw_check.c. */
enum shape_check {
	CHECK_NONE = 0,
	CHECK_POLICY,    /* allow and alsoAllow exclude each other */
	CHECK_EXEC,      /* so do mode and security or ask */
	CHECK_SANDBOX,   /* networks that are not somebody else's */
	CHECK_BIND,      /* host:target with an absolute host */
	CHECK_PROFILE,   /* not unconfined */
	CHECK_AGENT,     /* an agent */
	CHECK_AGENT_IDS, /* the keys of the roster */
	CHECK_SECRET,    /* {source, provider, id} */
	CHECK_SEARCH,    /* tools.web.search */
	CHECK_EVERY,     /* a duration */
	CHECK_FROM,      /* HH:MM */
	CHECK_UNTIL,     /* HH:MM, or 24:00 */
	CHECK_AGE,       /* a duration, without unit days; or false */
	CHECK_BYTES,     /* bytes with a unit; or false */
	CHECK_GITHUB,    /* the form of a profile id */
	CHECK_CHANNELS,  /* known channels */
	CHECK_TRUE,      /* nothing but true */
	CHECK_FALSE,     /* a boolean is false */
	CHECK_MODELS,    /* the keys of a model map: what is exact, what a pattern */
	CHECK_BROADCAST, /* groups of agents */
	CHECK_BROWSER,   /* a profile of the browser */
	CHECK_EDGE,      /* headers that are not the transport's own */
	CHECK_ROLES,     /* the default role exists */
	CHECK_GATEWAY,   /* the portals' ingress is not the gateway's own */
	CHECK_MCP,       /* an MCP server */
	CHECK_PROVIDERS, /* model providers that nobody knows say where they are */
	CHECK_TALK,      /* the provider is one of providers */
	CHECK_ARCHIVE,   /* one of four numbers of minutes */
	CHECK_HOOKS,     /* a session that stays needs a key */
	CHECK_COUNT_
};

/* How a string is spelled: openclaw_text.c. */
enum shape_text {
	TEXT_ANY = 0,
	TEXT_COLOUR,
	TEXT_ACCENT,
	TEXT_VARIABLE,
	TEXT_ALIAS,
	TEXT_AGENT,
	TEXT_DASHED,
	TEXT_RUNTIME,
	TEXT_METRIC,
	TEXT_MOMENT,
	TEXT_PAYLOAD_KEY,
	TEXT_MODULE,
	TEXT_ISSUER,
	TEXT_HTTP_URL,
	TEXT_METADATA_URL,
	TEXT_ORIGIN,
	TEXT_PUBLIC_ORIGIN,
	TEXT_CATALOG_URL,
	TEXT_DOMAIN,
	TEXT_HOST,
	TEXT_MODEL,
	TEXT_ABSOLUTE,
	TEXT_ROOTED,
	TEXT_ANY_ABSOLUTE,
	TEXT_PROGRAM,
	TEXT_DURATION,
	TEXT_A_MINUTE,
	TEXT_SIZE,
	TEXT_TARGET,
	TEXT_TRIMMED,
	TEXT_FILLED,
	TEXT_NOT_BLANK,
	TEXT_ROLE,
	TEXT_HEADER,
	TEXT_REPOSITORY,
	TEXT_MEMORY_SLOT,
	TEXT_DIGITS,
	TEXT_URI,
	TEXT_WS_URL,
	TEXT_HTTP_PREFIX,
	TEXT_HTTPS,
	TEXT_HTTP_NO_LOGIN,
	TEXT_RELAY,
	TEXT_FEISHU,
	TEXT_EMAIL,
	TEXT_UUID,
	TEXT_ACCOUNT,
	TEXT_PEER,
	TEXT_HANDLE,
	TEXT_WAKE_NAME,
	TEXT_SOCKET,
	TEXT_FILE_NAME,
	TEXT_OPENAI_PROFILE,
	TEXT_SHELL_VARIABLE,
	TEXT_COUNT_
};
bool oc_text_ok(enum shape_text text, struct str s);
const char *oc_text_accepted(enum shape_text text);

struct shape_key;

struct shape {
	unsigned kinds : 16;     /* K_ bits; several: any of them */
	unsigned check : 8;      /* enum shape_check */
	unsigned min_len : 4;    /* of a string */
	bool above : 1;          /* `min` itself is too small */
	bool trim : 1;           /* blanks around a string do not count for min_len */
	bool part : 1;           /* documents mode looks only behind the keys that are marked READ */
	unsigned text : 6;       /* enum shape_text of a string */
	unsigned key_text : 6;   /* enum shape_text of the keys that are not in `keys` */
	unsigned max_len : 15;   /* of a string, as JavaScript counts; 0: any */
	unsigned min_items : 2;  /* of an array */
	unsigned max_items : 10; /* 0: any */
	bool below : 1;          /* keys marked KEY_TOP are none here, those marked KEY_BELOW are */
	bool open : 1;   /* documents mode leaves unknown keys alone, unless they look like a known one */
	double min, max; /* of a number, when min != max */
	const char *const *words;  /* a string is one of these; NULL: any */
	const struct shape *items; /* of an array */
	const struct shape
		*each; /* an object: what stands behind the keys that are not in `keys`; NULL: none do */
	const struct shape_key *keys;
	const struct shape *const *any; /* one of these fits; NULL ends them */
	const struct shape *same;       /* this one instead */
};

enum shape_flag {
	KEY_NEEDED = 1 << 0, /* must be there */
	KEY_READ = 1 << 1,   /* creel reads it: checked in documents mode too */
	KEY_OLD =
		1
		<< 2, /* of an older release: refused under compat; else a warning, `now` says the new name */
	KEY_OURS = 1 << 3,     /* of the fork with two networks: refused under compat */
	KEY_LIST = 1 << 4,     /* belongs to agents.list alone */
	KEY_ACCOUNTS = 1 << 5, /* a map of objects with the same keys as this one, `below` */
	KEY_TOP = 1 << 6,      /* not in such an object */
	KEY_BELOW = 1 << 7,    /* only in such an object */
};

struct shape_key {
	const char *name; /* NULL ends the table */
	struct shape v;
	unsigned flags;
	const char *now;
};

/* clang-format off */
#define WORDS_OF(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define IS_BOOL { .kinds = K_BOOL }
#define IS_STR { .kinds = K_STR }
#define IS_TEXT { .kinds = K_STR, .min_len = 1 }
#define IS_NAME { .kinds = K_STR, .min_len = 1, .trim = true }
#define IS_WORD(...) { .kinds = K_STR, .words = WORDS_OF(__VA_ARGS__) }
#define IS_INT(lo, hi) { .kinds = K_INT, .min = (lo), .max = (hi) }
#define IS_COUNT IS_INT(1, SAFE_INT)
#define IS_SIZE IS_INT(0, SAFE_INT)
#define IS_NUM(lo, hi) { .kinds = K_NUM, .min = (lo), .max = (hi) }
#define IS_ABOVE_0 { .kinds = K_NUM, .above = true, .min = 0, .max = HUGE_VAL }
#define IS_OBJ(table) { .kinds = K_OBJ, .keys = table }
#define IS_MAP(shape) { .kinds = K_OBJ, .each = &shape }
#define IS_LIST(shape) { .kinds = K_ARR, .items = &shape }
#define IS_SPELLED(how) { .kinds = K_STR, .text = (how) }
#define IS_SPELLED_NAME(how) { .kinds = K_STR, .min_len = 1, .trim = true, .text = (how) }
#define IS_TRUE { .kinds = K_BOOL, .check = CHECK_TRUE }
#define IS_NAMED_MAP(how, shape) { .kinds = K_OBJ, .each = &shape, .key_text = (how) }
#define IS_ANY { .kinds = K_ANY }
#define IS_ANY_OBJ { .kinds = K_OBJ, .each = &oc_any }
#define IS_SANDBOX { .kinds = K_OBJ, .keys = oc_sandbox_keys, .check = CHECK_SANDBOX }
#define IS_SECRET { .kinds = K_STR | K_OBJ, .keys = oc_secret_keys, .check = CHECK_SECRET }
/* clang-format on */

extern const struct shape oc_any, oc_str, oc_bool, oc_text, oc_name, oc_secret, oc_strs, oc_str_or_num,
	oc_root;
extern const struct shape_key oc_secret_keys[], oc_model_keys[];
extern const struct shape_key oc_sandbox_keys[];                      /* openclaw_keys_sandbox.c */
extern const struct shape_key oc_defaults_keys[], oc_agent_keys[];    /* openclaw_keys_agents.c */
extern const struct shape_key oc_tools_keys[], oc_agent_tools_keys[]; /* openclaw_keys_tools.c */
extern const struct shape_key oc_channels_keys[];                     /* openclaw_keys_chat.c */

/* openclaw_keys_app.c, openclaw_keys_gateway.c, openclaw_keys_models.c: looked at under compat alone */
extern const struct shape oc_one_access_groups, oc_one_surfaces;
extern const struct shape_key oc_meta_keys[], oc_wizard_keys[], oc_diagnostics_keys[], oc_logging_keys[],
	oc_update_keys[], oc_telemetry_keys[], oc_browser_keys[], oc_ui_keys[], oc_auth_keys[], oc_acp_keys[],
	oc_attachments_keys[], oc_messages_keys[], oc_tts_keys[], oc_commands_keys[], oc_approvals_keys[],
	oc_cron_keys[], oc_transcripts_keys[], oc_hooks_keys[], oc_discovery_keys[], oc_talk_keys[],
	oc_desktop_keys[], oc_gateway_keys[], oc_node_host_keys[], oc_security_keys[],
	oc_cloud_workers_keys[], oc_mcp_keys[], oc_proxy_keys[], oc_models_keys[], oc_secrets_keys[],
	oc_memory_keys[], oc_skills_keys[], oc_plugins_keys[];

typedef void shape_checker(struct oc *o, const struct value *v, const struct trail *t);
void oc_check_shape(struct oc *o, const struct shape *s, const struct value *v, const struct trail *t);
/* The check behind a shape; its types are right already. */
void oc_check_more(struct oc *o, enum shape_check check, const struct value *v, const struct trail *t);
/* openclaw_rules.c: those of them that look at parts of OpenClaw which creel does not read */
shape_checker oc_check_models, oc_check_broadcast, oc_check_browser, oc_check_edge, oc_check_roles,
	oc_check_gateway, oc_check_mcp, oc_check_providers, oc_check_talk, oc_check_hooks;

/* Digits with a fraction and ms, s, m, h or d, once without unit or several with; in milliseconds. */
bool oc_duration(struct str s, double unit_ms, double *ret_ms);
bool oc_size(struct str s);     /* digits with a fraction and b, k, kb, m, … tb */
bool oc_is_model(struct str s); /* provider/model */
bool oc_is_channel(struct str s, bool nocase);

/* openclaw_url.c */
struct oc_url {
	struct str scheme, host,
		rest; /* rest: path, query and fragment. Only scheme, for schemes without hosts */
	bool has_login;
};
bool oc_url_parse(struct str text, struct oc_url *ret);
bool oc_url_is_http(const struct oc_url *u);
bool oc_url_is_origin(const struct oc_url *u);
bool oc_url_is_local(const struct oc_url *u);
