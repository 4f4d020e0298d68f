/* SPDX-License-Identifier: Apache-2.0 */
/* One call on its road. road.c leads it, road_decide.c decides, road_run.c runs the tool, road_end.c knows every way in which it can end before that. */
#pragma once

#include "engine/engine_priv.h"

#include "data/json.h"
#include "net/line.h"
#include "tools/tool.h"

struct trip {
	struct session *s;
	struct engine *g;
	const struct call_opts *o;
	struct arena *a;
	const struct tool *tool;    /* NULL: none of ours */
	struct session_tool *known; /* what the session knows of it; NULL = nothing */
	struct value args;
	struct request request;
	struct decision *d;
	struct buf members; /* {...} that the tool wrote */
	struct tool_programs programs;
	struct outcome out;
	char id[48];  /* of the request, when the caller gave none */
	uint64_t seq; /* of "decided" */
	bool decided;
	bool unheard; /* whoever was to work on its files has heard nothing of it */
	bool again;   /* its first sandbox had gone before anything of it began */
	bool began;   /* the tool had its sandbox, and what was said from then on is about that */
	struct denial denials[2 + NET_DENIALS_MAX];
	uint64_t stdout_bytes, stderr_bytes;
	bool too_much;                 /* it wrote more than limits.output */
	struct session_hand *elevated; /* what was in hand before; NULL = this call is not */
};

/* road_decide.c: fill in t->tool, and t->d. */
void trip_find_tool(struct trip *t);
int trip_decide(struct trip *t, struct err *e);

/* Of those that there is no room for, nobody is told. */
void trip_denial(struct trip *t, struct denial dn);

/* Each fills in the outcome and returns 0: the call is over, and has a result. */
int trip_error(struct trip *t, const char *word); /* of t->out.err; NULL = the word for its kind */
int trip_refused(struct trip *t);
int trip_verdict(struct trip *t);
/* A person is asked. 1: go on. */
int trip_ask_person(struct trip *t);

bool trip_gives_secrets(const struct trip *t);
/* Where it was decided to run: in the sandbox, or outside of it and without any wall. */
int trip_run(struct trip *t);
