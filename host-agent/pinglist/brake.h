/*
 * brake - the highest rate at which this host may probe, as its aggregators send it.
 *
 * The brake with the newest version applies; of several brakes with the same version,
 * the one with the lowest rate applies. The saved brake is used until an aggregator
 * sends one, so a host that starts without aggregators does not probe at full rate.
 * Pure.
 */
#ifndef HOST_AGENT_PINGLIST_BRAKE_H
#define HOST_AGENT_PINGLIST_BRAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/wire.h"

#define BRAKE_NONE 1000 /* permille: the full rate that pinglists ask for */
#define BRAKE_MAX_AGGREGATORS 64
#define BRAKE_FILE_BYTES 32

struct brake_report {
	struct wire_brake brake;
	bool received; /* this aggregator has sent a brake, in any session */
	bool session;  /* this aggregator has sent a brake in the present session */
};

struct brake { /* all zeros: no aggregator has sent a brake */
	struct brake_report reports[BRAKE_MAX_AGGREGATORS];
	/* the brake that was loaded from the file; version 0: none */
	struct wire_brake kept;
};

/* Begins a new session of an aggregator: the first brake of the session is accepted,
 * whatever its version. */
void brake_session(struct brake *brake, size_t aggregator);
/* Stores a brake. A brake whose version is lower than that of the aggregator's last
 * brake in this session is ignored. */
void brake_take(
    struct brake *brake, size_t aggregator, const struct wire_brake *received);

/* Returns the brake in force; version 0 and BRAKE_NONE: there is none. */
struct wire_brake brake_now(const struct brake *brake);

/* Writes the bytes of the file: "RMBR" 0 0 0 1 | u64 version | u32 permille | u32
 * CRC-32 of the bytes before it | zeros. Integers are big-endian. */
void brake_seal(const struct wire_brake *brake, uint8_t file[BRAKE_FILE_BYTES]);
/* Reads the bytes of the file into brake. -EBADMSG: the file is damaged; brake is not
 * changed. */
int brake_open(struct brake *brake, const uint8_t *file, size_t len);

#endif
