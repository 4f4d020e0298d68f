/* SPDX-License-Identifier: Apache-2.0 */
/* What the name of a variable tells. Values are never looked at here. */
#pragma once

#include "model/names.h"

/* *_TOKEN, *_API_KEY, *_SECRET, *_PASSWORD, … in any case. */
bool env_name_looks_secret(struct str name);

/* The next ${NAME} in a template, from `*at` on; false when there is no more. */
bool env_template_next(struct str template, size_t *at, struct str *ret_name);
