/*
 * report_check_state - shared by report_check.c, report_check_evidence.c and
 * rack_quarrels.c. No other file includes it.
 */
#ifndef TOR_AGGREGATOR_REPORT_CHECK_REPORT_CHECK_STATE_H
#define TOR_AGGREGATOR_REPORT_CHECK_REPORT_CHECK_STATE_H

#include "tor-aggregator/report_check/report_check.h"
#include "tor-aggregator/window/pair_table.h"

/* The unit of sums that decay: 1/16 of a probe. */
#define RACK_REPORT_UNIT 16

/* Numbers of windows that are longer than the time until all hosts have noticed the
 * beginning of a fault. */
#define RACK_NAMED_WINDOWS 12
#define RACK_ABSENT_WINDOWS 12

/* After this many windows since a host has returned, no window includes time in which
 * the host was away. */
#define RACK_BACK_WINDOWS 12

/* the values are bits, because the RNICs of a host may report differently about an RNIC
 */
enum rack_report {
	RACK_REPORT_GOOD = 1, /* hardly any probe is lost */
	RACK_REPORT_LOST = 2, /* at least a fifth of the probes is lost */
	RACK_REPORT_DEAD = 4, /* nearly all probes are lost; LOST is set, too */
};

/* the reports of hosts about one member */
struct rack_observers {
	/* from its own reports: number of targets, and of targets that it reports as
	 * reached, lost and dead */
	uint32_t own, own_good, own_lost, own_dead;
	/* part of own_good: targets that also count the member's probes */
	uint32_t own_counted;
	/* from the reports of others: number of hosts that report only this state */
	uint32_t good, lost, dead;
};

struct rack_contradiction { /* a contradiction of one host, in this window */
	size_t src, dst;    /* the first of the contradicted pairs */
	/* probes of those pairs, as the host reports them; in units */
	uint64_t sent, lost;
	/* hosts that it reports as lost, although others reach them */
	uint32_t peers;
	uint32_t counted;   /* number of the peers that count this host's probes */
	uint32_t observers; /* number of hosts that report the opposite about dst */
	/* number of hosts whose probes this host counts as fewer than were answered */
	uint32_t miscounts;
	bool reaches_alone; /* it reports that it reaches dst, and no other host does */
};

/* the first miscount of a host: what src and dst report about src's probes */
struct rack_miscount {
	size_t src, dst;
	uint64_t answered, arrived; /* in units */
};

struct rack_host_check { /* the checks of one host, over several windows */
	struct rack_contradiction now, reported;
	struct rack_miscount miscount;
	/* windows: windows with a contradiction; absent: windows without one since the
	 * host was named */
	unsigned windows, absent;
	unsigned away; /* windows to wait after the host was away */
	bool named;
	/* start of the first window with a contradiction; ns 0: none */
	rm_wall_t since;
};

struct rack_quarrel {         /* two hosts whose reports contradict each other */
	size_t src, dst;      /* members */
	uint64_t sent, lost;  /* probes, as src reports them; in units */
	bool both_directions; /* dst reports the same about src */
	bool counts; /* the contradiction: dst counts fewer probes than were answered */
	bool seen, reported; /* in this window */
	/* windows: successive windows with it; absent: windows without it */
	unsigned windows, absent;
	rm_wall_t since;
};

struct report_check {
	/* Directed pairs: outcomes as decaying sums, arrived: the probes that dst
	 * counted beyond those that src reports as answered, newest_sent: the
	 * windows since the last probe; the other table is scratch memory. */
	struct pair_table reported[2];
	unsigned current;
	uint8_t *reports; /* for each host and member: bits of enum rack_report */
	struct rack_observers *observers; /* by member */
	struct rack_host_check *hosts;
	uint8_t *against; /* for each host and host: bits of enum rack_against */
	struct rack_quarrel *quarrels;
	size_t quarrel_count; /* at most host_count; further ones are ignored */
	size_t member_count, host_count;
	struct window_pair *accepted;
	size_t accepted_size;
	bool any_named;
	/* more hosts count differently than may be wrong: then no count is taken as
	 * false */
	bool counts_differ;
};

enum rack_against { RACK_REPORTS_LOSS = 1, RACK_COUNTED = 2, RACK_MISCOUNTS = 4 };

/* Adds a quarrel of this window, or updates it. *seen: src, dst, sent, lost,
 * both_directions and counts are used. */
void rack_quarrels_note(struct report_check *check, const struct rack *rack,
    const struct rack_quarrel *seen);

/* Call it after hosts are named: a named host has no quarrels any more. */
void rack_quarrels_age(
    struct report_check *check, const struct rack *rack, rm_wall_t start);

/* Writes at most `room` verdicts, and returns their number. suspects: see
 * report_check_judge. */
size_t rack_quarrels_judge(const struct report_check *check, const struct rack *rack,
    const struct rack_suspect_memory *suspects, struct rm_verdict *verdicts,
    size_t room);

struct rm_evidence;

/* Adds to the evidence that a member is healthy, if others report that. */
void report_check_rule_out(const struct report_check *check, const struct rack *rack,
    size_t member, struct rm_evidence *evidence);

#endif
