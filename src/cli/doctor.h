/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/cli.h"
#include "sandbox/survey.h"

/* Adds what creel-survey finds of the services: nothing where none was set up, or none is installed. */
void doctor_services(struct cli *cli, struct survey *s);
