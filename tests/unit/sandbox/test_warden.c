/* SPDX-License-Identifier: Apache-2.0 */
/* The real warden: what it builds, and what it refuses to build on. */
#include "engine.h"

#include <sched.h>
#include <sys/mount.h>

TEST(warden_runs_a_command_and_tells_how_it_ended)
{
	FOR_EACH_USER(user)
	{
		box_check(box_run(&(struct setup){ .as_user = user, .script = "id -u; exit 7" }), 7,
			  "1000\n");
		box_check(box_run(&(struct setup){ .as_user = user, .script = "true" }), 0, "");
	}
}

TEST(warden_tells_the_signal_that_ended_it)
{
	FOR_EACH_USER(user)
	{
		struct outcome *o = box_run(&(struct setup){ .as_user = user, .script = "kill -SEGV $$" });

		assert_int_equal(o->n_exits, 1);
		assert_int_equal(o->exits[0].reason, REASON_SIGNAL);
		assert_int_equal(o->exits[0].value, SIGSEGV);
	}
}

TEST(warden_tells_a_missing_command_from_one_that_cannot_run)
{
	FOR_EACH_USER(user)
	{
		struct setup s = { .as_user = user,
				   .argv = { (const struct str[]){ STR("no-such-command") }, 1 } };

		box_check_refused(box_run(&s), ENOENT, "exec");
		s.argv.v = (const struct str[]){ STR("../../etc/passwd") };
		box_check_refused(box_run(&s), EACCES, "exec");
	}
}

TEST(warden_passes_many_arguments_on)
{
	static struct str argv[20004];

	argv[0] = STR("sh");
	argv[1] = STR("-c");
	argv[2] = STR("echo $# ${20000}");
	argv[3] = STR("sh");
	for (size_t i = 4; i < 20004; i++)
		argv[i] = i == 20003 ? STR("last") : STR("x");
	box_check(box_run(&(struct setup){ .as_user = true, .argv = { argv, 20004 } }), 0, "20000 last\n");
}

TEST(warden_gives_the_payload_three_descriptors_and_no_more)
{
	FOR_EACH_USER(user)
	box_check(box_run(&(struct setup){ .as_user = user, .script = "echo /proc/self/fd/*" }), 0,
		  "/proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2 /proc/self/fd/3\n"); /* 3 is the listing */
}

static void check_comm(pid_t pid, const char *want)
{
	_cleanup_free_ char *text = NULL;
	char path[64];
	size_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	assert_int_equal(fd_read_file(path, 64, &text, &n), 0);
	assert_string_equal(text, want);
}

TEST(warden_is_two_processes_with_a_name_and_neither_is_seen_inside)
{
	FOR_EACH_USER(user)
	{
		struct launch b = box_start(&(struct setup){
			.as_user = user,
			.script = "test -e /proc/1 || echo unseen; echo $PPID; exec sleep $MARK" });
		pid_t payload = wait_for_marked(), inside = parent_of(payload), outside = parent_of(inside);
		struct outcome *o;

		check_comm(inside, "creel-warden\n");
		check_comm(outside, "creel-warden\n");
		assert_int_equal(parent_of(outside), b.creel);
		assert_int_equal(kill(payload, SIGKILL), 0);
		o = box_finish(&b);
		assert_string_equal(o->out, "unseen\n1\n");
	}
}

/* ---- what it refuses ---- */

TEST(warden_refuses_a_directory_as_a_stream)
{
	FOR_EACH_USER(user)
	box_check_refused(
		box_run(&(struct setup){ .as_user = user, .script = "cat ../etc/passwd", .stdin_path = "/" }),
		EISDIR, "standard stream");
}

/* creel gives it none; should it ever, nothing runs. */
TEST(warden_refuses_a_terminal_of_the_caller_as_a_stream)
{
	_cleanup_close_ int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	const char *name = master < 0 ? NULL : ptsname(master);

	assert_true(name && unlockpt(master) == 0 && chmod(name, 0666) == 0);
	FOR_EACH_USER(user)
	{
		box_check_refused(
			box_run(&(struct setup){ .as_user = user, .script = "true", .stdin_path = name }),
			EPERM, "standard stream");
		box_check(box_run(&(struct setup){
				  .as_user = user, .script = "true", .stdin_path = "/dev/zero" }),
			  0, "");
	}
}

/* Root's are mapped while the plan is made: one that says otherwise is not carried out. */
TEST(warden_refuses_a_plan_with_other_users_than_it_has_mapped)
{
	if (getuid() != 0)
		return; /* an ordinary user maps himself, when the plan is there */
	box_check_refused(box_run(&(struct setup){ .script = "true", .other_users = true }), EINVAL,
			  "read the plan");
	box_check(box_run(&(struct setup){ .script = "true" }), 0, "");
}

TEST(warden_changes_into_no_magic_link)
{
	static const char *const magic[] = { "/proc/self/fd/0", "/proc/self/root", "/proc/self/cwd",
					     "/proc/1/root" };

	FOR_EACH_USER(user)
	for (size_t i = 0; i < sizeof(magic) / sizeof(magic[0]); i++) {
		struct outcome *o =
			box_run(&(struct setup){ .as_user = user, .script = "pwd", .cwd = magic[i] });

		CHECK_CASE(!o->ready, "%s: %s", magic[i], o->out);
		assert_non_null(strstr(o->failure.what, "working directory"));
	}
}

TEST(warden_follows_a_link_of_the_sandbox_into_its_own_tree)
{
	FOR_EACH_USER(user)
	{
		home_make();
		home_dir("ws");
		assert_int_equal(symlink("/usr", home_path("ws/out")), 0);
		box_check(box_run(&(struct setup){ .as_user = user,
						   .script = "pwd -P; test -w . || echo ro",
						   .cwd = "/ws/out",
						   .mounts = { { .source.path = str_z(home_path("ws")),
								 .target = STR("/ws"),
								 .writable = true } } }),
			  0, "/usr\nro\n");
		home_remove();
	}
}

static void swap_source(void)
{
	assert_int_equal(rename(home_path("ws"), home_path("old")), 0);
	assert_int_equal(mkdir(home_path("ws"), 0755), 0);
}

static void swap_for_link(void)
{
	assert_int_equal(rename(home_path("ws"), home_path("old")), 0);
	assert_int_equal(symlink("/etc", home_path("ws")), 0);
}

TEST(warden_takes_no_other_object_that_took_the_name_of_a_checked_one)
{
	FOR_EACH_USER(user)
	for (int link = 0; link <= 1; link++) {
		struct outcome *o;

		home_make();
		home_dir("ws");
		o = box_run(&(struct setup){ .as_user = user,
					     .script = "ls /ws",
					     .meddle = link ? swap_for_link : swap_source,
					     .mounts = { { .source.path = str_z(home_path("ws")),
							   .target = STR("/ws"),
							   .writable = true } } });
		CHECK_CASE(!o->ready, "%s", o->out);
		/* Root's are opened outside, to be mapped, where no link is followed at all. */
		assert_true(o->failure.err == ESTALE || (link && o->failure.err == ELOOP));
		home_remove();
	}
}

/* ---- nothing is left in the user's tree ---- */

static struct outcome *run_nested(int user, const char *target)
{
	return box_run(&(struct setup){
		.as_user = user,
		.script = "echo there > /ws/there/file; cat /ws/there/file",
		.mounts = { { .source.path = str_z(home_path("ws")), .target = STR("/ws"), .writable = true },
			    { .target = str_z(target), .writable = true, .size = 4096 } } });
}

TEST(warden_creates_no_mount_point_in_a_directory_of_the_host)
{
	FOR_EACH_USER(user)
	{
		home_make();
		home_dir("ws");
		box_check_refused(run_nested(user, "/ws/missing"), ENOENT, "/ws/missing");
		box_check_refused(run_nested(user, "/ws/a/b"), ENOENT, "/ws/a");
		assert_false(home_has("ws/missing"));
		assert_false(home_has("ws/a"));
		home_dir("ws/there"); /* one that is there will do, and what is written there stays inside */
		box_check(run_nested(user, "/ws/there"), 0, "there\n");
		assert_false(home_has("ws/there/file"));
		home_remove();
	}
}

TEST(warden_creates_nothing_through_a_link_in_a_directory_of_the_host)
{
	FOR_EACH_USER(user)
	{
		home_make();
		home_dir("ws");
		home_dir("victim");
		assert_int_equal(symlink(home_path("victim"), home_path("ws/link")), 0);
		box_check_refused(run_nested(user, "/ws/link/x"), ELOOP, "/ws/link");
		assert_false(home_has("victim/x"));
		box_check_refused(run_nested(user, "/ws/link"), ELOOP, "/ws/link");
		home_remove();
	}
}

TEST(warden_makes_mount_points_in_its_own_file_systems)
{
	FOR_EACH_USER(user)
	{
		home_make();
		home_dir("data");
		box_check(
			box_run(&(struct setup){
				.as_user = user,
				.script = "ls -d /scratch/a/b /scratch/a/c",
				.mounts = { { .target = STR("/scratch"), .writable = true, .size = 1 << 16 },
					    { .source.path = str_z(home_path("data")),
					      .target = STR("/scratch/a/b") },
					    { .target = STR("/scratch/a/c"), .size = 4096 } } }),
			0, "/scratch/a/b\n/scratch/a/c\n");
		home_remove();
	}
}

/* ---- what the host does later ---- */

/* In a mount namespace of our own, as root: /…/ws is shared, as every mount of a systemd host is. */
static int mount_later(void)
{
	struct setup s = {
		.script = "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.05; done; ls /ws/sub; echo looked",
		.mounts = { { .source.path = str_z(home_path("ws")),
			      .target = STR("/ws"),
			      .writable = true } }
	};
	struct outcome *o;
	struct launch b;
	int ready[2];
	char byte;

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_SHARED, NULL) < 0 ||
	    mount(home_path("ws"), home_path("ws"), NULL, MS_BIND, NULL) < 0 ||
	    mkdir(home_path("ws/sub"), 0755) < 0 || pipe2(ready, O_CLOEXEC) < 0)
		return 2;
	s.ready_fd = ready[1];
	b = box_start(&s);
	(void)close(ready[1]);
	if (read(ready[0], &byte, 1) != 1) {
		o = box_finish(&b);
		(void)fprintf(stderr, "it never ran: %s%s: %s\n", o->what, o->failure.what,
			      strerror(o->failure.err));
		return 3;
	}
	if (mount("none", home_path("ws/sub"), "tmpfs", 0, NULL) < 0 ||
	    mkdir(home_path("ws/sub/later"), 0755) < 0)
		return 5;
	o = box_finish(&b);
	return strcmp(o->out, "looked\n") == 0 ? 0 : 4;
}

TEST(warden_shows_no_mount_that_the_host_makes_later)
{
	pid_t pid;
	int status;

	if (geteuid() != 0)
		skip();
	home_make();
	home_dir("ws");
	pid = fork();
	if (pid == 0)
		_exit(mount_later());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	home_remove();
}

/* What is mounted over needs a name of a file, and no file of its own. Where the payload may write, nothing is a name of that one. */
TEST(warden_covers_one_empty_file_that_nobody_can_write_to)
{
	FOR_EACH_USER(user)
	box_check(
		box_run(&(struct setup){
			.as_user = user,
			.script =
				"test $(stat -c %h /dev/.empty) -ge 7 && echo shared; echo x >/dev/null;"
				"{ echo x >/dev/.empty; } 2>/dev/null || echo refused;"
				"{ ln /dev/.empty /tmp/e; } 2>/dev/null || echo elsewhere; stat -c %s /dev/.empty" }),
		0, "shared\nrefused\nelsewhere\n0\n");
}

TEST(warden_names_the_machine_as_the_kernel_does)
{
	box_check(box_run(&(struct setup){ .as_user = true, .script = "cat /etc/hostname" }), 0, "box\n");
}

TEST_MAIN()
