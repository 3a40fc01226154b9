/*
 * aggregator_run - shared by fuzz_aggregator.c and the files with its peers' messages.
 */
#ifndef TESTS_FUZZ_AGGREGATOR_RUN_H
#define TESTS_FUZZ_AGGREGATOR_RUN_H

#include "schemas/wire.h"
#include "tests/fuzz/damaged_send.h"
#include "tests/support/fake_world.h"
#include "tor-aggregator/aggregator_config.h"

struct agent;

/* RNICs of each rack. RNIC i of rack t has the GUID 0x100 * (t + 1) + i. */
#define MEMBERS 4
#define REMOTE 0x900u
#define REMOTES 3

enum { CONTROLLER = 1, ANALYZER, EARLIER, PEER }; /* ports */

/* Some names that exist, and some that are unknown. */
extern const char *const run_tors[4], *const run_hosts[8];

struct world {
	struct rm_loop *loop;
	struct aggregator_config config;
	struct tor_aggregator *aggregator;
	struct wire_writer *writer;
	uint64_t seqs[8];
	uint64_t resolve;        /* the last number that was requested */
	struct wire_ack sent[2]; /* the last one of each lane */
};

/* ---- aggregator_values.c ---- */

struct wire_address run_address(uint64_t guid);
struct wire_rnic run_rnic(
    uint64_t guid, const char *host, const char *tor, uint8_t flags);
/* The GUID of an RNIC of either rack or of another one, or an unknown one. */
uint64_t run_guid(struct fuzz_bytes *script);
/* Mostly the aggregator's own time. */
uint64_t run_clock(uint8_t flags);

/* ---- aggregator_agents.c ---- */

void run_agent_greets(
    struct world *world, struct fuzz_bytes *script, struct rm_link *link);
void run_agent_reports(
    struct world *world, struct fuzz_bytes *script, struct rm_link *link);
/* Sends half a second of both racks: all RNICs probe each other. Probes of the
 * members in the mask lost are lost. */
void run_all_report(struct world *world, uint8_t lost);

/* ---- aggregator_others.c ---- */

/* A message of the controller, an analyzer or the other aggregator, as the link's
 * peer. */
void run_dialed_reports(
    struct world *world, struct fuzz_bytes *script, struct rm_link *link);
void run_peer_reports(
    struct world *world, struct fuzz_bytes *script, struct rm_link *link);

#endif
