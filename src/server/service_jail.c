/* SPDX-License-Identifier: Apache-2.0 */
#include "server/service.h"

int service_jail_root(struct service *s, const struct jail_dir *dirs, size_t n_dirs, bool tcp,
		      struct jail_walls *walls, struct err *e)
{
	int keep[SERVICE_LISTENERS_MAX + 1];
	struct jail_opts o = { .dirs = dirs, .n_dirs = n_dirs, .keep = keep, .tcp = tcp };

	for (size_t i = 0; i < s->n_listeners; i++)
		keep[o.n_keep++] = s->listeners[i];
	if (s->notify >= 0)
		keep[o.n_keep++] = s->notify;
	fd_closep(&s->state_fd); /* directories of the old root */
	fd_closep(&s->run_fd);
	return jail_root(&o, walls, e);
}

int service_jail_seal(const struct jail_dir *dirs, size_t n_dirs, bool tcp, struct jail_walls *walls,
		      struct err *e)
{
	return jail_seal(&(struct jail_opts){ .dirs = dirs, .n_dirs = n_dirs, .tcp = tcp }, walls, e);
}
