/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the OpenClaw reader share: both modes, and files that lie in tests/data. */
#pragma once

#include "config/loading.h"

/* In documents mode. */
static inline int load_claw(struct loading *w, const char *text)
{
	loading_init(w);
	return load_text_as(w, "openclaw:openclaw.json", text);
}

/* As upstream 2026.9 does. */
static inline int load_compat(struct loading *w, const char *text)
{
	loading_init(w);
	w->in.compat = STR("openclaw-2026.9");
	return load_text_as(w, "openclaw:openclaw.json", text);
}

static inline int load_data(struct loading *w, const char *name)
{
	loading_init(w);
	w->files[0] = (struct config_source){
		.format = FORMAT_OPENCLAW,
		.path = arena_printf(&w->a, "%s/openclaw/%s", getenv("CREEL_TEST_DATA"), name),
	};
	w->in.files = w->files;
	w->in.n_files = 1;
	return load_it(w);
}

/* {agents:{defaults:{sandbox:{ ... }}}} */
static inline const char *in_sandbox(struct loading *w, const char *inside)
{
	struct str s = arena_printf(&w->a, "{agents:{defaults:{sandbox:{%s}}}}", inside);

	return s.p;
}

static inline bool was_told(struct loading *w, const char *text)
{
	return strstr(told(w), text) != NULL;
}

static inline const struct env_var *env_named(struct env_vars env, const char *name)
{
	for (size_t i = 0; i < env.n; i++)
		if (str_eq(env.v[i].name, str_z(name)))
			return &env.v[i];
	return NULL;
}

struct refusal {
	const char *text, *want;
};

/* Each is refused in documents mode with these words; with `both`, under compat too. */
static inline void check_refusals(const struct refusal *cases, size_t n, bool both)
{
	for (size_t i = 0; i < n; i++) {
		_cleanup_loading_ struct loading w, v;

		load_claw(&w, cases[i].text);
		CHECK_CASE(w.r < 0, "loads: %s", cases[i].text);
		CHECK_TOLD(&w, cases[i].want);
		load_compat(&v, cases[i].text);
		CHECK_CASE(!both || v.r < 0, "loads under compat: %s", cases[i].text);
	}
}
#define CHECK_REFUSALS(cases, both) check_refusals(cases, sizeof(cases) / sizeof((cases)[0]), both)
