/*
 * drift_settings - the settings of an RNIC, as they are or as they are expected, and
 * how they are written. Pure.
 */
#ifndef TOR_AGGREGATOR_DRIFT_DRIFT_SETTINGS_H
#define TOR_AGGREGATOR_DRIFT_DRIFT_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

#include "schemas/wire.h"

#define DRIFT_FIRMWARE_BYTES 64
#define DRIFT_TEXT_BYTES 64
#define DRIFT_MAX_DSCPS 8 /* of one group */

struct drift_settings {
	uint32_t known; /* bits of enum wire_setting: read, or declared */
	uint32_t numbers[WIRE_SETTINGS];
	char firmware[DRIFT_FIRMWARE_BYTES]; /* printable; expected: a pattern */
	/* The priority of each, or WIRE_NO_PRIORITY; expected: that of those declared.
	 */
	uint8_t dscps[WIRE_DSCPS];
};

/* Of a foreign message: what is too long is cut, what is not printable is replaced. */
void drift_settings_take(struct drift_settings *ret, const struct wire_settings *from);

enum drift_state {
	DRIFT_UNDECLARED, /* nothing is expected: not compared */
	DRIFT_SAME,
	DRIFT_DIFFERENT,
	DRIFT_UNKNOWN, /* it could not be read */
	DRIFT_STATES,
};

enum drift_state drift_settings_compare(const struct drift_settings *expected,
    const struct drift_settings *actual, enum wire_setting setting);

/* "none", or priorities from 0 to 7 with commas between them, as bits. -EINVAL. */
int drift_pfc_read(const char *text, uint32_t *ret);

/* "none", or a number from 0 to 255. -EINVAL. */
int drift_class_read(const char *text, uint32_t *ret);

/* DSCP:PRIORITY, at most DRIFT_MAX_DSCPS with commas between them. -EINVAL. */
int drift_dscps_read(const char *text, uint8_t ret[WIRE_DSCPS]);
const char *drift_fec_str(uint32_t fec);

const char *drift_setting_str(enum wire_setting setting);
const char *drift_state_str(enum drift_state state);
/* The value as people write it: "9000", "400 Gb/s", "3,4", "26:3". "": it is not known.
 * expected: which DSCPs are looked at; may be settings. */
void drift_setting_text(const struct drift_settings *settings,
    const struct drift_settings *expected, enum wire_setting setting,
    char ret[DRIFT_TEXT_BYTES]);

#endif
