/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"

int run_version(struct cli *cli, struct err *e)
{
	struct jsonw w;

	(void)e;
	if (!cli->json) {
		buf_puts(cli->out, "creel " CREEL_VERSION "\n");
		return 0;
	}
	jsonw_init(&w, cli->out, 2);
	jsonw_obj(&w);
	jsonw_kz(&w, "name", "creel");
	jsonw_kz(&w, "version", CREEL_VERSION);
	jsonw_karr(&w, "formats");
	for (const struct enum_name *n = format_names; n->name; n++)
		jsonw_str(&w, str_z(n->name));
	jsonw_arr_end(&w);
	jsonw_karr(&w, "compat");
	for (const struct enum_name *n = compat_names; n->name; n++)
		jsonw_str(&w, str_z(n->name));
	jsonw_arr_end(&w);
	jsonw_obj_end(&w);
	buf_putc(cli->out, '\n');
	return 0;
}
