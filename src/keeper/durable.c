/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was written about this sandbox when it was made (the log of the registry) goes to the disk soon after, so that a power cut does not
 * take it away. By a process of its own: nobody waits for the disk, neither who makes the sandbox nor who calls into it.
 */
#include "keeper/keeper_priv.h"

#include "base/fd.h"
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

static void written(struct loop *l, void *ctx, struct proc_status status)
{
	struct keeper *k = ctx;

	(void)l;
	(void)status;
	k->writer = 0;
	k->writer_fd = fd_close(k->writer_fd);
}

/* It is ours to reap: whoever has it after us may not, as pid 1 of a container. */
static void write_out_apart(struct loop *l, void *ctx)
{
	struct keeper *k = ctx;
	struct loop_id unused;

	k->writer = fork();
	if (k->writer == 0)
		write_out(k->durable);
	if (k->writer < 0)
		return;
	k->writer_fd = (int)syscall(SYS_pidfd_open, k->writer, 0);
	if (k->writer_fd >= 0)
		(void)loop_add_child(l, k->writer_fd, written, k, &unused);
}

void durable_end(struct keeper *k)
{
	while (k->writer > 0 && waitpid(k->writer, NULL, 0) < 0 && errno == EINTR)
		;
	k->writer = 0;
	k->writer_fd = fd_close(k->writer_fd);
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
