/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole directories that a program in a sandbox has filled: nested deeper than a stack or a path is long, without rights on themselves, with
 * links to anywhere. Nothing is followed, and nothing outside of the directory is looked at.
 */
#pragma once

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>

/* Negative errno when something is left of it. */
int tree_remove(int parent, const char *name);

/* As getdents64(2) has them, where opendir() would allocate. */
struct tree_entry {
	uint64_t ino;
	int64_t off;
	uint16_t size;
	uint8_t type;
	char name[];
};

/* NULL: errno is 0 when that was all, and says why otherwise. Of a stream that nobody else reads. */
struct dirent *tree_next(DIR *d);
/* A descriptor that nothing was read from yet; false also when that cannot be told. */
bool tree_is_empty(int dir);

struct tree_size {
	uint64_t bytes; /* that it takes on the disk; each name of a file that has several takes its share */
	uint64_t entries;   /* the directory itself not counted */
	uint64_t newest_ms; /* Unix time of the last change of anything in it or of itself */
	bool incomplete; /* something could not be read or has just moved, or there is too much: there is more */
};
/* Negative errno when it cannot be opened. */
int tree_measure(int parent, const char *name, struct tree_size *ret);
/*
 * The same where nobody else is at work: directories that we, their owner, may not read or pass through are made so while we look, and become what they
 * were. Ends early when there are more bytes or entries than `most` has.
 */
int tree_measure_locked(int parent, const char *name, const struct tree_size *most, struct tree_size *ret);
