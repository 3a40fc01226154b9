/*
 * report_check_state - shared by report_check.c, report_check_evidence.c and
 * rack_quarrels.c. No other file includes it.
 */
#ifndef TOR_AGGREGATOR_REPORT_CHECK_REPORT_CHECK_STATE_H
#define TOR_AGGREGATOR_REPORT_CHECK_REPORT_CHECK_STATE_H

#include "tor-aggregator/report_check/report_check.h"
#include "tor-aggregator/window/pair_table.h"

/* So many probes of a pair make a report; in units of a sixteenth, as decaying sums
 * have. */
#define RACK_REPORT_UNIT 16

/* Windows: longer than it takes until all hosts see the start of a fault. */
#define RACK_NAMED_WINDOWS 12
#define RACK_ABSENT_WINDOWS 12

/* Windows since a host is back: none of them includes a time when it was away. */
#define RACK_BACK_WINDOWS 12

enum rack_report { /* bits: the reports of a host's RNICs about one RNIC may differ */
	RACK_REPORT_GOOD = 1, /* hardly any is lost */
	RACK_REPORT_LOST = 2, /* at least a fifth is lost */
	RACK_REPORT_DEAD = 4, /* nearly all is lost; LOST is set too */
};

struct rack_observers {                             /* about one member */
	uint32_t own, own_good, own_lost, own_dead; /* in its own reports: targets */
	uint32_t own_counted; /* part of own_good: targets that count its probes, too */
	/* In reports of others: hosts with only that opinion. */
	uint32_t good, lost, dead;
};

struct rack_contradiction {  /* by the reports of one host, in this window */
	size_t src, dst;     /* the first of the contradicted pairs */
	uint64_t sent, lost; /* of those pairs, as it reports, in units */
	uint32_t peers;     /* hosts that it reports not to reach, although others do */
	uint32_t counted;   /* those of them whose counts show that it does */
	uint32_t observers; /* hosts that report the opposite about dst */
	uint32_t miscounts; /* hosts of which fewer probes arrived than were answered */
	bool reaches_alone; /* it reports to reach dst, and no other host does */
};

struct rack_miscount { /* the first of a host: what src and dst report of src's probes
			*/
	size_t src, dst;
	uint64_t answered, arrived; /* in units */
};

struct rack_host_check { /* of one host, from window to window */
	struct rack_contradiction now, reported;
	struct rack_miscount miscount;
	unsigned windows, absent; /* windows with a contradiction; windows without one
				     since it was named */
	unsigned away;            /* it was away; windows left to wait */
	bool named;
	rm_wall_t since; /* start of the first window; ns 0: none */
};

struct rack_quarrel { /* between two hosts, about the pair of members that was first */
	size_t src, dst;      /* members */
	uint64_t sent, lost;  /* as src reports, in units */
	bool both_directions; /* dst reports the same about src */
	bool counts; /* by the counts, fewer probes arrived than were answered */
	bool seen, reported;      /* in this window */
	unsigned windows, absent; /* in a row */
	rm_wall_t since;
};

struct report_check {
	/* Directed pairs: outcomes as decaying sums, arrived: the probes that dst
	 * counted beyond those that src reports as answered, newest_sent: the
	 * windows since the last probe; the other table is scratch memory. */
	struct pair_table reported[2];
	unsigned current;
	uint8_t *reports; /* by host and member: enum rack_report bits */
	struct rack_observers *observers; /* by member */
	struct rack_host_check *hosts;
	uint8_t *against; /* by host and host: enum rack_against bits */
	struct rack_quarrel *quarrels;
	size_t quarrel_count; /* at most as many as hosts; others are left out */
	size_t member_count, host_count;
	struct window_pair *accepted;
	size_t accepted_size;
	bool any_named;
	bool counts_differ; /* for more of them than may be wrong: then no report is
			       false */
};

enum rack_against { RACK_REPORTS_LOSS = 1, RACK_COUNTED = 2, RACK_MISCOUNTS = 4 };

/* Notes a quarrel seen in this window; *seen has src, dst, sent, lost and the two
 * reasons. */
void rack_quarrels_note(struct report_check *check, const struct rack *rack,
    const struct rack_quarrel *seen);

/* Call it after hosts are named: a named host has no quarrels any more. */
void rack_quarrels_age(
    struct report_check *check, const struct rack *rack, rm_wall_t start);

/* At most `room` verdicts; returns how many. suspects: see report_check_judge. */
size_t rack_quarrels_judge(const struct report_check *check, const struct rack *rack,
    const struct rack_suspect_memory *suspects, struct rm_verdict *verdicts,
    size_t room);

struct rm_evidence;

/* Adds that a member is healthy, if others report it. */
void report_check_rule_out(const struct report_check *check, const struct rack *rack,
    size_t member, struct rm_evidence *evidence);

#endif
