/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a distribution's static libraries may ask of its own C library, and musl has not: copies that know how much room there is
 * (_FORTIFY_SOURCE=3; Ubuntu's libyaml). For the program that is linked with musl alone.
 */
#undef _FORTIFY_SOURCE /* these would be made of themselves */

#include <stdlib.h>
#include <string.h>

void *__memcpy_chk(void *to, const void *from, size_t n, size_t room);
void *__memset_chk(void *to, int byte, size_t n, size_t room);

void *__memcpy_chk(void *to, const void *from, size_t n, size_t room)
{
	if (n > room)
		abort();
	return memcpy(to, from, n);
}

void *__memset_chk(void *to, int byte, size_t n, size_t room)
{
	if (n > room)
		abort();
	return memset(to, byte, n);
}
