/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One value on its way into the settings: what the setters of the different types share.
 */
#pragma once

#include "config/config_priv.h"

#define LIST_MAX 4096 /* entries of one list or map */

struct set {
	struct load *l;
	struct settings *s;
	enum option id;
	const struct option_info *info;
	const struct value *v;
	const struct at *at;
};

/* Turns `-e key=value` text into the value that a file would have held. False after adding an error. */
bool set_from_text(const struct set *t, struct value *ret);

/* A string without NUL; anything else is an error at `v`. */
bool set_text(struct load *l, const struct at *at, const struct value *v, struct str *ret);
/* An array of such strings (and of numbers, as text, when asked for). */
bool set_texts(struct load *l, const struct at *at, const struct value *v, bool numbers_too,
	       struct strs *ret);

/* "expected X", X being a phrase with the accepted values. Always false. */
bool set_wrong_type(struct load *l, const struct at *at, const struct value *v, const char *expected);
bool set_too_many(struct load *l, const struct at *at, const struct value *v, size_t n);

void set_done(const struct set *t);

/* For a list or object in which some text came from the environment: all of it as it was written. Else empty. */
struct str set_raw_json(struct load *l, const struct value *v);

/* set_map.c */
bool set_map(const struct set *t);
bool set_env(const struct set *t);
bool set_listmap(const struct set *t);
bool set_layers(const struct set *t);
bool set_binds(const struct set *t);

/* check.c: what the table cannot say about a value: names of backends, addresses, variables. */
bool check_text(const struct set *t, struct str text, const struct value *v, const struct at *at);
