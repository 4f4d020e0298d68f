/* SPDX-License-Identifier: Apache-2.0 */
/*
 * creeld: the parent of the services (docs/decisions/009-services.md). It owns the listening sockets and starts the services on them, starts them again
 * when they die, and on a reload starts new ones beside the old. It sees no byte of any caller.
 */
#pragma once

#include "base/hash.h"
#include "base/proc.h"
#include "server/service.h"

#include <sys/types.h>

/* In the order in which they start; they end the other way round. */
enum kind { KIND_EGRESS = 0, KIND_RUNNER, KIND_GUARD, KIND_COUNT_ };

enum child_state {
	CHILD_NONE = 0,
	CHILD_STARTING, /* has not said READY yet */
	CHILD_READY,
	CHILD_ENDING, /* was told to end; `timer` ends it for good */
};

struct parent;
struct child {
	struct parent *p;
	enum kind kind;
	enum child_state state;
	bool is_next; /* of a reload that is not decided yet */
	struct proc proc;
	struct loop_id watch, timer;
	uint64_t started_ms;
};

enum { CHILDREN_MAX = 16, SOCKETS_MAX = 4 };

struct kind_state {
	bool wanted;
	char address[SERVICE_PATH_MAX]; /* what it listens on; empty: systemd's */
	int fds[SOCKETS_MAX];
	size_t n_fds;
	int lock;             /* of a unix socket that we made; negative = none */
	uint64_t id[2];       /* of its name: device and inode */
	bool lost;            /* there is something else, and that was told */
	bool renewed;         /* the next services get another socket than those that are there */
	struct child *now;    /* NULL: none, or being started again */
	struct loop_id again; /* the timer for that */
	unsigned failures;    /* in a row */
};

struct parent {
	struct service *s; /* the configuration in force */
	char *const *argv;
	int argc;
	struct loop *loop;
	int notify_fd;
	struct loop_id notify_source;
	bool notify_lost; /* and that was told */
	char notify_path[SERVICE_PATH_MAX];
	struct kind_state kinds[KIND_COUNT_];
	struct child children[CHILDREN_MAX];

	bool started; /* all were ready once */
	unsigned n_stops;
	bool ending;
	int result;

	/* change.c */
	struct service *next; /* a configuration that is being tried; NULL = none */
	bool again;           /* asked to reload meanwhile */
	struct loop_id deadline, look;
	char seen
		[SHA256_HEX]; /* of all files, as they were when the configuration in force was read, or another was tried */
	char tried[SHA256_HEX];    /* of those of `next`, as they were when it was read */
	char settling[SHA256_HEX]; /* as they were at the last look, when that was something else */
};

extern const char *const kind_names[KIND_COUNT_];

/* sockets.c */
/* From systemd, or opened. The configuration says where; nothing is left when it fails. */
int sockets_open(struct parent *p, const struct service *s, struct err *e);
/* ERR_DENIED: it could be reached from outside, and is not fit for that. */
int sockets_check(const struct service *s, struct err *e);
/* As they would be with this configuration: false when they differ, with the option that does in *e. */
int sockets_same(const struct parent *p, const struct service *s, struct err *e);
/* Whether a name that somebody has removed was made again, with a new socket behind it: the services need to be given that. */
bool sockets_mend(struct parent *p);
void sockets_close(struct parent *p);

/* child.c */
int notify_listen(struct parent *p, struct err *e);
void notify_mend(struct parent *p); /* when somebody has removed its name */
int child_start(struct parent *p, enum kind kind, bool is_next, struct err *e);
/* Whether it could serve; it says itself why not. */
int child_check(struct parent *p, enum kind kind, struct err *e);
/* SIGTERM, and SIGKILL after `ms`. */
void child_end(struct child *c, uint64_t ms);
/* Its own deadline, and a while to end by itself: it has things to write down. */
static inline uint64_t drain_ms(const struct service *s)
{
	return s->config.base.serve_drain_s * 1000 + 3000;
}
struct child *child_next(struct parent *p, enum kind kind);
/* Starts the next service of this generation that has not been started; tells change.c or the parent when all are ready. */
void children_go_on(struct parent *p, bool is_next);
void parent_stop(struct parent *p, int result);
unsigned children_count(const struct parent *p);

/* change.c */
void change_begin(struct parent *p, const char *why);
/* All new ones are ready: the old ones end. */
void change_done(struct parent *p);
void change_failed(struct parent *p, const char *why);
int change_watch(struct parent *p, struct err *e);
