/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sandbox/filter.h"

struct filter_row {
	uint32_t nr;
	enum filter_action action;
};
extern const struct filter_row filter_rows[];
extern const size_t filter_n_rows;
