/*
 * history_files - points as rotating files of line protocol, where there is no
 * database.
 *
 * rackmesh.lp holds rows of summaries, incidents.lp incidents and SLA; older ones are
 * .1 to HISTORY_FILES - 1. A batch is done with when it is on disk; what fails is tried
 * again, so after a crash a file may hold points twice: who reads keeps the last of
 * equal series and time, as a database would.
 */
#ifndef ANALYZER_HISTORY_HISTORY_FILES_H
#define ANALYZER_HISTORY_HISTORY_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "schemas/wire.h"

#define HISTORY_FILES 4

struct history_counts;
struct history_files;
struct rm_loop;
struct rm_worker;

struct history_files_options {
	struct rm_loop *loop;
	struct rm_worker *worker;
	const char *folder; /* copied; made as soon as its parent exists */
	uint64_t max_bytes; /* of all files together */
	struct history_counts *counts;
	/* The batch of this lane is on disk. Never from inside history_files_write. */
	void (*on_done)(enum wire_lane lane, void *arg);
	void *arg;
};

int history_files_new(
    const struct history_files_options *options, struct history_files **ret);
void history_files_free(struct history_files *files); /* after the worker */

/* What fits into one file. */
size_t history_files_most(const struct history_files *files, enum wire_lane lane);

/* text: whole lines, borrowed until on_done. Only while the lane has no batch. */
void history_files_write(
    struct history_files *files, enum wire_lane lane, const char *text, size_t len);

const char *history_files_trouble(
    const struct history_files *files, enum wire_lane lane); /* "": none */

#endif
