/*
 * brake - the highest rate at which this host may probe, as its aggregators send it.
 *
 * The newest version counts; of several brakes with the same version, the one with the
 * lowest rate. The saved brake is used until an aggregator sends one, so a host that
 * starts without aggregators does not probe at full rate. Pure.
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

struct brake_report {
	struct wire_brake brake;
	bool received; /* received from this aggregator, in any session */
	bool session;  /* received in this session */
};

struct brake { /* all zero: no aggregator has sent one */
	struct brake_report reports[BRAKE_MAX_AGGREGATORS];
	struct wire_brake kept; /* version 0: none */
};

/* A new session of an aggregator: its first brake is its current state. */
void brake_session(struct brake *brake, size_t aggregator);
/* A version older than the aggregator's last one in this session changes nothing. */
void brake_take(
    struct brake *brake, size_t aggregator, const struct wire_brake *received);

/* The brake in force; version 0, BRAKE_NONE: none was received yet. */
struct wire_brake brake_now(const struct brake *brake);

/* The file's bytes: "RMBR" 0 0 0 1 | u64 version | u32 permille | u32 CRC-32 of what
 * comes before, and zeros; integers are big endian. */
void brake_seal(const struct wire_brake *brake, uint8_t file[BRAKE_FILE_BYTES]);
/* -EBADMSG: damaged; the file is ignored. */
int brake_open(struct brake *brake, const uint8_t *file, size_t len);

#endif
