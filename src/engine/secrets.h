/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The values behind ${NAME}: from the file of env.secretsFile, then from the environment. Policy knows names alone; a value is looked up
 * here, for the variables that a decision gives, when the call is about to start, and wiped when it has.
 *
 * The file is NAME=value lines, mode 0600, ours, one name, no link; anything else is refused with what would put it right. What can be read in
 * two ways is refused, not guessed. Values lie in memory that is not dumped, not swapped where that is allowed, and wiped; they are in no
 * message, and go out through secrets_env() alone. secrets_teach() tells them to the redactor of the log.
 */
#pragma once

#include "audit/redact.h"
#include "base/arena.h"
#include "base/err.h"
#include "model/decision.h"

#define SECRETS_FILE_MAX ((size_t)1 << 20)
#define SECRETS_MAX 1024u

struct secret {
	struct str name, value;
	unsigned line;
};

struct secrets_opts {
	const char *file;     /* NULL or empty: none */
	bool optional;        /* a file that is not there holds nothing (a profile named it, not a person) */
	char *const *environ; /* borrowed; may be NULL */
};

struct secrets;
int secrets_open(const struct secrets_opts *o, struct secrets **ret, struct err *e);
struct secrets *secrets_free(struct secrets *s);
DEFINE_CLEANUP(secrets, secrets_free)

/* For struct facts: what is set, in the file or in the environment. */
int secrets_names(const struct secrets *s, struct arena *a, struct strs *ret, struct err *e);

/* NAME=value for a program, each ending in a NUL, the values of a decision filled in. */
struct secret_env {
	char **v; /* n, and a NULL */
	size_t n;
	void *memory;
	size_t size;
};
/* ERR_NOTFOUND names the variable that has no value any more. */
int secrets_env(const struct secrets *s, const struct decision *d, struct secret_env *ret, struct err *e);
void secret_env_wipe(struct secret_env *env);
#define _cleanup_secret_env_ _cleanup_(secret_env_wipe)

/* All values of the file, and of the environment those that the decision refers to. */
int secrets_teach(const struct secrets *s, const struct decision *d, struct redactor *r, struct err *e);

/*
 * NAME=value, NAME='value' (as it is), NAME="value" (\" \\ \$ \` stand for themselves); quoted values may span lines. Lines that begin with '#'
 * or ';' and empty ones are left out. Values are slices of `text`, which is changed. Errors read "name:line:column: what", and quote nothing.
 */
int secrets_parse(char *text, size_t n, const char *name, struct secret *v, size_t max, size_t *ret_n,
		  struct err *e);
