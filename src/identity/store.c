/* SPDX-License-Identifier: Apache-2.0 */
/* The tokens in their file. */
#include "identity/file_priv.h"
#include "identity/tokens.h"

#include <sys/random.h>

enum { USE_NOTE_MS = 60000 };

struct token_store {
	struct idfile file;
	struct arena arena; /* of the tokens */
	struct tokens tokens;
};

struct token_store *token_store_close(struct token_store *s)
{
	if (!s)
		return NULL;
	arena_done(&s->arena);
	idfile_done(&s->file);
	free(s);
	return NULL;
}

int token_store_open(const char *dir, struct token_store **ret, struct err *e)
{
	_cleanup_(token_store_closep) struct token_store *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return err_sys(e, ENOMEM, "tokens");
	arena_init(&s->arena, IDFILE_ARENA);
	r = idfile_open(&s->file, dir, TOKENS_FILE, TOKENS_FILE_MAX, e);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(s);
	return 0;
}

const struct tokens *token_store_tokens(const struct token_store *s)
{
	return &s->tokens;
}

static int parse(struct arena *a, struct str text, void *ret, struct err *e)
{
	return tokens_parse(a, text, TOKENS_FILE, ret, e);
}

int token_store_load(struct token_store *s, struct err *e)
{
	struct tokens now = { 0 };
	int r = idfile_load(&s->file, &s->arena, parse, &now, e);

	if (r > 0)
		s->tokens = now;
	return r;
}

/* ---- changing ---- */

static int save(struct token_store *s, const struct tokens *t, struct err *e)
{
	_cleanup_buf_ struct buf text = { 0 };
	int r;

	buf_init(&text, TOKENS_FILE_MAX);
	tokens_write(&text, t);
	r = idfile_write(&s->file, &text, "tokens", e);
	if (r >= 0)
		r = token_store_load(s, e);
	return r < 0 ? r : 0;
}

/* An entry for one more: at the end, or the place of the one that has been of no use for longest. */
static struct token_entry *room_for_one(struct arena *a, const struct tokens *old, uint64_t now_ms,
					struct tokens *ret)
{
	size_t oldest = old->n;

	ret->v = ARENA_ARRAY(a, struct token_entry, old->n + 1);
	if (!ret->v)
		return NULL;
	ret->n = old->n;
	for (size_t i = 0; i < old->n; i++) {
		ret->v[i] = old->v[i];
		if (token_state(&old->v[i], now_ms) != TOKEN_VALID &&
		    (oldest == old->n || old->v[i].created_ms < old->v[oldest].created_ms))
			oldest = i;
	}
	if (old->n < TOKENS_MAX)
		return &ret->v[ret->n++];
	return oldest < old->n ? &ret->v[oldest] : NULL;
}

static bool has_name(const struct tokens *t, struct str name, uint64_t now_ms)
{
	for (size_t i = 0; name.n && i < t->n; i++)
		if (str_eq(t->v[i].name, name) && token_state(&t->v[i], now_ms) == TOKEN_VALID)
			return true;
	return false;
}

static int make_secret(const struct tokens *t, char out[static TOKEN_TEXT_MAX], struct token_entry *entry,
		       struct err *e)
{
	unsigned char random[SHA256_BYTES];
	bool again = true;

	while (again) {
		if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
			return err_sys(e, errno, "getrandom");
		memcpy(out, TOKEN_PREFIX, sizeof(TOKEN_PREFIX) - 1);
		hash_to_hex(random, sizeof(random), out + sizeof(TOKEN_PREFIX) - 1);
		sha256_hex(str_z(out), entry->hash);
		again = false;
		for (size_t i = 0; i < t->n; i++) /* ids name one token */
			again |= memcmp(t->v[i].hash, entry->hash, TOKEN_ID_MAX - 1) == 0;
	}
	explicit_bzero(random, sizeof(random));
	return 0;
}

int token_new(struct token_store *s, const struct token_opts *o, char out[static TOKEN_TEXT_MAX],
	      char id[static TOKEN_ID_MAX], struct err *e)
{
	_cleanup_close_ int held = idfile_lock(&s->file, e);
	_cleanup_arena_ struct arena a = { 0 };
	struct token_entry entry = { .name = o->name,
				     .all_pairs = o->pairs->all_pairs,
				     .admin = o->pairs->admin,
				     .pairs = o->pairs->pairs,
				     .n_pairs = o->pairs->n_pairs,
				     .created_ms = o->now_ms,
				     .expires_ms = o->expires_ms };
	struct token_entry *place;
	struct tokens t = { 0 };
	int r = held < 0 ? held : token_store_load(s, e);

	if (r < 0)
		return r;
	if (has_name(&s->tokens, o->name, o->now_ms))
		return err_set(e, ERR_USAGE,
			       "there is a token '" STR_FMT "' already: revoke it, or take another name",
			       STR_ARG(o->name));
	arena_init(&a, IDFILE_ARENA);
	place = room_for_one(&a, &s->tokens, o->now_ms, &t);
	if (!place)
		return err_set(e, ERR_LIMIT, "there are %d tokens already: revoke some", (int)TOKENS_MAX);
	r = make_secret(&s->tokens, out, &entry, e);
	if (r < 0)
		return r;
	*place = entry;
	token_id(&entry, id);
	r = save(s, &t, e);
	if (r < 0)
		explicit_bzero(out, TOKEN_TEXT_MAX);
	return r;
}

/* By its id; or by its name, and then the one that is still good for something. */
static struct token_entry *find(const struct tokens *t, struct str which)
{
	struct token_entry *named = NULL;

	for (size_t i = 0; i < t->n; i++) {
		if (str_eq(which, (struct str){ t->v[i].hash, TOKEN_ID_MAX - 1 }))
			return &t->v[i];
		if (str_eq(which, t->v[i].name) && (!named || named->revoked_ms))
			named = &t->v[i];
	}
	return named;
}

int token_revoke(struct token_store *s, struct str which, uint64_t now_ms, char id[static TOKEN_ID_MAX],
		 struct err *e)
{
	_cleanup_close_ int held = idfile_lock(&s->file, e);
	struct token_entry *entry;
	int r = held < 0 ? held : token_store_load(s, e);

	if (r < 0)
		return r;
	entry = which.n ? find(&s->tokens, which) : NULL;
	if (!entry)
		return err_set(e, ERR_NOTFOUND,
			       "no token '" STR_FMT "'; 'creel token list' shows those that there are",
			       STR_ARG(which));
	token_id(entry, id);
	if (entry->revoked_ms)
		return 0;
	entry->revoked_ms = now_ms ? now_ms : 1;
	r = save(s, &s->tokens, e);
	if (r < 0)
		s->file.loaded = false;
	return r < 0 ? r : 1;
}

int token_used(struct token_store *s, size_t index, uint64_t now_ms, struct err *e)
{
	_cleanup_close_ int held = FD_NONE;
	char id[TOKEN_ID_MAX];
	struct token_entry *entry;
	int r;

	if (index >= s->tokens.n)
		return err_set(e, ERR_BUG, "no such token");
	if (now_ms < s->tokens.v[index].used_ms + USE_NOTE_MS)
		return 0;
	token_id(&s->tokens.v[index], id);
	r = held = idfile_lock(&s->file, e);
	if (r >= 0)
		r = token_store_load(s, e); /* it may be another one by now, or gone */
	entry = r < 0 ? NULL : find(&s->tokens, str_z(id));
	if (!entry || now_ms < entry->used_ms + USE_NOTE_MS)
		return r < 0 ? r : 0;
	entry->used_ms = now_ms;
	return save(s, &s->tokens, e);
}

/* Many processes know of the same callers: whoever is first in a minute writes. */
static bool note_uses(const struct tokens *t, const struct token_use *uses, size_t n, bool dry)
{
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		struct token_entry *entry = find(t, str_z(uses[i].id));

		if (!entry || uses[i].ms < entry->used_ms + USE_NOTE_MS)
			continue;
		any = true;
		if (!dry)
			entry->used_ms = uses[i].ms;
	}
	return any;
}

int tokens_used(struct token_store *s, const struct token_use *uses, size_t n, struct err *e)
{
	_cleanup_close_ int held = FD_NONE;
	int r;

	if (!note_uses(&s->tokens, uses, n, true)) /* nobody has to wait for that */
		return 0;
	r = held = idfile_lock(&s->file, e);
	if (r >= 0)
		r = token_store_load(s, e);
	if (r < 0 || !note_uses(&s->tokens, uses, n, false))
		return r;
	return save(s, &s->tokens, e) < 0 ? -1 : 1;
}

void token_store_patience(struct token_store *s, uint64_t ms)
{
	s->file.patience_ms = ms;
}
