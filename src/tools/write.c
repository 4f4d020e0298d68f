/* SPDX-License-Identifier: Apache-2.0 */
/* write: the whole content of a file, or more of it at its end. */
#include "tools/tools_priv.h"

#include <inttypes.h>
#include <unistd.h>

int tools_check_write(const struct tool_ctx *x, struct str said, struct str content, struct err *e)
{
	uint64_t max = x->write_max ? x->write_max : TOOLS_WRITE_MAX;

	if (content.n <= max)
		return 0;
	return err_set(e, ERR_LIMIT,
		       "cannot write '" STR_FMT "': the content has %zu bytes, and may have %" PRIu64,
		       STR_ARG(said), content.n, max);
}

int tools_replace(struct tool_ctx *x, struct str said, const char *path, struct str content,
		  const struct files_stat *seen, bool *ret_created, struct err *e)
{
	const struct files_put what = { .content = content, .mode = 0666, .seen = seen };
	bool existed = false;
	int r = x->files->ops->put(x->files, path, FILES_PARENTS | (x->durable ? FILES_SYNC : 0), &what,
				   &existed);

	if (r < 0)
		return tools_say(e, r, "write", said);
	*ret_created = !existed;
	return 0;
}

/* A disk that is full in the middle takes back what it took, unless somebody else has written behind it. */
static int append_all(int fd, uint64_t old_size, struct str content)
{
	struct stat st;
	int r = fd_write_all(fd, content);

	if (r < 0 && fstat(fd, &st) == 0 && (uint64_t)st.st_size <= old_size + content.n)
		(void)!ftruncate(fd, (off_t)old_size);
	return r;
}

static int append(struct tool_ctx *x, struct str said, const char *path, struct str content,
		  bool *ret_created, struct err *e)
{
	struct files_stat st = { 0 };
	_cleanup_close_ int fd = x->files->ops->open(x->files, path, FILES_APPEND | FILES_PARENTS, 0666, &st);
	int r;

	if (fd < 0)
		return tools_say(e, fd, "write", said);
	*ret_created = st.size == 0;
	r = append_all(fd, st.size, content);
	if (r == 0 && x->durable && fsync(fd) < 0)
		r = -errno;
	return r < 0 ? tools_say(e, r, "append to", said) : 0;
}

void tools_put_artifact(struct jsonw *w, struct str path, const char *type)
{
	jsonw_obj(w);
	jsonw_kstr(w, "path", path);
	jsonw_kz(w, "type", type);
	jsonw_obj_end(w);
}

void tools_say_artifact(struct tool_ctx *x, struct jsonw *w, struct str path, const char *type)
{
	jsonw_karr(w, "artifacts");
	tools_put_artifact(w, path, type);
	jsonw_arr_end(w);
	x->says_artifacts = true;
}

int tool_write(struct tool_ctx *x, const struct tool_in *in, struct jsonw *w, struct err *e)
{
	struct str said = tools_str(in, WRITE_PATH), content = tools_str(in, WRITE_CONTENT);
	bool created = false;
	const char *path;
	int r = tools_path(x, said, &path, e);

	if (r < 0)
		return r;
	r = tools_check_write(x, said, content, e);
	if (r < 0)
		return r;
	if (tools_bool(in, WRITE_APPEND))
		r = append(x, said, path, content, &created, e);
	else
		r = tools_replace(x, said, path, content, NULL, &created, e);
	if (r < 0)
		return r;
	jsonw_kstr(w, "path", said);
	jsonw_ku64(w, "bytes", content.n);
	if (!tools_bool(in, WRITE_APPEND))
		jsonw_kbool(w, "created", created);
	tools_say_artifact(x, w, said, "file");
	return 0;
}
