/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a box, of whichever kind it is: the same ones that its calls see, and no others. */
#include "boxes.h"

static struct files *files_of(struct den *d)
{
	struct files *f = NULL;
	struct err e = { 0 };

	if (d->box->ops->files(d->box, &f, &e) < 0)
		fail_with("files", &e);
	return f;
}

static int put(struct files *f, const char *path, struct str content)
{
	const struct files_put what = { .content = content, .mode = 0666 };
	bool existed = false;

	return f->ops->put(f, path, FILES_PARENTS, &what, &existed);
}

static int get(struct files *f, const char *path, char text[static 64])
{
	int fd = f->ops->open(f, path, 0, 0, NULL);
	ssize_t n = fd < 0 ? 0 : read(fd, text, 63);

	text[n > 0 ? n : 0] = '\0';
	(void)fd_close(fd);
	return fd < 0 ? fd : 0;
}

WITH_BOX(files_are_those_that_calls_see)
{
	struct files *f = files_of(d);
	char text[64];

	MUST(put(f, "deep/down/a", STR("hello")) == 0);
	check_sh(d, "cat /tmp/deep/down/a; stat -c ' %a %u' deep/down/a", 0, "hello 644 1000\n");
	check_sh(d, "echo from a call > b; ln -s /etc/hostname h; ln -s / up", 0, "");
	MUST(get(f, "b", text) == 0 && strcmp(text, "from a call\n") == 0);
	MUST(get(f, "/tmp/h", text) == 0 && strcmp(text, "box\n") == 0); /* the sandbox's, not ours */
	MUST(get(f, "h", text) == -EXDEV && get(f, "up/tmp/b", text) == -EXDEV);
	MUST(put(f, "/usr/new", STR("x")) == -EROFS);
	MUST(files_of(d) == f);
}

WITH_BOX(whoever_does_it_is_nobody_s_call)
{
	struct files *f = files_of(d);
	struct box_stat st;
	struct box_event ev;
	struct err e = { 0 };

	MUST(put(f, "a", STR("x")) == 0);
	MUST(d->box->ops->stat(d->box, &st, &e) == 0 && st.calls == 0);
	MUST(d->box->ops->next(d->box, false, &ev, &e) == -EAGAIN);
	check_sh(d, "cat a", 0, "x");
}

/*
 * It does not show in /proc, which hides what one cannot look into; but it has a number, and the payload's user. So has for a moment what has ended and
 * was not yet waited for.
 */
#define OTHERS(n_)                                                                                                    \
	"t=0; while :; do n=0; i=2; while [ $i -lt 400 ]; do [ $i = $$ ] || ! kill -0 $i 2>/dev/null || n=$((n+1)); " \
	"i=$((i+1)); done; if [ $n = " n_                                                                             \
	" ] || [ $t = 100 ]; then break; fi; t=$((t+1)); sleep 0.05; done; echo $n"

WITH_BOX(one_that_was_killed_is_replaced)
{
	struct files *f = files_of(d);
	char text[64];

	for (int i = 0; i < 3; i++) {
		MUST(put(f, "a", STR("x")) == 0);
		check_sh(d, "kill -KILL -1", 0, "");
		MUST(get(f, "a", text) == -ECONNRESET && get(f, "a", text) == -ECONNRESET);
		MUST(files_of(d) == f);
		MUST(get(f, "a", text) == 0 && strcmp(text, "x") == 0);
	}
}

WITH_BOX(nothing_of_it_is_left_when_the_box_goes_on)
{
	struct files *f = files_of(d);
	char text[64];

	check_sh(d, OTHERS("1") "; cat /proc/[0-9]*/comm | grep -c creel-clerk", 1, "1\n0\n");
	MUST(put(f, "a", STR("x")) == 0);
	if (d->kind == KEPT) { /* another client's is ended with it, also when it is stopped */
		struct box *other = den_connect(d);
		struct files *g = NULL;
		struct err e = { 0 };

		MUST(other->ops->files(other, &g, &e) == 0 && get(g, "a", text) == 0);
		check_sh(d, OTHERS("2"), 0, "2\n");
		check_sh(d, "kill -STOP -1", 0, "");
		other = box_close(other);
		check_sh(d, OTHERS("1") "; kill -CONT -1", 0, "1\n");
	}
	MUST(get(f, "a", text) == 0);
}

TEST_MAIN()
