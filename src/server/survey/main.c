/* SPDX-License-Identifier: Apache-2.0 */
/* creel-survey [options of the services]: prints {"findings": [...]}, empty where no service was ever set up and none is named. */
#include "server/survey/look.h"

#include "base/jsonw.h"
#include "model/settings.h"
#include "net/message.h"
#include "prepare/prepare.h"

#include <stdio.h>
#include <unistd.h>

#define LONGEST_S 30u

/* ---- what is found ---- */

static struct str copy(struct look *l, const char *text)
{
	return text ? arena_str(l->a, str_z(text)) : (struct str){ 0 };
}

void found(struct look *l, const char *name, enum survey_state state, const char *what, const char *cause,
	   const char *fix)
{
	if (l->found->n == SURVEY_MAX)
		return;
	l->found->v[l->found->n++] = (struct survey_item){ .name = name,
							   .state = state,
							   .found = copy(l, what),
							   .cause = copy(l, cause),
							   .fix = copy(l, fix) };
}

void found_err(struct look *l, const char *name, enum survey_state state, const char *what,
	       const struct err *e)
{
	static const char mark[] = "; fix: ";
	const char *fix = strstr(e->msg, mark);
	char cause[sizeof(e->msg)];

	(void)snprintf(cause, sizeof(cause), "%.*s", fix ? (int)(fix - e->msg) : (int)strlen(e->msg), e->msg);
	found(l, name, state, what, cause,
	      fix ? fix + sizeof(mark) - 1 : "see the cause; creeld all --check tries again");
}

const char *command(struct look *l, const char *text)
{
	struct str dir = l->s->args.state_dir;

	return dir.n ? arena_printf(l->a, "%s --state-dir '" STR_FMT "'", text, STR_ALL(dir)).p : text;
}

/* ---- the services ---- */

static bool is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

/* Somebody has said where they are, who may call, or has made tokens; or they run. */
static bool is_set_up(const struct look *l)
{
	static const enum option said[] = { OPT_SERVE_GUARD, OPT_SERVE_RUNNER, OPT_SERVE_TLS_CERT,
					    OPT_SERVE_TLS_KEY };
	static const char *const in_state[] = { "tokens/tokens.json", RUNNER_TOKEN_FILE };
	static const char *const in_run[] = { "runner.sock", EGRESS_SOCKET };
	const struct settings *s = &l->s->config.base;
	char path[2 * SERVICE_PATH_MAX];

	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++)
		if (s->has[said[i]] && s->origin[said[i]].kind != ORIGIN_BUILTIN &&
		    s->origin[said[i]].kind != ORIGIN_PROFILE)
			return true;
	for (size_t i = 0; i < 2; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", l->state, in_state[i]);
		if (is_there(path))
			return true;
		(void)snprintf(path, sizeof(path), "%s/%s", l->run, in_run[i]);
		if (is_there(path))
			return true;
	}
	return false;
}

/* Walls that it says do not hold; the network is open where it was told to reach something over TCP. */
static struct str missing_walls(struct look *l, const struct health *h, bool tcp)
{
	const struct value *walls = value_get(h->said, STR("walls"));
	struct str text = { 0 };

	if (!walls || walls->kind != VALUE_OBJ)
		return STR("all of them");
	for (size_t i = 0; i < walls->obj.n; i++) {
		const struct member *m = &walls->obj.m[i];

		if ((m->v.kind == VALUE_BOOL && m->v.b) || (tcp && str_eq(m->key, STR("network"))))
			continue;
		text = arena_printf(l->a, STR_FMT "%s" STR_FMT, STR_ALL(text), text.n ? ", " : "",
				    STR_ALL(m->key));
	}
	return text;
}

/* When none of them runs, nobody has started them; when one does, the others are missing. Egress is for calls that reach something. */
static void say_absent(struct look *l, const char *name, const struct health *h)
{
	bool is_needed = l->n_alive > 0 && h != &l->egress;
	char what[SERVICE_PATH_MAX + 64];

	(void)snprintf(what, sizeof(what), "does not answer at " STR_FMT, STR_ALL(h->address));
	found(l, name, is_needed ? SURVEY_FAIL : SURVEY_WARN, what, h->why.msg,
	      command(l, "creel serve all"));
}

static void say_of(struct look *l, const char *name, const struct health *h, bool has_walls, bool tcp)
{
	const struct value *v = h->is_there ? value_get(h->said, STR("version")) : NULL;
	struct str version = v && v->kind == VALUE_STR ? v->s : STR("unknown");
	struct str missing = { 0 };
	char what[SERVICE_PATH_MAX + 256];

	if (!h->is_there) {
		say_absent(l, name, h);
		return;
	}
	if (has_walls)
		missing = missing_walls(l, h, tcp);
	(void)snprintf(what, sizeof(what), "version %.*s answers at " STR_FMT "%s%s",
		       (int)(version.n < 64 ? version.n : 64), version.p, STR_ALL(h->address),
		       h->is_tls ? ", over TLS" : "", has_walls && !missing.n ? ", and its walls hold" : "");
	if (missing.n)
		found(l, name, SURVEY_FAIL, what,
		      arena_printf(l->a, "walls that do not hold: " STR_FMT, STR_ALL(missing)).p,
		      "creel serve all, after the other findings of creel doctor are put right");
	else if (!str_eq(version, STR(CREEL_VERSION)))
		found(l, name, SURVEY_WARN, what, "this is version " CREEL_VERSION " of creel",
		      "end creeld, and start it again with creel serve all");
	else
		found(l, name, SURVEY_OK, what, NULL, NULL);
}

/* Asked here: the guard may have been started before, or by somebody else. */
static void look_at_place(struct look *l, const char *address)
{
	struct err e = { 0 };
	bool sticky;

	if (service_check_place(address, &sticky, &e) < 0 && e.kind == ERR_DENIED)
		found_err(
			l, "runner-socket", SURVEY_FAIL,
			"another user could have put the runner's socket there, so that the guard does not ask it",
			&e);
}

static void look_at_services(struct look *l)
{
	const struct settings *s = &l->s->config.base;
	char guard[SERVICE_PATH_MAX], runner[SERVICE_PATH_MAX + 32], egress[SERVICE_PATH_MAX + 32];

	(void)snprintf(guard, sizeof(guard), STR_FMT, STR_ALL(s->serve_guard));
	(void)snprintf(egress, sizeof(egress), "%s/" EGRESS_SOCKET, l->run);
	if (s->serve_runner.n)
		(void)snprintf(runner, sizeof(runner), STR_FMT, STR_ALL(s->serve_runner));
	else
		(void)snprintf(runner, sizeof(runner), "unix:%s/runner.sock", l->run);
	ask_http(l, guard, s->serve_tls_cert.n > 0, &l->guard);
	ask_http(l, runner, false, &l->runner);
	ask_egress(l, egress, &l->egress);
	l->n_alive = (unsigned)l->guard.is_there + l->runner.is_there + l->egress.is_there;
	say_of(l, "guard", &l->guard, true, strncmp(runner, "unix:", 5) != 0);
	look_at_place(l, runner);
	say_of(l, "runner", &l->runner, false,
	       false); /* it starts programs: its walls are those of each sandbox */
	say_of(l, "egress", &l->egress, true, true);
}

/* ---- the program ---- */

static int find_places(struct look *l, struct err *e)
{
	const struct state_dir d = { .said = l->s->args.state_dir,
				     .home = l->s->facts.home,
				     .environ = l->s->environ };
	size_t n;

	if (state_path(&d, ".", ".", l->state, sizeof(l->state), e) < 0 ||
	    state_run_path(&d, ".", l->run, sizeof(l->run), e) < 0)
		return -1;
	/* "<state>/./." and "<run>/.", for people */
	for (n = strlen(l->state); n > 2 && strcmp(l->state + n - 2, "/.") == 0; n -= 2)
		l->state[n - 2] = '\0';
	for (n = strlen(l->run); n > 2 && strcmp(l->run + n - 2, "/.") == 0; n -= 2)
		l->run[n - 2] = '\0';
	return 0;
}

static void print(const struct survey *s)
{
	static const char *const words[] = { "fail", "warn", "ok" };
	_cleanup_buf_ struct buf out = { 0 };
	struct jsonw w;

	buf_init(&out, 1 << 20);
	jsonw_init(&w, &out, 0);
	jsonw_obj(&w);
	jsonw_karr(&w, "findings");
	for (size_t i = 0; i < s->n; i++) {
		jsonw_obj(&w);
		jsonw_kz(&w, "name", s->v[i].name);
		jsonw_kz(&w, "state", words[s->v[i].state]);
		jsonw_kstr(&w, "found", s->v[i].found);
		jsonw_kstr(&w, "cause", s->v[i].cause);
		jsonw_kstr(&w, "fix", s->v[i].fix);
		jsonw_obj_end(&w);
	}
	jsonw_arr_end(&w);
	jsonw_obj_end(&w);
	buf_putc(&out, '\n');
	(void)fd_write_all(STDOUT_FILENO, buf_str(&out));
}

int main(int argc, char **argv)
{
	static struct service s;
	static struct survey all;
	static struct look l;
	struct err e = { 0 };
	int r;

	(void)alarm(LONGEST_S); /* whatever answers there, and however slowly */
	r = service_begin(&s, "survey", argc, argv, &e);

	if (r > 0)
		return 0;
	l = (struct look){ .s = &s, .a = &s.arena, .found = &all };
	if (r >= 0)
		r = service_load(&s, &e);
	if (r >= 0)
		r = find_places(&l, &e);
	if (r >= 0 && is_set_up(&l)) {
		look_at_services(&l);
		look_at_tokens(&l);
		look_at_state(&l);
		look_at_allowlist(&l);
		look_at_certificate(&l);
	}
	if (r >= 0) {
		look_at_opensandbox(&l);
		print(&all);
	}
	return service_end(&s, r, &e);
}
