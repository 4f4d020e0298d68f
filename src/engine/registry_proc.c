/* SPDX-License-Identifier: Apache-2.0 */
/* Is it still that process? A pid alone is not enough: numbers are used again, after a reboot all of them are. */
#include "base/procfs.h"
#include "engine/registry_priv.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int read_text(const char *path, char *out, size_t size)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, out, size - 1);
	if (n < 0)
		return -errno;
	out[n] = '\0';
	return (int)n;
}

/* State and start time out of /proc/PID/stat. The name in parentheses may hold anything, so it is left by its last one. */
static int read_stat(uint64_t pid, char *ret_state, uint64_t *ret_start)
{
	char path[64], text[1024];
	struct str rest = { 0 }, head, word;
	int n;

	(void)snprintf(path, sizeof(path), "/proc/%" PRIu64 "/stat", pid);
	n = read_text(path, text, sizeof(text));
	if (n < 0)
		return n;
	if (!str_cut_last((struct str){ .p = text, .n = (size_t)n }, ')', &head, &rest) || rest.n < 3)
		return -EIO;
	*ret_state = rest.p[1];
	rest = str_from(rest, 1);
	for (unsigned field = 3; field <= 22; field++)
		if (!str_cut(rest, ' ', &word, &rest))
			return -EIO;
	return str_to_u64(word, UINT64_MAX, ret_start);
}

static int read_boot(char out[static REG_BOOT_MAX])
{
	char text[REG_BOOT_MAX];
	int n = read_text("/proc/sys/kernel/random/boot_id", text, sizeof(text));
	struct str id = str_trim((struct str){ .p = text, .n = n > 0 ? (size_t)n : 0 });

	if (id.n == 0)
		return n < 0 ? n : -EIO;
	memcpy(out, id.p, id.n);
	out[id.n] = '\0';
	return 0;
}

static int read_pidns(uint64_t *ret)
{
	struct stat st;

	if (stat("/proc/self/ns/pid", &st) < 0)
		return -errno;
	*ret = st.st_ino;
	return 0;
}

int reg_proc_beside(pid_t pid, const struct reg_proc *self, struct reg_proc *ret, struct err *e)
{
	struct reg_proc p = *self;
	char state;
	int r;

	p.pid = (uint64_t)pid;
	r = pid > 0 ? read_stat(p.pid, &state, &p.start) : -ENOENT;
	if (r < 0)
		return err_sys(e, -r, "read /proc of pid %d", (int)pid);
	*ret = p;
	return 0;
}

int reg_proc_of(pid_t pid, struct reg_proc *ret, struct err *e)
{
	struct reg_proc p = { .pid = (uint64_t)pid };
	char state;
	int r = pid > 0 ? read_stat(p.pid, &state, &p.start) : -ENOENT;

	if (r == -ENOENT || r == -ESRCH)
		return err_set(e, ERR_NOTFOUND, "no process has pid %d", (int)pid);
	if (r == 0)
		r = read_boot(p.boot);
	if (r == 0)
		r = read_pidns(&p.pidns);
	if (r < 0)
		return err_sys(e, -r, "read /proc of pid %d", (int)pid);
	*ret = p;
	return 0;
}

int reg_proc_self(struct reg_proc *ret, struct err *e)
{
	int r = procfs_check(e);

	return r < 0 ? r : reg_proc_of(getpid(), ret, e);
}

enum reg_alive reg_proc_alive(const struct reg_proc *p)
{
	char boot[REG_BOOT_MAX], state = 0;
	uint64_t start = 0, pidns = 0;
	int r;

	if (p->pid == 0)
		return REG_GONE;
	if (read_boot(boot) < 0)
		return REG_UNKNOWN;
	if (strcmp(boot, p->boot) != 0)
		return REG_GONE;
	if (read_pidns(&pidns) < 0 || pidns != p->pidns)
		return REG_UNKNOWN;
	r = read_stat(p->pid, &state, &start);
	if (r == -ENOENT || r == -ESRCH)
		return REG_GONE;
	if (r < 0)
		return REG_UNKNOWN;
	return start == p->start && state != 'Z' && state != 'X' ? REG_ALIVE : REG_GONE;
}

bool reg_proc_stopped(const struct reg_proc *p)
{
	char state = 0;
	uint64_t start = 0;

	return reg_proc_alive(p) == REG_ALIVE && read_stat(p->pid, &state, &start) >= 0 &&
	       start == p->start && (state == 'T' || state == 't');
}

bool reg_same_proc(const struct reg_proc *a, const struct reg_proc *b)
{
	return a->pid == b->pid && a->start == b->start && a->pidns == b->pidns &&
	       strcmp(a->boot, b->boot) == 0;
}
