/* SPDX-License-Identifier: Apache-2.0 */
/* One head through http_parser. In a file of its own: its header and ours use the same names. */
#pragma once

#include "base/str.h"

bool http_theirs(struct str text);
