/* SPDX-License-Identifier: Apache-2.0 */
/* Plain scalars of YAML 1.2's core schema. */
#pragma once

#include "data/value.h"

/* Fills kind and content of `ret` from a scalar without quotes; `text` must live as long as the tree. */
void yaml_plain_scalar(struct str text, struct value *ret);
