/* SPDX-License-Identifier: Apache-2.0 */
/* The services, started for a measurement in a place of their own, and a caller of theirs that waits for each answer. Fails with measure_fail(). */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Chats that calls may be for: "one", and "c0" up to this. */
enum { SERVICE_CHATS = 64 };

struct service {
	const char *creel, *creeld;
	const char *name; /* of its state directory, among others of one measurement */
	const char *set;  /* key=value for it alone */
	char address[32]; /* 127.0.0.1:PORT */
	uint16_t port;
	char token[128]; /* for all pairs, and admin */
	char state[96], home[80];
	pid_t parent;
};

/* `creeld all` with the workspace writable for every session; returns when the guard answers. */
void service_open(struct service *s, const char *dir, const char *workspace);
void service_close(struct service *s);

/* A connection that stays; one request at a time. */
int service_connect(const struct service *s);
/* A request that is ready to be sent. `agent` makes a session of its own; body NULL: GET. Freed by the caller. */
char *service_request(const struct service *s, const char *path, const char *body);
/* Sends it and reads the whole answer, whose body is returned until the next call; anything but 200 is a failure. */
const char *service_ask(int fd, const char *request);

/* What is resident, in KiB, of every process of the services, or of those whose name begins with `name`: pages that they share count for each. */
size_t service_resident_kib(const struct service *s, const char *name);
