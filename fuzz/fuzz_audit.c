/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line that is taken for a record is exactly what was hashed: no other byte in it gives a record. A whole file of anything is read
 * in bounded memory, and what it holds that is no record is told.
 */
#include "audit/audit.h"
#include "base/fd.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool held)
{
	if (!held)
		abort();
}

static bool is_record(struct str line, struct audit_record *ret)
{
	static struct audit_record keep;
	_cleanup_arena_ struct arena a = { 0 };
	struct err e = { 0 };
	int r;

	arena_init(&a, (size_t)8 << 20);
	r = audit_parse(&a, line, &keep, &e);
	expect(r == 0 || e.kind == ERR_PROTO);
	expect(e.msg[0] || r == 0);
	if (ret)
		*ret = keep;
	return r == 0;
}

static void check_record(struct str line)
{
	struct audit_record rec;
	char *copy;

	if (!is_record(line, &rec))
		return;
	expect(rec.seq > 0 && strlen(rec.hash) == SHA256_HEX - 1 && strlen(rec.prev) == SHA256_HEX - 1);
	copy = malloc(line.n);
	expect(copy != NULL);
	for (size_t i = 0; i < line.n; i += 1 + i % 7) {
		memcpy(copy, line.p, line.n);
		copy[i] ^= 1;
		expect(!is_record((struct str){ copy, line.n }, NULL));
	}
	free(copy);
}

/* The input with right hashes: "hash" of each line is made anew, so that what lies behind the check is reached too. */
static char *sealed(struct str in, size_t *ret_n)
{
	char *out = malloc(in.n + sizeof(",\"hash\":\"\"}") + SHA256_HEX), hash[SHA256_HEX];
	size_t n = in.n;

	expect(out != NULL);
	memcpy(out, in.p, n);
	sha256_hex(in, hash);
	n += (size_t)sprintf(out + n, ",\"hash\":\"%s\"}", hash);
	*ret_n = n;
	return out;
}

static void put_file(const char *dir, const char *name, const uint8_t *data, size_t size)
{
	char path[100];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	expect(fd >= 0 && fd_write_all(fd, (struct str){ (const char *)data, size }) == 0);
	fd_close(fd);
}

/* The same over two files and a head of anything: what a record says of others that went is believed for nothing that is there. */
static void check_files(const char *dir, const uint8_t *data, size_t size, size_t n_lines)
{
	static const char *const names[] = { "audit-00000000000000000001.jsonl", AUDIT_FILE, "audit.head" };
	struct audit_verdict v;
	struct err e = { 0 };
	char path[100];

	put_file(dir, names[0], data, size / 2);
	put_file(dir, names[1], data + size / 2, size - size / 2);
	put_file(dir, names[2], data, size);
	expect(audit_verify(&(struct audit_verify_opts){ .dir = dir }, &v, &e) == 0);
	expect(v.n_records + v.n_repaired <= n_lines && v.n_files == 2);
	expect(v.pruned_last == 0 || v.pruned_last < v.last.seq);
	expect(size == 0 || v.n_findings > 0);
	for (size_t i = 0; i < 3; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		(void)unlink(path);
	}
}

static void check_file(const uint8_t *data, size_t size)
{
	static char dir[64];
	struct audit_verdict v;
	struct err e = { 0 };
	char path[100];
	size_t n_lines = 0;

	if (!dir[0]) {
		strcpy(dir, "/tmp/creel-fuzz-audit-XXXXXX");
		expect(mkdtemp(dir) != NULL);
	}
	(void)snprintf(path, sizeof(path), "%s/" AUDIT_FILE, dir);
	put_file(dir, AUDIT_FILE, data, size);
	for (size_t i = 0; i < size; i++)
		n_lines += data[i] == '\n';
	expect(audit_verify(&(struct audit_verify_opts){ .dir = dir }, &v, &e) == 0);
	expect(v.n_records + v.n_repaired <= n_lines);
	expect(size == 0 || v.n_findings > 0); /* there is no head */
	(void)unlink(path);
	check_files(dir, data, size, n_lines);
	if (rmdir(dir) == 0)
		dir[0] = '\0';
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str in = { .p = (const char *)data, .n = size };
	_cleanup_free_ char *text = NULL;
	size_t n;

	if (size > 4096)
		return 0;
	check_record(in);
	text = sealed(in, &n);
	check_record((struct str){ text, n });
	check_file(data, size);
	return 0;
}
