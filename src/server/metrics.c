/* SPDX-License-Identifier: Apache-2.0 */
#include "server/metrics.h"

#include "base/fd.h"
#include "base/num.h"
#include "base/parse.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum metric_type { TYPE_COUNTER = 0, TYPE_GAUGE, TYPE_HISTOGRAM };
enum { LABELS_MAX = 3 };

/* Upper ends in microseconds; what is above the last one is counted by +Inf alone. */
static const uint64_t ends_us[] = { 1000,   2500,    5000,    10000,    25000,    50000,    100000,   250000,
				    500000, 1000000, 2500000, 10000000, 30000000, 60000000, 300000000 };
enum { N_ENDS = sizeof(ends_us) / sizeof(ends_us[0]), HISTOGRAM_CELLS = N_ENDS + 2 }; /* +Inf and the sum */

/* clang-format off */
static const char *const label_tool[] = {
	"apply_patch", "browser", "code_exec", "edit", "exec", "file_read", "file_write", "git", "ls", "process", "read", "search", "shell_exec",
	"web_fetch", "web_search", "write", "other", NULL };
static const char *const label_verdict[] = { "ok", "failed", "refused", "approval", "error", "cancelled", "timeout", "other", NULL };
static const char *const label_backend[] = { "none", "host", "native", "docker", "opensandbox", "other", NULL };
static const char *const label_layer[] = { "policy", "seccomp", "landlock", "cgroup", "mounts", "network", "creel", "other", NULL };
static const char *const label_route[] = {
	"health", "run", "calls", "tools", "explain", "sessions", "processes", "approvals", "events", "incident", "metrics", "openapi", "pairing", "refused", "none", "other", NULL };
static const char *const label_status[] = {
	"200", "201", "204", "400", "401", "403", "404", "405", "408", "411", "413", "415", "421", "422", "429", "431", "500", "501", "502", "503", "504", "other", NULL };
static const char *const label_lease[] = { "created", "reused", "recovered", "other", NULL };
static const char *const label_pool[] = { "hit", "miss", "made", "dropped", "other", NULL };
static const char *const label_direction[] = { "in", "out", "other", NULL };
static const char *const label_queue[] = { "waiting", "running", "other", NULL };
static const char *const label_reason[] = { "auth", "rate", "quota", "queue", "size", "draining", "runner", "tls", "other", NULL };

static const struct {
	const char *name;
	const char *const *words;
} labels[METRIC_LABEL_COUNT_] = {
	[LABEL_TOOL]      = { "tool", label_tool },
	[LABEL_VERDICT]   = { "verdict", label_verdict },
	[LABEL_BACKEND]   = { "backend", label_backend },
	[LABEL_LAYER]     = { "layer", label_layer },
	[LABEL_ROUTE]     = { "route", label_route },
	[LABEL_STATUS]    = { "status", label_status },
	[LABEL_LEASE]     = { "event", label_lease },
	[LABEL_POOL]      = { "event", label_pool },
	[LABEL_DIRECTION] = { "direction", label_direction },
	[LABEL_QUEUE]     = { "state", label_queue },
	[LABEL_REASON]    = { "reason", label_reason },
};

static const struct row {
	const char *name, *help;
	enum metrics_owner owner;
	enum metric_type type;
	enum metric_label label[LABELS_MAX];
} rows[METRIC_COUNT_] = {
	[METRIC_CALLS]            = { "creel_calls_total", "Calls by tool, how they ended, and where they ran.", METRICS_RUNNER, TYPE_COUNTER, { LABEL_TOOL, LABEL_VERDICT, LABEL_BACKEND } },
	[METRIC_CALL_SECONDS]     = { "creel_call_duration_seconds", "How long calls took, from the request to the result.", METRICS_RUNNER, TYPE_HISTOGRAM, { LABEL_TOOL } },
	[METRIC_DENIALS]          = { "creel_denials_total", "What was refused in calls, by the layer that refused it.", METRICS_RUNNER, TYPE_COUNTER, { LABEL_LAYER } },
	[METRIC_SANDBOXES]        = { "creel_sandboxes", "Sandboxes that are kept now.", METRICS_RUNNER, TYPE_GAUGE, { 0 } },
	[METRIC_POOL]             = { "creel_pool_ready", "Sandboxes that were made before the call comes that will use them.", METRICS_RUNNER, TYPE_GAUGE, { 0 } },
	[METRIC_POOL_EVENTS]      = { "creel_pool_total", "Calls that found a sandbox ready (hit) or could have and made their own (miss); ready ones that were made, and that ended unused.", METRICS_RUNNER, TYPE_COUNTER, { LABEL_POOL } },
	[METRIC_LEASES]           = { "creel_leases_total", "Sandboxes that stay: made, used again, made anew after one was lost.", METRICS_RUNNER, TYPE_COUNTER, { LABEL_LEASE } },
	[METRIC_RUNNER_REQUESTS]  = { "creel_runner_requests_total", "Requests that the runner answered.", METRICS_RUNNER, TYPE_COUNTER, { LABEL_ROUTE, LABEL_STATUS } },
	[METRIC_RUNNER_QUEUE]     = { "creel_runner_queue", "Connections and calls of the runner.", METRICS_RUNNER, TYPE_GAUGE, { LABEL_QUEUE } },
	[METRIC_RUNNER_WORKERS]   = { "creel_runner_workers", "Worker processes.", METRICS_RUNNER, TYPE_GAUGE, { 0 } },
	[METRIC_RUNNER_LOST]      = { "creel_runner_workers_lost_total", "Worker processes that ended unasked.", METRICS_RUNNER, TYPE_COUNTER, { 0 } },
	[METRIC_RUNNER_MEMORY]    = { "creel_runner_resident_memory_bytes", "Memory of the runner and its workers.", METRICS_RUNNER, TYPE_GAUGE, { 0 } },
	[METRIC_RUNNER_STREAMED]  = { "creel_runner_streamed_bytes_total", "Output that was passed on while the call ran.", METRICS_RUNNER, TYPE_COUNTER, { 0 } },
	[METRIC_RUNNER_CANCELLED] = { "creel_runner_cancelled_total", "Calls whose client went before they had ended.", METRICS_RUNNER, TYPE_COUNTER, { 0 } },
	[METRIC_GUARD_REQUESTS]   = { "creel_guard_requests_total", "Requests that the guard answered.", METRICS_GUARD, TYPE_COUNTER, { LABEL_ROUTE, LABEL_STATUS } },
	[METRIC_GUARD_SECONDS]    = { "creel_guard_request_duration_seconds", "From the head of a request to the end of its answer.", METRICS_GUARD, TYPE_HISTOGRAM, { LABEL_ROUTE } },
	[METRIC_GUARD_CONNECTIONS] = { "creel_guard_connections", "Connections of callers.", METRICS_GUARD, TYPE_GAUGE, { 0 } },
	[METRIC_GUARD_QUEUE]      = { "creel_guard_queue", "Calls that wait for the runner, and that run.", METRICS_GUARD, TYPE_GAUGE, { LABEL_QUEUE } },
	[METRIC_GUARD_REFUSED]    = { "creel_guard_refused_total", "Requests that were not passed on.", METRICS_GUARD, TYPE_COUNTER, { LABEL_REASON } },
	[METRIC_GUARD_MEMORY]     = { "creel_guard_resident_memory_bytes", "Memory of the guard.", METRICS_GUARD, TYPE_GAUGE, { 0 } },
	[METRIC_EGRESS_BYTES]     = { "creel_egress_bytes_total", "Bytes between sandboxes and hosts that they may reach.", METRICS_RUNNER, TYPE_COUNTER, { LABEL_DIRECTION } },
	[METRIC_EGRESS_REQUESTS]  = { "creel_egress_requests_total", "Requests of sandboxes to the proxy.", METRICS_RUNNER, TYPE_COUNTER, { LABEL_VERDICT } },
	[METRIC_EGRESS_GUESTS]    = { "creel_egress_sandboxes", "Sandboxes that the proxy serves now.", METRICS_RUNNER, TYPE_GAUGE, { 0 } },
	[METRIC_EGRESS_MEMORY]    = { "creel_egress_resident_memory_bytes", "Memory of the proxy.", METRICS_RUNNER, TYPE_GAUGE, { 0 } },
};
/* clang-format on */

struct metrics {
	enum metrics_owner owner;
	size_t size;
	size_t first[METRIC_COUNT_]; /* of its cells */
	uint64_t cell[];
};

/* ---- places ---- */

static unsigned n_words(enum metric_label label)
{
	unsigned n = 0;

	while (labels[label].words && labels[label].words[n])
		n++;
	return n;
}

/* How many combinations of its labels a metric has. */
static unsigned n_series(const struct row *r)
{
	unsigned n = 1;

	for (unsigned i = 0; i < LABELS_MAX && r->label[i]; i++)
		n *= n_words(r->label[i]);
	return n;
}

static unsigned n_cells(const struct row *r)
{
	return r->type == TYPE_HISTOGRAM ? HISTOGRAM_CELLS : 1;
}

unsigned metrics_word(enum metric_label label, struct str word)
{
	unsigned n = n_words(label);

	for (unsigned i = 0; i < n; i++)
		if (str_eq(word, str_z(labels[label].words[i])))
			return i;
	return n ? n - 1 : 0;
}

unsigned metrics_status(unsigned http_status)
{
	char text[16];

	(void)snprintf(text, sizeof(text), "%u", http_status);
	return metrics_word(LABEL_STATUS, str_z(text));
}

static size_t place(const struct metrics *m, struct metric_at at, enum metric_type type)
{
	const struct row *r = &rows[at.metric];
	const unsigned said[LABELS_MAX] = { at.a, at.b, at.c };
	size_t i = 0;

	assert(at.metric < METRIC_COUNT_ && r->owner == m->owner && r->type == type);
	for (unsigned l = 0; l < LABELS_MAX && r->label[l]; l++) {
		unsigned n = n_words(r->label[l]);

		i = i * n + (said[l] < n ? said[l] : n - 1);
	}
	return m->first[at.metric] + i * n_cells(r);
}

/* ---- life ---- */

int metrics_new(enum metrics_owner owner, struct metrics **ret, struct err *e)
{
	size_t first[METRIC_COUNT_], n = 0;
	struct metrics *m;

	for (unsigned i = 0; i < METRIC_COUNT_; i++) {
		first[i] = n;
		if (rows[i].owner == owner)
			n += (size_t)n_series(&rows[i]) * n_cells(&rows[i]);
	}
	n = sizeof(*m) + n * sizeof(m->cell[0]);
	m = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (m == MAP_FAILED)
		return err_sys(e, errno, "memory for metrics");
	m->owner = owner;
	m->size = n;
	memcpy(m->first, first, sizeof(first));
	*ret = m;
	return 0;
}

struct metrics *metrics_free(struct metrics *m)
{
	if (m)
		(void)munmap(m, m->size);
	return NULL;
}

/* ---- counting ---- */

static void add(struct metrics *m, size_t i, uint64_t n)
{
	(void)__atomic_fetch_add(&m->cell[i], n, __ATOMIC_RELAXED);
}

static uint64_t load(const struct metrics *m, size_t i)
{
	return __atomic_load_n(&m->cell[i], __ATOMIC_RELAXED);
}

void metrics_add(struct metrics *m, struct metric_at at, uint64_t n)
{
	add(m, place(m, at, TYPE_COUNTER), n);
}

void metrics_set(struct metrics *m, struct metric_at at, uint64_t value)
{
	__atomic_store_n(&m->cell[place(m, at, TYPE_GAUGE)], value, __ATOMIC_RELAXED);
}

void metrics_take(struct metrics *m, struct metric_at at, uint64_t value)
{
	__atomic_store_n(&m->cell[place(m, at, TYPE_COUNTER)], value, __ATOMIC_RELAXED);
}

void metrics_up(struct metrics *m, struct metric_at at)
{
	add(m, place(m, at, TYPE_GAUGE), 1);
}

void metrics_down(struct metrics *m, struct metric_at at)
{
	add(m, place(m, at, TYPE_GAUGE), (uint64_t)-1);
}

void metrics_observe_us(struct metrics *m, struct metric_at at, uint64_t us)
{
	size_t first = place(m, at, TYPE_HISTOGRAM);
	unsigned i = 0;

	while (i < N_ENDS && us > ends_us[i])
		i++;
	add(m, first + i, 1);
	add(m, first + N_ENDS + 1, us);
}

uint64_t metrics_get(const struct metrics *m, struct metric_at at)
{
	return load(m, place(m, at, rows[at.metric].type == TYPE_GAUGE ? TYPE_GAUGE : TYPE_COUNTER));
}

uint64_t metrics_resident_at(int statm)
{
	char text[128];
	ssize_t n = statm < 0 ? -1 : pread(statm, text, sizeof(text), 0);
	struct str all = { .p = text, .n = n > 0 ? (size_t)n : 0 }, size, resident, rest;
	uint64_t pages;

	/* "size resident shared ...", in pages */
	if (!str_cut(all, ' ', &size, &rest) || !str_cut(rest, ' ', &resident, &rest) ||
	    str_to_u64(resident, UINT64_MAX / 65536, &pages) < 0)
		return 0;
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t metrics_resident(int pid)
{
	_cleanup_close_ int fd = FD_NONE;
	char path[40];

	(void)snprintf(path, sizeof(path), "/proc/%d/statm", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return metrics_resident_at(fd);
}

/* ---- telling ---- */

/* Words are our own and need no quoting. `le` NULL: none. */
static void put_labels(struct buf *out, const struct row *r, unsigned series, const char *le)
{
	unsigned at[LABELS_MAX] = { 0 }, n = 0;
	bool any = false;

	while (n < LABELS_MAX && r->label[n])
		n++;
	for (unsigned i = n; i-- > 0;) {
		at[i] = series % n_words(r->label[i]);
		series /= n_words(r->label[i]);
	}
	for (unsigned i = 0; i < n; i++, any = true)
		buf_printf(out, "%s%s=\"%s\"", any ? "," : "{", labels[r->label[i]].name,
			   labels[r->label[i]].words[at[i]]);
	if (le)
		buf_printf(out, "%sle=\"%s\"", any ? "," : "{", le);
	buf_puts(out, any || le ? "}" : "");
}

/* Seconds, exactly. */
static void put_us(char *out, size_t size, uint64_t us)
{
	int n = snprintf(out, size, "%" PRIu64 ".%06" PRIu64, us / 1000000, us % 1000000);

	while (n > 0 && out[n - 1] == '0')
		out[--n] = '\0';
	if (n > 0 && out[n - 1] == '.')
		out[--n] = '\0';
}

static void put_histogram(struct buf *out, const struct metrics *m, const struct row *r, unsigned series,
			  size_t first)
{
	uint64_t sum = 0;
	char text[32];

	for (unsigned i = 0; i <= N_ENDS; i++) {
		sum += load(m, first + i);
		if (i < N_ENDS)
			put_us(text, sizeof(text), ends_us[i]);
		buf_printf(out, "%s_bucket", r->name);
		put_labels(out, r, series, i < N_ENDS ? text : "+Inf");
		buf_printf(out, " %" PRIu64 "\n", sum);
	}
	put_us(text, sizeof(text), load(m, first + N_ENDS + 1));
	buf_printf(out, "%s_sum", r->name);
	put_labels(out, r, series, NULL);
	buf_printf(out, " %s\n%s_count", text, r->name);
	put_labels(out, r, series, NULL);
	buf_printf(out, " %" PRIu64 "\n", sum);
}

static bool was_counted(const struct metrics *m, const struct row *r, size_t first)
{
	uint64_t any = !r->label[0];

	for (unsigned i = 0; i < n_cells(r); i++)
		any |= load(m, first + i);
	return any;
}

static void put_row(struct buf *out, const struct metrics *m, enum metric metric)
{
	static const char *const types[] = { "counter", "gauge", "histogram" };
	const struct row *r = &rows[metric];
	unsigned n = n_series(r);

	buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", r->name, r->help, r->name, types[r->type]);
	for (unsigned i = 0; i < n; i++) {
		size_t first = m->first[metric] + (size_t)i * n_cells(r);

		if (!was_counted(m, r, first))
			continue;
		if (r->type == TYPE_HISTOGRAM) {
			put_histogram(out, m, r, i, first);
			continue;
		}
		buf_puts(out, r->name);
		put_labels(out, r, i, NULL);
		buf_printf(out, " %" PRIu64 "\n", load(m, first));
	}
}

void metrics_write(const struct metrics *m, struct buf *out)
{
	for (unsigned i = 0; i < METRIC_COUNT_; i++)
		if (rows[i].owner == m->owner)
			put_row(out, m, (enum metric)i);
}
