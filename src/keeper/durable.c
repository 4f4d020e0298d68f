/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was written about this sandbox when it was made (the log of the registry) goes to the disk soon after, so that a power cut does not
 * take it away. By a process of its own: nobody waits for the disk, neither who makes the sandbox nor who calls into it.
 */
#include "keeper/keeper_priv.h"

#include "base/port.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#define AFTER_MS 500u /* whoever made us registers us when we listen */

/* Nothing of ours in its hands: the sandbox has to hear when we go, and the next one gets our lock. */
static _Noreturn void write_out(const char *path)
{
	int fd;

	(void)syscall(SYS_close_range, 0u, ~0u, 0u);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	_exit(fd < 0 || fdatasync(fd) < 0 ? 1 : 0);
}

/* Twice, so that nobody has to wait for it. */
static void write_out_apart(struct loop *l, void *ctx)
{
	const struct keeper *k = ctx;
	pid_t pid = fork();

	(void)l;
	if (pid == 0) {
		if (fork() == 0)
			write_out(k->durable);
		_exit(0);
	}
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

int durable_begin(struct keeper *k, struct str path)
{
	struct loop_id unused;

	if (path.n == 0)
		return 0;
	if (path.n >= sizeof(k->durable))
		return -ENAMETOOLONG;
	memcpy(k->durable, path.p, path.n);
	k->durable[path.n] = '\0';
	return loop_add_timer(k->loop, clock_deadline(AFTER_MS), write_out_apart, k, &unused);
}
