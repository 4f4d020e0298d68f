/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/audit.h"

#include <assert.h>

/* clang-format off */
const struct enum_name audit_kind_names[] = {
	{ "decided",   AUDIT_DECIDED },
	{ "finished",  AUDIT_FINISHED },
	{ "token",     AUDIT_TOKEN },
	{ "config",    AUDIT_CONFIG },
	{ "approval",  AUDIT_APPROVAL },
	{ "sandbox",   AUDIT_SANDBOX },
	{ "repaired",  AUDIT_REPAIRED },
	{ "lost",      AUDIT_LOST },
	{ "pruned",    AUDIT_PRUNED },
	{ "recovered", AUDIT_RECOVERED },
	{ NULL, 0 },
};
const struct enum_name audit_fault_names[] = {
	{ "garbled", AUDIT_FAULT_GARBLED },
	{ "chain",   AUDIT_FAULT_CHAIN },
	{ "short",   AUDIT_FAULT_SHORT },
	{ "lost",    AUDIT_FAULT_LOST },
	{ "file",    AUDIT_FAULT_FILE },
	{ NULL, 0 },
};
/* clang-format on */
static_assert(sizeof(audit_kind_names) / sizeof(audit_kind_names[0]) == AUDIT_KIND_COUNT_,
	      "a name for each kind");
static_assert(sizeof(audit_fault_names) / sizeof(audit_fault_names[0]) == AUDIT_FAULT_COUNT_ + 1,
	      "a name for each fault");
