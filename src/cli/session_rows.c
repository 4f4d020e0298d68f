/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of the table that are creel's own. creel starts this program for the others only, so whoever comes here has started it by hand. None of
 * what those commands need is linked.
 */
#include "cli/session.h"

static int at_home(const struct cli *cli, struct err *e)
{
	return err_set(e, ERR_USAGE, "creel-session is started by creel; type 'creel %s …'",
		       cli->args.path[1]->name);
}

int run_run(struct cli *cli, struct err *e)
{
	return at_home(cli, e);
}

int run_doctor(struct cli *cli, struct err *e)
{
	return at_home(cli, e);
}

int run_explain(struct cli *cli, struct err *e)
{
	return at_home(cli, e);
}

int run_config_check(struct cli *cli, struct err *e)
{
	return at_home(cli, e);
}

int run_config_show(struct cli *cli, struct err *e)
{
	return at_home(cli, e);
}

int run_config_import(struct cli *cli, struct err *e)
{
	return at_home(cli, e);
}

int run_config_schema(struct cli *cli, struct err *e)
{
	return at_home(cli, e);
}

int run_config_keys(struct cli *cli, struct err *e)
{
	return at_home(cli, e);
}

void explain_error(struct cli *cli, struct str message)
{
	(void)cli;
	(void)message;
}
