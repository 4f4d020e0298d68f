/* SPDX-License-Identifier: Apache-2.0 */
#include "docker.h"
#include "measure.h"

#include "base/fd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define ANSWER_MAX 65536

static int reach(const struct docker *d)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (strncmp(d->host, "unix://", 7) != 0 ||
	    (size_t)snprintf(a.sun_path, sizeof(a.sun_path), "%s", d->host + 7) >= sizeof(a.sun_path))
		measure_fail("'%s' is no unix://PATH", d->host);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&a, sizeof(a)) < 0)
		measure_fail("%s: %s", d->host, strerror(errno));
	return fd;
}

/* One request on a connection of its own; the answer is what comes until it is closed. */
static void ask(const struct docker *d, const char *path, const char *body, char answer[static ANSWER_MAX])
{
	_cleanup_close_ int fd = reach(d);
	size_t n = 0;
	ssize_t got;

	if (dprintf(fd,
		    "POST %s HTTP/1.1\r\nHost: docker\r\nConnection: close\r\nContent-Type: application/json\r\n"
		    "Content-Length: %zu\r\n\r\n%s",
		    path, strlen(body), body) < 0)
		measure_fail("%s: %s", d->host, strerror(errno));
	while (n < ANSWER_MAX - 1 && (got = read(fd, answer + n, ANSWER_MAX - 1 - n)) > 0)
		n += (size_t)got;
	answer[n] = '\0';
	if (strncmp(answer, "HTTP/1.1 20", 11) != 0)
		measure_fail("%s%s: %.200s", d->host, path, answer);
}

double docker_exec(const struct docker *d, const char *program)
{
	static char answer[ANSWER_MAX];
	char path[256], body[512], id[65] = "";
	double start = measure_now_us();
	const char *at;

	(void)snprintf(path, sizeof(path), "/containers/%s/exec", d->container);
	(void)snprintf(body, sizeof(body), "{\"AttachStdout\":true,\"AttachStderr\":true,\"Cmd\":[\"%s\"]}",
		       program);
	ask(d, path, body, answer);
	at = strstr(answer, "\"Id\":\"");
	if (!at || sscanf(at + 6, "%64[0-9a-f]", id) != 1)
		measure_fail("docker: no number of an exec: %.200s", answer);
	(void)snprintf(path, sizeof(path), "/exec/%s/start", id);
	ask(d, path, "{\"Detach\":false,\"Tty\":false}", answer);
	return measure_now_us() - start;
}
