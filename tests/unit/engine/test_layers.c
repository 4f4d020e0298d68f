/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "base/clock.h"
#include "base/tree.h"
#include "engine/engine_priv.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define DAY 86400000ull

/* In place of the library's: the entry of this number cannot be read; 0 = all can. */
static unsigned fails_at, n_read;

struct dirent *readdir(DIR *d)
{
	struct dirent *(*real)(DIR * d) = NULL;
	void *symbol = dlsym(RTLD_NEXT, "readdir");

	assert_non_null(symbol);
	memcpy(&real, &symbol, sizeof(real));
	n_read++;
	if (!fails_at || n_read != fails_at)
		return real(d);
	errno = EIO;
	return NULL;
}

static const char id[] = "0123456789abcdef0123456789abcdef";

struct lab {
	char path[64];
	struct engine *g;
	int layers;
	unsigned told;
	char who[64];
	uint64_t bytes;
};

static void lab_init(struct lab *l)
{
	struct err e = { 0 };
	char *none[] = { NULL };
	char at[4096];

	*l = (struct lab){ .path = "/tmp/creel-test-layers-XXXXXX" };
	assert_non_null(mkdtemp(l->path));
	assert_int_equal(chmod(l->path, 0711), 0);
	assert_int_equal(engine_new(&(struct engine_opts){ .state_dir = str_z(l->path),
							   .cwd = str_z(l->path),
							   .home = str_z(l->path),
							   .environ = none,
							   .no_default_config = true },
				    &l->g, &e),
			 0);
	l->layers = state_open(&l->g->state, "layers", id, at, sizeof(at), &e);
	assert_true(l->layers >= 0);
}

static void lab_done(struct lab *l)
{
	engine_free(l->g);
	close(l->layers);
	assert_int_equal(tree_remove(AT_FDCWD, l->path), 0);
}

static int heard(void *ctx, const struct live_info *info)
{
	struct lab *l = ctx;

	assert_true(info->layers);
	l->told++;
	l->bytes = info->disk_bytes;
	(void)snprintf(l->who, sizeof(l->who), "%.*s", (int)info->entry->key.n, info->entry->key.p);
	return 0;
}

/* As the warden leaves them; `change` may be NULL. */
static void add(const struct lab *l, const char *name, const char *change)
{
	static const char *const parts[] = { "/upper-1", "/work-1", "/work-1/work" };
	char path[256];

	assert_int_equal(mkdirat(l->layers, name, 0700), 0);
	for (size_t i = 0; i < 3; i++) {
		(void)snprintf(path, sizeof(path), "%s%s", name, parts[i]);
		assert_int_equal(mkdirat(l->layers, path, i == 2 ? 0 : 0700), 0);
	}
	layers_note(l->layers, name, STR("agent:main:a"));
	if (change) {
		(void)snprintf(path, sizeof(path), "%s/upper-1/%s", name, change);
		close(openat(l->layers, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	}
}

static bool there(const struct lab *l, const char *name)
{
	return faccessat(l->layers, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* As so many milliseconds from now. */
static int prune(struct lab *l, int64_t days, uint64_t later_ms, bool dry)
{
	struct err e = { 0 };

	l->told = 0;
	return layers_prune(
		l->g,
		&(struct prune_opts){ .dry = dry, .layers_days = days, .now_ms = clock_unix_ms() + later_ms },
		heard, l, &e);
}

TEST(layers_with_changes_stay_for_ever_unless_somebody_says_for_how_many_days)
{
	struct lab l;

	lab_init(&l);
	add(&l, id, "work.txt");
	assert_int_equal(prune(&l, -1, 3000 * DAY, false), 0);
	assert_int_equal(prune(&l, 0, 3000 * DAY, false), 0);
	assert_int_equal(prune(&l, 30, 29 * DAY, false), 0);
	assert_true(there(&l, id));
	assert_int_equal(prune(&l, 30, 31 * DAY, true), 1);
	assert_true(there(&l, id));
	assert_int_equal(prune(&l, 30, 31 * DAY, false), 1);
	assert_string_equal(l.who, "agent:main:a");
	assert_false(there(&l, id));
	assert_false(there(&l, "0123456789abcdef0123456789abcdef.session"));
	assert_false(there(&l, ".gone-0123456789abcdef0123456789abcdef"));
	lab_done(&l);
}

/* Whichever it is: of the directory that all are in, of these layers, or of what is in them. */
TEST(layers_with_changes_stay_when_an_entry_cannot_be_read)
{
	struct lab l;
	unsigned all, failed = 0;

	lab_init(&l);
	add(&l, id, "work.txt");
	assert_int_equal(prune(&l, -1, 3600000, false), 0);
	all = n_read;
	assert_true(all > 8);
	for (unsigned i = 1; i <= all; i++) {
		n_read = 0;
		fails_at = i;
		failed += prune(&l, -1, 3600000, false) < 0;
		fails_at = 0;
		assert_true(there(&l, id));
	}
	assert_true(failed > 0 && failed < all);
	lab_done(&l);
}

TEST(layers_that_somebody_holds_are_never_removed)
{
	struct lab l;
	int held;

	lab_init(&l);
	add(&l, id, "work.txt");
	held = openat(l.layers, id, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(flock(held, LOCK_EX | LOCK_NB), 0);
	assert_int_equal(prune(&l, 1, 3000 * DAY, false), 0);
	assert_true(there(&l, id));
	close(held);
	assert_int_equal(prune(&l, 1, 3000 * DAY, false), 1);
	lab_done(&l);
}

TEST(layers_without_changes_go_when_they_were_not_used_for_a_while_and_nobody_is_told)
{
	struct lab l;

	lab_init(&l);
	add(&l, id, NULL);
	assert_int_equal(prune(&l, -1, 60000, false), 0);
	assert_true(there(&l, id));
	assert_int_equal(prune(&l, -1, 3600000, true), 0);
	assert_true(there(&l, id));
	assert_int_equal(prune(&l, -1, 3600000, false), 0);
	assert_int_equal(l.told, 0);
	assert_false(there(&l, id));
	lab_done(&l);
}

TEST(layers_whose_top_has_other_rights_have_a_change_in_them)
{
	struct lab l;
	char upper[128];

	lab_init(&l);
	add(&l, id, NULL);
	(void)snprintf(upper, sizeof(upper), "%s/upper-1", id);
	assert_int_equal(fchmodat(l.layers, upper, 0755, 0), 0);
	assert_int_equal(prune(&l, -1, 3600000, false), 0);
	assert_true(there(&l, id));
	lab_done(&l);
}

TEST(layers_what_a_killed_prune_left_is_removed_and_a_link_in_their_place_is_not_followed)
{
	struct lab l;
	char victim[128];

	lab_init(&l);
	(void)snprintf(victim, sizeof(victim), "%s/victim", l.path);
	assert_int_equal(mkdir(victim, 0700), 0);
	add(&l, ".gone-x", "half");
	assert_int_equal(symlinkat(victim, l.layers, "link"), 0);
	assert_int_equal(symlinkat(victim, l.layers, ".gone-link"), 0);
	assert_int_equal(prune(&l, 1, 3000 * DAY, false), 0);
	assert_false(there(&l, ".gone-x"));
	assert_int_equal(access(victim, F_OK), 0);
	lab_done(&l);
}

TEST_MAIN()
