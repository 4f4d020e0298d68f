/* SPDX-License-Identifier: Apache-2.0 */
#include "identity/runner.h"

#include "base/fd.h"
#include "base/hash.h"
#include "base/private.h"

#include <fcntl.h>
#include <sys/random.h>

#define PREFIX "runner_"

void runner_token_wipe(struct runner_token *t)
{
	explicit_bzero(t, sizeof(*t));
}

/* What may stand in a field of a head as it is. */
static bool is_token(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] <= ' ' || s.p[i] > '~')
			return false;
	return s.n > 0 && s.n < RUNNER_TOKEN_MAX;
}

static int take(struct str text, const char *place, struct runner_token *ret, struct err *e)
{
	if (!is_token(text))
		return err_set(e, ERR_USAGE,
			       "%s: the runner's token has 1 to %u visible ASCII characters and no blanks",
			       place, RUNNER_TOKEN_MAX - 1);
	*ret = (struct runner_token){ .n = text.n };
	memcpy(ret->text, text.p, text.n);
	return 0;
}

int runner_token_find(int state_dir, const char *path, const char *from_environ, struct runner_token *ret,
		      struct err *e)
{
	_cleanup_close_ int fd = FD_NONE;
	char *text = NULL;
	size_t n = 0;
	int r;

	if (from_environ)
		return take(str_z(from_environ), RUNNER_TOKEN_VARIABLE, ret, e);
	fd = private_file_open(state_dir, RUNNER_TOKEN_FILE, O_RDONLY);
	if (fd == -ENOENT)
		return err_set(e, ERR_NOTFOUND,
			       "no token for the runner: neither " RUNNER_TOKEN_VARIABLE
			       " nor '%s/" RUNNER_TOKEN_FILE "'; 'creel token new --runner' makes one",
			       path);
	if (fd < 0)
		return err_set(e, ERR_UNAVAIL,
			       "'%s/" RUNNER_TOKEN_FILE
			       "' %s: chown and chmod 600 it; if others could read it, "
			       "'creel token new --runner' makes another",
			       path, private_why(fd));
	r = fd_read_all(fd, RUNNER_TOKEN_MAX + 1, &text, &n);
	if (r == -EFBIG)
		return take((struct str){ .n = 0, .p = "" }, RUNNER_TOKEN_FILE, ret, e);
	if (r < 0)
		return err_sys(e, -r, "read '%s/" RUNNER_TOKEN_FILE "'", path);
	r = take(str_trim((struct str){ .p = text, .n = n }), RUNNER_TOKEN_FILE, ret, e);
	explicit_bzero(text, n);
	free(text);
	return r;
}

int runner_token_make(int state_dir, const char *path, struct runner_token *ret, struct err *e)
{
	unsigned char bits[SHA256_BYTES];
	int r;

	if (getrandom(bits, sizeof(bits), 0) != (ssize_t)sizeof(bits))
		return err_sys(e, errno, "random bits for a token");
	*ret = (struct runner_token){ .n = sizeof(PREFIX) - 1 + 2 * sizeof(bits) };
	memcpy(ret->text, PREFIX, sizeof(PREFIX) - 1);
	hash_to_hex(bits, sizeof(bits), ret->text + sizeof(PREFIX) - 1);
	explicit_bzero(bits, sizeof(bits));
	ret->text[ret->n] = '\n';
	r = fd_write_atomic(state_dir, RUNNER_TOKEN_FILE, (struct str){ .p = ret->text, .n = ret->n + 1 },
			    0600);
	ret->text[ret->n] = '\0';
	if (r < 0) {
		runner_token_wipe(ret);
		return err_sys(e, -r, "write '%s/" RUNNER_TOKEN_FILE "'", path);
	}
	return 0;
}
