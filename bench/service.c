/* SPDX-License-Identifier: Apache-2.0 */
#include "service.h"
#include "measure.h"

#include "base/fd.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_MAX ((size_t)256 << 10)
#define START_MS 10000u

static struct sockaddr_in address_of(const struct service *s)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(s->port) };

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return a;
}

/* One that nobody has now. Somebody could take it before the service does: then that fails, and says so. */
static uint16_t free_port(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t n = sizeof(a);
	_cleanup_close_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (const struct sockaddr *)&a, sizeof(a)) < 0 ||
	    getsockname(fd, (struct sockaddr *)&a, &n) < 0)
		measure_fail("a free port: %s", strerror(errno));
	return ntohs(a.sin_port);
}

static pid_t start(const struct service *s, char *const argv[], int out)
{
	char home[128];
	char *env[] = { home, (char[]){ "PATH=/usr/bin:/bin" }, (char[]){ "LANG=C.UTF-8" }, NULL };
	pid_t pid = fork();

	(void)snprintf(home, sizeof(home), "HOME=%s", s->home);
	if (pid < 0)
		measure_fail("fork: %s", strerror(errno));
	if (pid)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (out >= 0)
		(void)dup2(out, STDOUT_FILENO);
	(void)execve(argv[0], argv, env);
	(void)dprintf(STDERR_FILENO, "%s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

static void run(const struct service *s, char *const argv[], char *out, size_t size)
{
	int p[2], status = 0;
	size_t n = 0;
	ssize_t got;
	pid_t pid;

	if (pipe2(p, O_CLOEXEC) < 0)
		measure_fail("pipe: %s", strerror(errno));
	pid = start(s, argv, p[1]);
	(void)close(p[1]);
	while (n < size - 1 && (got = read(p[0], out + n, size - 1 - n)) > 0)
		n += (size_t)got;
	out[n] = '\0';
	(void)close(p[0]);
	if (waitpid(pid, &status, 0) != pid || status != 0)
		measure_fail("%s %s ended with status %d", argv[0], argv[1], status);
}

static void take_token(struct service *s)
{
	char *const argv[] = { (char *)(uintptr_t)s->creel,
			       (char[]){ "token" },
			       (char[]){ "new" },
			       (char[]){ "--state-dir" },
			       s->state,
			       (char[]){ "--pairs" },
			       (char[]){ "*" },
			       (char[]){ "--admin" },
			       NULL };
	char *const runner[] = { (char *)(uintptr_t)s->creel,
				 (char[]){ "token" },
				 (char[]){ "new" },
				 (char[]){ "--state-dir" },
				 s->state,
				 (char[]){ "--runner" },
				 NULL };
	char out[512];
	const char *at;

	run(s, argv, out, sizeof(out));
	at = strstr(out, "creel_");
	if (!at || sscanf(at, "%127[0-9a-zA-Z_]", s->token) != 1)
		measure_fail("no token in what creel token new said");
	run(s, runner, out, sizeof(out));
}

static void wait_for_it(const struct service *s)
{
	char *health = service_request(s, "/health", NULL);
	struct sockaddr_in a = address_of(s);

	for (unsigned ms = 0; ms < START_MS; ms += 20) {
		_cleanup_close_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

		if (waitpid(s->parent, NULL, WNOHANG) == s->parent)
			measure_fail("creeld has ended");
		if (fd >= 0 && connect(fd, (const struct sockaddr *)&a, sizeof(a)) == 0) {
			(void)service_ask(fd, health);
			free(health);
			return;
		}
		(void)usleep(20000);
	}
	measure_fail("the services did not start within %u ms", START_MS);
}

/* Whom the callers speak for: the pairs of bench_serve. */
static void write_config(const char *path)
{
	FILE *f = fopen(path, "we");

	if (!f)
		measure_fail("%s: %s", path, strerror(errno));
	(void)fputs("{identity: {pairs: [{channel: 'telegram', agent: 'bench', chat_id: 'one'}", f);
	for (unsigned i = 0; i < SERVICE_CHATS; i++)
		(void)fprintf(f, ", {channel: 'telegram', agent: 'bench', chat_id: 'c%u'}", i);
	if (fputs("]}}\n", f) < 0 || fclose(f) != 0)
		measure_fail("%s: %s", path, strerror(errno));
}

void service_open(struct service *s, const char *dir, const char *workspace)
{
	char guard[64], path[160], config[160], set[64];

	(void)snprintf(s->home, sizeof(s->home), "%s", dir);
	(void)snprintf(s->state, sizeof(s->state), "%s/%s", dir, s->name);
	(void)snprintf(config, sizeof(config), "%s/%s.json5", dir, s->name);
	write_config(config);
	take_token(s);
	s->port = free_port();
	(void)snprintf(s->address, sizeof(s->address), "127.0.0.1:%u", s->port);
	(void)snprintf(guard, sizeof(guard), "serve.guard=%s", s->address);
	(void)snprintf(set, sizeof(set), "%s", s->set);
	(void)snprintf(path, sizeof(path), "mounts.workspace.path=%s", workspace);
	{
		char *const argv[] = { (char *)(uintptr_t)s->creeld,
				       (char[]){ "all" },
				       (char[]){ "--state-dir" },
				       s->state,
				       (char[]){ "-q" },
				       (char[]){ "--no-default-config" },
				       (char[]){ "-c" },
				       config,
				       (char[]){ "-e" },
				       guard,
				       (char[]){ "-e" },
				       path,
				       (char[]){ "-e" },
				       (char[]){ "mounts.workspace.access=rw" },
				       (char[]){ "-e" },
				       (char[]){ "mode.when=all" },
				       (char[]){ "-e" },
				       (char[]){ "serve.rate=0" },
				       (char[]){ "-e" },
				       (char[]){ "walls.optional=limits" }, /* /run names limits */
				       (char[]){ "-e" },
				       set,
				       NULL };

		s->parent = start(s, argv, -1);
	}
	wait_for_it(s);
}

void service_close(struct service *s)
{
	char *const argv[] = { (char *)(uintptr_t)s->creel,
			       (char[]){ "kill" },
			       (char[]){ "--state-dir" },
			       s->state,
			       (char[]){ "--all" },
			       (char[]){ "-q" },
			       NULL };
	char out[256];

	if (s->parent > 0) {
		(void)kill(s->parent, SIGTERM);
		(void)waitpid(s->parent, NULL, 0);
	}
	s->parent = 0;
	run(s, argv, out, sizeof(out));
}

int service_connect(const struct service *s)
{
	struct sockaddr_in a = address_of(s);
	int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)&a, sizeof(a)) < 0)
		measure_fail("%s: %s", s->address, strerror(errno));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

char *service_request(const struct service *s, const char *path, const char *body)
{
	char *text = NULL;
	int r = asprintf(&text,
			 "%s %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n"
			 "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
			 body ? "POST" : "GET", path, s->address, s->token, body ? strlen(body) : 0,
			 body ? body : "");

	if (r < 0)
		measure_fail("out of memory");
	return text;
}

const char *service_ask(int fd, const char *request)
{
	static char answer[ANSWER_MAX];
	size_t n = 0, whole = 0, length = strlen(request);

	if (write(fd, request, length) != (ssize_t)length)
		measure_fail("send: %s", strerror(errno));
	while (!whole || n < whole) {
		ssize_t got = n < ANSWER_MAX - 1 ? read(fd, answer + n, ANSWER_MAX - 1 - n) : 0;
		const char *end, *field;

		if (got <= 0)
			measure_fail("the answer was cut off after %zu bytes", n);
		n += (size_t)got;
		answer[n] = '\0';
		end = whole ? NULL : strstr(answer, "\r\n\r\n");
		if (!end)
			continue;
		field = strcasestr(answer, "\r\ncontent-length: ");
		if (strncmp(answer, "HTTP/1.1 200", 12) != 0 || !field || field > end)
			measure_fail("answered: %.400s", answer);
		whole = (size_t)(end + 4 - answer) + strtoul(field + 18, NULL, 10);
	}
	return strstr(answer, "\r\n\r\n") + 4;
}

/* ---- memory ---- */

static int parent_of(int pid, char name[static 64])
{
	char path[64], text[512];
	_cleanup_close_ int fd = -EBADF;
	const char *close_;
	ssize_t n;
	int parent = -1;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return -1;
	text[n] = '\0';
	close_ = strrchr(text, ')');
	if (!close_ || sscanf(close_, ") %*c %d", &parent) != 1 || sscanf(text, "%*d (%63[^)]", name) != 1)
		return -1;
	return parent;
}

/* From a file that can be read of a process that is not dumpable, too. */
static size_t resident_kib(int pid)
{
	char path[64], line[256];
	size_t kib = 0;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmRSS: %zu kB", &kib) == 1)
			break;
	if (f)
		(void)fclose(f);
	return kib;
}

static bool is_below(const struct service *s, int pid, char name[static 64])
{
	char other[64];
	int parent = parent_of(pid, name);

	for (unsigned depth = 0; parent > 1 && depth < 4; depth++) {
		if (parent == s->parent)
			return true;
		parent = parent_of(parent, other);
	}
	return pid == s->parent;
}

size_t service_resident_kib(const struct service *s, const char *name)
{
	DIR *d = opendir("/proc");
	size_t sum = 0;
	struct dirent *de;

	if (!d)
		measure_fail("/proc: %s", strerror(errno));
	while ((de = readdir(d))) {
		char its[64] = "";
		int pid = atoi(de->d_name);

		if (pid > 0 && is_below(s, pid, its) && (!name || strncmp(its, name, strlen(name)) == 0))
			sum += resident_kib(pid);
	}
	(void)closedir(d);
	if (sum == 0)
		measure_fail("nobody can tell how much memory %s has", name ? name : "it");
	return sum;
}
