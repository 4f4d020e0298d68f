/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "base/buf.h"
#include "base/termsafe.h"
#include "base/utf8.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

/* What comes out of `in`, cut into pieces of `step` bytes; with what the end adds when `end`. */
static void through(struct termsafe t, struct str in, size_t step, bool end, struct buf *out)
{
	buf_init(out, TERMSAFE_ROOM(in.n));
	for (; in.n; in = str_from(in, step))
		termsafe_put(&t, (struct str){ .p = in.p, .n = in.n < step ? in.n : step }, out);
	if (end)
		termsafe_end(&t, out);
	assert_false(out->failed);
}

static const struct termsafe plain, keys = { .keys = true }, ascii = { .ascii = true };

static void check(const struct termsafe *t, struct str in, struct str want)
{
	for (size_t step = 1; step <= in.n; step++) {
		_cleanup_buf_ struct buf out = { 0 };

		through(*t, in, step, false, &out);
		CHECK_STR(buf_str(&out), want);
	}
}

TEST(termsafe_lets_text_and_what_line_editors_and_progress_bars_use_pass)
{
	static const char *const pass[] = {
		"plain ~\\^[ text",
		"line\r\ntab\tback\bbell\a",
		"\xc3\xa9\xc4\x9b\xe2\x82\xac\xf0\x9f\xa6\x9e\xc2\xa0",
		"\x1b[m\x1b[0m\x1b[1;31m\x1b[38;5;200m\x1b[38;2;1;2;3m\x1b[4:3m\x1b[38:2::1:2:3m",
		"\x1b[A\x1b[12B\x1b[C\x1b[D\x1b[E\x1b[F\x1b[7G\x1b[H\x1b[3;4H\x1b[3;4f\x1b[d\x1b[a\x1b[e\x1b[`\x1b[I\x1b[Z",
		"\x1b[J\x1b[0J\x1b[1J\x1b[2J\x1b[K\x1b[1K\x1b[2K\x1b[X\x1b[P\x1b[@\x1b[L\x1b[M\x1b[S\x1b[T\x1b[80b",
		"\x1b"
		"7\x1b"
		"8\x1b[s\x1b[u\x1b"
		"D\x1b"
		"E\x1bM\x1b[r\x1b[2;20r",
		"\x1b[?25l\x1b[?25h\x1b[?12;25h\x1b[?7l\x1b[4h\x1b[4l\x1b[?2026h\x1b[?5h\x1b[2 q\x1b[!p",
		"\x1b[?1049h\x1b[22;0;0t\x1b[?47l\x1b[?1047h\x1b[23;0;0t\x1b[22t",
		"\x1b(0lqk\x1b(B\x1b)0\x0ex\x0f\x1b)B",
	};

	for (size_t i = 0; i < LEN(pass); i++)
		check(&plain, str_z(pass[i]), str_z(pass[i]));
}

TEST(termsafe_lets_only_whoever_is_typed_to_say_what_keys_send)
{
	static const char *const modes[] = { "[?1h",    "[?1000h",      "[?1002h", "[?1003h",
					     "[?1004h", "[?1006;1000h", "[?1034h", "[?2004h",
					     "[?2004l", "[?25;2004h",   "=",       ">" };

	for (size_t i = 0; i < LEN(modes); i++) {
		char text[32], shown[32];

		(void)snprintf(text, sizeof(text), "\x1b%s", modes[i]);
		(void)snprintf(shown, sizeof(shown), "^[%s", modes[i]);
		check(&keys, str_z(text), str_z(text));
		check(&plain, str_z(text), str_z(shown));
	}
}

TEST(termsafe_shows_what_a_terminal_would_obey_or_answer)
{
	static const struct {
		struct str in, want;
	} cases[] = {
		{ STR("\x1b]52;c;ZXZpbA==\a"), STR("^[]52;c;ZXZpbA==\a") },
		{ STR("\x1b]0;title\x1b\\"), STR("^[]0;title^[\\") },
		{ STR("\x1b]8;;http://x\x1b\\y"), STR("^[]8;;http://x^[\\y") },
		{ STR("\x1bP$qm\x1b\\"), STR("^[P$qm^[\\") },
		{ STR("\x1b_a\x1b\\\x1b^b\x1b\\\x1bXc\x1b\\"), STR("^[_a^[\\^[^b^[\\^[Xc^[\\") },
		{ STR("\x1b[6n\x1b[5n\x1b[?6n\x1b[c\x1b[0c\x1b[>c\x1b[=c\x1bZ"),
		  STR("^[[6n^[[5n^[[?6n^[[c^[[0c^[[>c^[[=c^[Z") },
		{ STR("\x1b[21t\x1b[8;1;1t\x1b[22;3t\x1b[22;0;1t\x1b[t"),
		  STR("^[[21t^[[8;1;1t^[[22;3t^[[22;0;1t^[[t") },
		{ STR("\x1b[?1$p\x1b[4$p\x1b[x\x1b[1*y\x1b[>4;2m\x1b[?4m\x1b[>1u\x1b[?u"),
		  STR("^[[?1$p^[[4$p^[[x^[[1*y^[[>4;2m^[[?4m^[[>1u^[[?u") },
		{ STR("\x1b[5i\x1b[?5i\x1b[i\x1b[1q\x1b[61\"p"), STR("^[[5i^[[?5i^[[i^[[1q^[[61\"p") },
		{ STR("\x1b[3J\x1b[?J\x1b"
		      "c\x1b#8\x1b%@\x1b G\x1b(A\x1b*0"),
		  STR("^[[3J^[[?J^[c^[#8^[%@^[ G^[(A^[*0") },
		{ STR("\x1b[?2l\x1b[?3h\x1b[?69h\x1b[20h\x1b[h\x1b[?h\x1b[?25;3h"),
		  STR("^[[?2l^[[?3h^[[?69h^[[20h^[[h^[[?h^[[?25;3h") },
		{ STR("\x1b[1000b\x1b[123456A\x1b[1;2A\x1b[1:2H\x1b[5;1;1;1;1T"),
		  STR("^[[1000b^[[123456A^[[1;2A^[[1:2H^[[5;1;1;1;1T") },
		{ STR("\x1b\x1b[31m"), STR("^[\x1b[31m") },
		{ STR("\x1b[3\r1m\x1b[\x1b[m"), STR("^[[3\r1m^[[\x1b[m") },
		{ STR("\x1b[3\x9b"), STR("^[[3\\x9b") },
		{ STR("\x9b"
		      "6n\x9d"
		      "52;c;x\x9c"),
		  STR("\\x9b6n\\x9d52;c;x\\x9c") },
		{ STR("\xc2\x9b"
		      "6n\xc2\x85"),
		  STR("\\xc2\\x9b6n\\xc2\\x85") },
		{ STR("\xe2\x82\x1b[m\xc0\x9b\xff\xe0\x80\x80"),
		  STR("\\xe2\\x82\x1b[m\\xc0\\x9b\\xff\\xe0\\x80\\x80") },
	};

	for (size_t i = 0; i < LEN(cases); i++)
		check(&plain, cases[i].in, cases[i].want);
}

TEST(termsafe_decides_every_control_character)
{
	static const char passes[] = "\a\b\t\n\r\x0e\x0f";

	for (int c = 0; c < 0x20; c++) {
		char in = (char)c, shown[] = { '^', (char)(c + '@') };
		bool passed = c && strchr(passes, c);

		if (c != 0x1b)
			check(&plain, (struct str){ &in, 1 },
			      passed ? (struct str){ &in, 1 } : (struct str){ shown, 2 });
	}
	check(&plain, STR("\x7f"), STR("^?"));
}

TEST(termsafe_shows_everything_but_ascii_where_utf8_is_not_read)
{
	check(&ascii, STR("a\xc4\x9b\xc3\xa9\x1b[31m"), STR("a\\xc4\\x9b\\xc3\\xa9\x1b[31m"));
}

TEST(termsafe_holds_back_no_more_than_it_says)
{
	char in[200];
	struct termsafe t = plain;
	_cleanup_buf_ struct buf out = { 0 };

	memset(in, '1', sizeof(in));
	memcpy(in, "\x1b[", 2);
	buf_init(&out, sizeof(in) * 2);
	for (size_t i = 0; i < sizeof(in); i++) {
		termsafe_put(&t, (struct str){ in + i, 1 }, &out);
		assert_true(i + 1 - (out.n ? out.n - 1 : 0) <= TERMSAFE_HELD);
	}
	assert_int_equal(out.n, sizeof(in) + 1);
	assert_memory_equal(out.p, "^[[111", 6);
}

TEST(termsafe_leaves_the_terminal_as_it_is_normally)
{
	static const struct {
		const char *in, *added;
	} cases[] = {
		{ "text\r\n", "" },
		{ "\x1b[31mred\x1b[0m\x1b[1mx\x1b[m", "" },
		{ "\x1b[31m", "\x1b[m" },
		{ "\x1b[?25l", "\x1b[?25h" },
		{ "\x1b[?25l\x1b[?25h\x1b[?7l\x1b[?7h", "" },
		{ "\x1b[?1049h\x1b[?1000;1006h", "\x1b[?1049l\x1b[?1000l\x1b[?1006l" },
		{ "\x1b[?1049h\x1b[?2004h\x1b=\x1b[?1049l\x1b[?2004l\x1b>", "" },
		{ "\x1b[4h\x1b[2;3r\x1b(0\x0e\x1b[5 q", "\x1b[4l\x1b"
							"7\x1b[r\x1b"
							"8\x1b(B\x0f\x1b[0 q" },
		{ "\x1b[", "^[[" },
		{ "\xe2\x82", "\\xe2\\x82" },
	};

	for (size_t i = 0; i < LEN(cases); i++) {
		_cleanup_buf_ struct buf out = { 0 }, before = { 0 };

		through(keys, str_z(cases[i].in), 1, false, &before);
		through(keys, str_z(cases[i].in), 1, true, &out);
		CHECK_STR(str_from(buf_str(&out), before.n), str_z(cases[i].added));
	}
}

/* Without numbers: t, h and l need one. */
static bool is_listed(const char *marker, int inter, int final)
{
	if (marker[0])
		return false;
	if (inter)
		return (inter == ' ' && final == 'q') || (inter == '!' && final == 'p');
	return strchr("@ABCDEFGHIJKLMPSTXZ`abdefmrsu", final) != NULL;
}

TEST(termsafe_passes_exactly_the_control_sequences_of_its_list)
{
	static const char *const markers[] = { "", "<", "=", ">", "?" };
	static const char inters[] = "\0 !\"#$%&'()*+,-./";

	for (size_t i = 0; i < LEN(markers) * (LEN(inters) - 1) * 63; i++) {
		const char *marker = markers[i / 63 / (LEN(inters) - 1)];
		char in[8], inter[2] = { inters[i / 63 % (LEN(inters) - 1)] };
		int final = 0x40 + (int)(i % 63);
		_cleanup_buf_ struct buf out = { 0 };

		(void)snprintf(in, sizeof(in), "\x1b[%s%s%c", marker, inter, final);
		through(keys, str_z(in), sizeof(in), false, &out);
		CHECK_CASE(str_eq(buf_str(&out), str_z(in)) == is_listed(marker, inter[0], final), "ESC%s",
			   in + 1);
		CHECK_CASE(out.p[0] == '\x1b' || str_eq(str_from(buf_str(&out), 2), str_z(in + 1)), "ESC%s",
			   in + 1);
	}
}

/* ---- properties over random bytes that are rich in beginnings ---- */

static uint32_t next(uint32_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed;
}

static void fill(uint32_t *seed, char *p, size_t n)
{
	static const char likely[] =
		"\x1b\x1b\x1b[[[]?>;:0123456789mHJKnctPhlqr ()0B\a\r\n\xc2\x9b\xe2\x82\xac\x9d$!";

	for (size_t i = 0; i < n; i++) {
		uint32_t r = next(seed);

		p[i] = r % 8 ? likely[r / 8 % (sizeof(likely) - 1)] : (char)(r >> 16);
	}
}

TEST(termsafe_gives_the_same_however_its_input_is_cut_and_nothing_to_do_the_second_time)
{
	uint32_t seed = 4242;

	for (int round = 0; round < 20000; round++) {
		const struct termsafe t = { .keys = round & 1, .ascii = (round & 6) == 6 };
		_cleanup_buf_ struct buf whole = { 0 }, cut = { 0 }, again = { 0 };
		char in[48];
		struct str s = { in, next(&seed) % sizeof(in) };

		fill(&seed, in, s.n);
		through(t, s, sizeof(in), true, &whole);
		through(t, s, 1 + next(&seed) % 5, true, &cut);
		CHECK_STR(buf_str(&cut), buf_str(&whole));
		through((struct termsafe){ .keys = true, .ascii = t.ascii }, buf_str(&whole), 4096, false,
			&again);
		CHECK_STR(buf_str(&again), buf_str(&whole));
		assert_true(whole.n >= s.n && utf8_valid(buf_str(&whole)));
	}
}

TEST_MAIN()
