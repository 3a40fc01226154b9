/*
 * verdict - the output of a judgement: part, kind, confidence, evidence.
 *
 * An operator can check the evidence: counts by direction, the window, sample probes,
 * and the parts that were ruled out, with reasons.
 */
#ifndef RACKMESH_JUDGE_VERDICT_H
#define RACKMESH_JUDGE_VERDICT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/judge/links.h"
#include "rackmesh/judge/part.h"

enum rm_kind {
	RM_KIND_RNIC_DOWN = 1,     /* neither sends nor receives */
	RM_KIND_RNIC_SEND_DEAD,    /* receives packets; those it sends do not arrive */
	RM_KIND_RNIC_RECEIVE_DEAD, /* sends packets; those sent to it do not arrive */
	RM_KIND_RNIC_LOSSY,
	RM_KIND_HOST_DOWN,       /* no address of it answers, on any network */
	RM_KIND_AGENT_DOWN,      /* its session was reset: the process is gone */
	RM_KIND_AGENT_FROZEN,    /* no heartbeat, but its kernel acknowledges */
	RM_KIND_MANAGEMENT_DOWN, /* this daemon cannot reach it, but it answers probes
				  */
	RM_KIND_TOR_DOWN,        /* all of the rack fails: its ToR or all uplinks */
	RM_KIND_LINK_DOWN,       /* no packet passes it, in one direction or both */
	RM_KIND_LINK_LOSSY,
	RM_KIND_SWITCH_DOWN,
	RM_KIND_SWITCH_LOSSY,
	RM_KIND_FLOWS_BLACKHOLED, /* of a link or switch: it loses all packets of some
				   * flows, and none of others */
	RM_KIND_PATH_LOSSY,       /* between two racks: no single part explains it */
	RM_KIND_RACK_BLIND,       /* none of its agents reports: its state is unknown */
	RM_KIND_AGGREGATOR_DOWN,  /* sends nothing to the analyzer */
	RM_KIND_REGION_BLIND,     /* none of its aggregators reports */
	RM_KIND_RNIC_MTU,         /* loses large packets, but no small ones */
	RM_KIND_RNIC_SEND_FAILED, /* its host cannot send through it */
	RM_KIND_AGENT_CONTRADICTED, /* two or more other agents report the opposite */
	RM_KIND_PAIR_CONTRADICTED, /* "A or B": one of them, or the path between them */
	RM_KIND_CERTIFICATE_ENDING, /* of a daemon: its peers will refuse it afterwards
				     */
	RM_KIND_CLASS_REWRITTEN,    /* packets arrive with another DSCP than was sent */
	RM_KIND_RNIC_FLAPPING, /* its port goes down and comes up, again and again */
	RM_KIND_RNIC_LATE,     /* packets that pass it arrive far too late */
	RM_KIND_LINK_LATE,
	RM_KIND_SWITCH_LATE,
	RM_KIND_PATH_LATE,   /* between two racks: no single part explains it */
	RM_KIND_LINKS_DOWN,  /* of a switch: several of its links, not all, are at fault
			      * together, and some of these carry nothing */
	RM_KIND_LINKS_LOSSY, /* the same, and each of them loses only a share */
	RM_KINDS
};

/* Of an RNIC's packets: those sent to it, or those it sends. */
enum rm_direction {
	RM_DIRECTION_UNKNOWN,
	RM_DIRECTION_RECEIVE,
	RM_DIRECTION_SEND,
	RM_DIRECTION_BOTH,
	RM_DIRECTIONS
};

const char *rm_direction_str(
    enum rm_direction direction);           /* "", "receive", "send", "both" */
const char *rm_kind_str(enum rm_kind kind); /* "rnic-down", "rnic-send-dead", ... */
/* A kind of several links of one switch, which evidence.links lists. */
bool rm_kind_is_links(enum rm_kind kind);

/* P0: a service that uses the part loses probes. P1: a service uses the part. P2: no
 * service uses it. */
enum rm_impact {
	RM_IMPACT_UNKNOWN,
	RM_IMPACT_P0,
	RM_IMPACT_P1,
	RM_IMPACT_P2,
	RM_IMPACTS
};

const char *rm_impact_str(enum rm_impact impact); /* "unknown", "P0", ... */
/* False: no such impact. */
bool rm_impact_parse(const char *text, enum rm_impact *ret);

#define RM_EVIDENCE_TEXT 200

struct rm_evidence_sample {
	char from[2 * RM_NAME_BYTES], to[2 * RM_NAME_BYTES]; /* "host/device" */
	uint16_t src_port;
	uint16_t size_bytes;
	uint8_t dscp;
	uint32_t seq;
	char outcome[24];
	char path[RM_EVIDENCE_TEXT]; /* "t1 spine1@address t2@address"; "": not known */
};

/* One-way legs: a probe is a leg out and, if it arrived, its reply a leg back. */
struct rm_leg_counts {
	uint64_t sent, arrived;
};

/* True: packets inside the rack do not arrive either, so the uplinks alone cannot be
 * the cause of a ToR that is down. Some may arrive, because a window begins before the
 * fault. */
bool rm_tor_fails_inside(const struct rm_leg_counts *inside);

#define RM_EVIDENCE_SAMPLES 10
#define RM_EVIDENCE_RULED_OUT 4

struct rm_evidence {
	char narrowed[RM_PART_NAME_BYTES]; /* of "A or B": the one that it is; "": not
					      known yet */
	/* Of a kind of several links: those at fault, as many as fit; how many of these
	 * carry nothing and lose a share; how many links the switch has (0: unknown).
	 */
	char links[RM_LINKS_BYTES];
	unsigned links_down, links_lossy, links_of;
	/* Of an incident that opened on one link: the switch that has more links with
	 * the same fault; "": this link alone is at fault. */
	char widened[RM_NAME_BYTES];
	int64_t window_ns;
	rm_wall_t window_start; /* of the first window with the fault */
	int64_t late_ns; /* by how much later than usual that window was judged */
	unsigned peers;  /* distinct RNICs whose probes are evidence */
	enum rm_direction direction; /* of the packets that an RNIC loses */
	bool one_class;              /* only packets with this DSCP are lost */
	bool loses_too; /* of a late part: the sentence names its losses, too */
	uint8_t dscp;
	struct rm_leg_counts service_probes; /* with the part, round trips */
	enum rm_impact impact;
	char services[RM_EVIDENCE_TEXT];         /* that use the part, "pod:a, pod:b" */
	struct rm_leg_counts to_part, from_part; /* legs with the other members */
	struct rm_leg_counts
	    outside;                 /* its own probes that leave the rack, both ways */
	struct rm_leg_counts others; /* legs of the rack that do not touch the part */
	char observed[RM_EVIDENCE_TEXT]; /* of hosts and agents: what was observed, as
					    text */
	char counters[RM_EVIDENCE_TEXT]; /* evidence of the counters of an RNIC, or of
					    the ports of a link; or "" */
	rm_wall_t
	    counters_at;   /* of the last judgement with these counters; 0: unknown */
	bool counters_old; /* an earlier judgement than this one */
	struct rm_evidence_sample samples[RM_EVIDENCE_SAMPLES];
	size_t sample_count;
	char ruled_out[RM_EVIDENCE_RULED_OUT][RM_EVIDENCE_TEXT];
	size_t ruled_out_count;
};

struct rm_verdict {
	struct rm_part part;
	struct rm_rnic_id rnic; /* for RNICs; guid 0 else */
	enum rm_kind kind;
	double confidence; /* 0 .. 1 */
	struct rm_evidence evidence;
};

/* One sentence for a person, with the figures. Cut to fit, always terminated. */
#define RM_SENTENCE_BYTES 640
void rm_verdict_sentence(const struct rm_verdict *verdict, char *out, size_t len);

/* Fills a verdict on a daemon whose certificate expires at ends_s, in wall-clock
 * seconds. The caller fills the window. */
void rm_verdict_certificate(struct rm_verdict *verdict, enum rm_part_type daemon,
    const char *name, int64_t ends_s);

/* "P1: pod:a, pod:b", "unknown". */
void rm_verdict_impact(const struct rm_verdict *verdict, char *out, size_t len);

json_t *rm_verdict_json(
    const struct rm_verdict *verdict); /* new reference; NULL: no memory */

#endif
