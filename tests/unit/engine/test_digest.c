/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "engine/digest.h"

static const struct source usr = { .path = { "/usr", 4 }, .dev = 1, .ino = 2 };
static const struct str target = { "/usr", 4 }, links[] = { { "/bin", 4 }, { "usr/bin", 7 } },
			files[] = { { "/etc/passwd", 11 }, { "root", 4 } };
static const struct source null = { .path = { "/dev/null", 9 }, .is_file = true, .is_special = true };
static const struct profile_mount workspace = { .source = { .path = { "/home/u/w", 9 }, .dev = 3, .ino = 4 },
						.target = { "/workspace", 10 },
						.overlay = true };

static struct profile base(void)
{
	return (struct profile){ .outer_uid = 1000,
				 .inner_uid = 1000,
				 .root_binds = &usr,
				 .root_targets = &target,
				 .n_root_binds = 1,
				 .links = links,
				 .n_links = 1,
				 .files = files,
				 .n_files = 1,
				 .devices = &null,
				 .n_devices = 1,
				 .mounts = &workspace,
				 .n_mounts = 1,
				 .hostname = STR("sandbox"),
				 .pids = 512,
				 .memory = 1 << 30,
				 .cpus = 2,
				 .landlock_abi = 7 };
}

static void check(const char *name, const struct profile *p, bool walls, bool mounts)
{
	struct profile b = base();
	struct digest was, is;

	digest_profile(&b, &was);
	digest_profile(p, &is);
	CHECK_CASE((strcmp(was.walls, is.walls) != 0) == walls, "%s: walls", name);
	CHECK_CASE((strcmp(was.mounts, is.mounts) != 0) == mounts, "%s: mounts", name);
}

/* A change of one field, and which of the two hashes it has to change. */
#define CHANGE(field, value, walls, mounts)             \
	do {                                            \
		struct profile changed = base();        \
		changed.field = value;                  \
		check(#field, &changed, walls, mounts); \
	} while (0)
#define MOUNT(field, value)                              \
	do {                                             \
		struct profile p = base();               \
		struct profile_mount m = workspace;      \
		m.field = value;                         \
		p.mounts = &m;                           \
		check("mount " #field, &p, false, true); \
	} while (0)

TEST(the_same_walls_have_the_same_digest)
{
	struct profile p = base();

	check("nothing", &p, false, false);
}

TEST(every_wall_is_in_the_digest)
{
	const struct source other = { .path = STR("/usr"), .dev = 1, .ino = 3 };
	const struct str moved = STR("/opt"), other_links[] = { STR("/bin"), STR("usr/sbin") },
			 other_files[] = { STR("/etc/passwd"), STR("toor") };

	CHANGE(outer_uid, 1, true, false);
	CHANGE(outer_gid, 1, true, false);
	CHANGE(inner_uid, 1, true, false);
	CHANGE(inner_gid, 1, true, false);
	CHANGE(two_users, true, true, false);
	CHANGE(warden_uid, 1, true, false);
	CHANGE(warden_gid, 1, true, false);
	CHANGE(root_binds, &other, true, false);
	CHANGE(root_targets, &moved, true, false);
	CHANGE(n_root_binds, 0, true, false);
	CHANGE(links, other_links, true, false);
	CHANGE(n_links, 0, true, false);
	CHANGE(files, other_files, true, false);
	CHANGE(n_files, 0, true, false);
	CHANGE(n_devices, 0, true, false);
	CHANGE(hostname, STR("other"), true, false);
	CHANGE(pids, 1, true, false);
	CHANGE(memory, 1, true, false);
	CHANGE(open_files, 1, true, false);
	CHANGE(tmpfs, 1, true, false);
	CHANGE(disk, 1, true, false);
	CHANGE(cpus, 0.5, true, false);
	CHANGE(masking, true, true, false);
	CHANGE(time_optional, true, true, false);
	CHANGE(proxy_port, 3128, true, false);
	CHANGE(landlock_abi, 0, true, false);
	CHANGE(git, true, true, false);
	CHANGE(n_mounts, 0, false, true);
}

TEST(everything_about_a_mount_is_in_the_digest_of_the_mounts)
{
	const struct source other_dir = { .path = STR("/home/u/w"),
					  .dev = 3,
					  .ino = 5 }; /* removed, and made again */

	MOUNT(source, other_dir);
	MOUNT(target, STR("/agent"));
	MOUNT(writable, true);
	MOUNT(overlay, false);
	MOUNT(sealed, true);
	MOUNT(idmap, true);
	MOUNT(size, 1);
	MOUNT(devices, true);
}

TEST(what_belongs_to_one_call_or_one_sandbox_is_not)
{
	const struct str argv[] = { STR("ls") }, secret[] = { STR("GH_TOKEN=abc") };
	struct profile_mount m = workspace;
	struct profile p = base();

	CHANGE(argv, ((struct strs){ argv, 1 }), false, false);
	CHANGE(env, ((struct strs){ secret, 1 }), false, false);
	CHANGE(cwd, STR("/tmp"), false, false);
	CHANGE(timeout_ms, 5, false, false);
	CHANGE(serve, true, false, false);
	CHANGE(gitconfig, STR("[user]\n"), false, false);
	CHANGE(private_dir, STR("/var/lib/creel/live/x"), false, false);
	CHANGE(image, STR("/srv/image"), false, false); /* what is bound from it is */
	m.upper = STR("/var/lib/creel/live/x/upper0");
	p.mounts = &m;
	check("upper", &p, false, false);
}

TEST(what_may_change_on_the_host_is_in_the_digest_of_the_moment)
{
	const struct source socket = { .path = STR("/workspace/s"), .dev = 3, .ino = 9, .is_special = true };
	const struct profile b = base();
	struct profile p[] = { b, b, b, b };
	struct digest was, is;

	digest_profile(&b, &was);
	p[0].masks = &socket, p[0].n_masks = 1;
	p[1].gitconfig = STR("[user]\n");
	p[2].cwd = STR("/agent");
	for (size_t i = 0; i < sizeof(p) / sizeof(p[0]); i++) {
		digest_profile(&p[i], &is);
		CHECK_CASE((strcmp(was.moment, is.moment) == 0) == (i == 3), "moment %zu", i);
		CHECK_CASE(digest_same(&was, &is) == (i == 3), "all %zu", i);
		CHECK_CASE(strcmp(was.walls, is.walls) == 0 && strcmp(was.mounts, is.mounts) == 0,
			   "others %zu", i);
	}
	/* A socket that was removed and made again has the same number, and nothing covers it. */
	digest_profile(&p[0], &was);
	digest_profile(&p[0], &is);
	assert_false(digest_same(&was, &is));
	digest_profile(&b, &was);
	p[3].pids++;
	digest_profile(&p[3], &is);
	assert_false(digest_same(&was, &is));
}

TEST(pieces_cannot_be_moved_from_one_field_to_the_next)
{
	const struct str a[] = { STR("/a"), STR("bc") }, b[] = { STR("/ab"), STR("c") };
	struct profile p = base(), q = base();
	struct digest dp, dq;

	p.files = a, q.files = b;
	digest_profile(&p, &dp);
	digest_profile(&q, &dq);
	assert_string_not_equal(dp.walls, dq.walls);
}

TEST(a_new_field_of_the_profile_was_thought_of)
{
	if (sizeof(void *) != 8)
		return;
	/* It changed: put the field into digest.c and above, or above into what is not in it; then count again. */
	assert_int_equal(sizeof(struct profile), 416);
	assert_int_equal(sizeof(struct profile_mount), 120);
}

TEST_MAIN()
