/* SPDX-License-Identifier: Apache-2.0 */
/*
 * S3's variables and what follows from several of them together: extras join the base lists, docker_enabled switches
 * the sandbox off, and one bridge network for all tools needs no routing lists.
 */
#pragma once

#include "config/config_priv.h"

/* One option as the variables alone have it; what is in force is computed from it. */
struct ansible_value {
	bool has;
	int word;
	struct strs list;
	struct origin origin;
};

struct ansible {
	struct ansible_value when, tools, exec;
	struct strs tools_extra, exec_extra;
	struct origin tools_extra_origin, exec_extra_origin;
	bool docker_off, sandbox_off,
		ignores_docker; /* ignores_docker: sandbox_enabled was given as a plain value */
	struct origin off_origin;
	bool single; /* sandbox_docker_network=bridge */
	struct origin single_origin;
};

bool ansible_is_var(struct str name); /* sandbox_* or docker_enabled, known or not */
const char *const *ansible_names(void);

/* Something else has set one of the options: the next variable starts from there. */
void ansible_forget(struct load *l);
