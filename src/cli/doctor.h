/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/cli.h"
#include "sandbox/survey.h"

/*
 * Adds what creel-survey finds of the services: nothing where none was set up, or none is installed. `opensandbox`: the configuration names
 * one of OpenSandbox.
 */
void doctor_services(struct cli *cli, bool opensandbox, struct survey *s);
