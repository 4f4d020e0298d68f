/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/warden/warden.h"

const char *plan_str(const struct warden *w, uint32_t offset)
{
	return offset < w->plan->n_strings ? w->strings + offset : "";
}

const char *plan_str_after(const struct warden *w, const char *s)
{
	size_t at = (size_t)(s - w->strings) + strlen(s) + 1;

	return s >= w->strings && at < w->plan->n_strings ? w->strings + at : "";
}

void text_put(char *buf, size_t size, size_t *at, const char *s)
{
	while (*s && *at + 1 < size)
		buf[(*at)++] = *s++;
	buf[*at] = '\0';
}

void text_u64(char *buf, size_t size, size_t *at, uint64_t v)
{
	char digits[24];
	size_t n = sizeof(digits);

	digits[--n] = '\0';
	do
		digits[--n] = (char)('0' + v % 10);
	while ((v /= 10) != 0);
	text_put(buf, size, at, digits + n);
}
