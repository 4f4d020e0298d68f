/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whoever adds a field to struct profile decides here whether it is a wall: one that is forgotten would leave an old sandbox in
 * use. A test counts the bytes.
 */
#include "engine/digest.h"

#include <assert.h>

/* Every value with its length before it: "ab", "c" is not "a", "bc". */
static void add(struct sha256 *c, struct str s)
{
	uint64_t n = s.n;

	sha256_add(c, (struct str){ .p = (const char *)&n, .n = sizeof(n) });
	sha256_add(c, s);
}

static void add_u64(struct sha256 *c, uint64_t v)
{
	sha256_add(c, (struct str){ .p = (const char *)&v, .n = sizeof(v) });
}

static void add_strs(struct sha256 *c, const struct str *v, size_t n)
{
	add_u64(c, n);
	for (size_t i = 0; i < n; i++)
		add(c, v[i]);
}

static void add_source(struct sha256 *c, const struct source *s)
{
	add(c, s->path);
	add_u64(c, s->dev);
	add_u64(c, s->ino);
	add_u64(c, (uint64_t)s->is_file | (uint64_t)s->is_special << 1);
}

static void end(struct sha256 *c, char out[static SHA256_HEX])
{
	unsigned char digest[SHA256_BYTES];

	sha256_end(c, digest);
	hash_to_hex(digest, sizeof(digest), out);
}

static void add_root(struct sha256 *c, const struct profile *p)
{
	add_u64(c, p->n_root_binds);
	for (size_t i = 0; i < p->n_root_binds; i++) {
		add_source(c, &p->root_binds[i]);
		add(c, p->root_targets[i]);
	}
	add_strs(c, p->links, p->n_links * 2);
	add_strs(c, p->files, p->n_files * 2);
	add_u64(c, p->n_devices);
	for (size_t i = 0; i < p->n_devices; i++)
		add_source(c, &p->devices[i]);
	add(c, p->hostname);
}

static void add_limits(struct sha256 *c, const struct profile *p)
{
	uint64_t cpus;

	static_assert(sizeof(cpus) == sizeof(p->cpus), "a double as its bits");
	memcpy(&cpus, &p->cpus, sizeof(cpus));
	add_u64(c, p->pids);
	add_u64(c, p->memory);
	add_u64(c, p->open_files);
	add_u64(c, p->tmpfs);
	add_u64(c, p->disk);
	add_u64(c, cpus);
}

static void add_who(struct sha256 *c, const struct profile *p)
{
	add_u64(c, p->outer_uid);
	add_u64(c, p->outer_gid);
	add_u64(c, p->inner_uid);
	add_u64(c, p->inner_gid);
	add_u64(c, p->two_users);
	add_u64(c, p->subids);
	add_u64(c, p->warden_uid);
	add_u64(c, p->warden_gid);
}

static void add_mount(struct sha256 *c, const struct profile_mount *m)
{
	add_source(c, &m->source);
	add(c, m->target);
	add_u64(c, (uint64_t)m->writable | (uint64_t)m->overlay << 1 | (uint64_t)m->sealed << 2 |
			   (uint64_t)m->idmap << 3 | (uint64_t)m->devices << 4);
	add_u64(c, m->size);
}

static void add_moment(struct sha256 *c, const struct profile *p)
{
	add_u64(c, p->n_masks);
	for (size_t i = 0; i < p->n_masks; i++)
		add_source(c, &p->masks[i]);
	add(c, p->gitconfig);
	add(c, p->cwd);
}

void digest_profile(const struct profile *p, struct digest *ret)
{
	struct sha256 c;

	sha256_init(&c);
	add(&c, STR("walls 1"));
	add_who(&c, p);
	add_root(&c, p);
	add_limits(&c, p);
	add_u64(&c, (uint64_t)p->masking | (uint64_t)p->time_optional << 1 | (uint64_t)p->proxy_port << 2 |
			    (uint64_t)p->git << 18);
	add_u64(&c, p->landlock_abi);
	end(&c, ret->walls);

	sha256_init(&c);
	add(&c, STR("mounts 1"));
	add_u64(&c, p->n_mounts);
	for (size_t i = 0; i < p->n_mounts; i++)
		add_mount(&c, &p->mounts[i]);
	end(&c, ret->mounts);

	sha256_init(&c);
	add(&c, STR("moment 1"));
	add_moment(&c, p);
	end(&c, ret->moment);
	ret->covers = p->n_masks > 0;
}

bool digest_same(const struct digest *a, const struct digest *b)
{
	return !a->covers && !b->covers && strcmp(a->walls, b->walls) == 0 &&
	       strcmp(a->mounts, b->mounts) == 0 && strcmp(a->moment, b->moment) == 0;
}

/* Another set-up is another sandbox, though its walls stand where they stood. */
void digest_setup(struct str command, struct digest *ret)
{
	struct sha256 c;

	sha256_init(&c);
	add(&c, STR("setup 1"));
	add(&c, str_z(ret->walls));
	add(&c, command);
	end(&c, ret->walls);
}
