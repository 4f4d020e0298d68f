/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variables in a file, as S2's operators have them: ~/.openclaw/.env, with NAME=value in each line, "export " in front or not, the value in quotes or
 * not; lines that begin with '#' and blank ones are nothing. Whatever else the file has is somebody else's. Nothing is expanded or executed. Pure.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#define ENVFILE_NAME ".env"
#define ENVFILE_MAX ((size_t)256 << 10)

/*
 * 1 with the value of `name`, the last one when there are several; 0 when it has none, or an empty one. ERR_USAGE when what stands there cannot be a
 * token: 1 to 255 visible ASCII characters, and no blanks. The message has the file's name and the line, and nothing of the value.
 */
int envfile_find(struct str text, const char *file, struct str name, struct str *ret, struct err *e);
