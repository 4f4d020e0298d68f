/* SPDX-License-Identifier: Apache-2.0 */
/* How much processor time the processes below this one have had, by what they are. */
#pragma once

enum cpu_of { CPU_GUARD, CPU_RUNNER, CPU_KEEPER, CPU_WARDEN, CPU_PROGRAMS, CPU_OTHERS, CPU_COUNT_ };

extern const char *const cpu_names[CPU_COUNT_];

struct cpu {
	double us[CPU_COUNT_];
};

/* Whoever loses its parent is ours from now on: keepers are then found, too. */
void cpu_adopt(void);
/* Of those that live, and of the programs that wardens have waited for. Rises as long as none of them ends. */
void cpu_take(struct cpu *ret);
