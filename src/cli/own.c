/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/own.h"

#include "audit/audit.h"

int own_load(struct cli *cli, struct own *ret, struct err *e)
{
	int r;

	*ret = (struct own){ .cli = cli, .diags = { .arena = cli->arena } };
	r = input_facts(cli, &ret->facts, e);
	if (r >= 0)
		r = input_config(cli, &ret->facts, &ret->diags, &ret->config, e);
	if (r < 0) {
		if (ret->diags.n_errors == 0)
			return r;
		output_diags(&ret->diags, cli->quiet ? SEVERITY_ERROR : SEVERITY_WARN, NULL);
		*e = (struct err){ 0 };
		return r;
	}
	if (!cli->quiet)
		output_diags(&ret->diags, SEVERITY_WARN, &ret->config);
	ret->state = (struct state_dir){ .said = cli->state_dir.text,
					 .home = ret->facts.home,
					 .environ = cli->environ };
	return 0;
}

int own_audit_dir(struct own *o, bool make, char out[static OWN_PATH_MAX], struct err *e)
{
	return state_audit(&o->state, &o->config, make, out, OWN_PATH_MAX, e);
}

int own_audit_open(struct own *o, struct audit **ret, struct err *e)
{
	char path[OWN_PATH_MAX];
	int r = own_audit_dir(o, true, path, e);

	return r < 0 ? r
		     : audit_open(&(struct audit_opts){ .dir = path,
							.max_file_bytes = o->config.base.audit_rotate,
							.keep = o->config.base.audit_keep },
				  ret, e);
}
