/*
 * drift_settings - the settings of an RNIC, real or expected, and their text form.
 * Pure.
 */
#ifndef TOR_AGGREGATOR_DRIFT_DRIFT_SETTINGS_H
#define TOR_AGGREGATOR_DRIFT_DRIFT_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

#include "schemas/wire.h"

#define DRIFT_FIRMWARE_BYTES 64
#define DRIFT_TEXT_BYTES 64
#define DRIFT_MAX_DSCPS 8 /* per group */

struct drift_settings {
	/* Bits of enum wire_setting: those that were read, or declared. */
	uint32_t known;
	uint32_t numbers[WIRE_SETTINGS];
	char firmware[DRIFT_FIRMWARE_BYTES]; /* printable; expected: a pattern */
	/* The priority of each DSCP, or WIRE_NO_PRIORITY; expected: only those
	 * declared. */
	uint8_t dscps[WIRE_DSCPS];
};

/* Takes settings from a message: texts that are too long are cut, characters that do
 * not print are replaced. */
void drift_settings_take(struct drift_settings *ret, const struct wire_settings *from);

enum drift_state {
	DRIFT_UNDECLARED, /* no group declares it: not compared */
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
/* The value as text: "9000", "400 Gb/s", "3,4", "26:3". "": not known. expected:
 * selects the DSCPs; may be equal to settings. */
void drift_setting_text(const struct drift_settings *settings,
    const struct drift_settings *expected, enum wire_setting setting,
    char ret[DRIFT_TEXT_BYTES]);

#endif
