/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/explain_priv.h"

#include <string.h>

const struct reason *explain_reason(const struct decision *d, enum stage s, const char *what)
{
	for (size_t i = d->n_reasons; i-- > 0;)
		if (d->reasons[i].stage == s && strcmp(d->reasons[i].what, what) == 0)
			return &d->reasons[i];
	return NULL;
}

struct str explain_host(const struct mount *m)
{
	return m->origin.raw.n ? m->origin.raw : m->host;
}

struct str explain_value(const struct decision *d, enum option id, struct str value)
{
	return d->eff.origin[id].raw.n ? d->eff.origin[id].raw : value;
}

const char *explain_workspace(const struct decision *d)
{
	for (size_t i = 0; i < d->n_mounts; i++) {
		const struct mount *m = &d->mounts[i];

		if (m->source != MOUNT_WORKSPACE)
			continue;
		if (m->overlay)
			return enum_name(access_names, ACCESS_OVERLAY);
		if (str_eq(d->workspace, d->agent_workspace))
			return enum_name(access_names, m->writable ? ACCESS_RW : ACCESS_RO);
	}
	return enum_name(access_names, d->eff.ws_access);
}

void explain_caps(struct buf *out, unsigned caps)
{
	bool any = false;

	for (const struct enum_name *n = cap_names; n->name; n++) {
		if (!(caps & CAP_BIT(n->value)))
			continue;
		buf_printf(out, "%s%s", any ? "," : "", n->name);
		any = true;
	}
	if (!any)
		buf_puts(out, "none");
}

void explain_list(struct buf *out, struct strs list, const char *separator)
{
	for (size_t i = 0; i < list.n; i++) {
		if (i)
			buf_puts(out, separator);
		buf_put_visible(out, list.v[i]);
	}
}

struct str explain_network(const struct decision *d)
{
	static const struct {
		enum route route;
		enum option option;
	} owner[] = {
		{ ROUTE_INTERNAL, OPT_INTERNAL_NAME }, { ROUTE_HOSTS, OPT_ROUTE_NETWORK },
		{ ROUTE_NETWORK, OPT_ROUTE_NETWORK },  { ROUTE_BROWSER, OPT_BROWSER_NETWORK },
		{ ROUTE_PRIMARY, OPT_NET_PRIMARY },
	};

	if (d->net.network.n == 0)
		return STR("none");
	for (size_t i = 0; i < sizeof(owner) / sizeof(owner[0]); i++)
		if (owner[i].route == d->net.route)
			return explain_value(d, owner[i].option, d->net.network);
	return d->net.network;
}
