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
	RM_KIND_RNIC_DOWN = 1, /* it neither sends nor receives */
	/* it receives packets; the packets that it sends do not arrive */
	RM_KIND_RNIC_SEND_DEAD,
	/* it sends packets; the packets that are sent to it do not arrive */
	RM_KIND_RNIC_RECEIVE_DEAD,
	RM_KIND_RNIC_LOSSY,
	RM_KIND_HOST_DOWN,  /* no address of it answers, on any network */
	RM_KIND_AGENT_DOWN, /* the agent's session was reset: its process has ended */
	/* the agent sends no heartbeat, but the host's kernel acknowledges TCP data */
	RM_KIND_AGENT_FROZEN,
	/* this daemon cannot reach the host, but its RNICs answer probes */
	RM_KIND_MANAGEMENT_DOWN,
	/* all RNICs of the rack fail: the ToR or all its uplinks are at fault */
	RM_KIND_TOR_DOWN,
	RM_KIND_LINK_DOWN, /* no packet passes the link, in one direction or both */
	RM_KIND_LINK_LOSSY,
	RM_KIND_SWITCH_DOWN,
	RM_KIND_SWITCH_LOSSY,
	/* for a link or switch: it loses all packets of some flows, and none of other
	   flows */
	RM_KIND_FLOWS_BLACKHOLED,
	/* packets between two racks are lost, and no single part explains it */
	RM_KIND_PATH_LOSSY,
	/* no agent of the rack reports: the state of the rack is unknown */
	RM_KIND_RACK_BLIND,
	RM_KIND_AGGREGATOR_DOWN,  /* the aggregator sends nothing to the analyzer */
	RM_KIND_REGION_BLIND,     /* no aggregator of the region reports */
	RM_KIND_RNIC_MTU,         /* the RNIC loses large packets, but no small ones */
	RM_KIND_RNIC_SEND_FAILED, /* the host cannot send through the RNIC */
	/* two or more other agents report the opposite of what this agent reports */
	RM_KIND_AGENT_CONTRADICTED,
	/* "A or B": one of the two RNICs is at fault, or the path between them */
	RM_KIND_PAIR_CONTRADICTED,
	/* the certificate of a daemon expires soon: then its peers refuse it */
	RM_KIND_CERTIFICATE_ENDING,
	RM_KIND_CLASS_REWRITTEN, /* packets arrive with another DSCP than was sent */
	/* the port of the RNIC goes down and comes up, again and again */
	RM_KIND_RNIC_FLAPPING,
	RM_KIND_RNIC_LATE, /* packets that pass the RNIC arrive far too late */
	RM_KIND_LINK_LATE,
	RM_KIND_SWITCH_LATE,
	/* packets between two racks arrive late, and no single part explains it */
	RM_KIND_PATH_LATE,
	/* for a switch: several of its links, not all, are at fault together, and some
	   of these links carry nothing */
	RM_KIND_LINKS_DOWN,
	/* the same, and each of these links loses only a share of the packets */
	RM_KIND_LINKS_LOSSY,
	RM_KINDS
};

/* Which packets of an RNIC are lost: those sent to it, or those that it sends. */
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
/* True: the kind is about several links of one switch, which evidence.links lists. */
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

/* Counts of one-way legs: a probe is a leg to the target and, if it arrived, its reply
 * is a leg back. */
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
	/* for a verdict on "A or B": the part that is known to be at fault; "": not
	 * known yet */
	char narrowed[RM_PART_NAME_BYTES];
	/* For a kind of several links: the names of the links at fault, as many as fit;
	 * how many of all links at fault carry no packet, and how many lose a share;
	 * how many links the switch has (0: unknown). */
	char links[RM_LINKS_BYTES];
	unsigned links_down, links_lossy, links_of;
	/* For an incident that opened on one link: the switch or ToR, if more of its
	 * links have the same fault; "": only this link is at fault. */
	char widened[RM_NAME_BYTES];
	bool widened_is_tor;
	/* For a link that loses packets in one direction only: this direction leads
	 * from lost_from to lost_to. Both are "" if packets are lost in both
	 * directions, or it is not known in which. */
	char lost_from[RM_NAME_BYTES], lost_to[RM_NAME_BYTES];
	int64_t window_ns;
	rm_wall_t window_start; /* start of the first window with the fault */
	int64_t late_ns; /* by how much later than usual that window was judged */
	unsigned peers;  /* distinct RNICs whose probes are evidence */
	enum rm_direction direction; /* direction of the packets that an RNIC loses */
	bool one_class;              /* only packets with this DSCP are lost */
	/* for a part that delays packets: the sentence names its losses, too */
	bool loses_too;
	uint8_t dscp;
	/* probes of the services that use the part, as round trips */
	struct rm_leg_counts service_probes;
	enum rm_impact impact;
	/* the services that use the part, "pod:a, pod:b" */
	char services[RM_EVIDENCE_TEXT];
	struct rm_leg_counts to_part, from_part; /* legs with the other members */
	struct rm_leg_counts
	    outside; /* the part's own probes that leave the rack, in both directions */
	struct rm_leg_counts others; /* legs of the rack that do not touch the part */
	/* for hosts and agents: what was observed, as text */
	char observed[RM_EVIDENCE_TEXT];
	char counters[RM_EVIDENCE_TEXT]; /* evidence of the counters of an RNIC, or of
					    the ports of a link; or "" */
	rm_wall_t counters_at; /* time of the last judgement with these counters; 0:
				  unknown */
	/* the counters are from an earlier judgement than this one */
	bool counters_old;
	struct rm_evidence_sample samples[RM_EVIDENCE_SAMPLES];
	size_t sample_count;
	char ruled_out[RM_EVIDENCE_RULED_OUT][RM_EVIDENCE_TEXT];
	size_t ruled_out_count;
};

struct rm_verdict {
	struct rm_part part;
	struct rm_rnic_id rnic; /* the RNIC that is at fault; guid 0 for other parts */
	enum rm_kind kind;
	double confidence; /* 0 .. 1 */
	struct rm_evidence evidence;
};

/* One sentence for a person, with the figures. It is cut to fit and always terminated.
 */
#define RM_SENTENCE_BYTES (RM_PART_NAME_BYTES + 320)
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
