/*
 * history_files - writes points to rotating files of line protocol, if there is no
 * database.
 *
 * rackmesh.lp has the rows of summaries, incidents.lp the incidents and SLA minutes;
 * older files have the suffixes .1 to HISTORY_FILES - 1. A batch is done when it is on
 * disk; a write that fails is tried again. After a crash a file may have a point twice:
 * of several points with the same series and time a reader must use the last one, as a
 * database does.
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
	const char *folder; /* copied; created as soon as its parent folder exists */
	uint64_t max_bytes; /* maximum number of bytes of all files together */
	struct history_counts *counts;
	/* The batch of this lane is on disk. It is never called during
	 * history_files_write. */
	void (*on_done)(enum wire_lane lane, void *arg);
	void *arg;
};

int history_files_new(
    const struct history_files_options *options, struct history_files **ret);
void history_files_free(struct history_files *files); /* free the worker first */

/* Returns the number of bytes that fit into one file. */
size_t history_files_most(const struct history_files *files, enum wire_lane lane);

/* Writes a batch. text: whole lines, borrowed until on_done. The lane must have no
 * other batch. */
void history_files_write(
    struct history_files *files, enum wire_lane lane, const char *text, size_t len);

const char *history_files_trouble(
    const struct history_files *files, enum wire_lane lane); /* "": none */

#endif
