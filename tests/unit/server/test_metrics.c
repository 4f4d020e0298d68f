/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "model/request.h"
#include "server/metrics.h"
#include "tools/tool.h"

#include <sys/wait.h>
#include <unistd.h>

static struct metrics *make(enum metrics_owner owner)
{
	struct metrics *m = NULL;
	struct err e = { 0 };

	assert_int_equal(metrics_new(owner, &m, &e), 0);
	return m;
}

static void check_has(const struct metrics *m, const char *line)
{
	_cleanup_buf_ struct buf out = { 0 };

	buf_init(&out, 1 << 20);
	metrics_write(m, &out);
	assert_false(out.failed);
	CHECK_CASE(strstr(out.p, line), "no '%s' in\n%s", line, out.p);
}

TEST(what_any_process_counts_is_counted_for_all)
{
	_cleanup_(metrics_freep) struct metrics *m = make(METRICS_RUNNER);
	const struct metric_at at = { METRIC_CALLS, metrics_word(LABEL_TOOL, STR("exec")),
				      metrics_word(LABEL_VERDICT, STR("ok")),
				      metrics_word(LABEL_BACKEND, STR("native")) };

	for (int i = 0; i < 4; i++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (pid == 0) {
			for (int n = 0; n < 1000; n++)
				metrics_add(m, at, 1);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	assert_int_equal(metrics_get(m, at), 4000);
	check_has(m, "\ncreel_calls_total{tool=\"exec\",verdict=\"ok\",backend=\"native\"} 4000\n");
}

TEST(a_word_from_outside_makes_no_new_series)
{
	_cleanup_(metrics_freep) struct metrics *m = make(METRICS_RUNNER);

	for (int i = 0; i < 1000; i++) {
		char word[32];

		(void)snprintf(word, sizeof(word), "x\"} %d\n", i);
		metrics_add(m, (struct metric_at){ METRIC_DENIALS, metrics_word(LABEL_LAYER, str_z(word)) },
			    1);
	}
	metrics_add(m, (struct metric_at){ METRIC_DENIALS, 1000000 }, 1);
	check_has(m, "\ncreel_denials_total{layer=\"other\"} 1001\n");
}

TEST(a_histogram_counts_in_every_bucket_that_is_large_enough)
{
	_cleanup_(metrics_freep) struct metrics *m = make(METRICS_GUARD);
	const struct metric_at at = { METRIC_GUARD_SECONDS, metrics_word(LABEL_ROUTE, STR("run")) };

	metrics_observe_us(m, at, 1000);
	metrics_observe_us(m, at, 1001);
	metrics_observe_us(m, at, UINT64_C(400000000));
	check_has(m, "_bucket{route=\"run\",le=\"0.001\"} 1\n");
	check_has(m, "_bucket{route=\"run\",le=\"0.0025\"} 2\n");
	check_has(m, "_bucket{route=\"run\",le=\"300\"} 2\n");
	check_has(m, "_bucket{route=\"run\",le=\"+Inf\"} 3\n");
	check_has(m, "_sum{route=\"run\"} 400.002001\n");
	check_has(m, "_count{route=\"run\"} 3\n");
}

TEST(gauges_go_up_and_down)
{
	_cleanup_(metrics_freep) struct metrics *m = make(METRICS_RUNNER);
	const struct metric_at at = { .metric = METRIC_RUNNER_WORKERS };

	metrics_up(m, at);
	metrics_up(m, at);
	metrics_down(m, at);
	check_has(m, "# TYPE creel_runner_workers gauge\ncreel_runner_workers 1\n");
	metrics_set(m, at, 7);
	assert_int_equal(metrics_get(m, at), 7);
}

TEST(every_tool_and_backend_has_a_word_of_its_own)
{
	unsigned other = metrics_word(LABEL_TOOL, STR("no such tool"));

	for (size_t i = 0; i < tools_count(); i++)
		CHECK_CASE(metrics_word(LABEL_TOOL, str_z(tools_at(i)->name)) != other, "%s",
			   tools_at(i)->name);
	for (int i = 0; i < BACKEND_COUNT_; i++)
		assert_int_equal(metrics_word(LABEL_BACKEND, str_z(enum_name(backend_names, i))), i);
	assert_int_not_equal(metrics_status(200), metrics_status(299));
	assert_int_equal(metrics_status(299), metrics_status(777));
}

/* promtool is Prometheus's own reader: what it does not take, no scraper does. */
TEST(promtool_accepts_the_text_of_every_service)
{
	for (int owner = METRICS_GUARD; owner <= METRICS_RUNNER; owner++) {
		_cleanup_(metrics_freep) struct metrics *m = make((enum metrics_owner)owner);
		_cleanup_buf_ struct buf out = { 0 };
		FILE *p;

		if (owner == METRICS_RUNNER) {
			metrics_add(m, (struct metric_at){ METRIC_CALLS, 1, 1, 1 }, 3);
			metrics_observe_us(m, (struct metric_at){ METRIC_CALL_SECONDS, 1 }, 1234);
			metrics_add(m, (struct metric_at){ METRIC_RUNNER_REQUESTS, 1, 0 }, 3);
		}
		buf_init(&out, 1 << 20);
		metrics_write(m, &out);
		p = popen("promtool check metrics", "w");
		assert_non_null(p);
		assert_int_equal(fwrite(out.p, 1, out.n, p), out.n);
		assert_int_equal(pclose(p), 0);
	}
}

TEST(a_process_has_resident_memory)
{
	assert_true(metrics_resident(getpid()) > 100000);
	assert_int_equal(metrics_resident(-1), 0);
}

TEST_MAIN()
