/* SPDX-License-Identifier: Apache-2.0 */
/* What is read from an `info` file is within the registry's limits, and written and read again it is the same. */
#include "base/fd.h"
#include "engine/registry.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool held)
{
	if (!held)
		abort();
}

static void check_limits(const struct reg_entry *en)
{
	expect(en->key.n > 0 && en->key.n <= REGISTRY_KEY_MAX && !memchr(en->key.p, '\0', en->key.n));
	expect(en->workspace.n <= REGISTRY_TEXT_MAX && en->socket.n <= REGISTRY_TEXT_MAX);
	expect((unsigned)en->scope < SCOPE_COUNT_ && (unsigned)en->state < REG_STATE_COUNT_ &&
	       (unsigned)en->backend < BACKEND_COUNT_);
	expect(memchr(en->supervisor.boot, '\0', REG_BOOT_MAX) != NULL);
}

static void check_again(const struct reg_entry *en)
{
	_cleanup_arena_ struct arena a = { 0 };
	_cleanup_free_ char *text = NULL;
	char dir[] = "/tmp/creel-fuzz-info-XXXXXX";
	struct reg_entry again;
	struct err e = { 0 };
	size_t n = 0;
	int fd;

	expect(mkdtemp(dir) != NULL);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	expect(registry_info_write(fd, en, &e) == 0);
	expect(fd_read_file_beneath(fd, REGISTRY_INFO, 1 << 20, &text, &n) == 0);
	(void)unlinkat(fd, REGISTRY_INFO, 0);
	fd_close(fd);
	(void)rmdir(dir);
	arena_init(&a, 4 << 20);
	expect(registry_info_parse(&a, (struct str){ text, n }, &again, &e) == 0);
	expect(str_eq(en->key, again.key) && str_eq(en->workspace, again.workspace) &&
	       str_eq(en->socket, again.socket));
	expect(en->scope == again.scope && en->state == again.state && en->calls == again.calls);
	expect(en->supervisor.pid == again.supervisor.pid &&
	       strcmp(en->supervisor.boot, again.supervisor.boot) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct reg_entry en;
	struct err e = { 0 };

	arena_init(&a, 4 << 20);
	if (registry_info_parse(&a, (struct str){ (const char *)data, size }, &en, &e) < 0) {
		expect(e.kind != ERR_NONE && e.msg[0]);
		return 0;
	}
	check_limits(&en);
	check_again(&en);
	return 0;
}
