/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/kernel_fs.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/vfs.h>

/* linux/magic.h has most of them, under names that differ between its versions. */
static const uint32_t magics[] = {
	0x9fa0,     /* proc */
	0x62656572, /* sysfs */
	0x27e0eb,   /* cgroup */
	0x63677270, /* cgroup2 */
	0x64626720, /* debugfs */
	0x74726163, /* tracefs */
	0x73636673, /* securityfs */
	0xf97cff8c, /* selinux */
	0x43415d53, /* smack */
	0x5a3c69f0, /* apparmor */
	0xcafe4a11, /* bpf */
	0x62656570, /* configfs */
	0xde5e81e4, /* efivarfs */
	0x6165676c, /* pstore */
	0x42494e4d, /* binfmt_misc */
	0x19800202, /* mqueue */
	0x1cd1,     /* devpts */
	0x7655821,  /* resctrl */
	0x6e736673, /* nsfs */
	0x50494446, /* pidfs */
	0x9041934,  /* anonymous inodes */
	0x534f434b, /* sockets */
	0x50495045, /* pipes */
	0x444d4142, /* dma-buf */
	0x5345434d, /* secret memory */
	0x6c6f6f70, /* binder */
	0x65735543, /* fusectl */
	0x67596969, /* rpc_pipefs */
	0x6e667364, /* nfsd */
	0xabba1974, /* xen */
	0xa647361,  /* functionfs */
	0x64646178, /* dax */
	0x62646576, /* block devices */
};

bool kernel_fs(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0)
		return true;
	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
		if ((uint32_t)fs.f_type == magics[i])
			return true;
	return false;
}
