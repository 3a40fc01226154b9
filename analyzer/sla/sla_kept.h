/*
 * sla_kept - the closed minutes and hours of a struct sla as bytes, and back: for the
 * file that keeps them over a restart. Pure.
 *
 * The bytes have a version and a checksum. Those that are read are not trusted, and are
 * fuzzed. Figures since the start (sla_each), and the minutes that were not closed, are
 * not kept.
 */
#ifndef ANALYZER_SLA_SLA_KEPT_H
#define ANALYZER_SLA_SLA_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

struct sla;

struct sla_save { /* a save that is made in several turns */
	/* Set by the caller. max_bytes: limit of all bytes. turn_bytes: after so many
	 * no further scope is added in a turn. */
	size_t max_bytes, turn_bytes;
	uint8_t *data;        /* NULL: not begun */
	size_t len, left_out; /* left_out: number of scopes that did not fit */
	/* for sla_kept.c */
	size_t room;
	int64_t closed;
	bool failed;
};

/* Adds some scopes to the save, services last; none after the first that does not fit.
 * Begins again if a minute was closed since the save began. Returns 1: it is complete;
 * 0: call it again; -ENOMEM: call sla_kept_drop. */
int sla_kept_write(struct sla *sla, struct sla_save *save);
/* Adds the checksum to a complete save. It takes long, and any thread may call it. */
void sla_kept_seal(struct sla_save *save);
/* Frees the bytes; the next call of sla_kept_write begins a save. */
void sla_kept_drop(struct sla_save *save);

/* Reads the saved figures before the first sla_close; what came before them is
 * forgotten. Minutes up to
 * the present one are then not closed. -EBADMSG: the bytes are damaged, or of another
 * version; -ERANGE: by the clock, they are older than a day, or later than now by more
 * than half an hour; -ENOMEM. After an error the struct sla is empty. */
int sla_kept_read(struct sla *sla, const uint8_t *data, size_t len, rm_wall_t now);

/* The earliest time at which these bytes are not of the future for sla_kept_read. 0:
 * they are damaged, or of another version. */
rm_wall_t sla_kept_earliest(const uint8_t *data, size_t len);

#endif
