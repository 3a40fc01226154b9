/*
 * message - what all messages have in common: kinds, bounds, and who writes them.
 */
#ifndef SCHEMAS_WIRE_MESSAGE_H
#define SCHEMAS_WIRE_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WIRE_VERSION 1 /* peers one apart, in either direction, work together */

#define WIRE_MAX_PROBE_TIMEOUT_MS 2000 /* as long as an aggregator waits */

#define WIRE_MAX_BYTES (16u << 20)   /* a whole message, as a frame may carry it */
#define WIRE_MAX_STRING 4096         /* with the 0 byte */
#define WIRE_MAX_SKETCH 8192         /* bytes of one encoded sketch */
#define WIRE_MAX_RESULTS 8192        /* in a batch */
#define WIRE_MAX_HOST_RNICS 64       /* of one agent */
#define WIRE_MAX_SETTINGS 32         /* of one RNIC, that newer peers may tell */
#define WIRE_MAX_MEMBERS 1024        /* RNICs of one ToR */
#define WIRE_MAX_REMOTES 65536       /* RNICs outside that a plan names */
#define WIRE_MAX_ENTRIES 65536       /* planned pairs besides the ToR-mesh */
#define WIRE_MAX_TARGETS 16384       /* of one agent */
#define WIRE_MAX_ROSTER 65536        /* addresses that a reflector answers */
#define WIRE_MAX_FLOWS 64            /* of one target */
#define WIRE_MAX_CLASSES 8           /* DSCPs of one target */
#define WIRE_MAX_SIZES 8             /* of one target */
#define WIRE_MAX_COUNTS 65536        /* rows of one receive-count report */
#define WIRE_MAX_COUNTER_VALUES 1024 /* of one RNIC */
#define WIRE_MAX_STALLS 64           /* of one heartbeat */
#define WIRE_MAX_LIVE 64             /* aggregators that one agent hears */
#define WIRE_KEY_BYTES 16
#define WIRE_KEY_EPOCHS 3        /* that a responder takes at a time */
#define WIRE_MAX_TORS 64         /* of one aggregator */
#define WIRE_MAX_VERSIONS 65664  /* of one aggregator's peers: its agents, and 128 */
#define WIRE_MAX_ROWS 65536      /* of one summary */
#define WIRE_MAX_ALIASES 16384   /* interface addresses that a plan knows */
#define WIRE_MAX_PATHS 4096      /* of one report */
#define WIRE_MAX_HOPS 8          /* of one path */
#define WIRE_MAX_JSON (8u << 20) /* bytes of one drill's answer */
#define WIRE_MAX_CABLES 128      /* of one host, or patterns of them */
#define WIRE_MAX_PLACE_AGGREGATORS 128 /* of one host's ToRs */
#define WIRE_MAX_SERVICES 4096         /* service flows of one agent */
#define WIRE_MAX_QPN 0xffffffu         /* a QP's number has 24 bits, */
#define WIRE_MAX_SL 15                 /* a service level 4 */

enum wire_kind {
	WIRE_UNKNOWN = 0,
	WIRE_HELLO,     /* RMH1 both directions up: who is dialling */
	WIRE_WELCOME,   /* RMW1 the answer to a hello */
	WIRE_REGISTER,  /* RMG1 agent -> aggregator -> controller: a host's RNICs */
	WIRE_BATCH,     /* RMB1 agent -> aggregator: probe results */
	WIRE_ACK,       /* RMK1 the receiver is responsible up to seq */
	WIRE_HEARTBEAT, /* RMT1 agent -> aggregator, every 250 ms */
	WIRE_COUNTS,    /* RMC1 agent -> aggregator: what its reflectors received */
	WIRE_PINGLIST,  /* RML1 aggregator -> agent */
	WIRE_FOCUS, /* RMF1 aggregator -> agent: probe this pair faster for a while */
	/* RMQ1 aggregator -> agent, controller -> aggregator, aggregator <-> analyzer:
	 * nothing but bytes for TCP to acknowledge, and a sign of life. */
	WIRE_PING,
	WIRE_PLAN,     /* RMP1 controller -> aggregator: one ToR's whole plan */
	WIRE_SUMMARY,  /* RMS1 aggregator -> analyzer */
	WIRE_INCIDENT, /* RMI1 aggregator -> analyzer */
	WIRE_PATHS,    /* RMX1 agent -> aggregator: what its traces have found */
	WIRE_BRAKE,    /* RMJ1 controller -> aggregator -> agent: how fast, at most */
	WIRE_RESOLVE,  /* RMV1 agent -> aggregator -> controller: whose address is this?
			*/
	WIRE_RESOLVE_ANSWER, /* RMA1 the answer, down again */
	WIRE_DRILL, /* RMD1 analyzer, controller -> aggregator: raw results of an RNIC
		     */
	WIRE_DRILL_ANSWER, /* RMN1 the answer */
	WIRE_SERVICES,     /* RMU1 agent -> aggregator: whose flows use its RNICs */
	WIRE_JOIN,   /* RMO1 agent -> aggregator -> controller: who is the other end of
			this QP? Answered as a resolve is */
	WIRE_TRACED, /* RMY1 aggregator -> controller: ways that its rack's traces found
		      */
	WIRE_KEYS, /* RMZ1 controller -> aggregator -> agent: what authenticates probes
		    */
	WIRE_STANDING, /* RME1 aggregator <-> the other one of its ToRs: who speaks */
	WIRE_VERSIONS, /* RMR1 aggregator -> controller: versions of its peers */
	WIRE_PLACE,    /* RMM1 agent -> controller: where does my host belong? */
	WIRE_PLACE_ANSWER,   /* RMm1 the answer */
	WIRE_COUNTER_REPORT, /* RMC2 agent -> aggregator: what its RNICs counted */
};

/* What the bytes claim to be. Reads only the identifier: trust nothing yet. */
enum wire_kind wire_kind_of(const uint8_t *data, size_t len);
/* It claims to be of this family, but of no kind that we know: a newer peer's. To be
 * passed over and counted; the link stays. */
bool wire_is_newer(const uint8_t *data, size_t len);

struct wire_writer;                        /* reusable scratch memory; one per sender */
struct wire_writer *wire_writer_new(void); /* NULL when out of memory */
void wire_writer_free(struct wire_writer *writer);

struct wire_bytes {
	const uint8_t *data;
	size_t len;
};

#ifdef __cplusplus
}
#endif

#endif
