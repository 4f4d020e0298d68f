/* SPDX-License-Identifier: Apache-2.0 */
/* The header as C++ sees it, and nothing else: it has to stand alone. */
#include <creel/creel.h>

int main()
{
	struct creel_options o = CREEL_OPTIONS_INIT;
	struct creel_session_options s = CREEL_SESSION_INIT;
	struct creel_call c = CREEL_CALL_INIT;
	struct creel_result r = CREEL_RESULT_INIT;
	struct creel_filter f = CREEL_FILTER_INIT;
	struct creel_prune_options p = CREEL_PRUNE_INIT;

	return o.size + s.size + c.size + r.size + f.size + p.size > 0 && c.cancel_fd == -1 &&
			       p.idle_hours == -1
		       ? 0
		       : 1;
}
