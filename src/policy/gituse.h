/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a command use git, and does it push? Found by looking at the command, which a program can always get around: this
 * is advice to a well-meaning agent. What really keeps a session from pushing is that it has no network and no
 * credentials. So it may miss, and it must not cry wolf: a word counts only where a program's name stands.
 */
#pragma once

#include "policy/policy_priv.h"

enum git_use { GIT_NONE = 0, GIT_USED, GIT_PUSHES };

enum git_use git_use(struct strs argv);
