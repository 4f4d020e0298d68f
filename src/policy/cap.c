/* SPDX-License-Identifier: Apache-2.0 */
/*
 * S0's permission matrix: a table, one row per trust. The rows are a chain (each holds the row below it), so of two
 * demands the stricter one is simply the smaller row; the asserts keep it that way.
 */
#include "policy/policy_priv.h"

#include <assert.h>

#define READONLY_ (CAP_BIT(CAP_FS_READ))
#define DOCKER_ (READONLY_ | CAP_BIT(CAP_FS_WRITE) | CAP_BIT(CAP_PROC_EXEC))
#define LIGHT_ (DOCKER_ | CAP_BIT(CAP_VCS) | CAP_BIT(CAP_BROWSER))
#define NONE_ \
	(LIGHT_ | CAP_BIT(CAP_NET) | CAP_BIT(CAP_SECRETS) | CAP_BIT(CAP_API) | CAP_BIT(CAP_NET_INTERNAL))

static const unsigned matrix[] = {
	[TRUST_READONLY] = READONLY_,
	[TRUST_DOCKER] = DOCKER_,
	[TRUST_LIGHT] = LIGHT_,
	[TRUST_NONE] = NONE_,
};
static_assert(sizeof(matrix) / sizeof(matrix[0]) == TRUST_COUNT_, "every trust has a row");
static_assert(NONE_ == CAP_BIT(CAP_COUNT_) - 1, "full trust is every capability");
static_assert((READONLY_ & ~DOCKER_) == 0 && (DOCKER_ & ~LIGHT_) == 0 && (LIGHT_ & ~NONE_) == 0,
	      "a row holds the row below it");
static_assert(TRUST_READONLY < TRUST_DOCKER && TRUST_DOCKER < TRUST_LIGHT && TRUST_LIGHT < TRUST_NONE,
	      "a smaller trust may do less");

unsigned cap_matrix(enum trust t)
{
	return t < TRUST_COUNT_ ? matrix[t] : 0;
}
