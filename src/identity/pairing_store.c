/* SPDX-License-Identifier: Apache-2.0 */
/* Known and waiting senders in their file. */
#include "identity/file_priv.h"
#include "identity/pairing.h"

#include "base/hash.h"
#include "base/utf8.h"
#include "model/pair.h"

#include <sys/random.h>

struct pairing_store {
	struct idfile file;
	struct arena arena;
	struct pairing now;
};

struct pairing_store *pairing_store_close(struct pairing_store *s)
{
	if (!s)
		return NULL;
	arena_done(&s->arena);
	idfile_done(&s->file);
	free(s);
	return NULL;
}

int pairing_store_open(const char *dir, struct pairing_store **ret, struct err *e)
{
	_cleanup_(pairing_store_closep) struct pairing_store *s = calloc(1, sizeof(*s));

	if (!s)
		return err_sys(e, ENOMEM, "pairing");
	arena_init(&s->arena, IDFILE_ARENA);
	if (idfile_open(&s->file, dir, PAIRING_FILE, PAIRING_FILE_MAX, e) < 0)
		return -1;
	*ret = TAKE_PTR(s);
	return 0;
}

const struct pairing *pairing_store_get(const struct pairing_store *s)
{
	return &s->now;
}

void pairing_store_patience(struct pairing_store *s, uint64_t ms)
{
	s->file.patience_ms = ms;
}

static int parse(struct arena *a, struct str text, void *ret, struct err *e)
{
	return pairing_parse(a, text, PAIRING_FILE, ret, e);
}

int pairing_store_load(struct pairing_store *s, struct err *e)
{
	struct pairing now = { 0 };
	int r = idfile_load(&s->file, &s->arena, parse, &now, e);

	if (r > 0)
		s->now = now;
	return r;
}

/* ---- changing ---- */

/* The lock, and what the file says now, as a copy with room for one more of each. */
static int begin(struct pairing_store *s, struct arena *a, struct pairing *ret, struct err *e)
{
	int held = idfile_lock(&s->file, e), r = held < 0 ? held : pairing_store_load(s, e);

	*ret = s->now;
	ret->senders = ARENA_ARRAY(a, struct pairing_sender, s->now.n_senders + 1);
	ret->pending = ARENA_ARRAY(a, struct pairing_pending, s->now.n_pending + 1);
	if (r >= 0 && (!ret->senders || !ret->pending))
		r = err_set(e, ERR_LIMIT, "out of memory");
	if (r < 0) {
		(void)fd_close(held);
		return r;
	}
	for (size_t i = 0; i < s->now.n_senders; i++)
		ret->senders[i] = s->now.senders[i];
	for (size_t i = 0; i < s->now.n_pending; i++)
		ret->pending[i] = s->now.pending[i];
	return held;
}

static int save(struct pairing_store *s, const struct pairing *p, struct err *e)
{
	_cleanup_buf_ struct buf text = { 0 };
	int r;

	buf_init(&text, PAIRING_FILE_MAX);
	pairing_write(&text, p);
	r = idfile_write(&s->file, &text, "senders", e);
	if (r >= 0)
		r = pairing_store_load(s, e);
	return r < 0 ? r : 0;
}

static bool is_his(const struct pairing_pending *p, struct str channel, struct str user)
{
	return str_eq(p->channel, channel) && str_eq(p->user, user);
}

static void drop_pending(struct pairing *p, size_t at)
{
	p->n_pending--;
	memmove(&p->pending[at], &p->pending[at + 1], (p->n_pending - at) * sizeof(*p->pending));
}

/* His codes are of no use any more, and were given to him all the same. */
static void spend_codes(struct pairing *p, struct str channel, struct str user)
{
	for (size_t i = 0; i < p->n_pending; i++)
		if (is_his(&p->pending[i], channel, user))
			p->pending[i].code = p->pending[i].name = p->pending[i].preview = STR("");
}

static int check_who(struct str channel, struct str user, struct err *e)
{
	if (!pair_channel_valid(channel))
		return err_set(e, ERR_USAGE,
			       "channel '" STR_FMT "' is not accepted: letters, digits, _ and -, at most 64",
			       STR_ARG(channel));
	if (!pairing_user_valid(user))
		return err_set(e, ERR_USAGE,
			       "user '" STR_FMT "' is not accepted: letters, digits and _@.+:-, at most 64",
			       STR_ARG(user));
	return 0;
}

/* ---- a stranger ---- */

static unsigned codes_this_hour(const struct pairing *p, const struct pairing_ask *ask)
{
	unsigned n = 0;

	for (size_t i = 0; i < p->n_pending; i++)
		n += is_his(&p->pending[i], ask->channel, ask->user) &&
		     pairing_code_recent(&p->pending[i], ask->now_ms);
	return n;
}

static int make_code(const struct pairing *p, char out[static PAIRING_CODE_MAX], struct err *e)
{
	unsigned char random[(PAIRING_CODE_MAX - 1) / 2];
	bool taken = true;

	while (taken) {
		if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
			return err_sys(e, errno, "getrandom");
		hash_to_hex(random, sizeof(random), out);
		for (char *c = out; *c; c++)
			if (*c >= 'a')
				*c = (char)(*c - 'a' + 'A');
		taken = false;
		for (size_t i = 0; i < p->n_pending; i++)
			taken |= str_eq(p->pending[i].code, str_z(out));
	}
	return 0;
}

/* UTF-8 that fits, whatever it was. */
static struct str tidy(struct arena *a, struct str text, size_t max)
{
	_cleanup_buf_ struct buf b = { 0 };

	if (text.n > max)
		text = utf8_prefix(text, max);
	buf_init(&b, 4 * max + 1);
	utf8_sanitize(text, &b);
	return arena_str(a, utf8_prefix(buf_str(&b), max));
}

int pairing_ask(struct pairing_store *s, const struct pairing_ask *ask, char code[static PAIRING_CODE_MAX],
		struct err *e)
{
	_cleanup_close_ int held = FD_NONE;
	_cleanup_arena_ struct arena a = { 0 };
	struct pairing p;
	int r = check_who(ask->channel, ask->user, e);

	arena_init(&a, IDFILE_ARENA);
	if (r >= 0)
		r = held = begin(s, &a, &p, e);
	if (r < 0)
		return r;
	if (pairing_knows(&p, ask->channel, ask->user))
		return 1;
	for (size_t i = p.n_pending; i > 0; i--)
		if (!pairing_code_good(&p.pending[i - 1], ask->now_ms) &&
		    !pairing_code_recent(&p.pending[i - 1], ask->now_ms))
			drop_pending(&p, i - 1);
	if (codes_this_hour(&p, ask) >= PAIRING_PER_HOUR)
		return err_set(e, ERR_LIMIT, "this sender had %d codes in the last hour",
			       (int)PAIRING_PER_HOUR);
	if (p.n_pending == PAIRING_PENDING_MAX)
		return err_set(e, ERR_LIMIT, "%d senders wait to be approved already",
			       (int)PAIRING_PENDING_MAX);
	r = make_code(&p, code, e);
	if (r < 0)
		return r;
	p.pending[p.n_pending++] =
		(struct pairing_pending){ .code = str_z(code),
					  .channel = ask->channel,
					  .user = ask->user,
					  .name = tidy(&a, ask->name, PAIRING_NAME_BYTES),
					  .preview = tidy(&a, ask->preview, PAIRING_PREVIEW_BYTES),
					  .asked_ms = ask->now_ms };
	return save(s, &p, e);
}

/* ---- the operator ---- */

static int add_sender(struct pairing *p, const struct pairing_sender *who, struct err *e)
{
	if (p->n_senders == PAIRING_SENDERS_MAX)
		return err_set(e, ERR_LIMIT, "%d senders are known already: revoke some",
			       (int)PAIRING_SENDERS_MAX);
	p->senders[p->n_senders++] = *who;
	spend_codes(p, who->channel, who->user);
	return 0;
}

int pairing_approve(struct pairing_store *s, struct str code, struct str by, uint64_t now_ms,
		    struct pairing_sender *ret, struct err *e)
{
	_cleanup_close_ int held = FD_NONE;
	_cleanup_arena_ struct arena a = { 0 };
	struct pairing p;
	size_t at = 0;
	int r;

	arena_init(&a, IDFILE_ARENA);
	r = held = begin(s, &a, &p, e);
	if (r < 0)
		return r;
	while (at < p.n_pending && (!code.n || !str_eq_nocase(p.pending[at].code, code)))
		at++;
	if (at == p.n_pending || !pairing_code_good(&p.pending[at], now_ms))
		return err_set(
			e, ERR_NOTFOUND, "code '" STR_FMT "' %s; 'creel pairing list' shows those that wait",
			STR_ARG(code),
			at == p.n_pending ? "is not known" : "has expired: the sender has to ask again");
	r = add_sender(&p,
		       &(struct pairing_sender){ .channel = p.pending[at].channel,
						 .user = p.pending[at].user,
						 .name = p.pending[at].name,
						 .by = by,
						 .approved_ms = now_ms },
		       e);
	if (r >= 0)
		r = save(s, &p, e);
	if (r >= 0)
		*ret = s->now.senders[s->now.n_senders - 1];
	return r;
}

int pairing_add(struct pairing_store *s, const struct pairing_sender *who, struct err *e)
{
	_cleanup_close_ int held = FD_NONE;
	_cleanup_arena_ struct arena a = { 0 };
	struct pairing p;
	int r = check_who(who->channel, who->user, e);

	arena_init(&a, IDFILE_ARENA);
	if (r >= 0)
		r = held = begin(s, &a, &p, e);
	if (r < 0)
		return r;
	if (pairing_knows(&p, who->channel, who->user))
		return 0;
	r = add_sender(&p, who, e);
	if (r >= 0)
		r = save(s, &p, e);
	return r < 0 ? r : 1;
}

int pairing_revoke(struct pairing_store *s, struct str channel, struct str user, struct err *e)
{
	_cleanup_close_ int held = FD_NONE;
	_cleanup_arena_ struct arena a = { 0 };
	struct pairing p;
	size_t before;
	int r;

	arena_init(&a, IDFILE_ARENA);
	r = held = begin(s, &a, &p, e);
	if (r < 0)
		return r;
	before = p.n_senders;
	p.n_senders = 0;
	for (size_t i = 0; i < before; i++)
		if (!str_eq(p.senders[i].channel, channel) || !str_eq(p.senders[i].user, user))
			p.senders[p.n_senders++] = p.senders[i];
	if (p.n_senders == before)
		return err_set(e, ERR_NOTFOUND,
			       "'" STR_FMT "' of " STR_FMT " is not known; 'creel pairing list' shows who is",
			       STR_ARG(user), STR_ARG(channel));
	spend_codes(&p, channel, user);
	return save(s, &p, e);
}
