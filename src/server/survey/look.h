/* SPDX-License-Identifier: Apache-2.0 */
/*
 * creel-survey: looks at the services of this user, for `creel doctor`. It is a program of its own, so that creel can stay small and without TLS. It
 * asks them what anybody may ask, reads what they would read, and changes nothing. An OpenSandbox service is asked with the key that is for it.
 */
#pragma once

#include "data/value.h"
#include "sandbox/survey.h"
#include "server/service.h"

/* What a service says of itself. */
struct health {
	bool is_there; /* it answered */
	bool is_tls;
	struct str address; /* where it was asked */
	struct err why;     /* it did not */
	const struct value *said;
};

struct look {
	struct service *s;
	struct arena *a;
	struct survey *found;
	char state[SERVICE_PATH_MAX], run[SERVICE_PATH_MAX]; /* directories, which may not be there */
	struct health guard, runner, egress;
	unsigned n_alive;
};

/* Adds a finding; the texts are copied. NULL where there is none. An error's "...; fix: ..." becomes cause and fix. */
void found(struct look *l, const char *name, enum survey_state state, const char *what, const char *cause,
	   const char *fix);
void found_err(struct look *l, const char *name, enum survey_state state, const char *what,
	       const struct err *e);

/* A command of ours, for the state directory that was said. */
const char *command(struct look *l, const char *text);

/* ask.c: each waits a few seconds at most. */
void ask_http(struct look *l, const char *address, bool tls, struct health *ret);
void ask_egress(struct look *l, const char *path, struct health *ret);

/* things.c */
void look_at_tokens(struct look *l);
void look_at_state(struct look *l);
void look_at_allowlist(struct look *l);
void look_at_certificate(struct look *l);

/* opensandbox.c: five seconds at most; nothing is asked while the provider is another. */
void look_at_opensandbox(struct look *l);
