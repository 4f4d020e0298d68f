/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reload: the configuration is read anew, and new services are started beside the old ones, on the same sockets. When all of them are ready the
 * old ones end; when one is not, they go on as if nothing had been.
 */
#include "daemon/parent.h"

#include "base/clock.h"
#include "base/hash.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#define READY_MS 10000u
#define LOOK_MS 1000u
#define FILE_MAX ((size_t)64 << 20)
#define ARENA_BYTES ((size_t)256 << 20)

/* ---- what the files are ---- */

/* A file that is missing, or cannot be read, counts as that. Whose it is counts, too: a key that others can read is refused until it is not. */
static void add_file(struct sha256 *all, struct str path)
{
	char name[SERVICE_PATH_MAX], *text = NULL;
	struct stat st;
	size_t n = 0;

	sha256_add(all, path);
	if (path.n == 0 || path.n >= sizeof(name))
		return;
	memcpy(name, path.p, path.n);
	name[path.n] = '\0';
	if (stat(name, &st) == 0 && fd_read_file(name, FILE_MAX, &text, &n) >= 0) {
		const uint64_t owner[] = { st.st_uid, st.st_mode };

		sha256_add(all, STR("\nthere\n"));
		sha256_add(all, (struct str){ .p = (const char *)owner, .n = sizeof(owner) });
		sha256_add(all, (struct str){ .p = text, .n = n });
	}
	if (text)
		explicit_bzero(text, n); /* it may be a key */
	free(text);
}

/* The same text means that nothing has changed. */
static void look_at(const struct service *s, char out[static SHA256_HEX])
{
	unsigned char sum[SHA256_BYTES];
	struct sha256 all;

	sha256_init(&all);
	for (size_t i = 0; i < s->config.n_imports; i++)
		add_file(&all, s->config.imports[i].path);
	add_file(&all, s->config.base.serve_tls_cert);
	add_file(&all, s->config.base.serve_tls_key);
	sha256_end(&all, sum);
	hash_to_hex(sum, sizeof(sum), out);
}

/* Whoever writes a file may be in the middle of it: it counts when it was the same at two looks. */
static void on_look(struct loop *l, void *ctx)
{
	struct parent *p = ctx;
	char now[SHA256_HEX];

	if (loop_add_timer(l, clock_mono_ms() + LOOK_MS, on_look, p, &p->look) < 0)
		LOG(LOG_ERROR, "changed files are not noticed any more");
	if (p->next || !p->started || p->ending)
		return;
	look_at(p->s, now);
	notify_mend(p);
	if (sockets_mend(p)) {
		change_begin(p, "a socket was removed");
	} else if (strcmp(now, p->seen) == 0) {
		p->settling[0] = '\0';
	} else if (strcmp(now, p->settling) != 0) {
		memcpy(p->settling, now, sizeof(now));
	} else {
		change_begin(p, "a configuration file, the certificate or its key has changed");
	}
}

int change_watch(struct parent *p, struct err *e)
{
	int r;

	look_at(p->s, p->seen);
	r = loop_add_timer(p->loop, clock_mono_ms() + LOOK_MS, on_look, p, &p->look);
	return r < 0 ? err_sys(e, -r, "wait for changes") : 0;
}

/* ---- the change ---- */

static struct service *drop(struct service *s)
{
	if (s)
		arena_done(&s->arena);
	free(s);
	return NULL;
}

static int read_again(struct parent *p, struct service **ret, struct err *e)
{
	struct service *n = malloc(sizeof(*n));

	if (!n)
		return err_set(e, ERR_LIMIT, "out of memory");
	*n = *p->s; /* the words of the command line, the directories, the notification */
	n->arena = (struct arena){ 0 };
	n->diags = (struct diags){ 0 };
	n->config = (struct config){ 0 };
	arena_init(&n->arena, ARENA_BYTES);
	n->diags.arena = &n->arena;
	if (service_load(n, e) < 0) {
		(void)drop(n);
		return -1;
	}
	look_at(n, p->tried);
	if (sockets_check(n, e) < 0 || sockets_same(p, n, e) < 0) {
		(void)drop(n);
		return -1;
	}
	*ret = n;
	return 0;
}

static void on_deadline(struct loop *l, void *ctx)
{
	(void)l;
	change_failed(ctx, "a new service was not ready in time");
}

/* systemd waits for the end of every reload that it was told of. */
static void tell_end(struct parent *p, const char *status)
{
	service_ready(p->s, status);
	if (p->again && !p->ending) {
		p->again = false;
		change_begin(p, "asked to, meanwhile");
	}
}

void change_begin(struct parent *p, const char *why)
{
	struct err e = { 0 };

	if (!p->started || p->ending)
		return;
	if (p->next) {
		p->again = true;
		return;
	}
	/* Whatever comes of it: the same bytes are not tried twice. */
	look_at(p->s, p->seen);
	p->settling[0] = '\0';
	LOG(LOG_INFO, "reloading", KV_Z("why", why));
	service_reloading(p->s);
	if (read_again(p, &p->next, &e) < 0) {
		LOG(LOG_ERROR, "the configuration stays as it was", KV_Z("why", e.msg));
		tell_end(p, "serving with the configuration before: the new one is refused, see the log");
		return;
	}
	if (loop_add_timer(p->loop, clock_mono_ms() + READY_MS, on_deadline, p, &p->deadline) < 0) {
		change_failed(p, "out of memory");
		return;
	}
	children_go_on(p, true);
}

void change_failed(struct parent *p, const char *why)
{
	if (!p->next)
		return;
	(void)loop_del(p->loop, p->deadline);
	p->next = drop(p->next);
	for (int k = 0; k < KIND_COUNT_; k++)
		if (child_next(p, (enum kind)k))
			child_end(child_next(p, (enum kind)k), drain_ms(p->s));
	LOG(LOG_ERROR, "the configuration stays as it was", KV_Z("why", why));
	tell_end(p, "serving with the configuration before: the new services did not start, see the log");
}

void change_done(struct parent *p)
{
	struct service *old = p->s;

	(void)loop_del(p->loop, p->deadline);
	for (int k = 0; k < KIND_COUNT_; k++) {
		struct child *c = child_next(p, (enum kind)k), *before = p->kinds[k].now;

		if (!c)
			continue;
		c->is_next = p->kinds[k].renewed = false;
		(void)loop_del(p->loop, p->kinds[k].again);
		p->kinds[k].now = c;
		if (before)
			child_end(before, drain_ms(p->next));
	}
	p->s = p->next;
	p->next = NULL;
	/* As they were when they were read: what was written since is news. */
	memcpy(p->seen, p->tried, sizeof(p->seen));
	(void)drop(old);
	LOG(LOG_INFO, "reloaded");
	tell_end(p, "serving");
}
