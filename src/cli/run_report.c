/* SPDX-License-Identifier: Apache-2.0 */
/* How a run ended: the machine's report (--report FD|FILE) and the one line for people. */
#include "cli/run.h"

const struct enum_name run_reason_names[] = {
	{ "failed", RUN_FAILED },
	{ "ok", RUN_OK },
	{ "exit", RUN_EXIT },
	{ "signal", RUN_SIGNAL },
	{ "timeout", RUN_TIMEOUT },
	{ "oom", RUN_OOM },
	{ "pids", RUN_PIDS },
	{ "disk", RUN_DISK },
	{ "output", RUN_OUTPUT },
	{ "denied", RUN_DENIED },
	{ "not-found", RUN_NOT_FOUND },
	{ "not-executable", RUN_NOT_EXECUTABLE },
	{ NULL, 0 },
};

/* Whatever the reason is: a command may go on, slower or with less. */
static void put_limits_hit(const struct run *r, struct jsonw *w)
{
	const struct {
		const char *name;
		uint64_t times;
	} hit[] = {
		{ "oom", r->stat.oom_kills },
		{ "pids", r->stat.pids_refused },
		{ "throttled", r->stat.throttled_us },
	};

	jsonw_karr(w, "limits_hit");
	for (size_t i = 0; i < sizeof(hit) / sizeof(hit[0]); i++)
		if (hit[i].times)
			jsonw_str(w, str_z(hit[i].name));
	jsonw_arr_end(w);
	jsonw_ku64(w, "throttled_us", r->stat.throttled_us);
}

static void put_changes(const struct run *r, struct jsonw *w)
{
	jsonw_kobj(w, "changes");
	jsonw_ku64(w, "total", r->changes.total);
	jsonw_kbool(w, "complete", !r->changes.incomplete && r->changes.n == r->changes.total);
	if (r->changes.total || r->changes.incomplete)
		jsonw_kstr(w, "kept_in", r->upper);
	jsonw_karr(w, "paths");
	for (size_t i = 0; i < r->changes.n; i++) {
		jsonw_obj(w);
		jsonw_kz(w, "change", change_kind_name(r->changes.v[i].kind));
		jsonw_kstr(w, "path", r->changes.v[i].path);
		jsonw_obj_end(w);
	}
	jsonw_arr_end(w);
	jsonw_obj_end(w);
}

static void put_report(const struct run *r, struct jsonw *w)
{
	jsonw_obj(w);
	jsonw_ku64(w, "version", 1);
	jsonw_kbool(w, "ok", r->reason == RUN_OK);
	jsonw_ku64(w, "exit", (uint64_t)r->status);
	jsonw_kz(w, "reason", enum_name(run_reason_names, (int)r->reason));
	if (r->reason == RUN_SIGNAL || r->reason == RUN_OOM || r->reason == RUN_DISK ||
	    r->reason == RUN_OUTPUT)
		jsonw_ku64(w, "signal", (uint64_t)r->code);
	if (r->message.n)
		jsonw_kstr(w, "message", r->message);
	if (r->decision && r->decision->verdict != VERDICT_ALLOW)
		jsonw_kz(w, "code", code_word(r->decision->code));
	jsonw_ku64(w, "wall_us", r->wall_us);
	jsonw_ku64(w, "user_us", r->last.user_us);
	jsonw_ku64(w, "system_us", r->last.sys_us);
	jsonw_ku64(w, "peak_memory_bytes",
		   r->stat.memory_peak ? r->stat.memory_peak : r->last.max_rss_kb * 1024);
	put_limits_hit(r, w);
	if (r->decision) {
		jsonw_kz(w, "trust", enum_name(trust_names, (int)r->decision->mode.trust));
		jsonw_kz(w, "place", enum_name(place_names, (int)r->decision->place.place));
		jsonw_kz(w, "network", enum_name(route_names, (int)r->decision->net.route));
	}
	run_put_walls(r, w);
	put_changes(r, w);
	run_put_denials(r, w);
	jsonw_obj_end(w);
}

static void put_closing_line(const struct run *r)
{
	_cleanup_buf_ struct buf line = { 0 };

	if (r->cli->quiet || (r->changes.total == 0 && !r->changes.incomplete))
		return;
	buf_init(&line, 8192);
	if (r->changes.total)
		buf_printf(&line, "creel: %zu path%s changed%s, kept in ", r->changes.total,
			   r->changes.total == 1 ? "" : "s",
			   r->changes.incomplete ? ", and others that cannot be read" : "");
	else
		buf_puts(&line, "creel: paths may have changed that cannot be read, kept in ");
	buf_put_visible(&line, r->upper);
	buf_puts(&line, "; the workspace is as it was\n");
	output_complain(buf_str(&line));
}

int run_report(const struct run *r, struct err *e)
{
	_cleanup_buf_ struct buf text = { 0 };
	struct jsonw w;

	if (r->cli->verbose && r->tried)
		run_tell_end(r);
	put_closing_line(r);
	if (!r->cli->report.has)
		return 0;
	buf_init(&text, OUTPUT_MAX);
	jsonw_init(&w, &text, 2);
	put_report(r, &w);
	buf_putc(&text, '\n');
	if (text.failed)
		return err_set(e, ERR_LIMIT, "--report: too large");
	return report_write(r->cli, buf_str(&text), e);
}
