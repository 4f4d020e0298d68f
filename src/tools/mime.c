/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/tools_priv.h"

/* clang-format off */
static const struct {
	size_t at;
	struct str magic;
	const char *name;
	bool image;
} kinds[] = {
	{ 0, { "\x89PNG\r\n\x1a\n", 8 },   "image/png",                    true },
	{ 0, { "\xff\xd8\xff", 3 },        "image/jpeg",                   true },
	{ 0, { "GIF87a", 6 },              "image/gif",                    true },
	{ 0, { "GIF89a", 6 },              "image/gif",                    true },
	{ 8, { "WEBP", 4 },                "image/webp",                   true },
	{ 4, { "ftypavif", 8 },            "image/avif",                   true },
	{ 4, { "ftypheic", 8 },            "image/heic",                   true },
	{ 0, { "II*\0", 4 },               "image/tiff",                   true },
	{ 0, { "MM\0*", 4 },               "image/tiff",                   true },
	{ 0, { "\0\0\1\0", 4 },            "image/vnd.microsoft.icon",     true },
	{ 0, { "%PDF-", 5 },               "application/pdf",              false },
	{ 0, { "\x7f" "ELF", 4 },          "application/x-elf",            false },
	{ 0, { "PK\3\4", 4 },              "application/zip",              false },
	{ 0, { "\x1f\x8b", 2 },            "application/gzip",             false },
	{ 0, { "BZh", 3 },                 "application/x-bzip2",          false },
	{ 0, { "\xfd" "7zXZ\0", 6 },       "application/x-xz",             false },
	{ 0, { "\x28\xb5\x2f\xfd", 4 },    "application/zstd",             false },
	{ 0, { "SQLite format 3\0", 16 },  "application/vnd.sqlite3",      false },
	{ 0, { "\xff\xfe", 2 },            "text/plain; charset=utf-16le", false },
	{ 0, { "\xfe\xff", 2 },            "text/plain; charset=utf-16be", false },
	{ 4, { "ftyp", 4 },                "video/mp4",                    false },
	{ 0, { "OggS", 4 },                "application/ogg",              false },
	{ 0, { "ID3", 3 },                 "audio/mpeg",                   false },
	{ 0, { "\0asm", 4 },               "application/wasm",             false },
};
/* clang-format on */

/* A NUL is in nearly every format that is no text, and in no text that is UTF-8 or one of its forebears. */
static bool looks_like_text(struct str head)
{
	return !memchr(head.p, '\0', head.n);
}

/* "BZh is what I typed" is text. Nobody types "%PDF-1.7", and a small PDF has no NUL. */
static bool could_be_typed(struct str magic)
{
	for (size_t i = 0; i < magic.n; i++)
		if ((unsigned char)magic.p[i] < 0x20 || (unsigned char)magic.p[i] > 0x7e)
			return false;
	return magic.p[0] != '%';
}

struct mime mime_of(struct str head)
{
	bool text = looks_like_text(head);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (str_starts(str_from(head, kinds[i].at), kinds[i].magic) &&
		    !(text && could_be_typed(kinds[i].magic)))
			return (struct mime){ .name = kinds[i].name, .image = kinds[i].image };
	if (text)
		return (struct mime){ .name = "text/plain", .text = true };
	return (struct mime){ .name = "application/octet-stream" };
}
