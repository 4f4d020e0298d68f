/* SPDX-License-Identifier: Apache-2.0 */
/* What services that have no engine of their own want to have in the log. */
#include "engine/engine_priv.h"

int engine_record_refused(struct engine *g, const struct decision *d, struct err *e)
{
	struct audit_end end = { .request_id = d->request_id,
				 .tool = d->tool.name.n ? d->tool.name : d->tool.asked,
				 .reason = "refused",
				 .exit = err_kind_exit(ERR_DENIED) };
	struct audit *audit;

	if (d->verdict != VERDICT_DENY)
		return err_set(e, ERR_BUG, "what was allowed is not recorded here");
	if (engine_audit(g, &audit, e) < 0 || audit_decided(audit, d, (struct str){ 0 }, &end.decided, e) < 0)
		return -1;
	return audit_finished(audit, &end, e);
}

int engine_record_token(struct engine *g, const char *what, const struct audit_field *f, size_t n,
			struct err *e)
{
	struct audit *audit;

	if (engine_audit(g, &audit, e) < 0)
		return -1;
	return audit_event(audit, AUDIT_TOKEN, what, f, n, e);
}
