/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config_priv.h"

#include <assert.h>

/* clang-format off */
static const struct option_info table[] = {
#define OPT(id, field, type, key, flags, def, min, max, names, help) \
	[OPT_##id] = { key, def, help, names, min, max, offsetof(struct settings, field), TYPE_##type, flags },
#include "model/options.def"
#undef OPT
};
/* clang-format on */
static_assert(sizeof(table) / sizeof(table[0]) == OPT_COUNT_, "every option has a row");

const struct option_info *option_info(enum option id)
{
	return &table[id];
}

bool option_find(struct str key, enum option *ret)
{
	for (unsigned i = 0; i < OPT_COUNT_; i++) {
		if (str_eq(str_z(table[i].key), key)) {
			*ret = (enum option)i;
			return true;
		}
	}
	return false;
}

void *option_field(struct settings *s, enum option id)
{
	return (char *)s + table[id].offset;
}

const void *option_value(const struct settings *s, enum option id)
{
	return (const char *)s + table[id].offset;
}

bool option_is_deny(enum option id)
{
	return table[id].type == TYPE_LIST && str_ends(str_z(table[id].key), STR(".deny"));
}
