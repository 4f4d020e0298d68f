/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets to listen on and to connect with: unix and TCP, close-on-exec and non-blocking from birth. No name is looked up here. */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <stdint.h>
#include <sys/types.h>

/* Who is at the other end, as the kernel says it. */
struct http_peer {
	bool is_unix; /* then uid, gid and pid are known */
	uid_t uid;
	gid_t gid;
	pid_t pid;
	char address[64]; /* TCP: "127.0.0.1:40000", "[::1]:40000"; else empty */
};

/*
 * A unix socket at `path`, which must not exist: who holds the lock of its directory removes a stale one. `mode` decides who may
 * connect, from the first moment on: it is set before the socket listens.
 */
int http_listen_unix(const char *path, mode_t mode, int *ret_fd, struct err *e);

/* A numeric address of this host; port 0 lets the kernel choose, and *ret_port says which. */
int http_listen_tcp(const char *address, uint16_t port, int *ret_fd, uint16_t *ret_port, struct err *e);

/* Whether somebody who is not on this machine can connect to it: neither a unix socket nor one of loopback. In doubt: yes. */
bool http_is_public(int fd);
bool http_is_tcp(int fd);

/* May still be on its way when it returns: writable means that it has ended, SO_ERROR says how. */
int http_connect_unix(const char *path, int *ret_fd, struct err *e);
int http_connect_tcp(const char *address, uint16_t port, int *ret_fd, struct err *e);

/* Of an accepted socket. Zeroed where the kernel does not say: uid -1 is nobody. */
void http_peer_of(int fd, struct http_peer *ret);
