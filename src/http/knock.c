/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client that has ended its half of the connection may still wait for its answer, or may have gone altogether. A unix socket tells the two apart; TCP
 * shows the same FIN for both, and only who is sent something and is no more there says so, with a reset. So what comes next anyway is sent early, a byte
 * at a time: the beginning of every status line, or a leading zero of the next chunk's size.
 */
#include "base/clock.h"
#include "http/server_priv.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

enum { KNOCK_FIRST_MS = 1000, KNOCKS_MAX = sizeof(HTTP_ANSWER_START) - 1, UNHEARD_MS = 10000 };

/* Events come when they come, and there is nothing between them to send early. */
static bool cannot_be_told(const struct http_exchange *c)
{
	return c->answer == ANSWER_BEGUN && !c->chunked && c->live;
}

void conn_half(struct http_exchange *c)
{
	const unsigned unheard_ms = UNHEARD_MS;

	c->half = true;
	if (c->upgraded)
		return; /* read_more() comes to it */
	if (c->peer.is_unix)
		return; /* EPOLLHUP follows when it goes */
	if (cannot_be_told(c)) {
		conn_fail(c);
		return;
	}
	(void)setsockopt(c->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unheard_ms, sizeof(unheard_ms));
	conn_knock(c);
}

void conn_half_upgraded(struct http_exchange *c)
{
	const unsigned never = 0;

	c->half = true;
	/* It was set, if the client ended its half before. */
	if (!c->peer.is_unix)
		(void)setsockopt(c->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &never, sizeof(never));
	c->server->handler->half(c->server->ctx, c);
}

void conn_knock(struct http_exchange *c)
{
	bool first = c->answer == ANSWER_NONE;

	c->knock_ms = CLOCK_NEVER;
	if (c->dead || c->phase != CONN_EXCHANGE || c->knocks == KNOCKS_MAX || (!first && !c->chunked))
		return;
	/* What waits to be sent knocks as well. */
	if (answer_waiting(c) == 0) {
		answer_early(c, first ? HTTP_ANSWER_START[c->told] : '0');
		c->told += first ? 1 : 0;
	}
	c->knock_ms = clock_deadline((uint64_t)KNOCK_FIRST_MS << c->knocks++);
}
