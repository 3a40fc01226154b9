/*
 * sla_file - keeps the SLA figures of the last hour and day over a restart, in a file.
 *
 * The file is written on the worker after each closed minute, and at the end. A file
 * that is damaged, or whose time is wrong by the clock, is renamed (rm_file_set_aside);
 * one that cannot be read stays until the next write. Both are logged, and neither
 * prevents the start. A host without a clock begins in 1970, or when its systemd was
 * built: while the file is later than the clock by more than half an hour, for up to an
 * hour, it is not read, and no minute is closed.
 */
#ifndef ANALYZER_SLA_SLA_FILE_H
#define ANALYZER_SLA_SLA_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

/* Limit of the file; scopes and services that do not fit are left out and counted. */
#define SLA_FILE_MAX_BYTES (16u << 20)
#define SLA_FILE_WAIT 3600 /* calls of sla_file_ready */

struct rm_worker;
struct sla;
struct sla_file;

struct sla_file_counts {   /* totals */
	uint64_t failed;   /* saves that could not be written */
	uint64_t left_out; /* scopes and services left out of saves */
	uint64_t aside;    /* files that were not used */
};

/* folder: "": nothing is kept. sla: borrowed. Reads the file into it, unless it is
 * of the future by the clock. */
int sla_file_new(struct rm_worker *worker, const char *folder, struct sla *sla,
    rm_wall_t now, struct sla_file **ret);
/* Writes the last figures. Call it after the worker was freed. NULL is allowed. */
void sla_file_free(struct sla_file *file);
/* Call it each second, before sla_close. False: there is a file, and the clock is not
 * set yet, so sla_close must not be called. Reads the file as soon as the clock is set,
 * or after SLA_FILE_WAIT calls. */
bool sla_file_ready(struct sla_file *file, rm_wall_t now);
/* Call it each second. After a minute was closed it makes a save, in turns of about a
 * MiB, and writes it. */
void sla_file_save(struct sla_file *file);
const struct sla_file_counts *sla_file_counts(const struct sla_file *file);

#endif
