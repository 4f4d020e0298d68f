/* SPDX-License-Identifier: Apache-2.0 */
#include "model/config.h"

const struct agent *config_agent(const struct config *c, struct str id)
{
	for (size_t i = 0; i < c->n_agents; i++)
		if (str_eq(c->agents[i].id, id))
			return &c->agents[i];
	return NULL;
}
