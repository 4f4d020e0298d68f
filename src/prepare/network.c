/* SPDX-License-Identifier: Apache-2.0 */
#include "prepare/prepare.h"

#define WAY_OUT \
	"; fix: leave --net out and fetch beforehand what it needs, or run it on the host, without any wall: --no-sandbox"

int network_given(const struct decision *d, struct str asked, struct err *e)
{
	if (asked.n == 0 || str_eq(asked, STR("none")))
		return 0;
	if (d->place.place == PLACE_HOST)
		return err_set(e, ERR_USAGE,
			       "--net needs a sandbox, and this call runs on the host: leave it out");
	if (d->net.route != ROUTE_NONE)
		return 0;
	return err_set(e, ERR_DENIED,
		       "--net " STR_FMT ": mode '%s' has no network, and a flag cannot give it one" WAY_OUT,
		       STR_ARG(asked), enum_name(trust_names, (int)d->mode.trust));
}

int network_missing(const struct decision *d, struct err *e)
{
	return err_set(e, ERR_UNAVAIL,
		       "network route '%s' (" STR_FMT
		       ") is decided, but the native engine has no network yet" WAY_OUT,
		       enum_name(route_names, (int)d->net.route), STR_ARG(d->net.network));
}
