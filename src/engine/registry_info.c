/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a live sandbox says of itself, in its own directory: a JSON object with "version": 1 and the columns of the registry. A registry
 * that was lost is filled from these again.
 */
#include "engine/registry_priv.h"

#include "base/hash.h"
#include "base/private.h"
#include "base/tree.h"
#include "base/utf8.h"
#include "data/json.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define TEMP_NAME ".info.new"
enum { SESSIONS_MAX = 100000 };

/* ---- writing ---- */

/* A path may be any bytes, and JSON holds text: what is none is written as { "hex": "…" }, and reads back the same. */
static void put_bytes(struct jsonw *w, struct str s)
{
	char digits[3];

	if (utf8_valid(s)) {
		jsonw_str(w, s);
		return;
	}
	{
		_cleanup_buf_ struct buf hex = { 0 };

		buf_init(&hex, REGISTRY_INFO_MAX);
		for (size_t i = 0; i < s.n; i++) {
			hash_to_hex((const unsigned char *)s.p + i, 1, digits);
			buf_puts(&hex, digits);
		}
		jsonw_obj(w);
		jsonw_kstr(w, "hex", buf_str(&hex));
		jsonw_obj_end(w);
	}
}

static void put_col(struct jsonw *w, const struct reg_entry *entry, const struct col *c)
{
	const char *at = (const char *)entry + c->at;
	struct str s;
	uint64_t u;
	int n;

	jsonw_key(w, str_z(c->name));
	if (c->type == COL_U64) {
		memcpy(&u, at, sizeof(u));
		jsonw_u64(w, u);
	} else if (c->type == COL_TEXT) {
		memcpy(&s, at, sizeof(s));
		put_bytes(w, s);
	} else if (c->type == COL_BOOT) {
		jsonw_str(w, str_z(at));
	} else {
		memcpy(&n, at, sizeof(n));
		jsonw_str(w, str_z(enum_name(c->names, n)));
	}
}

static int replace(int dir, struct str text)
{
	_cleanup_close_ int fd = FD_NONE;
	int r;

	(void)unlinkat(dir, TEMP_NAME, 0); /* of one that was killed here */
	fd = openat(dir, TEMP_NAME, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	r = private_mode(fd, 0600);
	if (r == 0)
		r = fd_write_all(fd, text);
	if (r == 0 && renameat(dir, TEMP_NAME, dir, REGISTRY_INFO) < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(dir, TEMP_NAME, 0);
	return r;
}

int registry_info_text(const struct reg_entry *entry, struct buf *out, struct err *e)
{
	struct jsonw w;
	int r = reg_check_entry(entry, e);

	if (r < 0)
		return r;
	buf_init(out, REGISTRY_INFO_MAX);
	jsonw_init(&w, out, 1);
	jsonw_obj(&w);
	jsonw_ku64(&w, "version", 1);
	for (size_t i = 0; i < reg_n_cols; i++)
		put_col(&w, entry, &reg_cols[i]);
	jsonw_obj_end(&w);
	buf_putc(out, '\n');
	return out->failed
		       ? err_set(e, ERR_LIMIT, "info of a sandbox: more than %zu bytes", REGISTRY_INFO_MAX)
		       : 0;
}

int registry_info_write(int dir, const struct reg_entry *entry, struct err *e)
{
	_cleanup_buf_ struct buf b = { 0 };
	int r = registry_info_text(entry, &b, e);

	if (r < 0)
		return r;
	r = replace(dir, buf_str(&b));
	return r < 0 ? err_sys(e, -r, "write '" REGISTRY_INFO "' of sandbox '" STR_FMT "'",
			       STR_ARG(entry->key))
		     : 0;
}

/* ---- reading ---- */

static int bad(const struct value *v, const char *name, const char *want, struct err *e)
{
	return err_set(e, ERR_PROTO, REGISTRY_INFO ":%u:%u: %s: %s is needed", v->line, v->col, name, want);
}

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool take_bytes(struct arena *a, const struct value *v, struct str *ret)
{
	const struct value *hex = v->kind == VALUE_OBJ && v->obj.n == 1 ? value_get(v, STR("hex")) : NULL;
	char *out;

	if (!hex || hex->kind != VALUE_STR || hex->s.n % 2)
		return false;
	out = arena_alloc(a, hex->s.n / 2 + 1, 1);
	for (size_t i = 0; out && i < hex->s.n / 2; i++) {
		int high = digit(hex->s.p[2 * i]), low = digit(hex->s.p[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		out[i] = (char)(high * 16 + low);
	}
	*ret = (struct str){ .p = out, .n = out ? hex->s.n / 2 : 0 };
	return out != NULL;
}

static int take_text(struct arena *a, const struct value *v, const struct col *c, char *to, struct err *e)
{
	struct str s;
	int n = 0;

	if (c->type == COL_TEXT && take_bytes(a, v, &s)) {
		memcpy(to, &s, sizeof(s));
		return 0;
	}
	if (v->kind != VALUE_STR)
		return bad(v, c->name, "a string", e);
	if (c->type == COL_ENUM) {
		if (!enum_value(c->names, v->s, false, &n))
			return bad(v, c->name, "a word that is known", e);
		memcpy(to, &n, sizeof(n));
		return 0;
	}
	if (c->type == COL_BOOT) {
		if (v->s.n >= REG_BOOT_MAX || memchr(v->s.p, '\0', v->s.n))
			return bad(v, c->name, "the id of a boot", e);
		memcpy(to, v->s.p, v->s.n);
		return 0;
	}
	s = arena_str(a, v->s);
	memcpy(to, &s, sizeof(s));
	return 0;
}

static int take_col(struct arena *a, const struct value *obj, const struct col *c, struct reg_entry *ret,
		    struct err *e)
{
	const struct value *v = value_get(obj, str_z(c->name));
	uint64_t u;

	if (!v)
		return bad(obj, c->name, "it", e);
	if (c->type != COL_U64)
		return take_text(a, v, c, (char *)ret + c->at, e);
	if (v->kind != VALUE_INT || v->i < 0)
		return bad(v, c->name, "a number from 0", e);
	u = (uint64_t)v->i;
	memcpy((char *)ret + c->at, &u, sizeof(u));
	return 0;
}

int registry_info_parse(struct arena *a, struct str text, struct reg_entry *ret, struct err *e)
{
	const struct json_opts o = {
		.name = REGISTRY_INFO, .max_depth = 3, .max_bytes = REGISTRY_INFO_MAX, .max_values = 64
	};
	struct reg_entry entry = { 0 };
	const struct value *version;
	struct value v;
	int r = json_parse(a, text, &o, &v, e);

	if (r < 0)
		return r;
	version = value_get(&v, STR("version"));
	if (!version || version->kind != VALUE_INT || version->i != 1)
		return bad(version ? version : &v, "version", "1", e);
	for (size_t i = 0; r == 0 && i < reg_n_cols; i++)
		r = take_col(a, &v, &reg_cols[i], &entry, e);
	if (r == 0 && v.obj.n != reg_n_cols + 1)
		r = err_set(e, ERR_PROTO, REGISTRY_INFO ": a key in it is not known");
	if (r == 0)
		r = reg_check_entry(&entry, e);
	if (r == 0 && a->failed)
		r = err_set(e, ERR_LIMIT, REGISTRY_INFO ": out of memory");
	if (r < 0)
		return r;
	entry.warden.pidns = entry.supervisor.pidns;
	memcpy(entry.warden.boot, entry.supervisor.boot, REG_BOOT_MAX);
	*ret = entry;
	return 0;
}

/* ---- all of them ---- */

static int read_info(int sessions, const char *name, struct arena *a, struct reg_entry *ret, struct err *e)
{
	_cleanup_close_ int dir = openat(sessions, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
			    fd = FD_NONE;
	_cleanup_free_ char *text = NULL;
	size_t n = 0;
	int r;

	if (dir < 0)
		return err_sys(e, errno, "open '%s'", name);
	fd = private_file_open(dir, REGISTRY_INFO, O_RDONLY);
	if (fd < 0)
		return err_set(e, ERR_UNAVAIL, "'%s/" REGISTRY_INFO "' %s", name, private_why(fd));
	r = fd_read_all(fd, REGISTRY_INFO_MAX, &text, &n);
	if (r < 0)
		return err_sys(e, -r, "read '%s/" REGISTRY_INFO "'", name);
	return registry_info_parse(a, arena_str(a, (struct str){ .p = text, .n = n }), ret, e);
}

static int register_again(struct registry *r, int sessions, const char *name, uint64_t *found,
			  uint64_t *unreadable, struct err *e)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct reg_entry entry;
	struct err why = { 0 };

	arena_init(&a, (size_t)4 << 20);
	if (read_info(sessions, name, &a, &entry, &why) < 0) {
		*unreadable += 1;
		return 0;
	}
	if (reg_proc_alive(&entry.supervisor) == REG_GONE)
		return 0;
	*found += 1;
	return reg_put_entry(r, &entry, true, e);
}

int reg_rescan(struct registry *r, uint64_t *ret_found, uint64_t *ret_unreadable, struct err *e)
{
	DIR *d = r->sessions ? opendir(r->sessions) : NULL;
	unsigned n = 0;
	int code = 0;

	*ret_found = *ret_unreadable = 0;
	if (!d)
		return !r->sessions || errno == ENOENT ? 0 : err_sys(e, errno, "open '%s'", r->sessions);
	for (struct dirent *ent; code >= 0 && n < SESSIONS_MAX && (ent = tree_next(d)); n++)
		if (ent->d_name[0] != '.')
			code = register_again(r, dirfd(d), ent->d_name, ret_found, ret_unreadable, e);
	if (code >= 0 && n < SESSIONS_MAX && errno != 0)
		code = err_sys(e, errno, "read '%s'", r->sessions);
	(void)closedir(d);
	return code < 0 ? code : 0;
}

struct counts {
	uint64_t found, unreadable;
};

static int do_rescan(struct registry *r, void *ctx, struct err *e)
{
	struct counts *c = ctx;

	return reg_rescan(r, &c->found, &c->unreadable, e);
}

int registry_rescan(struct registry *r, uint64_t *ret_found, uint64_t *ret_unreadable, struct err *e)
{
	struct counts c = { 0 };
	int code = reg_run(r, true, do_rescan, &c, e);

	if (code < 0)
		return code;
	*ret_found = c.found;
	*ret_unreadable = c.unreadable;
	return 0;
}
