/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters behind a field's value: `form-data; name="x"; filename=y`. */
#pragma once

#include "base/str.h"

/*
 * Takes the next parameter from *rest, which begins at the ';' before it. 1, 0 at the end, -EINVAL for what is no parameter. The
 * value is a token or a quoted text, then without its quotes; one with a backslash is refused, as it would have to be copied.
 */
int http_param_next(struct str *rest, struct str *ret_name, struct str *ret_value);
