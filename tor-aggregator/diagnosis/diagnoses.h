/*
 * diagnoses - the diagnoses of each RNIC of a rack by the rules, with their start
 * times. Pure.
 *
 * A vmnic of an ESXi host is included, too: it is not probed, but it pauses others, and
 * others pause it. So is a switch's port without an RNIC behind it: only the rules of
 * links are applied to it. It takes reports of counters, of switches' ports, and
 * figures of probes; at every interval all RNICs with recent reports are judged
 * together, because one explains another. A diagnosis stands once its rule has held for
 * the time that the rule requires, until it has not held for DIAGNOSES_QUIET_NS. A
 * diagnosis alone raises no alert.
 */
#ifndef TOR_AGGREGATOR_DIAGNOSIS_DIAGNOSES_H
#define TOR_AGGREGATOR_DIAGNOSIS_DIAGNOSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/judge/part.h"
#include "schemas/wire.h"
#include "tor-aggregator/diagnosis/evidence.h"
#include "tor-aggregator/diagnosis/network_status.h"
#include "tor-aggregator/diagnosis/rules.h"

#define DIAGNOSES_MAX_RNICS WIRE_MAX_MEMBERS
/* The default interval of agents' reports. */
#define DIAGNOSES_EVERY_NS (5 * RM_NS_PER_S)
#define DIAGNOSES_QUIET_NS (30 * RM_NS_PER_S)
/* Reports older than this, and than three of their intervals, are not judged. */
#define DIAGNOSES_FRESH_NS (15 * RM_NS_PER_S)
/* The counters of a switch's port are used until the next reading is overdue: for
 * one and a half intervals, and until DIAGNOSES_PORT_NS after the interval began.
 * Readings with a longer interval say nothing about the present counters of hosts. */
#define DIAGNOSES_PORT_NS (25 * RM_NS_PER_S)
#define DIAGNOSES_PORT_LONGEST_NS (120 * RM_NS_PER_S)
#define DIAGNOSES_FORGET_NS (600 * RM_NS_PER_S)
#define DIAGNOSES_MIN_PROBES 100 /* for a share of losses */
/* For one size: there are few large probes, and their rule requires a larger share. */
#define DIAGNOSES_MIN_SIZED_PROBES 40
/* A share counts until the next one, or until it is older than this: an RNIC with
 * few probes gets a share only at some judgements. */
#define DIAGNOSES_SHARE_NS (60 * RM_NS_PER_S)

/* "at 2026-01-31T12:00:00Z ", before a sentence that held no more at the last
 * judgement. */
#define DIAGNOSES_AT_BYTES RM_WALL_TEXT

struct diagnoses;

struct diagnosis_finding {
	bool stands;
	bool loses; /* what showed it last can lose packets */
	/* When it held; first.ns 0: it does not hold, and did not lately. */
	rm_mono_t first, last;
	rm_wall_t since;                    /* of first */
	char sentence[RULE_SENTENCE_BYTES]; /* of last */
};

struct diagnosed_port { /* the switch's port at the other end of the RNIC's cable */
	rm_mono_t at;   /* end of the last reading; 0: none yet */
	int64_t ns;     /* its interval */
	bool judged;    /* the next reading replaces it; until then readings add up */
	struct evidence counted; /* the SWITCH_* numbers, port and switch_ns */
};

enum diagnosed_kind {
	DIAGNOSED_RNIC,
	DIAGNOSED_VMNIC, /* of an ESXi host; has no id, as the next one */
	DIAGNOSED_PORT,  /* host: its switch; device: the port */
};

struct probe_counts { /* since the first count; large: included in both others */
	uint64_t sent, lost, large_sent, large_lost;
};

struct probe_share {  /* share of probes that are lost */
	rm_mono_t at; /* 0: none is known */
	double pct;
	uint64_t sent, lost; /* as reported with it */
};

struct diagnosed { /* one RNIC */
	enum diagnosed_kind kind;
	struct wire_rnic_id id;
	char host[RM_NAME_BYTES], device[RM_NAME_BYTES];
	char neighbor[RM_NAME_BYTES]; /* of DIAGNOSED_PORT: the neighbour, or "" */
	rm_mono_t reported;
	bool fresh;  /* it was judged the last time */
	bool judged; /* the next report replaces it; until then reports add up */
	/* Together with that of its port once it was judged. */
	struct evidence evidence;
	struct diagnosed_port port;
	struct rule_result results[DIAGNOSES]; /* of it, if fresh */
	struct diagnosis_finding findings[DIAGNOSES];
	/* The finding that diagnoses_ports tells of. */
	char explanation[RULE_SENTENCE_BYTES + DIAGNOSES_AT_BYTES];
	enum network_status network; /* as judged last, of an RNIC */
	char network_text[RULE_SENTENCE_BYTES];
	bool probes_reported;
	struct probe_counts probes;                     /* as reported last */
	struct probe_share all, small_size, large_size; /* of the probes */
};

struct diagnoses_counts {
	uint64_t reports; /* of one RNIC each */
	/* Reports refused: RNICs beyond DIAGNOSES_MAX_RNICS, no memory, or an
	 * endless interval. */
	uint64_t refused;
	uint64_t unknown_values; /* of counters that only a newer agent knows */
};

struct diagnoses *diagnoses_new(void);            /* NULL when out of memory */
void diagnoses_free(struct diagnoses *diagnoses); /* NULL is allowed */

/* host, device: borrowed. */
void diagnoses_report(struct diagnoses *diagnoses, const char *host, const char *device,
    const struct wire_rnic_counters *counters, rm_mono_t now);
/* Takes the counters of a vmnic in the last reading of its host; the evidence is
 * copied, and added to readings that are not judged yet. */
void diagnoses_hypervisor(struct diagnoses *diagnoses, const char *host,
    const char *nic, const struct evidence *evidence, rm_mono_t now);
/* Takes the counters of the switch's port at the other end of the RNIC's cable: the
 * SWITCH_* numbers of evidence, added to readings that are not judged yet. Ignored
 * for an RNIC without any report. */
void diagnoses_port(struct diagnoses *diagnoses, struct wire_rnic_id id,
    const struct evidence *evidence, rm_mono_t at);
/* Takes the counters of a switch's port without an RNIC in the last reading; the
 * evidence is copied, and added to readings that are not judged yet. Ports for which
 * no rule holds, or held lately, are left out. neighbor: borrowed; "": not known. */
void diagnoses_link(struct diagnoses *diagnoses, const char *name, const char *neighbor,
    const struct evidence *evidence, rm_mono_t at);
/* Takes the totals of its own probes and of those to it, without those whose other
 * end is at fault itself; they may restart. */
void diagnoses_probes(struct diagnoses *diagnoses, struct wire_rnic_id id,
    const struct probe_counts *probes, rm_mono_t now);
void diagnoses_judge(struct diagnoses *diagnoses, rm_mono_t now, rm_wall_t wall);

struct diagnoses_turns {
	rm_mono_t began; /* of this round */
	size_t next;
};

/* Selects the rack to judge now: one at a time, as a full one takes some
 * milliseconds, and each once in DIAGNOSES_EVERY_NS. False: none. */
bool diagnoses_turn(
    struct diagnoses_turns *turns, size_t racks, rm_mono_t now, size_t *ret);

size_t diagnoses_rnics(const struct diagnoses *diagnoses);    /* all three kinds */
size_t diagnoses_reported(const struct diagnoses *diagnoses); /* without them */
const struct diagnosed *diagnoses_rnic(const struct diagnoses *diagnoses, size_t i);
const struct diagnosed *diagnoses_find(
    const struct diagnoses *diagnoses, struct wire_rnic_id id); /* or NULL */
/* The standing diagnoses of this RNIC that can explain why probes are lost, as a
 * sentence of at most len bytes, cut between its parts; "": nothing. */
void diagnoses_sentence(
    const struct diagnoses *diagnoses, struct wire_rnic_id id, char *out, size_t len);
/* The ports of switches, with a neighbour, whose counters can explain why probes are
 * lost; at most room of them. They borrow from diagnoses, until its next call. */
size_t diagnoses_ports(
    struct diagnoses *diagnoses, struct wire_port_row *rows, size_t room);
const struct diagnoses_counts *diagnoses_counts(const struct diagnoses *diagnoses);

#endif
