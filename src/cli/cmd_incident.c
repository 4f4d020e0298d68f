/* SPDX-License-Identifier: Apache-2.0 */
/* creel incident export: what the log has about one call or session, without secrets, to be given away. */
#include "cli/session.h"

#include <unistd.h>

/* Exactly one of them. */
static int which_one(struct cli *cli, const char **request, const char **session, struct err *e)
{
	int r = session_text(cli, &cli->request_id, "--request", request, e);

	if (r >= 0)
		r = session_text(cli, &cli->session, "--session", session, e);
	if (r < 0)
		return r;
	if (!*request == !*session)
		return err_set(e, ERR_USAGE, "which? either --request ID or --session KEY");
	return 0;
}

static int check_output(struct cli *cli, const char **ret, struct err *e)
{
	int r = session_text(cli, &cli->output, "--output", ret, e);

	if (r >= 0 && *ret && access(*ret, F_OK) == 0)
		return err_set(e, ERR_USAGE,
			       "--output: '%s' exists and is not overwritten: name another file", *ret);
	return r;
}

int run_incident_export(struct cli *cli, struct err *e)
{
	_cleanup_(creel_engine_freep) struct creel_engine *c = NULL;
	const char *request = NULL, *session = NULL, *path = NULL;
	struct creel_error ce = { 0 };
	char *json = NULL;
	int r = which_one(cli, &request, &session, e);

	if (r >= 0)
		r = check_output(cli, &path, e);
	if (r >= 0)
		r = session_engine(cli, 0, &c, e);
	if (r < 0)
		return session_failed(r, e);
	if (creel_incident(c, request, session, &json, &ce) < 0)
		return session_error(&ce, e);
	if (path)
		r = output_file(path, str_z(json), false, e);
	else
		buf_puts(cli->out, json);
	creel_free(json);
	return r;
}
