/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way out of a sandbox that has a route: the socket that listens inside goes to the egress service, with what this call may reach, before the
 * program starts; without the service nothing starts. What it refused comes back with the result.
 */
#include "engine/engine_priv.h"

#include "backend/native.h"
#include "net/line.h"

int way_check(const struct decision *d, struct err *e)
{
	char text[DEST_TEXT_MAX];

	if (d->net.route != ROUTE_INTERNAL)
		return network_missing(d, e);
	if (d->place.scope != SCOPE_JOB)
		return err_set(e, ERR_UNAVAIL,
			       "route internal is for sandboxes of one call (scope job), not of scope '%s'",
			       enum_name(scope_names, (int)d->place.scope));
	for (size_t i = 0; i < d->net.n_dests; i++) {
		const struct dest *t = &d->net.dests[i];

		if (t->addr.n)
			continue;
		(void)dest_text(&t->host, t->port, text);
		return err_set(
			e, ERR_UNAVAIL,
			"nobody has said where '%s' is, and no name is looked up; fix: network.internal.hosts: "
			"%s=ADDRESS:PORT",
			text, text);
	}
	return 0;
}

int way_find(const struct engine *g, const struct decision *d, int *ret_fd, struct err *e)
{
	char path[4096];

	if (d->place.place == PLACE_HOST || d->net.route != ROUTE_INTERNAL)
		return 0;
	if (state_run_path(&g->state, EGRESS_SOCKET, path, sizeof(path), e) < 0)
		return -1;
	return egress_connect(path, ret_fd, e);
}

/* As the egress service reads it: "ollama:11434=127.0.0.1:11434". */
static struct str rule_text(struct arena *a, const struct dest *t)
{
	const struct dest_host at = { .addr = t->addr };
	char host[DEST_TEXT_MAX], addr[DEST_TEXT_MAX];

	return arena_printf(a, "%s=%s", dest_text(&t->host, t->port, host).p,
			    dest_text(&at, t->addr_port, addr).p);
}

int way_open(int fd, const struct session *s, const struct decision *d, struct str request, struct arena *a,
	     struct err *e)
{
	_cleanup_close_ int listener = native_take_listener(s->box);
	struct str *rules = ARENA_ARRAY(a, struct str, d->net.n_dests + 1);
	struct egress_hello hello = { .sandbox = d->place.key,
				      .session = d->who.session_key,
				      .request = request,
				      .option = STR("network.internal.hosts") };
	size_t n = 0;

	if (listener < 0)
		return err_set(e, ERR_BUG, "the sandbox has no socket for its proxy");
	for (size_t i = 0; rules && i < d->net.n_dests; i++) {
		bool again = false;

		rules[n] = rule_text(a, &d->net.dests[i]);
		for (size_t j = 0; j < n; j++)
			again |= str_eq(rules[j], rules[n]);
		n += !again;
		if (n > NET_RULES_MAX)
			return err_set(e, ERR_LIMIT, "one call reaches at most %u hosts", NET_RULES_MAX);
	}
	if (a->failed || !rules)
		return err_set(e, ERR_LIMIT, "out of memory");
	hello.rules = (struct strs){ .v = rules, .n = n };
	return egress_hand_over(fd, &hello, listener, e);
}

struct denial way_denial(const struct net_denial *d)
{
	return (struct denial){ .time_ms = d->time_ms,
				.operation = "connect",
				.object = str_z(d->object),
				.verdict = "refused",
				.rule = str_z(d->rule),
				.layer = "proxy",
				.hint = str_z(d->hint),
				.count = d->count };
}

int engine_egress(const struct engine *g, struct egress_numbers *ret, struct err *e)
{
	char path[4096];

	if (state_run_path(&g->state, EGRESS_SOCKET, path, sizeof(path), e) < 0)
		return -1;
	return egress_ask(path, ret, e);
}
