/* SPDX-License-Identifier: Apache-2.0 */
/* What the services need beside each other: tokens, room to write, somebody who may call, a certificate. */
#include "server/survey/look.h"

#include "base/clock.h"
#include "identity/runner.h"
#include "identity/tokens.h"
#include "prepare/prepare.h"
#include "tls/tls.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define ROOM_LOW ((uint64_t)64 << 20)

/*
 * One that answers has a token from its environment, or it would not have started. Where none answers nobody may want them: who only runs
 * commands has no use for a failure.
 */
static enum survey_state without_token(const struct look *l, const struct health *h)
{
	bool wanted = l->guard.is_there || l->runner.is_there;

	return wanted && !h->is_there ? SURVEY_FAIL : SURVEY_WARN;
}

static void look_at_runner_token(struct look *l)
{
	_cleanup_close_ int dir = open(l->state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const char *value = environ_get(l->s->environ, RUNNER_TOKEN_VARIABLE);
	struct runner_token token = { 0 };
	struct err e = { 0 };

	if (dir >= 0 && runner_token_find(dir, l->state, value && value[0] ? value : NULL, &token, &e) >= 0)
		found(l, "runner-token", SURVEY_OK, "guard and runner have the token between them", NULL,
		      NULL);
	else if (dir < 0 || e.kind == ERR_NOTFOUND)
		found(l, "runner-token", without_token(l, &l->runner),
		      "there is no token between guard and runner", "without it neither starts",
		      command(l, "creel token new --runner"));
	else
		found_err(l, "runner-token", SURVEY_FAIL, "the token between guard and runner cannot be used",
			  &e);
	runner_token_wipe(&token);
}

/* For the first pair that may call; for all of them where we know of none. */
static const char *token_command(struct look *l)
{
	const struct config *c = &l->s->config;

	if (c->n_pairs == 0)
		return command(l, "creel token new --pairs '*'");
	return command(l, arena_printf(l->a, "creel token new --pairs '" STR_FMT ":" STR_FMT ":" STR_FMT "'",
				       STR_ALL(c->pairs[0].channel), STR_ALL(c->pairs[0].agent),
				       STR_ALL(c->pairs[0].chat_id))
				  .p);
}

static void look_at_callers(struct look *l)
{
	char dir[SERVICE_PATH_MAX + 16], text[128];
	_cleanup_(token_store_closep) struct token_store *store = NULL;
	const struct tokens *t = NULL;
	struct err e = { 0 };
	bool fixed = service_has_fixed_token(l->s, l->s->environ);
	size_t valid = 0;

	(void)snprintf(dir, sizeof(dir), "%s/tokens", l->state);
	if (access(dir, F_OK) == 0) {
		if (token_store_open(dir, &store, &e) < 0 || token_store_load(store, &e) < 0) {
			found_err(l, "tokens", SURVEY_FAIL, "the callers' tokens cannot be read", &e);
			return;
		}
		t = token_store_tokens(store);
	}
	for (size_t i = 0; t && i < t->n; i++)
		valid += token_state(&t->v[i], clock_unix_ms()) == TOKEN_VALID;
	(void)snprintf(text, sizeof(text), "%zu %s valid, of %zu%s", valid,
		       valid == 1 ? "token is" : "tokens are", t ? t->n : 0,
		       fixed ? "; the environment has another" : "");
	if (valid || fixed)
		found(l, "tokens", SURVEY_OK, text, NULL, NULL);
	else
		found(l, "tokens", without_token(l, &l->guard), text,
		      "nobody has one that the guard would accept", token_command(l));
}

void look_at_tokens(struct look *l)
{
	look_at_runner_token(l);
	look_at_callers(l);
}

/* A file without a name, so that nothing is left and nobody is disturbed. */
static int try_to_write(const char *dir)
{
	static const char block[4096];
	_cleanup_close_ int fd = open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	ssize_t n = fd < 0 ? -1 : write(fd, block, sizeof(block));

	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) /* a file system without such files */
		return access(dir, W_OK | X_OK) < 0 ? -errno : 0;
	if (n < 0 || fsync(fd) < 0)
		return -errno;
	return n == (ssize_t)sizeof(block) ? 0 : -ENOSPC;
}

static const char *fix_of(int fault)
{
	switch (-fault) {
	case ENOSPC:
	case EDQUOT:
		return "df -h: make room there";
	case EROFS:
		return "mount -o remount,rw that file system";
	default:
		return "chown and chmod 700 it for the user of the services";
	}
}

static void look_at_dir(struct look *l, const char *name, const char *what, const char *dir)
{
	char text[SERVICE_PATH_MAX + 64];
	struct statvfs room;
	struct err e = { 0 };
	int r = try_to_write(dir);

	(void)snprintf(text, sizeof(text), "%s '%s' %s", what, dir,
		       r < 0 ? "does not take what is written" : "takes what is written");
	if (r < 0) {
		(void)err_sys(&e, -r, "write a file there");
		found(l, name, SURVEY_FAIL, text, e.msg, fix_of(r));
	} else if (statvfs(dir, &room) == 0 && (uint64_t)room.f_bavail * room.f_frsize < ROOM_LOW) {
		found(l, name, SURVEY_WARN, text,
		      "there is less than 64 MiB left; a call that cannot be logged is refused",
		      fix_of(-ENOSPC));
	} else {
		found(l, name, SURVEY_OK, text, NULL, NULL);
	}
}

/* The log itself is opened and not touched. */
static void look_at_log(struct look *l, const char *dir)
{
	char path[SERVICE_PATH_MAX + 32];
	_cleanup_close_ int fd = FD_NONE;
	struct err e = { 0 };

	(void)snprintf(path, sizeof(path), "%s/" STATE_AUDIT_FILE, dir);
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 && errno != ENOENT) {
		(void)err_sys(&e, errno, "open '%s'", path);
		found(l, "audit", SURVEY_FAIL,
		      "the audit log does not take records, so that calls are refused", e.msg,
		      fix_of(-e.sys_errno));
		return;
	}
	look_at_dir(l, "audit", "the audit log's directory", dir);
}

void look_at_state(struct look *l)
{
	const struct state_dir d = { .said = l->s->args.state_dir,
				     .home = l->s->facts.home,
				     .environ = l->s->environ };
	char audit[SERVICE_PATH_MAX];
	struct err e = { 0 };

	if (access(l->state, F_OK) < 0)
		return; /* nothing was ever kept there, and it is made when it is needed */
	look_at_dir(l, "state", "the state directory", l->state);
	if (state_audit(&d, &l->s->config, false, audit, sizeof(audit), &e) < 0)
		found_err(l, "audit", SURVEY_FAIL, "the audit log has no place", &e);
	else if (access(audit, F_OK) == 0)
		look_at_log(l, audit);
}

/* What the guard that runs has counts; it may have been given another file than we were. */
void look_at_allowlist(struct look *l)
{
	const struct value *said = l->guard.is_there ? value_get(l->guard.said, STR("allowed_pairs")) : NULL;
	uint64_t n = said && said->kind == VALUE_INT ? (uint64_t)said->i : l->s->config.n_pairs;
	char text[96];

	(void)snprintf(text, sizeof(text), "%llu %s of agent and chat may call%s", (unsigned long long)n,
		       n == 1 ? "pair" : "pairs", said ? ", says the guard" : "");
	if (n)
		found(l, "allowlist", SURVEY_OK, text, NULL, NULL);
	else
		found(l, "allowlist", SURVEY_WARN, text, "every call is refused with 403",
		      "creel serve all -c allowlist:FILE, with {\"telegram\": [{\"agent\": ..., \"chat_id\": ...}]} in FILE");
}

/* The one that callers are shown may be older than the file. */
static void compare_shown(struct look *l, const struct tls_cert *c)
{
	const struct value *shown = l->guard.is_there ? value_path(l->guard.said, "tls.until") : NULL;
	char text[128];

	if (!shown || shown->kind != VALUE_STR || str_eq(shown->s, str_z(c->until)))
		return;
	(void)snprintf(text, sizeof(text),
		       "the guard shows a certificate that ends at %.*s, and the file has another",
		       (int)(shown->s.n < 40 ? shown->s.n : 40), shown->s.p);
	found(l, "tls-shown", SURVEY_WARN, text, "the file has changed since it was read",
	      "kill -HUP $(pidof creeld)");
}

void look_at_certificate(struct look *l)
{
	const struct settings *s = &l->s->config.base;
	char text[128];
	_cleanup_(tls_freep) struct tls *t = NULL;
	struct err e = { 0 };

	if (!s->serve_tls_cert.n || !s->serve_tls_key.n)
		return;
	if (tls_new(s->serve_tls_cert, s->serve_tls_key, &t, &e) < 0) {
		found_err(l, "tls", SURVEY_FAIL, "the guard's certificate cannot be used", &e);
		return;
	}
	(void)snprintf(text, sizeof(text), "the certificate is good until %s", tls_cert(t)->until);
	if (tls_cert(t)->until_s < clock_unix_ms() / 1000 + TLS_SOON_S)
		found(l, "tls", SURVEY_WARN, text, "it ends within 14 days, and callers refuse it then",
		      "renew it (certbot renew, or whoever made it), then kill -HUP $(pidof creeld)");
	else
		found(l, "tls", SURVEY_OK, text, NULL, NULL);
	compare_shown(l, tls_cert(t));
}
