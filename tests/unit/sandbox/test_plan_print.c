/* SPDX-License-Identifier: Apache-2.0 */
#include "plan_world.h"

static const char *print(struct world *w, struct buf *out)
{
	buf_init(out, (size_t)1 << 20);
	world_build(w);
	plan_print(buf_str(&w->bytes), out);
	assert_false(out->failed);
	return out->p;
}

TEST(plan_prints_one_numbered_line_per_step)
{
	_cleanup_buf_ struct buf out = { 0 };
	WORLD(w);
	const char *at = print(&w, &out);
	unsigned n = 0;

	for (; *at; at = strchr(at, '\n') + 1) {
		char name[32];
		unsigned number;

		assert_int_equal(sscanf(at, "%u %31s", &number, name), 2);
		assert_int_equal(number, n + 1);
		assert_string_equal(name, step_name(plan_step(&w.v, n).kind));
		n++;
	}
	assert_int_equal(n, w.v.head.n_steps);
}

TEST(plan_prints_what_a_person_wants_to_know)
{
	static const char *const lines[] = {
		"  1 root            / 4259840 bytes\n",
		" link            /bin -> usr/bin\n",
		" file            /etc/passwd 11 bytes\n",
		" bind            /usr <- /host/usr ro\n",
		" bind            /dev/null <- /dev/null noexec dev\n",
		" bind            /workspace <- /home/me/ws idmap\n",
		" bind            /mnt/a/b/data <- /srv/data ro\n",
		" overlay         /overlaid <- /srv/src upper /state/upper work /state/work\n",
		" scratch         /tmp 4096 bytes\n",
		" mask            /proc/kcore <- /dev/.empty optional\n",
		" read-only       /proc/sys\n",
		" rlimit          nofile 256\n",
		" landlock-rule   / r--x optional\n",
		" landlock-rule   /workspace rwcx optional\n",
		" capabilities    none\n",
		" instructions\n",
	};
	_cleanup_buf_ struct buf out = { 0 };
	WORLD(w);
	const char *text = print(&w, &out);

	for (size_t i = 0; i < LEN(lines); i++)
		CHECK_CASE(strstr(text, lines[i]), "no line '%s' in\n%s", lines[i], text);
}

TEST(plan_prints_what_pid_1_keeps)
{
	_cleanup_buf_ struct buf out = { 0 };
	WORLD(w);

	w.p.two_users = true;
	assert_non_null(strstr(print(&w, &out), " capabilities    pid 1 keeps kill setgid setuid\n"));
}

TEST(plan_prints_no_secret_and_no_control_character)
{
	_cleanup_buf_ struct buf out = { 0 };
	WORLD(w);
	const char *text;

	w.mounts[1].source.path = STR("/x\033[2J\n999 evil");
	text = print(&w, &out);
	assert_null(strstr(text, "hunter2"));
	assert_null(strchr(text, '\033'));
	assert_null(strstr(text, "\n999"));
	assert_non_null(strstr(text, "/x\\x1b[2J\\x0a999 evil"));
}

TEST(plan_prints_nothing_of_what_is_no_plan)
{
	_cleanup_buf_ struct buf out = { 0 };

	buf_init(&out, 1000);
	plan_print(STR("plan"), &out);
	assert_string_equal(out.p, "this is not a plan\n");
}

TEST(plan_names_of_steps_and_probes_are_all_there_and_all_different)
{
	for (unsigned i = 0; i < STEP_COUNT_; i++) {
		assert_true(step_name(i) && step_name(i)[0]);
		for (unsigned k = 0; k < i; k++)
			assert_string_not_equal(step_name(i), step_name(k));
	}
	for (unsigned i = 0; i < PROBE_COUNT_; i++) {
		assert_true(probe_name(i) && probe_name(i)[0]);
		for (unsigned k = 0; k < i; k++)
			assert_string_not_equal(probe_name(i), probe_name(k));
	}
	assert_string_equal(step_name(STEP_COUNT_), "?");
	assert_string_equal(probe_name(PROBE_COUNT_), "?");
}

TEST_MAIN()
