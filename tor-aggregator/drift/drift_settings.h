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
	/* A bit for each enum wire_setting that was read, or for expected settings
	 * declared. */
	uint32_t known;
	uint32_t numbers[WIRE_SETTINGS];
	/* printable text; for expected settings a pattern */
	char firmware[DRIFT_FIRMWARE_BYTES];
	/* The priority of each DSCP. WIRE_NO_PRIORITY: it has none; for expected
	 * settings: not declared. */
	uint8_t dscps[WIRE_DSCPS];
};

/* Copies settings from a message. Texts that are too long are cut; characters that are
 * not printable are replaced. */
void drift_settings_take(struct drift_settings *ret, const struct wire_settings *from);

enum drift_state {
	DRIFT_UNDECLARED, /* no group declares the setting, so it is not compared */
	DRIFT_SAME,
	DRIFT_DIFFERENT,
	DRIFT_UNKNOWN, /* the setting could not be read */
	DRIFT_STATES,
};

enum drift_state drift_settings_compare(const struct drift_settings *expected,
    const struct drift_settings *actual, enum wire_setting setting);

/* Reads "none", or priorities from 0 to 7 separated by commas. *ret: a bit for each.
 * -EINVAL. */
int drift_pfc_read(const char *text, uint32_t *ret);

/* Reads "none", or a number from 0 to 255. -EINVAL. */
int drift_class_read(const char *text, uint32_t *ret);

/* Reads at most DRIFT_MAX_DSCPS pairs DSCP:PRIORITY separated by commas. -EINVAL. */
int drift_dscps_read(const char *text, uint8_t ret[WIRE_DSCPS]);
const char *drift_fec_str(uint32_t fec);

const char *drift_setting_str(enum wire_setting setting);
const char *drift_state_str(enum drift_state state);
/* Writes a setting as text: "9000", "400 Gb/s", "3,4", "26:3"; "": not known. Writes
 * only those DSCPs that are in expected; expected may be equal to settings. */
void drift_setting_text(const struct drift_settings *settings,
    const struct drift_settings *expected, enum wire_setting setting,
    char ret[DRIFT_TEXT_BYTES]);

#endif
