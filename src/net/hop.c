/* SPDX-License-Identifier: Apache-2.0 */
#include "net/hop.h"

#include "http/chars.h"

static bool is_known(struct str name)
{
	static const char *const known[] = {
		"connection",
		"content-length",
		"expect",
		"host",
		"keep-alive",
		"proxy-authenticate",
		"proxy-authorization",
		"proxy-connection",
		"te",
		"trailer",
		"transfer-encoding",
		"upgrade",
		"http2-settings",
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (str_eq_nocase(name, str_z(known[i])))
			return true;
	return false;
}

static bool is_named_by_connection(const struct http_head *h, struct str name)
{
	for (unsigned i = 0; i < h->n_fields; i++) {
		struct str list = http_field_value(h, &h->field[i]), item;

		if (h->field[i].name != HTTP_NAME_CONNECTION)
			continue;
		while (http_list_next(&list, &item))
			if (str_eq_nocase(item, name))
				return true;
	}
	return false;
}

bool hop_passes(const struct http_head *h, const struct http_field *f)
{
	struct str name = http_field_name(h, f);

	return !is_known(name) && !is_named_by_connection(h, name);
}
