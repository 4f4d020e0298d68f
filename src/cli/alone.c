/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For a creel-session that is linked statically with glibc (docs/decisions/013-a-static-creel-session.md). Both functions would load libraries of the system into it, which
 * have to be of the very glibc that it was linked with, and may not be there any more. These load nothing.
 */
#include <errno.h>
#include <pwd.h>
#include <stdio.h>

void *__wrap_dlopen(const char *file, int mode);

/* SQLite's dlopen(), for extensions (ld --wrap): nobody loads any. */
void *__wrap_dlopen(const char *file, int mode)
{
	(void)file;
	(void)mode;
	return NULL;
}

/* Of /etc/passwd alone, as in creel itself, which is linked with musl. */
int getpwuid_r(uid_t uid, struct passwd *entry, char *room, size_t size, struct passwd **ret)
{
	FILE *f = fopen("/etc/passwd", "re");
	int r;

	*ret = NULL;
	if (!f)
		return errno;
	do
		r = fgetpwent_r(f, entry, room, size, ret);
	while (r == 0 && entry->pw_uid != uid);
	(void)fclose(f);
	if (r == 0)
		return 0;
	*ret = NULL;
	return r == ENOENT ? 0 : r; /* the end of the file: nobody has that number */
}
