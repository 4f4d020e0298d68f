/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/subids.h"
#include "base/fd.h"
#include "base/parse.h"
#include "sandbox/wire.h"

#include <pwd.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#define FILE_MAX ((size_t)1 << 20)
#define ID_MAX 0xfffffffeu /* the one after it is nobody's */
#define NAME_ROOM 4096u

static bool parse_id(struct str s, uint32_t *ret)
{
	int64_t v;

	if (parse_i64(s, 1, ID_MAX, &v) < 0)
		return false;
	*ret = (uint32_t)v;
	return true;
}

static bool line_gives(struct str line, struct str name, struct str number, uint32_t *ret)
{
	struct str owner, rest, from, count;
	uint32_t first, n;

	if (!str_cut(line, ':', &owner, &rest) || !str_cut(rest, ':', &from, &count))
		return false;
	if (!str_eq(owner, number) && (name.n == 0 || !str_eq(owner, name)))
		return false;
	if (!parse_id(from, &first) || !parse_id(count, &n) || n - 1 > ID_MAX - first)
		return false;
	*ret = first + (n - 1);
	return true;
}

bool subids_find(struct str text, struct str name, uint32_t uid, uint32_t *ret)
{
	char digits[16];
	const struct str number = { .p = digits, .n = (size_t)snprintf(digits, sizeof(digits), "%u", uid) };
	struct str line, rest = text;

	while (rest.n) {
		struct str next = { 0 };

		if (!str_cut(rest, '\n', &line, &next))
			line = rest;
		rest = next;
		if (line_gives(line, name, number, ret) && *ret != uid)
			return true;
	}
	return false;
}

/* Whether it has the rights that it needs is told by itself, when the warden runs it. */
static bool is_there(const char *program)
{
	return access(program, X_OK) == 0;
}

static int find_in(const char *path, const char *kind, struct str name, uint32_t id, uint32_t *ret,
		   struct err *e)
{
	_cleanup_free_ char *text = NULL;
	size_t n = 0;

	if (fd_read_file(path, FILE_MAX, &text, &n) >= 0 &&
	    subids_find((struct str){ .p = text, .n = n }, name, id, ret))
		return 0;
	return err_set(e, ERR_UNAVAIL,
		       "%s has no range for '" STR_FMT
		       "'; fix: sudo usermod --add-sub%ss 100000-165535 " STR_FMT,
		       path, STR_ARG(name), kind, STR_ARG(name));
}

int subids_look(struct subids *ret, struct err *e)
{
	struct passwd entry, *found = NULL;
	char room[NAME_ROOM];
	struct str name;
	int r;

	*ret = (struct subids){ 0 };
	if (!is_there(HELPER_UID) || !is_there(HELPER_GID))
		return err_set(e, ERR_UNAVAIL,
			       HELPER_UID " or " HELPER_GID " is missing; fix: sudo apt-get install uidmap");
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		return err_set(e, ERR_UNAVAIL,
			       "newuidmap has no rights, because no_new_privs is set around this process; "
			       "fix: start creel outside of it");
	if (getpwuid_r(getuid(), &entry, room, sizeof(room), &found) != 0 || !found)
		return err_set(
			e, ERR_UNAVAIL,
			"uid %lu has no account, and newuidmap asks for one; fix: sudo useradd -u %lu NAME",
			(unsigned long)getuid(), (unsigned long)getuid());
	if (found->pw_gid != getgid())
		return err_set(
			e, ERR_UNAVAIL,
			"newgidmap maps for group %lu alone, the account's own; fix: newgrp, without a name",
			(unsigned long)found->pw_gid);
	name = str_z(found->pw_name);
	r = find_in("/etc/subuid", "uid", name, found->pw_uid, &ret->uid, e);
	return r < 0 ? r : find_in("/etc/subgid", "gid", name, found->pw_uid, &ret->gid, e);
}
