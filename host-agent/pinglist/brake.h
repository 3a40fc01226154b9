/*
 * brake - how fast this host may probe at most, by what its aggregators were told.
 *
 * The newest version counts; of several equally new ones the lowest rate. What was kept
 * over a restart counts until an aggregator says what it knows: nobody who wakes up
 * alone starts at full speed. Pure.
 */
#ifndef HOST_AGENT_PINGLIST_BRAKE_H
#define HOST_AGENT_PINGLIST_BRAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/wire.h"

#define BRAKE_NONE 1000 /* permille: as fast as pinglists ask */
#define BRAKE_MAX_AGGREGATORS 64
#define BRAKE_FILE_BYTES 32

struct brake_word {
	struct wire_brake brake;
	bool received; /* by this aggregator, in some session */
	bool session;  /* in this one */
};

struct brake { /* all zero: nobody has said anything */
	struct brake_word words[BRAKE_MAX_AGGREGATORS];
	struct wire_brake kept; /* version 0: none */
};

/* Of an aggregator's link: what it says first is what it knows now. */
void brake_session(struct brake *brake, size_t aggregator);
/* An older version than this aggregator's last one of the session changes nothing. */
void brake_take(
    struct brake *brake, size_t aggregator, const struct wire_brake *received);

/* What is in force; version 0, BRAKE_NONE: nothing was ever said. */
struct wire_brake brake_now(const struct brake *brake);

/* The file's bytes: "RMBR" 0 0 0 1 | u64 version | u32 permille | u32 CRC-32 of what
 * comes before, and zeros; integers are big endian. */
void brake_seal(const struct wire_brake *brake, uint8_t file[BRAKE_FILE_BYTES]);
/* -EBADMSG: damaged, and nothing is kept. */
int brake_open(struct brake *brake, const uint8_t *file, size_t len);

#endif
