/* SPDX-License-Identifier: Apache-2.0 */
/* Two signals that are errors of write(2) for us: a reader that goes away, and a file that may not grow (ulimit -f). */
#include "cli/cli.h"

#include <signal.h>

static const int ours[] = { SIGPIPE, SIGXFSZ };
static struct sigaction theirs[sizeof(ours) / sizeof(ours[0])];

void signals_take(void)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };

	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		(void)sigaction(ours[i], &ignore, &theirs[i]);
}

void signals_give_back(void)
{
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		(void)sigaction(ours[i], &theirs[i], NULL);
}
