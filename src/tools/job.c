/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_read and file_write as sandbox-guard's jobs have them: a relative path that stays in the workspace, at most 2,000,000
 * bytes, text with what is not UTF-8 replaced, and one word for what went wrong.
 */
#include "tools/tools_priv.h"

#include "base/utf8.h"

#include <inttypes.h>

/* Its own rule, stricter than the workspace asks for: "./a" and "a/../b" are refused although they lead nowhere else. */
static bool is_job_path(struct str path)
{
	struct str first = path, rest;

	if (path.n == 0 || memchr(path.p, '\0', path.n) || path.p[0] == '/' || path.p[0] == '\\')
		return false;
	(void)str_cut(path, '/', &first, &rest);
	if (str_eq(first, STR(".")) || str_eq(first, STR("..")) || str_ends(path, STR("/..")))
		return false;
	return !memmem(path.p, path.n, "/../", 4);
}

/* The path of a job stays relative, so that struct files lets it go nowhere else, links included. */
static int job_path(struct tool_ctx *x, struct str said, const char **ret, struct err *e)
{
	struct tool_ctx inside = *x;
	int r;

	if (!is_job_path(said))
		return err_set(e, ERR_DENIED,
			       "the path '" STR_FMT
			       "' must be relative, without '.' or '..' in front and without '/../'",
			       STR_ARG(said));
	inside.work_only = true;
	r = tools_path(&inside, said, ret, e);
	return r;
}

int tool_file_read(struct tool_ctx *x, const struct tool_in *in, struct jsonw *w, struct err *e)
{
	struct str said = tools_str(in, FILE_READ_PATH);
	size_t max = (size_t)tools_int(in, FILE_READ_MAX, TOOLS_READ_BYTES);
	_cleanup_text_ struct text text = { 0 };
	_cleanup_content_ struct files_content c = CONTENT_NONE;
	const char *path;
	int r = job_path(x, said, &path, e);

	if (r < 0)
		return r;
	r = x->files->ops->get(x->files, path, 0, &c);
	if (r == 0)
		r = content_take(&c, max, &text);
	if (r < 0)
		return tools_say(e, r, "read", said);
	jsonw_kstr(w, "stdout", text_str(&text));
	jsonw_kz(w, "stderr", "");
	tools_say_artifact(x, w, said, "text");
	jsonw_ku64(w, "totalBytes", c.st.size > text.n ? c.st.size : text.n);
	jsonw_kbool(w, "truncated", c.st.size > text.n);
	return 0;
}

int tool_file_write(struct tool_ctx *x, const struct tool_in *in, struct jsonw *w, struct err *e)
{
	struct str said = tools_str(in, FILE_WRITE_PATH), content = tools_str(in, FILE_WRITE_CONTENT);
	const char *path;
	bool created;
	int r = job_path(x, said, &path, e);

	if (r == 0)
		r = tools_check_write(x, said, content, e);
	if (r == 0)
		r = tools_replace(x, said, path, content, NULL, &created, e);
	if (r < 0)
		return r;
	jsonw_kz(w, "stdout", "OK");
	jsonw_kz(w, "stderr", "");
	tools_say_artifact(x, w, said, "file");
	return 0;
}

struct tools_job tools_job_result(const struct err *e)
{
	static const struct tools_job results[ERR_KIND_COUNT_] = {
		[ERR_NONE] = { 0 },
		[ERR_USAGE] = { 14, "denied" },
		[ERR_DENIED] = { 14, "denied" },
		[ERR_NOTFOUND] = { 15, "not_found" },
		[ERR_LIMIT] = { 16, "job_error" },
		[ERR_UNAVAIL] = { 16, "job_error" },
		[ERR_PROTO] = { 16, "job_error" },
		[ERR_SYS] = { 16, "job_error" },
		[ERR_BUG] = { 16, "job_error" },
	};

	/* EROFS: the workspace was not given for writing. */
	if (e->kind == ERR_DENIED && e->sys_errno == EROFS)
		return (struct tools_job){ 5, "write_denied" };
	return e->kind < ERR_KIND_COUNT_ ? results[e->kind] : (struct tools_job){ 16, "job_error" };
}
