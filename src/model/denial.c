/* SPDX-License-Identifier: Apache-2.0 */
#include "model/denial.h"

#include "base/clock.h"

static void put_known(struct jsonw *w, const char *key, struct str s)
{
	if (s.n)
		jsonw_kstr(w, key, s);
	else
		jsonw_knull(w, key);
}

void denial_put(struct jsonw *w, const struct denial *d)
{
	char text[CLOCK_TEXT_MAX];
	struct str time = { 0 };

	(void)clock_format(d->time_ms, text, &time);
	jsonw_obj(w);
	put_known(w, "time", time);
	put_known(w, "session", d->session);
	put_known(w, "tool", d->tool);
	if (d->pid)
		jsonw_ku64(w, "pid", d->pid);
	else
		jsonw_knull(w, "pid");
	put_known(w, "exe", d->exe);
	jsonw_kz(w, "operation", d->operation);
	put_known(w, "object", d->object);
	jsonw_kz(w, "verdict", d->verdict);
	put_known(w, "rule", d->rule);
	jsonw_kz(w, "layer", d->layer);
	put_known(w, "hint", d->hint);
	jsonw_ku64(w, "count", d->count);
	jsonw_obj_end(w);
}
