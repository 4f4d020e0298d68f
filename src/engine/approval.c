/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/approval.h"

#include "base/clock.h"
#include "engine/engine_priv.h"

#include <errno.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

#define LOOK_MS 150
#define ID_TRIES 8
#define BIT(s) (1u << (s))
#define LIST_ARENA ((size_t)64 << 20)

/* ---- the log ---- */

struct note {
	struct audit *audit;
	const char *what;   /* NULL = the word of its state */
	struct str request; /* of whoever uses a grant of another's */
};

static const char *word_of(enum approval_state s)
{
	static const char *const words[APPROVAL_STATE_COUNT_] = {
		[APPROVAL_DENIED] = "denied",       [APPROVAL_WAITING] = "asked",
		[APPROVAL_ALLOWED] = "allowed",     [APPROVAL_GRANTED] = "allowed",
		[APPROVAL_USED] = "used",           [APPROVAL_EXPIRED] = "expired",
		[APPROVAL_WITHDRAWN] = "withdrawn",
	};

	return words[s];
}

static int record(void *ctx, const struct reg_approval *row, struct err *e)
{
	const struct note *n = ctx;
	char until[CLOCK_TEXT_MAX];
	struct str when = { 0 };
	bool of_another = n->request.n && !str_eq(n->request, row->request);
	bool asks = row->state == APPROVAL_WAITING;
	struct audit_field f[] = {
		{ "approval", row->id },
		{ "type", str_z(enum_name(approval_kind_names, (int)row->kind)) },
		{ "request", of_another ? n->request : row->request },
		{ "granted_to", of_another ? row->request : STR("") },
		{ "session", row->session },
		{ "agent", row->agent },
		{ "tool", row->tool },
		{ "command", asks ? row->command : STR("") },
		{ "call", row->call },
		{ "by", row->by },
		{ "until", when },
		{ "reason", row->reason },
	};

	if (row->until_ms && clock_format(row->until_ms, until, &when) == 0)
		f[10].value = when;
	return audit_event(n->audit, AUDIT_APPROVAL, n->what ? n->what : word_of(row->state), f,
			   sizeof(f) / sizeof(f[0]), e);
}

/* ---- asking ---- */

struct wait {
	struct session *s;
	struct engine *g;
	struct registry *registry;
	const struct call_opts *o;
	struct arena *a;
	struct note note;
	struct reg_approval row;
	uint64_t deadline_ms; /* monotonic */
};

/* 40 bits in 8 letters and digits, none of which looks like another. */
static int make_id(char out[static APPROVAL_ID_LEN + 1], struct err *e)
{
	static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";
	uint64_t n = 0;

	if (getrandom(&n, sizeof(n), 0) != (ssize_t)sizeof(n))
		return err_sys(e, errno, "getrandom");
	for (unsigned i = 0; i < APPROVAL_ID_LEN; i++, n >>= 5)
		out[i] = digits[n & 31];
	out[APPROVAL_ID_LEN] = '\0';
	return 0;
}

static enum approval_kind kind_of(const struct decision *d)
{
	if (d->place.elevated.used)
		return APPROVAL_ELEVATED;
	return d->place.place == PLACE_HOST ? APPROVAL_HOST : APPROVAL_TOOL;
}

static int describe(struct wait *w, const struct decision *d, const struct value *args, struct err *e)
{
	const char *path = environ_get(w->g->input.environ, "PATH");
	struct approval_call q = { .d = d,
				   .args = args,
				   .sender = w->s->who.sender,
				   .workdir = session_host_dir(w->s, d),
				   .path = path ? str_z(path) : STR(""),
				   .env = w->s->env,
				   .redactor = w->g->redactor };
	struct reg_approval *row = &w->row;
	char call[SHA256_HEX];

	if (approval_digest(&q, w->a, call) < 0)
		return err_set(e, ERR_LIMIT, "the arguments are too large to ask a person about");
	*row = (struct reg_approval){ .kind = kind_of(d),
				      .state = APPROVAL_WAITING,
				      .request = d->request_id,
				      .session = d->who.session_key,
				      .agent = d->who.agent,
				      .channel = d->who.channel,
				      .chat = d->who.chat_id,
				      .tool = d->tool.name,
				      .via = str_z(enum_name(via_names, (int)d->who.via)),
				      .call = arena_str(w->a, str_z(call)),
				      .workdir = q.workdir,
				      .created_ms = clock_unix_ms() };
	approval_show(&q, w->a, &row->command, &row->arguments);
	row->expires_ms = row->created_ms + d->eff.approval_timeout_s * 1000;
	row->until_boot_ms = clock_boot_ms() + d->eff.approval_timeout_s * 1000;
	return w->a->failed ? err_set(e, ERR_LIMIT, "out of memory") : reg_proc_self(&row->waiter, e);
}

static int add(struct wait *w, struct err *e)
{
	char id[APPROVAL_ID_LEN + 1];
	int r = -EEXIST;

	for (int i = 0; i < ID_TRIES && r == -EEXIST; i++) {
		r = make_id(id, e);
		if (r < 0)
			return r;
		w->row.id = arena_str(w->a, str_z(id));
		r = registry_approval_add(w->registry, &w->row, record, &w->note, e);
	}
	return r == -EEXIST ? err_set(e, ERR_BUG, "no id for an approval was free") : r;
}

/* ---- waiting ---- */

static int change(struct wait *w, unsigned from, enum approval_state to, bool uses, struct err *e)
{
	const struct approval_change c = {
		.id = w->row.id, .from = from, .to = to, .uses = uses, .now_ms = clock_unix_ms()
	};

	w->note.what = uses ? "used" : NULL;
	return registry_approval_change(w->registry, &c, record, &w->note, e);
}

static int take_grant(struct wait *w, struct approval_end *ret, struct err *e)
{
	struct reg_approval row;
	int r = registry_approval_has_grant(w->registry, w->row.call, e);

	w->note.what = "used";
	if (r > 0)
		r = registry_approval_use_grant(w->registry, w->row.call, clock_unix_ms(), w->a, &row, record,
						&w->note, e);
	w->note.what = NULL;
	if (r > 0)
		*ret = (struct approval_end){ .state = APPROVAL_GRANTED,
					      .id = row.id,
					      .by = row.by,
					      .reason = row.reason,
					      .until_ms = row.until_ms };
	return r;
}

/* 1 when it is decided. What is answered "yes" is used here, or it is none. */
static int look(struct wait *w, struct approval_end *ret, struct err *e)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct reg_approval row;
	int r;

	arena_init(&a, (size_t)1 << 20);
	r = registry_approval_find(w->registry, w->row.id, &a, &row, e);
	if (r < 0 && e->kind == ERR_NOTFOUND) {
		/* The registry was damaged, and with it went who waits. */
		*e = (struct err){ 0 };
		*ret = (struct approval_end){ .state = APPROVAL_WITHDRAWN, .id = w->row.id };
		return 1;
	}
	if (r < 0)
		return r;
	if (row.state == APPROVAL_WAITING) {
		r = take_grant(w, ret, e);
		if (r > 0)
			(void)change(w, BIT(APPROVAL_WAITING), APPROVAL_WITHDRAWN, false, e);
		return r;
	}
	*ret = (struct approval_end){ .state = row.state,
				      .id = w->row.id,
				      .by = arena_str(w->a, row.by),
				      .reason = arena_str(w->a, row.reason),
				      .until_ms = row.until_ms };
	if (row.state == APPROVAL_ALLOWED) {
		r = change(w, BIT(APPROVAL_ALLOWED), APPROVAL_USED, true, e);
		ret->state = r > 0 ? APPROVAL_USED : APPROVAL_DENIED;
	} else if (row.state == APPROVAL_GRANTED) {
		r = change(w, BIT(APPROVAL_GRANTED), APPROVAL_GRANTED, true, e);
		ret->state = r > 0 ? APPROVAL_GRANTED : APPROVAL_DENIED;
	}
	return r < 0 ? r : 1;
}

/* Until it is worth looking again. 1 when the caller has gone. */
static int rest(const struct wait *w)
{
	uint64_t now = clock_mono_ms(), left = w->deadline_ms > now ? w->deadline_ms - now : 0;
	struct pollfd p = { .fd = w->o->cancel_fd > 0 ? w->o->cancel_fd : -1, .events = POLLIN };
	int r = poll(&p, 1, left < LOOK_MS ? (int)left : LOOK_MS);

	return r > 0 && p.revents;
}

static int wait_for_answer(struct wait *w, struct approval_end *ret, struct err *e)
{
	const unsigned open = BIT(APPROVAL_WAITING) | BIT(APPROVAL_ALLOWED);
	int r;

	for (;;) {
		bool gone = rest(w), late = clock_mono_ms() >= w->deadline_ms;

		engine_tick(w->g);
		if (gone) {
			*ret = (struct approval_end){ .state = APPROVAL_WITHDRAWN, .id = w->row.id };
			r = change(w, open, APPROVAL_WITHDRAWN, false, e);
			return r < 0 ? r : 0;
		}
		r = look(w, ret, e);
		if (r != 0)
			return r < 0 ? r : 0;
		if (!late)
			continue;
		r = change(w, BIT(APPROVAL_WAITING), APPROVAL_EXPIRED, false, e);
		if (r < 0)
			return r;
		/* Answered at the last moment: once more. */
		if (r > 0) {
			*ret = (struct approval_end){ .state = APPROVAL_EXPIRED, .id = w->row.id };
			return 0;
		}
	}
}

int approval_ask(struct session *s, const struct decision *d, const struct value *args,
		 const struct call_opts *o, struct arena *a, struct approval_end *ret, struct err *e)
{
	struct wait w = { .s = s, .g = s->engine, .o = o, .a = a, .note = { .request = d->request_id } };
	uint64_t timeout_ms = d->eff.approval_timeout_s * 1000;
	struct note sweep = { 0 };
	int r;

	*ret = (struct approval_end){ .state = APPROVAL_EXPIRED };
	if (timeout_ms == 0)
		return 0;
	r = engine_registry(w.g, &w.registry, e);
	if (r >= 0)
		r = engine_audit(w.g, &w.note.audit, e);
	if (r >= 0)
		r = describe(&w, d, args, e);
	if (r < 0)
		return r;
	sweep.audit = w.note.audit;
	r = take_grant(&w, ret, e);
	if (r != 0)
		return r < 0 ? r : 0;
	r = registry_approval_sweep(w.registry, clock_unix_ms(), record, &sweep, e);
	if (r >= 0)
		r = add(&w, e);
	if (r < 0)
		return r;
	w.deadline_ms = clock_deadline(timeout_ms);
	if (o->waiting)
		o->waiting(o->ctx, &w.row);
	return wait_for_answer(&w, ret, e);
}

/* ---- answering ---- */

static int open_store(struct engine *g, struct registry **ret, struct note *note, struct err *e)
{
	int r = engine_registry(g, ret, e);

	if (r >= 0)
		r = engine_audit(g, &note->audit, e);
	return r < 0 ? r : registry_approval_sweep(*ret, clock_unix_ms(), record, note, e);
}

/* As people type it: any case, hyphens, and letters that look like digits. */
static bool read_id(struct str s, char out[static APPROVAL_ID_LEN + 1])
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i] >= 'A' && s.p[i] <= 'Z' ? (char)(s.p[i] - 'A' + 'a') : s.p[i];

		c = c == 'i' || c == 'l' ? '1' : c == 'o' ? '0' : c;
		if (c == '-')
			continue;
		if (n == APPROVAL_ID_LEN || !((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z')))
			return false;
		out[n++] = c;
	}
	out[n] = '\0';
	return n == APPROVAL_ID_LEN;
}

static int take_id(struct str said, char out[static APPROVAL_ID_LEN + 1], struct err *e)
{
	if (read_id(said, out))
		return 0;
	return err_set(e, ERR_USAGE,
		       "'" STR_FMT
		       "' is no id of an approval: %u letters and digits, as 'creel approvals list' "
		       "prints them",
		       STR_ARG(said), APPROVAL_ID_LEN);
}

int engine_approvals(struct engine *g, struct str id, bool all, approval_fn *each, void *ctx, struct err *e)
{
	_cleanup_arena_ struct arena a = { 0 };
	char key[APPROVAL_ID_LEN + 1] = "";
	struct registry *registry;
	struct reg_approval one, *v = &one;
	struct note note = { 0 };
	size_t n = 1;
	int r = id.n ? take_id(id, key, e) : 0;

	arena_init(&a, LIST_ARENA);
	if (r >= 0)
		r = open_store(g, &registry, &note, e);
	if (r >= 0)
		r = id.n ? registry_approval_find(registry, str_z(key), &a, &one, e)
			 : registry_approval_list(registry, all, &a, &v, &n, e);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = each(ctx, &v[i]);
	return r;
}

/* "name (uid 1000)" */
static struct str who_answers(char *out, size_t size)
{
	char room[4096];
	struct passwd pw, *found = NULL;
	uid_t uid = getuid();

	if (getpwuid_r(uid, &pw, room, sizeof(room), &found) == 0 && found)
		(void)snprintf(out, size, "%.100s (uid %u)", pw.pw_name, (unsigned)uid);
	else
		(void)snprintf(out, size, "uid %u", (unsigned)uid);
	return str_z(out);
}

static int tell_state(struct registry *registry, struct str id, struct err *e)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct reg_approval row;

	arena_init(&a, (size_t)1 << 20);
	if (registry_approval_find(registry, id, &a, &row, e) < 0)
		return err_wrap(e, "'creel approvals list' prints those that wait");
	return err_set(e, ERR_NOTFOUND, "'" STR_FMT "' waits for no answer any more: %s", STR_ARG(id),
		       row.state == APPROVAL_WITHDRAWN ? "who waited for it has gone"
		       : row.state == APPROVAL_EXPIRED ? "its time was over"
		       : row.state == APPROVAL_DENIED  ? "it was denied"
						       : "it was allowed already");
}

int engine_approval_answer(struct engine *g, const struct approval_answer *answer, struct err *e)
{
	char id[APPROVAL_ID_LEN + 1], self[160];
	struct registry *registry = NULL;
	struct note note = { 0 };
	struct approval_change c = { .from = BIT(APPROVAL_WAITING),
				     .to = APPROVAL_DENIED,
				     .now_ms = clock_unix_ms() };
	int r = take_id(answer->id, id, e);

	if (r >= 0 && answer->for_s > APPROVAL_FOR_MAX_S)
		r = err_set(e, ERR_USAGE, "%llu seconds are not accepted: at most %llu (24h)",
			    (unsigned long long)answer->for_s, (unsigned long long)APPROVAL_FOR_MAX_S);
	if (r >= 0)
		r = open_store(g, &registry, &note, e);
	if (r < 0)
		return r;
	c.id = str_z(id);
	c.by = answer->by.n ? answer->by : who_answers(self, sizeof(self));
	c.reason = answer->reason;
	if (answer->allow) {
		c.to = answer->for_s ? APPROVAL_GRANTED : APPROVAL_ALLOWED;
		c.for_ms = answer->for_s * 1000;
	} else {
		c.from |= BIT(APPROVAL_ALLOWED) | BIT(APPROVAL_GRANTED); /* taken back */
	}
	r = registry_approval_change(registry, &c, record, &note, e);
	if (r != 0)
		return r < 0 ? r : 0;
	return tell_state(registry, c.id, e);
}
