/* SPDX-License-Identifier: Apache-2.0 */
#include "net/rules.h"

#include <stdio.h>

int net_rules_add(struct net_rules *r, struct str entry, struct err *e)
{
	struct dest d;
	const char *wrong;

	if (r->n == NET_RULES_MAX)
		return err_set(e, ERR_LIMIT, "more than %u rules", NET_RULES_MAX);
	wrong = dest_parse(entry, &d);
	if (!wrong && !d.addr.n)
		wrong = "it has no address";
	if (wrong)
		return err_set(e, ERR_USAGE, "rule '" STR_FMT "': %s", STR_ARG(entry), wrong);
	r->v[r->n++] = d;
	return 0;
}

const char *net_verdict_word(enum net_verdict v)
{
	static const char *const words[NET_VERDICT_COUNT_] = { [NET_HOST_NOT_ALLOWED] = "host_not_allowed",
							       [NET_PORT_NOT_ALLOWED] = "port_not_allowed",
							       [NET_ALLOWED] = "allowed" };

	return v < NET_VERDICT_COUNT_ ? words[v] : words[NET_HOST_NOT_ALLOWED];
}

enum net_verdict net_judge(const struct net_rules *r, const struct dest_host *host, uint16_t port,
			   const struct dest **ret)
{
	*ret = NULL;
	for (size_t i = 0; i < r->n; i++) {
		if (!dest_host_eq(&r->v[i].host, host))
			continue;
		*ret = &r->v[i];
		if (dest_matches(&r->v[i], host, port))
			return NET_ALLOWED;
	}
	return *ret ? NET_PORT_NOT_ALLOWED : NET_HOST_NOT_ALLOWED;
}

void net_denial_fill(struct net_denial *d, const struct net_rules *r, const struct dest_host *host,
		     uint16_t port, enum net_verdict v, const struct dest *near)
{
	char text[DEST_TEXT_MAX];

	*d = (struct net_denial){ .verdict = v, .port = port, .count = 1 };
	(void)dest_text(host, port, d->object);
	if (near)
		(void)snprintf(d->rule, sizeof(d->rule), "%s: %s", r->option,
			       dest_text(&near->host, near->port, text).p);
	else
		(void)snprintf(d->rule, sizeof(d->rule), "%s", r->option);
	(void)snprintf(d->hint, sizeof(d->hint), "%s has to name '%s=ADDRESS:PORT'", r->option, d->object);
}

void net_report_add(struct net_report *r, const struct net_denial *d, uint64_t now_unix_ms)
{
	for (size_t i = 0; i < r->n_denials; i++)
		if (strcmp(r->denials[i].object, d->object) == 0) {
			r->denials[i].count++;
			return;
		}
	if (r->n_denials == NET_DENIALS_MAX) {
		r->denials_lost++;
		return;
	}
	r->denials[r->n_denials] = *d;
	r->denials[r->n_denials++].time_ms = now_unix_ms;
}
