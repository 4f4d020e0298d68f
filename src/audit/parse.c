/* SPDX-License-Identifier: Apache-2.0 */
/* One line of the log, read back. The bytes are hashed as they stand: nothing has to be written the same way twice. */
#include "audit/audit_priv.h"

#include "data/json.h"

#define HASH_KEY ",\"hash\":\""

void hash_line(struct str covered, char out[static SHA256_HEX])
{
	sha256_hex(covered, out);
}

static bool take_hash(const struct value *v, char out[static SHA256_HEX])
{
	if (!v || v->kind != VALUE_STR || v->s.n != SHA256_HEX - 1)
		return false;
	for (size_t i = 0; i < v->s.n; i++)
		if (!memchr("0123456789abcdef", v->s.p[i], 16))
			return false;
	memcpy(out, v->s.p, v->s.n);
	out[v->s.n] = '\0';
	return true;
}

static bool take_fields(const struct value *v, struct audit_record *ret)
{
	const struct value *seq = value_get(v, STR("seq")), *time = value_get(v, STR("time"));
	const struct value *kind = value_get(v, STR("kind"));
	int k = 0;

	if (!seq || seq->kind != VALUE_INT || seq->i <= 0 || !time || time->kind != VALUE_STR || !kind ||
	    kind->kind != VALUE_STR)
		return false;
	ret->seq = (uint64_t)seq->i;
	ret->time = time->s;
	ret->kind = enum_value(audit_kind_names, kind->s, false, &k) ? (enum audit_kind)k : AUDIT_NONE;
	return take_hash(value_get(v, STR("prev")), ret->prev) &&
	       take_hash(value_get(v, STR("hash")), ret->hash);
}

int audit_parse(struct arena *a, struct str line, struct audit_record *ret, struct err *e)
{
	const struct json_opts o = {
		.name = "record", .max_depth = 8, .max_bytes = AUDIT_LINE_MAX, .max_values = 8192
	};
	struct audit_record rec = { .line = line };
	char hash[SHA256_HEX];
	struct str tail;
	struct value v;

	if (line.n >= AUDIT_LINE_MAX || line.n <= HASH_TAIL)
		return err_set(e, ERR_PROTO, "%zu bytes are no record", line.n);
	tail = str_from(line, line.n - HASH_TAIL);
	if (!str_starts(line, STR("{\"seq\":")) || !str_starts(tail, STR(HASH_KEY)) ||
	    !str_ends(tail, STR("\"}")))
		return err_set(e, ERR_PROTO,
			       "not a record: it does not begin with its number or end with its hash");
	hash_line((struct str){ .p = line.p, .n = line.n - HASH_TAIL }, hash);
	if (memcmp(hash, tail.p + sizeof(HASH_KEY) - 1, SHA256_HEX - 1) != 0)
		return err_set(e, ERR_PROTO, "the hash does not fit the text: it was changed");
	if (json_parse(a, line, &o, &v, e) < 0) {
		e->kind = ERR_PROTO;
		return -1;
	}
	/* Only its last member can be the one that the hash was compared with: the reader refuses two of a name. */
	if (!take_fields(&v, &rec) || memcmp(rec.hash, hash, SHA256_HEX) != 0)
		return err_set(e, ERR_PROTO, "not a record: seq, time, kind, prev and hash are needed");
	*ret = rec;
	return 0;
}
