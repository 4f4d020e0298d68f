/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/advice.h"
#include "base/fd.h"
#include "base/port.h"
#include "base/procfs.h"
#include "base/str.h"
#include "sandbox/plan.h"
#include "sandbox/sandbox.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef CREEL_APPARMOR
#define CREEL_APPARMOR "/usr/share/creel/apparmor/creel"
#endif
#define TEXT_MAX ((size_t)1 << 20)

/* -1 when the file is not there, or holds no such word. */
static long number_behind(const char *path, const char *word)
{
	_cleanup_free_ char *text = NULL;
	const char *at;
	size_t n = 0;

	if (fd_read_file(path, TEXT_MAX, &text, &n) < 0)
		return -1;
	at = strstr(text, word);
	return at ? strtol(at + strlen(word), NULL, 10) : -1;
}

/* The profile is for these paths, and a copy in memory has none. */
static bool profile_fits(void)
{
	static const char *const places[] = { "/usr/libexec/creel/", "/usr/local/libexec/creel/" };
	_cleanup_close_ int fd = FD_NONE;
	char link[64], path[256] = "";
	struct err e = { 0 };

	if (sandbox_open_warden(&fd, &e) < 0)
		return false;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (readlink(link, path, sizeof(path) - 1) < 0)
		return false;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (str_starts(str_z(path), str_z(places[i])))
			return true;
	return false;
}

/* A filter says EPERM; this restriction EACCES, or EPERM for what is then done in the namespace. */
static bool is_apparmor(int errnum)
{
	if (number_behind("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "") != 1)
		return false;
	return errnum == EACCES || number_behind("/proc/self/status", "\nSeccomp:") < 1;
}

/* A directory that was made the root and is no mount. Where it is one, nobody can tell from inside. */
static bool is_chroot(void)
{
	_cleanup_free_ char *text = NULL;
	size_t n = 0;

	return fd_read_file("/proc/self/mountinfo", TEXT_MAX, &text, &n) >= 0 && n > 0 &&
	       !strstr(text, " / rw") && !strstr(text, " / ro");
}

/* By a profile that is more than a name, as container engines have. */
static bool is_confined(void)
{
	_cleanup_free_ char *text = NULL;
	size_t n = 0;

	return fd_read_file("/proc/self/attr/apparmor/current", TEXT_MAX, &text, &n) >= 0 && n > 0 &&
	       !strstr(text, "unconfined");
}

const struct advice_container *advice_container(void)
{
	static const struct advice_container kube = {
		"Kubernetes",
		"in the pod: hostUsers: false, and an emptyDir with medium: Memory at /state; in its container: securityContext: {runAsUser: "
		"1000, procMount: Unmasked, seccompProfile: {type: Unconfined}, appArmorProfile: {type: Unconfined}}; creel run --state-dir "
		"/state/creel …"
	};
	static const struct advice_container docker = {
		"Docker",
		"docker run --user 1000:1000 --security-opt systempaths=unconfined --security-opt seccomp=unconfined --security-opt "
		"apparmor=unconfined --tmpfs /state:mode=1777 … creel run --state-dir /state/creel …"
	};
	static const struct advice_container podman = {
		"Podman",
		"podman run --user 1000:1000 --security-opt unmask=ALL --security-opt seccomp=unconfined --security-opt "
		"apparmor=unconfined --tmpfs /state:mode=1777 … creel run --state-dir /state/creel …"
	};

	if (getenv("KUBERNETES_SERVICE_HOST"))
		return &kube;
	if (access("/.dockerenv", F_OK) == 0)
		return &docker;
	return access("/run/.containerenv", F_OK) == 0 ? &podman : NULL;
}

static struct advice around_us(const char *cause, const char *outside)
{
	const struct advice_container *c = advice_container();

	return (struct advice){ cause, c ? c->fix : outside };
}

static struct advice no_profile(void)
{
	if (advice_container())
		return (struct advice){
			"AppArmor of the host restricts user namespaces to programs with a profile",
			"on the host: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
		};
	if (profile_fits())
		return (struct advice){
			"AppArmor restricts user namespaces to programs with a profile (Ubuntu 23.10 and newer)",
			"sudo install -m 644 " CREEL_APPARMOR
			" /etc/apparmor.d/creel && sudo apparmor_parser -r /etc/apparmor.d/creel"
		};
	return (struct advice){
		"AppArmor restricts user namespaces to programs with a profile (Ubuntu 23.10 and newer), and that of creel is for "
		"/usr/libexec/creel and /usr/local/libexec/creel",
		"sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or install creel there"
	};
}

static struct advice about_proc(void)
{
	return (struct advice){ procfs_fault(), PROCFS_FIX };
}

struct advice advice_userns(int errnum)
{
	const struct advice proc = about_proc();

	if (proc.cause)
		return proc;
	if (is_apparmor(errnum))
		return no_profile();
	if (number_behind("/proc/sys/kernel/unprivileged_userns_clone", "") == 0)
		return (struct advice){ "kernel.unprivileged_userns_clone is 0",
					"sudo sysctl -w kernel.unprivileged_userns_clone=1" };
	if (number_behind("/proc/sys/user/max_user_namespaces", "") == 0)
		return (struct advice){ "user.max_user_namespaces is 0",
					"sudo sysctl -w user.max_user_namespaces=16384" };
	if (is_chroot())
		return (struct advice){
			"this is a chroot, and in one the kernel makes no user namespaces",
			"systemd-nspawn -D DIR in place of chroot DIR, or run creel outside of it"
		};
	return around_us("user namespaces are refused by the kernel, or by a filter around this process",
			 "start creel outside of that filter, or of that chroot");
}

static const struct {
	const char *what; /* how the text starts */
	int err;
	bool around; /* inside a container, the way that was started is what is wrong */
	struct advice advice;
} table[] = {
	{ "mount overlay",
	  ENODEV,
	  false,
	  { "this kernel has no overlayfs", "modprobe overlay, or --workspace-access rw" } },
	{ "mount overlay",
	  EINVAL,
	  false,
	  { "the workspace or the state directory cannot be a layer (in a container: they are layers already), or other file "
	    "systems lie below",
	    "--state-dir on a tmpfs or volume, or --workspace-access rw" } },
	{ "mount proc",
	  EPERM,
	  true,
	  { "a container hides parts of /proc", "docker run --security-opt systempaths=unconfined" } },
	{ "create namespaces",
	  ENOSYS,
	  true,
	  { "a filter around us hides clone3", "docker run --security-opt seccomp=unconfined" } },
	{ "create namespaces",
	  ENOSPC,
	  false,
	  { "no more namespaces for this user", "sysctl user.max_user_namespaces and the others there" } },
	{ "write the user map",
	  EPERM,
	  true,
	  { "this user namespace has no users for the warden and the command",
	    "start creel outside of it, or as an ordinary user" } },
	{ "map the owner",
	  EPERM,
	  true,
	  { "root in a container is not root", "docker run --user 1000:1000, or sudo -u somebody" } },
	{ "map the owner",
	  EACCES,
	  true,
	  { "root in a container is not root", "docker run --user 1000:1000, or sudo -u somebody" } },
	{ "map the owner",
	  EINVAL,
	  false,
	  { "its file system has no idmapped mounts",
	    "run as an ordinary user, or a workspace on ext4, xfs or btrfs" } },
};

static struct advice advice_for(const struct warden_report *m)
{
	const struct str what = str_z(m->what);
	const struct advice proc = about_proc();

	if (proc.cause)
		return proc;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (m->err == table[i].err && str_starts(what, str_z(table[i].what)))
			return table[i].around ? around_us(table[i].advice.cause, table[i].advice.fix)
					       : table[i].advice;
	if (m->err != EPERM && m->err != EACCES)
		return (struct advice){ 0 };
	if (m->err == EACCES && strcmp(m->what, "exec") != 0 && is_confined())
		return around_us("AppArmor's profile around us may be what refuses it",
				 "start creel outside of that profile");
	/* Where Ubuntu's own profile for such programs is loaded, they get a namespace in which they may do nothing. */
	if (str_starts(what, STR("create namespaces")) ||
	    (str_starts(what, STR("map the user")) && is_apparmor(m->err)))
		return advice_userns(m->err);
	/* Whatever else it was: outside of a container nobody may do less in namespaces of his own. */
	if (m->err == EPERM && strcmp(m->what, "exec") != 0 && advice_container())
		return around_us("the container's filter, or what it does not let us do, refuses it", "");
	return (struct advice){ 0 };
}

int advice_failed(const struct warden_report *m, struct err *e)
{
	const char *what = m->what[0] ? m->what : step_name(m->step);
	const struct advice advice = advice_for(m);
	int r;

	if (m->err == EAGAIN) /* whatever it was: only making a task, or becoming another user, says this */
		r = err_set(e, ERR_UNAVAIL, "%s: %s: " SANDBOX_NO_TASKS, what, port_errno_text(m->err));
	else if (advice.cause)
		r = err_set(e, ERR_UNAVAIL, "%s: %s: %s; fix: %s", what, port_errno_text(m->err),
			    advice.cause, advice.fix);
	else
		return err_sys(e, m->err, "%s", what);
	e->sys_errno = m->err;
	return r;
}
