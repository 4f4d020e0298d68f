/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work that the kernel takes long over, done beside us: a task that shares our memory and our descriptors, has the rights that we
 * have at its start, makes a few system calls and ends. It must not touch *w.
 */
#include "sandbox/warden/warden.h"

#include <linux/futex.h>
#include <linux/sched.h>
#include <linux/signal.h>

#define TASKS_MAX 2

SPARSE(0) static char stacks[TASKS_MAX][4096] __attribute__((aligned(4096)));
static unsigned n_begun;

void tasks_forget(void)
{
	pages_forget(stacks, sizeof(stacks));
}

static int task_main(void *arg)
{
	struct task *t = arg;

	t->result = t->work();
	return 0;
}

#define PR_FUTEX_HASH_ 78
#define SET_SLOTS_ 1

/*
 * Since Linux 6.16 whoever has one memory with another is given a table of 2 KiB for those that wait in it, as long as it lives. Ours
 * are two, for a moment: they wait in everybody's, as before. Older kernels do not know the call.
 */
void tasks_plain(void)
{
	SYS5(prctl, PR_FUTEX_HASH_, SET_SLOTS_, 0, 0, 0);
}

long task_begin(struct task *t, task_fn *work)
{
	if (n_begun == TASKS_MAX)
		return -EAGAIN;
	if (n_begun == 0)
		tasks_plain();
	t->work = work;
	t->result = -ECHILD; /* stays so when it is killed */
	t->busy = 1;
	t->pid = spawn_vm(task_main, t, stacks[n_begun] + sizeof(stacks[0]),
			  CLONE_VM | CLONE_FILES | CLONE_CHILD_CLEARTID | SIGCHLD, &t->busy);
	n_begun++;
	return t->pid < 0 ? t->pid : 0;
}

long task_result(const struct task *t)
{
	if (t->pid <= 0)
		return -ECHILD;
	while (__atomic_load_n(&t->busy, __ATOMIC_ACQUIRE))
		SYS4(futex, &t->busy, FUTEX_WAIT, 1, 0);
	return t->result;
}

long task_end(struct task *t)
{
	long r;

	if (t->pid <= 0)
		return -ECHILD;
	do
		r = SYS4(wait4, t->pid, 0, 0, 0);
	while (r == -EINTR);
	t->pid = 0;
	return r < 0 ? r : t->result;
}
