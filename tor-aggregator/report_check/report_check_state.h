/*
 * report_check_state - what report_check.c, rack_words_told.c and rack_quarrels.c
 * share. No other file includes it.
 */
#ifndef TOR_AGGREGATOR_REPORT_CHECK_REPORT_CHECK_STATE_H
#define TOR_AGGREGATOR_REPORT_CHECK_REPORT_CHECK_STATE_H

#include "tor-aggregator/report_check/report_check.h"
#include "tor-aggregator/window/pair_table.h"

/* Of a pair's probes so many are a word; units: a decaying sum holds sixteenths. */
#define RACK_REPORT_UNIT 16

/* Windows: longer than a fault's onset takes to be seen from everywhere. */
#define RACK_NAMED_WINDOWS 12
#define RACK_ABSENT_WINDOWS 12

/* Windows since a host is back: none of them holds a time when it was away. */
#define RACK_BACK_WINDOWS 12

enum rack_report {            /* bits: what a host's RNICs say of one RNIC may differ */
	RACK_REPORT_GOOD = 1, /* hardly any is lost */
	RACK_REPORT_LOST = 2, /* a fifth at least */
	RACK_REPORT_DEAD = 4, /* nearly all; LOST is set too */
};

struct rack_observers {                             /* about one member */
	uint32_t own, own_good, own_lost, own_dead; /* of its own: targets */
	uint32_t own_counted;      /* of own_good: its targets count its probes, too */
	uint32_t good, lost, dead; /* of others: hosts, each of one mind */
};

struct rack_contradiction {  /* of one host's words, in this window */
	size_t src, dst;     /* the first of the pairs that it is about */
	uint64_t sent, lost; /* of those pairs, as it says, in units */
	uint32_t peers;      /* hosts that it says it does not reach, and others do */
	uint32_t counted;    /* of them those whose own counts say that it does */
	uint32_t observers;  /* that say the opposite about dst */
	uint32_t miscounts;  /* hosts of which fewer arrived than were answered */
	bool denies;         /* it says it reaches dst, and nobody else does */
};

struct rack_miscount { /* the first of a host: what src and dst say of src's probes */
	size_t src, dst;
	uint64_t answered, arrived; /* in units */
};

struct rack_host_words { /* of one host, from window to window */
	struct rack_contradiction now, reported;
	struct rack_miscount miscount;
	unsigned windows, absent; /* it was contradicted, was not since it was named */
	unsigned away;            /* it was, so many windows are to pass yet */
	bool named;
	rm_wall_t since; /* start of the first window; ns 0: none */
};

struct rack_quarrel {    /* of two hosts, about the pair of members that was first */
	size_t src, dst; /* members */
	uint64_t sent, lost;  /* as src says, in units */
	bool both_directions; /* dst says the same of src */
	bool counts;          /* more of sent were answered than arrived, they say */
	bool seen, reported;  /* in this window */
	unsigned windows, absent; /* in a row */
	rm_wall_t since;
};

struct report_check {
	/* Directed pairs, outcomes as decaying sums, arrived what dst counted of them
	 * beyond what src calls answered, newest_sent the windows since a probe; the
	 * other one is scratch. */
	struct pair_table reported[2];
	unsigned current;
	uint8_t *reports; /* by host and member: enum rack_report bits */
	struct rack_observers *observers; /* by member */
	struct rack_host_words *hosts;
	uint8_t *against; /* by host and host: enum rack_against bits */
	struct rack_quarrel *quarrels;
	size_t quarrel_count; /* at most as many as hosts; others wait */
	size_t member_count, host_count;
	struct window_pair *accepted;
	size_t accepted_size;
	bool any_named;
	bool counts_differ; /* for more of them than may lie: no lie */
};

enum rack_against { RACK_ACCUSES = 1, RACK_COUNTED = 2, RACK_MISCOUNTS = 4 };

/* Seen in this window; what src, dst, sent, lost and the two reasons are is in *seen.
 */
void rack_quarrels_note(struct report_check *check, const struct rack *rack,
    const struct rack_quarrel *seen);

/* After hosts have their names: who is named quarrels no more. */
void rack_quarrels_age(
    struct report_check *check, const struct rack *rack, rm_wall_t start);

/* At most `room` verdicts; returns how many. suspects: see report_check_judge. */
size_t rack_quarrels_judge(const struct report_check *check, const struct rack *rack,
    const struct rack_suspect_memory *suspects, struct rm_verdict *verdicts,
    size_t room);

struct rm_evidence;

/* That a member is well, if others say so. */
void report_check_rule_out(const struct report_check *check, const struct rack *rack,
    size_t member, struct rm_evidence *evidence);

#endif
