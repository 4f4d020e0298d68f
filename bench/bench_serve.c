/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call over HTTP, through the guard, the runner, the engine and a keeper, beside the same call by libcreel and the program alone; and a job of POST /run, which
 * has a sandbox of its own, with the runner's pool and without. Then how many
 * of each fit into a second with several clients, what idle listeners to events take, and whether half-open clients slow the others down.
 */
#include <creel/creel.h>

#include "cpu.h"
#include "methods.h"
#include "service.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CLIENTS_MAX = SERVICE_CHATS, SHORT_MS = 2000, PAUSE_US = 30000 };

static struct bench bench = { .creel = BENCH_CREEL, .warden = BENCH_WARDEN, .payload = BENCH_PAYLOAD };
static struct service service = {
	.creel = BENCH_CREEL, .creeld = BENCH_CREELD, .name = "served", .set = "serve.pool=4"
};
static struct service without = {
	.creel = BENCH_CREEL, .creeld = BENCH_CREELD, .name = "without", .set = "serve.pool=0"
};
static const char *const payload[] = { "./payload", NULL };

/* What many clients start at once: the least that a program can be, and the one that everybody names for it. */
struct program {
	const char *name, *argv[2], *command;
};
static const struct program programs[] = {
	{ "of a static program", { "./payload", NULL }, "[\"./payload\"]" },
	{ "of 'true'", { "/usr/bin/true", NULL }, "[\"true\"]" },
};
static const struct program *program = programs;

static struct creel_engine *creel;
static struct creel_session *kept;
static int connection = -1;
static char *call_text, *health_text;

/* A chat's jobs, over a connection of their own. */
struct jobs {
	struct service *service;
	int connection;
	char *text;
};
static struct jobs pooled = { .service = &service }, unpooled = { .service = &without };

/* ---- one at a time ---- */

static double library_once(const struct way *w)
{
	struct creel_call c = CREEL_CALL_INIT;
	struct creel_result r = CREEL_RESULT_INIT;
	struct creel_error e = { 0 };
	double start = measure_now_us(), took;

	c.tool = "exec";
	c.arguments = w->with;
	if (creel_call(kept, &c, &r, &e) < 0 || r.status != CREEL_CALL_OK)
		measure_fail("exec: %s%s", e.message, r.json ? r.json : "");
	took = measure_now_us() - start;
	creel_result_free(&r);
	return took;
}

static double http_once(const struct way *w)
{
	double start = measure_now_us(), took;
	const char *answer = service_ask(connection, *(char *const *)w->with);

	took = measure_now_us() - start;
	if (w->with == &call_text && !strstr(answer, "\"ok\":true") && !strstr(answer, "\"ok\": true"))
		measure_fail("call: %.400s", answer);
	return took;
}

/* Whoever sends jobs thinks between them. */
static double job_once(const struct way *w)
{
	const struct jobs *j = w->with;
	double start, took;
	const char *answer;

	(void)usleep(PAUSE_US);
	start = measure_now_us();
	answer = service_ask(j->connection, j->text);
	took = measure_now_us() - start;
	if (!strstr(answer, "\"ok\":true"))
		measure_fail("job: %.400s", answer);
	return took;
}

static struct way table[] = {
	{ "spawn", "the program alone, on the host", way_spawn, payload },
	{ "library", "a call of it through libcreel, into a sandbox that a keeper holds", library_once,
	  "{\"command\":[\"./payload\"]}" },
	{ "http", "the same by POST /v1/calls", http_once, &call_text },
	{ "health", "GET /health", http_once, &health_text },
	{ "job", "POST /run that reads a small file, from the pool", job_once, &pooled },
	{ "job-new", "the same with serve.pool 0: its sandbox is made for it", job_once, &unpooled },
};
static const struct ways ways = { table, sizeof(table) / sizeof(table[0]) };
static const struct goal goals[] = { { "http", "library", 0.5, 2 }, { "job", "job-new", 0.5, 1 } };

static char *call_of(const char *chat, const struct program *p)
{
	char body[256];

	(void)snprintf(
		body, sizeof(body),
		"{\"agent\":\"bench\",\"scope\":{\"type\":\"telegram\",\"chat_id\":\"%s\"},\"tool\":\"exec\","
		"\"args\":{\"command\":%s}}",
		chat, p->command);
	return service_request(&service, "/v1/calls", body);
}

static char *job_of(const struct service *s, const char *tool, const char *args)
{
	char body[512];

	(void)snprintf(
		body, sizeof(body),
		"{\"agent\":\"bench\",\"scope\":{\"type\":\"telegram\",\"chat_id\":\"one\"},\"tool\":\"%s\",\"args\":%s}",
		tool, args);
	return service_request(s, "/run", body);
}

static void jobs_open(struct jobs *j)
{
	char *write_text =
		job_of(j->service, "file_write", "{\"path\":\"a.txt\",\"content\":\"some text\\n\"}");

	j->connection = service_connect(j->service);
	if (!strstr(service_ask(j->connection, write_text), "\"ok\":true"))
		measure_fail("a job cannot write");
	free(write_text);
	j->text = job_of(j->service, "file_read", "{\"path\":\"a.txt\"}");
}

static void jobs_close(struct jobs *j)
{
	(void)close(j->connection);
	free(j->text);
}

/* ---- many at once ---- */

/* Processor time of one. */
struct cost {
	double client_us;
	struct cpu services;
};

static unsigned spawn_for(unsigned client, double until)
{
	const struct way w = { .with = program->argv };
	unsigned n = 0;

	(void)client;
	for (; measure_now_us() < until; n++)
		(void)way_spawn(&w);
	return n;
}

static unsigned call_for(unsigned client, double until)
{
	int fd = service_connect(&service);
	char chat[16], *text;
	unsigned n = 0;

	(void)snprintf(chat, sizeof(chat), "c%u", client);
	text = call_of(chat, program);
	for (; measure_now_us() < until; n++)
		if (!strstr(service_ask(fd, text), "\"ok\":true"))
			measure_fail("a call without a result");
	return n;
}

struct count {
	unsigned warm, measured;
};

static double children_us(void)
{
	struct rusage u;

	if (getrusage(RUSAGE_CHILDREN, &u) < 0)
		measure_fail("getrusage: %s", strerror(errno));
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* How many a second, by so many processes, and how much of a processor each took. The first of each makes a sandbox, which is not counted. */
static double rate(unsigned clients, unsigned ms, unsigned (*work)(unsigned, double), struct cost *ret)
{
	int p[2];
	double begin, clients_us = children_us();
	struct count sum = { 0 }, n;
	struct cpu before, after;

	if (pipe(p) < 0)
		measure_fail("pipe: %s", strerror(errno));
	cpu_take(&before);
	begin = measure_now_us() + 300e3;
	for (unsigned i = 0; i < clients; i++) {
		pid_t pid = fork();

		if (pid < 0)
			measure_fail("fork: %s", strerror(errno));
		if (pid)
			continue;
		n.warm = work(i, begin);
		n.measured = work(i, begin + ms * 1e3);
		_exit(write(p[1], &n, sizeof(n)) != sizeof(n));
	}
	for (unsigned i = 0; i < clients; i++) {
		int status = 0;

		if (wait(&status) < 0 || status != 0 || read(p[0], &n, sizeof(n)) != sizeof(n))
			measure_fail("a client ended with status %d", status);
		sum.warm += n.warm;
		sum.measured += n.measured;
	}
	(void)close(p[0]);
	(void)close(p[1]);
	cpu_take(&after);
	ret->client_us = (children_us() - clients_us) / (sum.warm + sum.measured);
	for (int i = 0; i < CPU_COUNT_; i++)
		ret->services.us[i] = (after.us[i] - before.us[i]) / (sum.warm + sum.measured);
	return sum.measured * 1e3 / ms;
}

static void print_cost(const struct cost *host, const struct cost *http)
{
	double sum = http->client_us;

	for (int i = 0; i < CPU_COUNT_; i++)
		sum += http->services.us[i];
	printf("processor time: %.0f us for a spawn, %.0f us for a call: client %.0f", host->client_us, sum,
	       http->client_us);
	for (int i = 0; i < CPU_COUNT_; i++)
		printf(", %s %.0f", cpu_names[i], http->services.us[i]);
	printf("\n");
}

static void measure_rates(unsigned clients, unsigned ms)
{
	struct cost host_cost, http_cost;
	double host = 0, http = 0;

	/* Twice, one after the other: a machine that gets busier hits both. */
	for (unsigned i = 0; i < 2; i++) {
		host += rate(clients, ms, spawn_for, &host_cost) / 2;
		http += rate(clients, ms, call_for, &http_cost) / 2;
	}
	printf("%u clients, %s: %.0f calls/s over HTTP, %.0f spawns/s: %.2f (aim: at least 0.7%s)\n", clients,
	       program->name, http, host, http / host, http / host >= 0.7 ? "" : ", MISSED");
	print_cost(&host_cost, &http_cost);
}

/* ---- those who wait ---- */

static void measure_idle(unsigned n)
{
	size_t before = service_resident_kib(&service, "creel-guard"), after;
	char *events = service_request(&service, "/v1/events", NULL);
	int *fds = calloc(n, sizeof(*fds));

	for (unsigned i = 0; fds && i < n; i++) {
		char c;

		fds[i] = service_connect(&service);
		if (write(fds[i], events, strlen(events)) < 0 || read(fds[i], &c, 1) != 1)
			measure_fail("events: no answer for number %u", i);
	}
	after = service_resident_kib(&service, "creel-guard");
	printf("%u idle listeners to events: the guard has %.1f MB, %.1f before: %.1f KiB each (aim: under 20 MB for 5,000%s)\n",
	       n, (double)after / 1024, (double)before / 1024, n ? (double)(after - before) / n : 0,
	       n < 5000 || after < (size_t)20 * 1024 ? "" : ", MISSED");
	for (unsigned i = 0; fds && i < n; i++)
		(void)close(fds[i]);
	free(fds);
	free(events);
}

static double median_of(unsigned rounds, const char *name)
{
	struct way w = *way_find(ways, name);

	w.samples = (struct samples){ 0 };
	for (unsigned i = 0; i < rounds; i++)
		samples_add(&w.samples, w.once(&w));
	{
		double us = samples_quantile(&w.samples, 0.5);

		samples_done(&w.samples);
		return us;
	}
}

static void measure_slow(unsigned n, unsigned rounds)
{
	static const char half[] = "POST /v1/calls HTTP/1.1\r\nHost: a\r\nContent-Le";
	double alone = median_of(rounds, "http"), beside;
	int *fds = calloc(n, sizeof(*fds));

	for (unsigned i = 0; fds && i < n; i++) {
		fds[i] = service_connect(&service);
		if (i % 2 && write(fds[i], half, sizeof(half) - 1) < 0)
			measure_fail("half a request: %s", strerror(errno));
	}
	beside = median_of(rounds, "http");
	printf("%u slow and half-open clients: a call takes %.0f us, %.0f without: %.2f (aim: at most 2%s)\n",
	       n, beside, alone, beside / alone, beside / alone <= 2 ? "" : ", MISSED");
	for (unsigned i = 0; fds && i < n; i++)
		(void)close(fds[i]);
	free(fds);
}

/* ---- where ---- */

static void open_place(void)
{
	struct creel_options o = CREEL_OPTIONS_INIT;
	struct creel_session_options so = CREEL_SESSION_INIT;
	struct creel_error e;
	char state[96];

	bench_open(&bench);
	cpu_adopt();
	(void)snprintf(state, sizeof(state), "%s/state", bench.dir);
	o.flags = CREEL_NO_DEFAULT_CONFIG;
	o.state_dir = state;
	o.home = bench.dir;
	so.flags = CREEL_FORCE_SANDBOX;
	so.session = "agent:bench:kept";
	so.workspace_access = "rw";
	if (creel_engine_new(&o, &creel, &e) < 0 || creel_open(creel, &so, &kept, &e) < 0)
		measure_fail("%s", e.message);
	service_open(&service, bench.dir, bench.workspace);
	service_open(&without, bench.dir, bench.workspace);
	jobs_open(&pooled);
	jobs_open(&unpooled);
	connection = service_connect(&service);
	call_text = call_of("one", programs);
	health_text = service_request(&service, "/health", NULL);
}

static void close_place(void)
{
	struct creel_filter all = CREEL_FILTER_INIT;

	all.all = 1;
	(void)close(connection);
	kept = creel_close(kept);
	(void)creel_kill(creel, &all, NULL, NULL, NULL);
	creel = creel_engine_free(creel);
	jobs_close(&pooled);
	jobs_close(&unpooled);
	service_close(&without);
	service_close(&service);
	bench_close(&bench);
}

enum { OPT_ROUNDS = 256, OPT_SETTLE, OPT_CLIENTS, OPT_MS, OPT_IDLE, OPT_SLOW, OPT_HOLD, OPT_HELP };
static const struct option longs[] = { { "rounds", required_argument, NULL, OPT_ROUNDS },
				       { "settle", required_argument, NULL, OPT_SETTLE },
				       { "clients", required_argument, NULL, OPT_CLIENTS },
				       { "ms", required_argument, NULL, OPT_MS },
				       { "idle", required_argument, NULL, OPT_IDLE },
				       { "slow", required_argument, NULL, OPT_SLOW },
				       { "hold", required_argument, NULL, OPT_HOLD },
				       { "help", no_argument, NULL, OPT_HELP },
				       { NULL, 0, NULL, 0 } };

static const char usage[] =
	"Usage: bench_serve [--rounds N (300)] [--settle MS (100)] [--clients N (2)] [--ms MS (2000)] [--idle N (5000)] [--slow N (1000)]\n"
	"       bench_serve --hold COMMAND: starts the services, runs COMMAND with their address as its argument, and ends";

int main(int argc, char **argv)
{
	unsigned rounds = 300, settle_ms = 100, clients = 2, ms = SHORT_MS, idle = 5000, slow = 1000;
	const char *hold = NULL;
	struct rlimit files;
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) >= 0) {
		if (c == OPT_ROUNDS)
			rounds = measure_number("--rounds", optarg, 1, 100000);
		else if (c == OPT_SETTLE)
			settle_ms = measure_number("--settle", optarg, 0, 10000);
		else if (c == OPT_CLIENTS)
			clients = measure_number("--clients", optarg, 1, CLIENTS_MAX);
		else if (c == OPT_MS)
			ms = measure_number("--ms", optarg, 10, 600000);
		else if (c == OPT_IDLE)
			idle = measure_number("--idle", optarg, 0, 15000);
		else if (c == OPT_SLOW)
			slow = measure_number("--slow", optarg, 0, 15000);
		else if (c == OPT_HOLD)
			hold = optarg;
		else {
			puts(usage);
			return c == OPT_HELP ? 0 : 2;
		}
	}
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
	(void)signal(SIGPIPE, SIG_IGN);
	open_place();
	if (hold) {
		char command[512];

		(void)snprintf(command, sizeof(command), "%s %s", hold, service.address);
		if (system(command) != 0)
			measure_fail("'%s' failed", command);
	} else {
		ways_measure(ways, rounds, settle_ms);
		ways_print(ways, goals, sizeof(goals) / sizeof(goals[0]));
		for (program = programs; program < programs + sizeof(programs) / sizeof(programs[0]);
		     program++) {
			measure_rates(clients, ms);
			/* One more for each processor: none of them waits then until somebody has read an answer. */
			if (clients * 2 <= CLIENTS_MAX)
				measure_rates(clients * 2, ms);
		}
		measure_slow(slow, rounds);
		measure_idle(idle);
	}
	ways_done(ways);
	free(call_text);
	free(health_text);
	close_place();
	return 0;
}
