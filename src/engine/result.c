/* SPDX-License-Identifier: Apache-2.0 */
/* The envelope of a result: libcreel(3) has its members. Always valid JSON and UTF-8: the writer sees to that. */
#include "engine/engine_priv.h"

#include "base/clock.h"
#include "model/denial.h"

#include <string.h>

#define RESULT_USUAL 960u /* without the tool's own */

/* Our own words, which may quote a configuration: what that took from the environment stays a name. */
static void put_words(const struct session *s, struct jsonw *w, struct str words)
{
	_cleanup_buf_ struct buf text = { 0 };

	if (s->config->n_env_used == 0) {
		jsonw_str(w, words);
		return;
	}
	buf_init(&text, 65536);
	buf_put(&text, words);
	redact(&text, s->config, false);
	jsonw_str(w, buf_str(&text));
}

static void put_usage(const struct outcome *o, struct jsonw *w)
{
	if (!o->has_usage)
		return;
	jsonw_kobj(w, "usage");
	jsonw_ku64(w, "wall_us", o->end.wall_us);
	jsonw_ku64(w, "user_us", o->end.user_us);
	jsonw_ku64(w, "sys_us", o->end.sys_us);
	jsonw_ku64(w, "peak_kib", o->end.peak_kib);
	jsonw_obj_end(w);
}

static void put_sandbox(const struct session *s, const struct decision *d, struct jsonw *w)
{
	jsonw_kobj(w, "sandbox");
	jsonw_kz(w, "place", enum_name(place_names, (int)d->place.place));
	jsonw_kz(w, "backend", enum_name(backend_names, (int)d->place.backend));
	jsonw_kz(w, "scope", enum_name(scope_names, (int)d->place.scope));
	jsonw_kstr(w, "key", d->place.key);
	jsonw_kstr(w, "session", d->who.session_key);
	jsonw_kstr(w, "agent", d->who.agent);
	jsonw_kz(w, "trust", enum_name(trust_names, (int)d->mode.trust));
	jsonw_kbool(w, "kept", s->kept);
	jsonw_obj_end(w);
	if (s->box && !s->on_host)
		jsonw_kz(w, "walls", s->digest.walls);
	else
		jsonw_knull(w, "walls");
}

/* Whoever typed `server &` should not have to find out why nothing answers. */
static void put_left_running(const struct outcome *o, struct jsonw *w)
{
	_cleanup_buf_ struct buf text = { 0 };

	if (!o->has_usage || o->end.ended == 0 ||
	    (o->end.reason != BOX_EXITED && o->end.reason != BOX_SIGNALED))
		return;
	buf_init(&text, 256);
	buf_printf(
		&text,
		"%u process%s that the command left running %s ended with it; with background=true it goes on",
		o->end.ended, o->end.ended == 1 ? "" : "es", o->end.ended == 1 ? "was" : "were");
	jsonw_str(w, buf_str(&text));
}

/* With names of the host's directories: for who stands there. */
static void put_git_hint(const struct session *s, const struct outcome *o, struct jsonw *w)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct str hint;

	if (!o->has_usage || o->exit != GIT_FATAL || !o->d || o->d->place.place == PLACE_HOST ||
	    (s->who.via != VIA_CLI && s->who.via != VIA_LIBRARY))
		return;
	arena_init(&a, (size_t)1 << 20);
	hint = git_hint(&a, o->d);
	if (hint.n)
		jsonw_str(w, hint);
}

static void put_warnings(const struct session *s, const struct outcome *o, struct jsonw *w)
{
	const char *aside = s->engine->registry ? registry_set_aside(s->engine->registry) : NULL;
	char time[CLOCK_TEXT_MAX];
	struct str until;

	jsonw_karr(w, "warnings");
	/* First what the caller was told before: call_opts.warn. */
	if (s->on_host && o->d && o->d->place.place == PLACE_HOST)
		jsonw_str(
			w,
			o->d->place.elevated.used
				? STR("elevated: ran on the host, outside of the sandbox and without any wall")
				: STR("ran on the host, without any wall"));
	if (s->elsewhere) {
		_cleanup_buf_ struct buf text = { 0 };

		buf_init(&text, 16384);
		if (session_elsewhere(s, &text))
			jsonw_str(w, buf_str(&text));
	}
	if (o->placed && o->d->eff.ws_access == ACCESS_NONE) {
		_cleanup_buf_ struct buf text = { 0 };

		buf_init(&text, 16384);
		if (session_apart(s, o->d, &text))
			jsonw_str(w, buf_str(&text));
	}
	if (s->ended[0]) {
		_cleanup_buf_ struct buf text = { 0 };

		buf_init(&text, 1024);
		buf_printf(
			&text,
			"the sandbox of the call before was ended: %s; its processes are gone, its files are there",
			s->ended);
		jsonw_str(w, buf_str(&text));
	}
	if (s->warn && clock_format(s->warn_until_ms, time, &until) == 0) {
		_cleanup_buf_ struct buf text = { 0 };

		buf_init(&text, 256);
		buf_printf(&text,
			   "the configuration has changed: this sandbox keeps its old walls until " STR_FMT
			   " and is made anew then",
			   STR_ARG(until));
		jsonw_str(w, buf_str(&text));
	}
	if (aside) {
		_cleanup_buf_ struct buf text = { 0 };

		buf_init(&text, 8192);
		buf_printf(
			&text,
			"the registry was damaged: it lies in '%s' now, and a new one was begun; sandboxes that live are in it again",
			aside);
		jsonw_str(w, buf_str(&text));
	}
	for (size_t i = 0; o->d && i < o->d->n_warnings; i++)
		put_words(s, w, o->d->warnings[i].text);
	put_left_running(o, w);
	put_git_hint(s, o, w);
	jsonw_arr_end(w);
}

static void put_approval(const struct outcome *o, struct jsonw *w)
{
	const struct approval_end *a = &o->approval;
	char time[CLOCK_TEXT_MAX];
	struct str until;

	if (!a->id.n)
		return;
	jsonw_kobj(w, "approval");
	jsonw_kstr(w, "id", a->id);
	jsonw_kz(w, "state", enum_name(approval_state_names, (int)a->state));
	if (a->by.n)
		jsonw_kstr(w, "by", a->by);
	if (a->reason.n)
		jsonw_kstr(w, "reason", a->reason);
	if (a->until_ms && clock_format(a->until_ms, time, &until) == 0)
		jsonw_kstr(w, "until", until);
	jsonw_obj_end(w);
}

static void put_fixes(const struct decision *d, struct jsonw *w)
{
	if (!d || d->fix_it.n == 0)
		return;
	jsonw_karr(w, "fix_it");
	for (size_t i = 0; i < d->fix_it.n; i++)
		jsonw_str(w, d->fix_it.v[i]);
	jsonw_arr_end(w);
}

static void put_setup(const struct setup_end *s, struct jsonw *w)
{
	jsonw_kobj(w, "setup");
	jsonw_key(w, STR("exit"));
	jsonw_i64(w, s->exit);
	jsonw_kstr(w, "stdout", s->out);
	jsonw_kstr(w, "stderr", s->err);
	jsonw_obj_end(w);
}

static void put_net(const struct net_report *n, struct jsonw *w)
{
	jsonw_kobj(w, "egress");
	jsonw_ku64(w, "requests", n->requests);
	jsonw_ku64(w, "bytes_up", n->bytes_up);
	jsonw_ku64(w, "bytes_down", n->bytes_down);
	jsonw_ku64(w, "denials_not_listed", n->denials_lost);
	jsonw_obj_end(w);
}

void result_put(const struct session *s, const struct outcome *o, struct buf *out)
{
	struct jsonw w;
	bool ran = o->status == CALL_OK || o->status == CALL_FAILED;

	buf_reserve(out, RESULT_USUAL + o->members.n);
	jsonw_init(&w, out, 0);
	jsonw_obj(&w);
	jsonw_kstr(&w, "request_id", o->request_id);
	jsonw_kbool(&w, "ok", o->status == CALL_OK || o->status == CALL_VERDICT);
	jsonw_kstr(&w, "tool", o->d && o->d->tool.name.n ? o->d->tool.name : o->tool);
	/* How a program ended is in the tool's own words. */
	if (!ran || !o->says_end) {
		jsonw_kz(&w, "reason", o->reason);
		jsonw_key(&w, STR("exit"));
		jsonw_i64(&w, o->exit);
	}
	if (ran && o->members.n) {
		buf_putc(out, ',');
		buf_put(out, o->members);
	}
	if (!ran || !o->says_artifacts) {
		jsonw_karr(&w, "artifacts");
		jsonw_arr_end(&w);
	}
	if (o->status == CALL_VERDICT)
		jsonw_kz(&w, "verdict", "allow");
	if (o->error)
		jsonw_kz(&w, "error", o->error);
	if (!ran && o->err.msg[0]) {
		jsonw_key(&w, STR("message"));
		put_words(s, &w, str_z(o->err.msg));
	}
	if (s->setup.failed)
		put_setup(&s->setup, &w);
	if (o->status == CALL_REFUSED)
		put_fixes(o->d, &w);
	jsonw_ku64(&w, "duration_ms", o->duration_ms);
	put_usage(o, &w);
	if (o->net)
		put_net(o->net, &w);
	jsonw_karr(&w, "denials");
	for (size_t i = 0; i < o->n_denials; i++)
		denial_put(&w, &o->denials[i]);
	jsonw_arr_end(&w);
	put_warnings(s, o, &w);
	put_approval(o, &w);
	if (o->d && o->d->place.elevated.requested)
		jsonw_kbool(&w, "elevated", o->d->place.elevated.used);
	if (o->d)
		put_sandbox(s, o->d, &w);
	jsonw_obj_end(&w);
}
