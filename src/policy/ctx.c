/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/policy_priv.h"

#include <stdarg.h>
#include <stdio.h>

/* More is a bug or an attack on whoever reads it; the decision itself never depends on a reason. */
#define REASONS_MAX 512
#define WARNINGS_MAX 256
#define FIX_IT_MAX 32
#define TEXT_MAX 1024

static const struct origin builtin = { .kind = ORIGIN_BUILTIN };

/* Most texts are short: only a long one is formatted twice. */
static __attribute__((format(printf, 2, 0))) struct str keep(struct arena *a, const char *fmt, va_list ap)
{
	char text[200];
	char *large;
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	if (n >= (int)sizeof(text)) {
		n = n < TEXT_MAX ? n : TEXT_MAX - 1;
		large = arena_alloc(a, TEXT_MAX, 1);
		if (large)
			(void)vsnprintf(large, TEXT_MAX, fmt, again);
		va_end(again);
		return (struct str){ .p = large ? large : "", .n = large ? (size_t)n : 0 };
	}
	va_end(again);
	return n > 0 ? arena_str(a, (struct str){ .p = text, .n = (size_t)n })
		     : (struct str){ .p = "", .n = 0 };
}

static struct reason *reason_slot(struct ctx *x)
{
	struct reason *grown;

	if (x->d->n_reasons >= REASONS_MAX)
		return NULL;
	if (x->d->n_reasons == x->cap_reasons) {
		grown = arena_grow(x->a, x->d->reasons, x->d->n_reasons, &x->cap_reasons,
				   sizeof(struct reason), alignof(struct reason));
		if (!grown)
			return NULL;
		x->d->reasons = grown;
	}
	return &x->d->reasons[x->d->n_reasons++];
}

/* The text is the arena's already. */
static void reason_add(struct ctx *x, const struct reason *r)
{
	struct reason *slot = reason_slot(x);

	if (slot)
		*slot = *r;
}

void why(struct ctx *x, enum stage s, const char *what, struct str value, const struct origin *o,
	 const char *fmt, ...)
{
	struct str text;
	va_list ap;

	if (x->r->brief)
		return;
	va_start(ap, fmt);
	text = keep(x->a, fmt, ap);
	va_end(ap);
	reason_add(x, &(struct reason){ .stage = s,
					.what = what,
					.value = arena_str(x->a, value),
					.text = text,
					.origin = o ? *o : builtin });
}

static struct diag *warning_slot(struct ctx *x)
{
	struct diag *grown;

	if (x->d->n_warnings >= WARNINGS_MAX)
		return NULL;
	if (x->d->n_warnings == x->cap_warnings) {
		grown = arena_grow(x->a, x->d->warnings, x->d->n_warnings, &x->cap_warnings,
				   sizeof(struct diag), alignof(struct diag));
		if (!grown)
			return NULL;
		x->d->warnings = grown;
	}
	return &x->d->warnings[x->d->n_warnings++];
}

void warn(struct ctx *x, const char *code, const struct origin *o, struct str key, const char *fmt, ...)
{
	struct diag *slot = warning_slot(x);
	va_list ap;

	if (!slot)
		return;
	*slot = (struct diag){ .severity = SEVERITY_WARN,
			       .code = code,
			       .origin = o ? *o : builtin,
			       .key = arena_str(x->a, key) };
	va_start(ap, fmt);
	slot->text = keep(x->a, fmt, ap);
	va_end(ap);
}

bool deny(struct ctx *x, enum stage s, enum code code, const struct origin *o, const char *fmt, ...)
{
	struct decision *d = x->d;
	struct str text;
	va_list ap;

	va_start(ap, fmt);
	text = keep(x->a, fmt, ap);
	va_end(ap);
	reason_add(x, &(struct reason){ .stage = s,
					.what = "refused",
					.value = str_z(code_word(code)),
					.text = text,
					.origin = o ? *o : builtin });
	if (d->code != CODE_UNDECIDED)
		return false;
	d->verdict = VERDICT_DENY;
	d->code = code;
	d->stopped_at = s;
	d->message = text;
	return false;
}

void fix_it(struct ctx *x, struct str line)
{
	struct strs *f = &x->d->fix_it;
	struct str *grown;

	for (size_t i = 0; i < f->n; i++)
		if (str_eq(f->v[i], line))
			return;
	if (f->n >= FIX_IT_MAX)
		return;
	grown = ARENA_ARRAY(x->a, struct str, f->n + 1);
	if (!grown)
		return;
	if (f->n)
		memcpy(grown, f->v, f->n * sizeof(*grown));
	grown[f->n] = arena_str(x->a, line);
	*f = (struct strs){ .v = grown, .n = f->n + 1 };
}
