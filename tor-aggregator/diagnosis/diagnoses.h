/*
 * diagnoses - applies the rules to each RNIC of a rack, and keeps the diagnoses that
 * stand, with their start times. Pure.
 *
 * The vmnics of ESXi hosts are included: they are not probed, but they send and receive
 * pauses. Ports of switches without an RNIC at the other end are included, too; only
 * the rules on links apply to them. The caller adds reports of counters, readings of
 * switches' ports, and counts of probes. At each interval all RNICs with recent reports
 * are judged together, because the state of one RNIC may explain that of another. A
 * diagnosis stands after its rule has held for the time that the rule requires, and
 * ends when the rule has not held for DIAGNOSES_QUIET_NS. A diagnosis alone raises no
 * alert.
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
/* The interval of judgements, and the default interval of agents' reports. */
#define DIAGNOSES_EVERY_NS (5 * RM_NS_PER_S)
#define DIAGNOSES_QUIET_NS (30 * RM_NS_PER_S)
/* A report that is older than this, and older than three of its intervals, is not used.
 */
#define DIAGNOSES_FRESH_NS (15 * RM_NS_PER_S)
/* The counters of a switch's port are used until the next reading is overdue: for one
 * and a half intervals, and until DIAGNOSES_PORT_NS after the interval began. Readings
 * with an interval above DIAGNOSES_PORT_LONGEST_NS are not used, because they do not
 * fit the present counters of hosts. */
#define DIAGNOSES_PORT_NS (25 * RM_NS_PER_S)
#define DIAGNOSES_PORT_LONGEST_NS (120 * RM_NS_PER_S)
#define DIAGNOSES_FORGET_NS (600 * RM_NS_PER_S)
/* After this time without a report of its agent, an RNIC takes no counters of its
 * switch's port any more. */
#define DIAGNOSES_SILENT_NS (60 * RM_NS_PER_S)
/* a share of losses is calculated from this number of probes on */
#define DIAGNOSES_MIN_PROBES 100
/* The same for the probes of one size: there are few large probes, and their rule
 * requires a larger share of losses. */
#define DIAGNOSES_MIN_SIZED_PROBES 40
/* A share of losses is used until there is a new one, but at most for this time: for an
 * RNIC with few probes, only some judgements have enough probes. */
#define DIAGNOSES_SHARE_NS (60 * RM_NS_PER_S)

/* "at 2026-01-31T12:00:00Z ", which precedes a sentence whose rule did not hold any
 * more at the last judgement. */
#define DIAGNOSES_AT_BYTES RM_WALL_TEXT

struct diagnoses;

struct diagnosis_finding {
	bool stands;
	/* the indicators that last showed the diagnosis can explain lost packets */
	bool loses;
	/* When the rule held first and last; first.ns 0: it does not hold, and has not
	 * held for DIAGNOSES_QUIET_NS. */
	rm_mono_t first, last;
	rm_wall_t since; /* wall-clock time of `first` */
	/* the evidence of the last judgement in which the rule held */
	char sentence[RULE_SENTENCE_BYTES];
};

struct diagnosed_port { /* the switch's port at the other end of the RNIC's cable */
	rm_mono_t at;   /* end of the last reading; 0: none yet */
	int64_t ns;     /* length of its interval */
	/* true: the reading was judged, so the next one replaces it; false: the next
	 * one is added */
	bool judged;
	unsigned cables; /* number of ports in the last reading: of a bond, several */
	/* only the SWITCH_* numbers, port, switch_ns and cables are set; of a bond,
	 * port is the first one in a reading */
	struct evidence counted;
};

enum diagnosed_kind {
	DIAGNOSED_RNIC,
	DIAGNOSED_VMNIC, /* a vmnic of an ESXi host, which has no id */
	/* a port of a switch, which has no id; host: name of the switch; device: the
	   port */
	DIAGNOSED_PORT,
};

/* totals since the first report; large probes are included in sent and lost */
struct probe_counts {
	uint64_t sent, lost, large_sent, large_lost;
};

struct probe_share {  /* share of probes that are lost */
	rm_mono_t at; /* ns 0: no share is known */
	double pct;
	uint64_t sent, lost; /* the numbers from which pct was calculated */
};

struct diagnosed { /* one RNIC */
	enum diagnosed_kind kind;
	struct wire_rnic_id id;
	char host[RM_NAME_BYTES], device[RM_NAME_BYTES];
	/* for DIAGNOSED_PORT: the neighbour; "": not known, or an RNIC */
	char neighbor[RM_NAME_BYTES];
	rm_mono_t reported;
	bool fresh; /* the last judgement included it */
	/* true: the report was judged, so the next one replaces it; false: the next one
	 * is added */
	bool judged;
	/* After a judgement it includes the evidence of the port. */
	struct evidence evidence;
	struct diagnosed_port port;
	/* results of the last judgement; valid if fresh */
	struct rule_result results[DIAGNOSES];
	struct diagnosis_finding findings[DIAGNOSES];
	/* The text that diagnoses_ports returns. */
	char explanation[RULE_SENTENCE_BYTES + DIAGNOSES_AT_BYTES];
	enum network_status network; /* result of the last judgement; only for RNICs */
	char network_text[RULE_SENTENCE_BYTES];
	bool probes_reported;
	struct probe_counts probes; /* as reported last */
	/* shares of the probes that are lost */
	struct probe_share all, small_size, large_size;
};

struct diagnoses_counts {
	uint64_t reports; /* number of reports, each on one RNIC */
	/* Refused reports: more than DIAGNOSES_MAX_RNICS, out of memory, or an interval
	 * that is too long. */
	uint64_t refused;
	uint64_t unknown_values; /* values of counters that only newer releases know */
};

struct diagnoses *diagnoses_new(rm_mono_t now);   /* NULL when out of memory */
void diagnoses_free(struct diagnoses *diagnoses); /* NULL is allowed */

/* Adds an agent's report on an RNIC. host, device: copied. */
void diagnoses_report(struct diagnoses *diagnoses, const char *host, const char *device,
    const struct wire_rnic_counters *counters, rm_mono_t now);
/* Adds the counters of a vmnic, by the last reading of its ESXi host. The evidence is
 * copied. */
void diagnoses_hypervisor(struct diagnoses *diagnoses, const char *host,
    const char *nic, const struct evidence *evidence, rm_mono_t now);
/* Adds the counters of the switch's port at the other end of the RNIC's cable: the
 * SWITCH_* numbers of evidence. at: time of the reading. If the RNIC has another port
 * in the same reading, as a bond has, what both ports carry is added
 * (evidence_add_cable). False: judge the port's own state by diagnoses_link, because it
 * is such a further port, or because the RNIC has no report for DIAGNOSES_SILENT_NS.
 * For DIAGNOSES_SILENT_NS after diagnoses_new, the port of an RNIC without a report is
 * not judged at all. */
bool diagnoses_port(struct diagnoses *diagnoses, struct wire_rnic_id id,
    const struct evidence *evidence, rm_mono_t at);
/* Adds the counters of a switch's port that is judged without an RNIC. The evidence
 * is copied. Ports for which no rule holds, or has held for DIAGNOSES_QUIET_NS, are not
 * stored. neighbor: copied; "": not known, or an RNIC. */
void diagnoses_link(struct diagnoses *diagnoses, const char *name, const char *neighbor,
    const struct evidence *evidence, rm_mono_t at);
/* Sets the totals of probes from and to the RNIC, except probes whose other RNIC is
 * itself at fault. The totals may restart at 0. */
void diagnoses_probes(struct diagnoses *diagnoses, struct wire_rnic_id id,
    const struct probe_counts *probes, rm_mono_t now);
void diagnoses_judge(struct diagnoses *diagnoses, rm_mono_t now, rm_wall_t wall);

struct diagnoses_turns {
	rm_mono_t began; /* start of this round */
	size_t next;
};

/* *ret: the rack that must be judged now. Each rack is judged once per
 * DIAGNOSES_EVERY_NS. Only one rack is judged per call, because a full rack takes some
 * milliseconds. False: no rack must be judged now. */
bool diagnoses_turn(
    struct diagnoses_turns *turns, size_t racks, rm_mono_t now, size_t *ret);

size_t diagnoses_rnics(const struct diagnoses *diagnoses); /* all three kinds */
/* Returns the number of RNICs and vmnics with reports, without ports. */
size_t diagnoses_reported(const struct diagnoses *diagnoses);
const struct diagnosed *diagnoses_rnic(const struct diagnoses *diagnoses, size_t i);
const struct diagnosed *diagnoses_find(
    const struct diagnoses *diagnoses, struct wire_rnic_id id); /* NULL: not known */
/* Writes a sentence with those standing diagnoses of the RNIC that can explain lost
 * probes. It has at most len bytes; parts that do not fit are left out. "": there are
 * none. */
void diagnoses_sentence(
    const struct diagnoses *diagnoses, struct wire_rnic_id id, char *out, size_t len);
/* Writes the ports of switches, with neighbours, whose counters can explain lost
 * probes: at most room rows. Returns their number. The rows borrow from diagnoses until
 * its next call. Ports of RNICs take no room: they are not on a link between
 * switches. */
size_t diagnoses_ports(
    struct diagnoses *diagnoses, struct wire_port_row *rows, size_t room);
const struct diagnoses_counts *diagnoses_counts(const struct diagnoses *diagnoses);

#endif
