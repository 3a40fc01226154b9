/*
 * message - what all messages have in common: kinds, limits, and the writer.
 */
#ifndef SCHEMAS_WIRE_MESSAGE_H
#define SCHEMAS_WIRE_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WIRE_VERSION 1 /* Peers whose versions differ by at most one work together. */

/* Aggregators do not wait longer than this for a reply. */
#define WIRE_MAX_PROBE_TIMEOUT_MS 2000

/* maximum number of bytes of a message, and of a frame */
#define WIRE_MAX_BYTES (16u << 20)
/* maximum number of bytes of a string, with the final 0 */
#define WIRE_MAX_STRING 4096
#define WIRE_MAX_SKETCH 8192   /* bytes of one encoded sketch */
#define WIRE_MAX_RESULTS 8192  /* in a batch */
#define WIRE_MAX_HOST_RNICS 64 /* of one agent */
/* settings of one RNIC, which newer peers may send */
#define WIRE_MAX_SETTINGS 32
#define WIRE_MAX_MEMBERS 1024        /* RNICs of one ToR */
#define WIRE_MAX_REMOTES 65536       /* RNICs of other racks in one plan */
#define WIRE_MAX_ENTRIES 65536       /* planned pairs beside the mesh of the ToR */
#define WIRE_MAX_TARGETS 16384       /* of one agent */
#define WIRE_MAX_ROSTER 65536        /* addresses that a reflector answers */
#define WIRE_MAX_FLOWS 64            /* of one target */
#define WIRE_MAX_CLASSES 8           /* DSCPs of one target */
#define WIRE_MAX_SIZES 8             /* of one target */
#define WIRE_MAX_COUNTS 65536        /* rows of one receive-count report */
#define WIRE_MAX_COUNTER_VALUES 1024 /* of one RNIC */
#define WIRE_MAX_STALLS 64           /* of one heartbeat */
#define WIRE_MAX_LIVE 64             /* aggregators that one agent is connected to */
#define WIRE_KEY_BYTES 16
/* epochs whose keys a responder accepts at the same time */
#define WIRE_KEY_EPOCHS 3
#define WIRE_MAX_TORS 64 /* of one aggregator */
/* peers of one aggregator: its agents, and 128 others */
#define WIRE_MAX_VERSIONS 65664
#define WIRE_MAX_ROWS 65536            /* of one summary */
#define WIRE_MAX_ALIASES 16384         /* interface addresses in one plan */
#define WIRE_MAX_PATHS 4096            /* of one report */
#define WIRE_MAX_HOPS 8                /* of one path */
#define WIRE_MAX_JSON (8u << 20)       /* bytes of the answer to one drill-down */
#define WIRE_MAX_CABLES 128            /* cables of one host, or patterns for them */
#define WIRE_MAX_PLACE_AGGREGATORS 128 /* aggregators of the ToRs of one host */
#define WIRE_MAX_SERVICES 4096         /* service flows of one agent */
#define WIRE_MAX_QPN 0xffffffu         /* QP numbers have 24 bits */
#define WIRE_MAX_SL 15                 /* service levels have 4 bits */

enum wire_kind {
	WIRE_UNKNOWN = 0,
	WIRE_HELLO,    /* RMH1 from the peer that dials: its role and name */
	WIRE_WELCOME,  /* RMW1 the answer to a hello */
	WIRE_REGISTER, /* RMG1 agent -> aggregator -> controller: a host's RNICs */
	WIRE_BATCH,    /* RMB1 agent -> aggregator: probe results */
	/* RMK1 acknowledgement: the receiver is responsible for all messages up to
	 * seq */
	WIRE_ACK,
	WIRE_HEARTBEAT, /* RMT1 agent -> aggregator, every 250 ms */
	WIRE_COUNTS,    /* RMC1 agent -> aggregator: numbers of probes received */
	WIRE_PINGLIST,  /* RML1 aggregator -> agent */
	/* RMF1 aggregator -> agent: probe this pair faster for a short time */
	WIRE_FOCUS,
	/* RMQ1 aggregator -> agent, controller -> aggregator, aggregator <-> analyzer:
	   shows that the sender is alive. The peer's TCP must acknowledge the message.
	 */
	WIRE_PING,
	WIRE_PLAN,     /* RMP1 controller -> aggregator: one ToR's whole plan */
	WIRE_SUMMARY,  /* RMS1 aggregator -> analyzer */
	WIRE_INCIDENT, /* RMI1 aggregator -> analyzer */
	WIRE_PATHS,    /* RMX1 agent -> aggregator: traced paths */
	WIRE_BRAKE,    /* RMJ1 controller -> aggregator -> agent: limit on rates */
	WIRE_RESOLVE,  /* RMV1 agent -> aggregator -> controller: RNIC of an address */
	WIRE_RESOLVE_ANSWER, /* RMA1 the answer */
	WIRE_DRILL, /* RMD1 analyzer, controller -> aggregator: raw results of an RNIC
		     */
	WIRE_DRILL_ANSWER, /* RMN1 the answer */
	WIRE_SERVICES,     /* RMU1 agent -> aggregator: service flows on its RNICs */
	WIRE_JOIN,         /* RMO1 agent -> aggregator -> controller: other end of a QP;
			      the answer is a WIRE_RESOLVE_ANSWER */
	WIRE_TRACED,       /* RMY1 aggregator -> controller: traced paths of a rack */
	WIRE_KEYS,         /* RMZ1 controller -> aggregator -> agent: keys for probes */
	WIRE_STANDING,     /* RME1 between a ToR's two aggregators: which is active */
	WIRE_VERSIONS,     /* RMR1 aggregator -> controller: versions of its peers */
	WIRE_PLACE,        /* RMM1 agent -> controller: the ToRs of a host */
	WIRE_PLACE_ANSWER, /* RMm1 the answer */
	WIRE_COUNTER_REPORT, /* RMC2 agent -> aggregator: counters of RNICs */
};

/* The kind by the message's identifier. Nothing else is checked: use wire_open_X. */
enum wire_kind wire_kind_of(const uint8_t *data, size_t len);
/* True: the identifier is one of Rackmesh, but of an unknown kind, so the peer is
 * newer. Ignore and count the message; do not close the link. */
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
