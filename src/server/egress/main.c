/* SPDX-License-Identifier: Apache-2.0 */
/*
 * creel-egress: serves on the socket that its parent (creeld, or systemd) has opened. It reads no configuration: what a sandbox may reach comes with
 * it, from whoever decided that. Locked in (server/jail.h) before the first of them.
 */
#include "server/egress/door.h"
#include "server/jail.h"
#include "server/service.h"

#include <fcntl.h>
#include <unistd.h>

struct egress {
	struct service service;
	struct loop *loop;
	struct door *door;
};

static void on_drained(struct loop *l, void *ctx)
{
	(void)ctx;
	loop_stop(l, 0);
}

/* Sandboxes that live go on until their calls end, or our parent loses patience. */
static void on_drain(struct loop *l, void *ctx)
{
	struct egress *s = ctx;

	(void)l;
	door_drain(s->door, on_drained, s);
}

static void say_health(struct door *door, const struct jail_walls *walls)
{
	_cleanup_buf_ struct buf text = { 0 };

	buf_init(&text, DOOR_HEALTH_MAX);
	buf_puts(&text, "{\"status\":\"ok\",\"version\":\"" CREEL_VERSION "\",\"walls\":");
	jail_walls_json(walls, &text);
	buf_putc(&text, '}');
	if (!text.failed)
		door_say_health(door, buf_str(&text));
}

/* No file at all, no program, no other process; sockets to where rules lead. */
static int lock_in(struct egress *s, struct err *e)
{
	const struct door_opts opts = { .uid = geteuid(),
					.statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC) };
	const int keep[] = { s->service.listeners[0], s->service.notify, opts.statm };
	const struct jail_opts jail = { .keep = keep, .n_keep = 3, .tcp = true };
	struct jail_walls walls = { 0 };
	int r = jail_root(&jail, &walls, e);

	if (r < 0)
		return r;
	r = loop_new(DOOR_SOURCES, &s->loop);
	if (r < 0)
		return err_sys(e, -r, "make an event loop");
	if (door_new(s->loop, &opts, &s->door, e) < 0 ||
	    service_signals(&s->service, s->loop, on_drain, s, e) < 0)
		return -1;
	if (jail_seal(&jail, &walls, e) < 0)
		return -1;
	say_health(s->door, &walls);
	return 0;
}

static int serve(struct egress *s, struct err *e)
{
	int r = service_listeners(&s->service, "egress", e);

	if (r < 0)
		return r;
	if (s->service.n_listeners != 1)
		return err_set(e, ERR_USAGE, "egress listens on one socket, not on %zu",
			       s->service.n_listeners);
	if (lock_in(s, e) < 0 || door_listen(s->door, TAKE_FD(s->service.listeners[0]), e) < 0)
		return -1;
	service_ready(&s->service, "serving");
	LOG(LOG_INFO, "serving");
	r = loop_run(s->loop);
	return r < 0 ? err_sys(e, -r, "wait for events") : 0;
}

int main(int argc, char **argv)
{
	static struct egress s;
	struct err e = { 0 };
	int r = service_begin(&s.service, "egress", argc, argv, &e);

	if (r > 0)
		return 0;
	if (r >= 0) {
		service_raise_files(); /* each sandbox has connections on two sides */
		r = serve(&s, &e);
	}
	s.door = door_free(s.door);
	s.loop = loop_free(s.loop);
	return service_end(&s.service, r, &e);
}
