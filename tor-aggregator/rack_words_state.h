/*
 * rack_words_state - what rack_words.c, rack_contradicted.c and rack_believed.c share;
 * nobody else's business.
 */
#ifndef TOR_AGGREGATOR_RACK_WORDS_STATE_H
#define TOR_AGGREGATOR_RACK_WORDS_STATE_H

#include "tor-aggregator/pair_table.h"
#include "tor-aggregator/rack_words.h"

/* Of a pair's probes so many are a word; units: a decaying sum holds sixteenths. */
#define RACK_WORD_UNIT 16

enum rack_word {            /* bits: what a host's RNICs say of one RNIC may differ */
	RACK_WORD_GOOD = 1, /* hardly any is lost */
	RACK_WORD_LOST = 2, /* a fifth at least */
	RACK_WORD_DEAD = 4, /* nearly all; LOST is set too */
};

struct rack_voices {                                /* about one member */
	uint32_t own, own_good, own_lost, own_dead; /* of its own: targets */
	uint32_t good, lost, dead; /* of others: hosts, each of one mind */
};

struct rack_contradiction {  /* of one host's words, in this window */
	size_t src, dst;     /* the first of the pairs that it is about */
	uint64_t sent, lost; /* of those pairs, as it says, in units */
	uint32_t peers;      /* hosts that it says it does not reach, and others do */
	uint32_t voices;     /* that say the opposite about dst */
	bool denies;         /* it says it reaches dst, and nobody else does */
	bool both_ways;      /* dst says the same of src */
};

struct rack_host_words { /* of one host, from window to window */
	struct rack_contradiction now, told;
	unsigned windows, absent; /* it was contradicted, was not since it was named */
	unsigned pair_windows, pair_absent;
	bool named, pair_named;
	rm_wall_t since, pair_since; /* start of the first window; ns 0: none */
};

struct rack_words {
	/* Directed pairs, outcomes as decaying sums, newest_sent the windows since a
	 * probe; the other one is scratch. */
	struct pair_table heard[2];
	unsigned current;
	uint8_t *says;              /* by host and member: enum rack_word bits */
	struct rack_voices *voices; /* by member */
	struct rack_host_words *hosts;
	uint8_t *accuses; /* by host and host */
	size_t member_count, host_count;
	struct window_pair *believed;
	size_t believed_size;
	bool any_named;
};

/* What a pair's decaying sums come to; 0: too little, in between, or its prober cannot
 * even send. */
unsigned rack_word_of(const struct window_pair *pair);

/* Fills hosts[].now from heard, says and voices. */
void rack_contradictions_find(struct rack_words *words, const struct rack *rack);

#endif
