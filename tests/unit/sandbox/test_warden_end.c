/* SPDX-License-Identifier: Apache-2.0 */
/* How a sandbox ends: whoever is killed, and when, within a second nothing is left. */
#include "engine.h"

/* A tree that does not want to end: its own sessions, deaf to everything that can be ignored. */
#define STUBBORN                                                                                                \
	"trap '' TERM INT HUP; (trap '' TERM; setsid sleep $MARK & setsid setsid sleep $MARK &) ; echo ready; " \
	"sleep $MARK; sleep $MARK"

/* The deadline may come before a shell on a busy machine has got as far as the word: that one says nothing, a later one does. */
static struct outcome *run_past(const char *word, struct setup *s)
{
	for (;; s->timeout_ms *= 2) {
		uint64_t start = clock_mono_ms();
		struct outcome *o = box_run(s);

		assert_true(clock_mono_ms() - start >= s->timeout_ms);
		assert_int_equal(o->exits[0].reason, REASON_TIMEOUT); /* first: that is how it ended */
		if (strstr(o->out, word))
			return o;
		assert_true(s->timeout_ms < 60000);
	}
}

static void forget(struct launch *b)
{
	assert_int_equal(waitpid(b->creel, NULL, 0), b->creel);
	(void)close(b->out);
	(void)close(b->result);
}

TEST(warden_ends_with_creel)
{
	FOR_EACH_USER(user)
	{
		struct launch b = box_start(&(struct setup){ .as_user = user, .script = STUBBORN });

		(void)wait_for_marked();
		assert_int_equal(kill(b.creel, SIGKILL), 0);
		check_gone_within(1000);
		forget(&b);
	}
}

/* which: 1 = inside, 2 = outside. Up from a marked process; one that was only passing through has gone by then. */
static pid_t find_warden(const struct launch *b, int which)
{
	for (int i = 0; i < 500; i++) {
		pid_t pid = wait_for_marked(), up[3] = { 0 };

		for (; pid > 1 && pid != b->creel; pid = parent_of(pid)) {
			up[0] = up[1];
			up[1] = up[2];
			up[2] = pid;
		}
		if (pid == b->creel && up[0] > 0)
			return which == 1 ? up[1] : up[2];
		(void)usleep(2000);
	}
	fail_msg("no warden between creel and its payload");
	return 0;
}

static void kill_warden(int user, int which)
{
	int ready[2];
	struct outcome *o;
	struct launch b;
	pid_t pid;
	char byte;

	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	b = box_start(&(struct setup){ .as_user = user, .script = STUBBORN, .ready_fd = ready[1] });
	assert_int_equal(read(ready[0], &byte, 1), 1);
	pid = find_warden(&b, which);
	assert_int_equal(kill(pid, SIGKILL), 0);
	check_gone_within(1000);
	o = box_finish(&b); /* creel hears the end of it, and no more */
	(void)close(ready[0]);
	(void)close(ready[1]);
	assert_true(o->ready);
	assert_int_equal(o->n_exits, 0);
}

TEST(warden_killed_inside_takes_everything_with_it)
{
	FOR_EACH_USER(user)
	kill_warden(user, 1);
}

TEST(warden_killed_outside_takes_everything_with_it)
{
	FOR_EACH_USER(user)
	kill_warden(user, 2);
}

TEST(warden_killed_before_any_step_leaves_nothing_and_runs_nothing)
{
	FOR_EACH_USER(user)
	for (uint64_t step = 1;; step++) {
		struct outcome *o =
			box_run(&(struct setup){ .as_user = user, .script = "echo ran", .crash_at = step });

		if (o->ready) { /* past the last step */
			assert_in_range(step, 50, 200);
			box_check(o, 0, "ran\n");
			break;
		}
		assert_int_equal(o->n_exits, 0);
		assert_int_equal(o->failure.msg, 0);
		assert_string_equal(o->out, "");
	}
}

TEST(warden_ends_orphans_with_the_payload)
{
	FOR_EACH_USER(user)
	{
		box_check(box_run(&(struct setup){
				  .as_user = user,
				  .script = "(setsid sleep $MARK >/dev/null 2>&1 &) ; exit 3" }),
			  3, "");
		assert_int_equal(count_marked(NULL), 0);
	}
}

TEST(warden_keeps_the_deadline_and_asks_first)
{
	FOR_EACH_USER(user)
	{
		struct outcome *o = run_past(
			"ready\n",
			&(struct setup){
				.as_user = user,
				.script =
					"trap 'echo asked; exit 9' TERM; echo ready; while :; do sleep 0.02; done",
				.timeout_ms = 200,
				.grace_ms = 60000 });

		assert_int_equal(o->n_exits, 2);
		assert_int_equal(o->exits[1].value, 9);
		assert_non_null(strstr(o->out, "asked\n"));
	}
}

TEST(warden_kills_who_does_not_hear)
{
	FOR_EACH_USER(user)
	for (uint64_t grace = 0; grace <= 200; grace += 200) {
		uint64_t start = clock_mono_ms();
		struct outcome *o = run_past("ready\n", &(struct setup){ .as_user = user,
									 .script = STUBBORN,
									 .timeout_ms = 600,
									 .grace_ms = grace });

		assert_true(clock_mono_ms() - start >= 600 + grace);
		assert_int_equal(o->n_exits, 2);
		assert_int_equal(o->exits[1].value, SIGKILL);
		assert_true(o->exits[1].max_rss_kb > 0); /* what it has used is told all the same */
		assert_int_equal(count_marked(NULL), 0);
	}
}

TEST(warden_does_not_take_orders_from_inside)
{
	/* As one user the signal arrives, and is not ours; as two it may not even be sent. */
	FOR_EACH_USER(user)
	box_check(box_run(&(struct setup){
			  .as_user = user,
			  .script = "for s in TERM KILL STOP INT HUP USR1; do kill -$s 1 2>/dev/null; done; "
				    "sleep 0.1; exit 5" }),
		  5, "");
}

TEST(warden_cannot_be_slowed_down_from_inside)
{
	FOR_EACH_USER(user)
	{
		struct outcome *o = run_past(
			"ready\n",
			&(struct setup){
				.as_user = user,
				.script =
					"renice 19 1; chrt -i -p 0 1; taskset -p 1 1; ionice -c 3 -p 1; echo ready; "
					"for i in 1 2 3 4 5 6 7 8 9 10 11 12; do (while :; do :; done) & done; wait",
				.timeout_ms = 1500 }); /* the four first need their time */

		assert_non_null(strstr(o->out, "failed to set pid 1's policy"));
		assert_non_null(strstr(o->out, "failed to set pid 1's affinity"));
	}
}

TEST(warden_leaves_the_streams_to_the_payload)
{
	FOR_EACH_USER(user)
	{
		struct launch b = box_start(&(struct setup){
			.as_user = user, .script = "echo first; exec >/dev/null 2>&1; exec sleep $MARK" });
		struct pollfd p = { .fd = b.out, .events = POLLIN };
		char text[16] = "";

		assert_int_equal(read(b.out, text, sizeof(text)), 6);
		assert_int_equal(poll(&p, 1, 5000), 1); /* the end of the stream, while it still runs */
		assert_int_equal(read(b.out, text, sizeof(text)), 0);
		(void)wait_for_marked();
		assert_int_equal(kill(b.creel, SIGKILL), 0);
		check_gone_within(1000);
		forget(&b);
	}
}

/* ---- cgroups ---- */

/* Groups that this creel made, anywhere. */
static int count_groups(const char *top, pid_t creel)
{
	DIR *d = opendir(top);
	struct dirent *entry;
	char prefix[32];
	int n = 0;

	(void)snprintf(prefix, sizeof(prefix), "creel-%d-", creel);
	while (d && (entry = readdir(d))) {
		char path[4096];

		if (entry->d_type != DT_DIR || entry->d_name[0] == '.' ||
		    snprintf(path, sizeof(path), "%s/%s", top, entry->d_name) >= (int)sizeof(path))
			continue;
		n += strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
		n += count_groups(path, creel);
	}
	if (d)
		(void)closedir(d);
	return n;
}

TEST(warden_removes_the_cgroups_of_a_killed_creel)
{
	const struct cgroup_limits limits = {
		.must = CGROUP_MEMORY | CGROUP_PIDS | CGROUP_CPU, .memory = 64 << 20, .pids = 30, .cpus = 0.9
	};
	int left = -1;
	struct launch b;

	if (geteuid() != 0)
		skip();
	b = box_start(&(struct setup){ .script = STUBBORN, .limits = &limits });
	(void)wait_for_marked();
	assert_true(count_groups("/sys/fs/cgroup", b.creel) > 0);
	assert_int_equal(kill(b.creel, SIGKILL), 0);
	check_gone_within(1000);
	for (int i = 0; i < 200 && left != 0; i++) {
		(void)usleep(5000);
		left = count_groups("/sys/fs/cgroup", b.creel);
	}
	assert_int_equal(left, 0);
	forget(&b);
}

static bool maps(pid_t pid, const char *name)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_close_ int fd = FD_NONE;
	char path[64];
	size_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(fd_read_all(fd, 1 << 20, &text, &n), 0);
	return strstr(text, name);
}

/* The environment in it may hold secrets, and a sandbox may live long. */
TEST(warden_keeps_no_plan_in_memory_once_the_payload_runs)
{
	if (geteuid() != 0)
		skip(); /* nobody else may look into it */
	FOR_EACH_USER(user)
	{
		struct launch b = box_start(&(struct setup){ .as_user = user, .script = "exec sleep $MARK" });
		pid_t pids[2];

		pids[0] = parent_of(wait_for_marked());
		pids[1] = parent_of(pids[0]);
		for (int i = 0; i < 2; i++) {
			uint64_t end = clock_deadline(5000);

			assert_true(maps(pids[i], "creel-warden")); /* this is how a mapping is called here */
			while (maps(pids[i], "creel-plan")) {
				assert_true(clock_mono_ms() < end);
				(void)usleep(1000);
			}
		}
		assert_int_equal(kill(b.creel, SIGKILL), 0);
		check_gone_within(1000);
		forget(&b);
	}
}

/* "Name:   12 kB" of /proc/PID/status. */
static size_t status_bytes(pid_t pid, const char *name)
{
	_cleanup_free_ char *text = NULL;
	const char *at;
	char path[64];
	size_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", pid);
	assert_int_equal(fd_read_file(path, 1 << 16, &text, &n), 0);
	at = strstr(text, name);
	assert_non_null(at);
	return strtoul(at + strlen(name), NULL, 10) * 1024;
}

/* A kernel may seal what it maps for a C library (CONFIG_MSEAL_SYSTEM_MAPPINGS): all of it stays then. */
static bool seals_its_mappings(void)
{
	_cleanup_free_ char *text = NULL;
	const char *vdso;
	size_t n;

	assert_int_equal(fd_read_file("/proc/self/smaps", 1 << 20, &text, &n), 0);
	vdso = strstr(text, "[vdso]");
	vdso = vdso ? strstr(vdso, "VmFlags:") : NULL;
	return vdso && memmem(vdso, strcspn(vdso, "\n"), " sl", 3);
}

/* Both stand on their variables: the stack that the kernel made, and page tables for what lies around it, take more than all that they need. */
TEST(warden_keeps_one_page_table_of_each_level_once_the_payload_runs)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (geteuid() != 0 || seals_its_mappings())
		skip();
	FOR_EACH_USER(user)
	{
		struct launch b = box_start(&(struct setup){ .as_user = user, .script = "exec sleep $MARK" });
		pid_t pids[2];

		pids[0] = parent_of(wait_for_marked());
		pids[1] = parent_of(pids[0]);
		for (int i = 0; i < 2; i++) {
			uint64_t end = clock_deadline(5000);

			while (maps(pids[i], "[stack]") || maps(pids[i], "[vdso]")) {
				assert_true(clock_mono_ms() < end);
				(void)usleep(1000);
			}
			assert_true(status_bytes(pids[i], "VmPTE:") <= 3 * page);
			assert_true(status_bytes(pids[i], "RssAnon:") <= 3 * page);
		}
		assert_int_equal(kill(b.creel, SIGKILL), 0);
		check_gone_within(1000);
		forget(&b);
	}
}

TEST_MAIN()
