#include "tor-aggregator/report_check/rack_words_state.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tor-aggregator/suspect/rack_pair.h"
#include "tor-aggregator/window/rack_view.h"
#include "tor-aggregator/window/window.h"

#define MAX_PAIRS 131072
/* A word's sums lose a sixteenth per window. Windows overlap: each of their probes is
 * in four of them. */
#define DECAY 16
#define PER_PROBE 4

#define STALE_WINDOWS 4 /* without a probe: the plan has moved on */
#define MIN_SENT 8
#define MIN_LOST 8
#define GOOD_STRAY 1 /* lost of a good one, and a fiftieth */
#define GOOD_PART 50
#define LOST_PART 5      /* lost: a fifth */
#define DEAD_KEPT_PART 5 /* dead: at most a fifth is answered */
#define MISCOUNTED_PART 2

#define MIN_PEERS 2

int
rack_words_new(struct rack_words **ret)
{
	struct rack_words *words = calloc(1, sizeof(*words));

	if (words == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < 2; i++)
		pair_table_init(&words->heard[i], MAX_PAIRS);
	*ret = words;
	return 0;
}

static void
release_rack(struct rack_words *words)
{
	free(words->says);
	free(words->voices);
	free(words->hosts);
	free(words->against);
	free(words->quarrels);
	words->says = words->against = NULL;
	words->quarrels = NULL;
	words->quarrel_count = 0;
	words->voices = NULL;
	words->hosts = NULL;
	words->member_count = words->host_count = 0;
	words->any_named = false;
}

void
rack_words_free(struct rack_words *words)
{
	if (words == NULL)
		return;
	release_rack(words);
	for (size_t i = 0; i < 2; i++)
		pair_table_release(&words->heard[i]);
	free(words->believed);
	free(words);
}

int
rack_words_forget(struct rack_words *words, const struct rack *rack)
{
	const size_t members = rack->member_count + 1, hosts = rack->host_count + 1;

	release_rack(words);
	for (size_t i = 0; i < 2; i++)
		pair_table_clear(&words->heard[i]);
	words->says = calloc(members * hosts, sizeof(*words->says));
	words->voices = calloc(members, sizeof(*words->voices));
	words->hosts = calloc(hosts, sizeof(*words->hosts));
	words->against = calloc(hosts * hosts, sizeof(*words->against));
	words->quarrels = calloc(hosts, sizeof(*words->quarrels));
	if (words->says == NULL || words->voices == NULL || words->hosts == NULL ||
	    words->against == NULL || words->quarrels == NULL) {
		release_rack(words);
		return -ENOMEM;
	}
	words->member_count = rack->member_count;
	words->host_count = rack->host_count;
	return 0;
}

unsigned
rack_word_of(const struct window_pair *pair)
{
	const uint64_t lost = pair->outcomes[WIRE_NO_REPLY];
	const uint64_t sent = lost + pair->outcomes[WIRE_OK];
	const uint64_t failed = pair->outcomes[WIRE_SEND_FAILED];

	if (sent < MIN_SENT * RACK_WORD_UNIT || pair->newest_sent > STALE_WINDOWS ||
	    failed > sent / LOST_PART)
		return 0;
	/* Who could not send until now is not well before others have seen it, too. */
	if (lost + failed <= GOOD_STRAY * RACK_WORD_UNIT + sent / GOOD_PART)
		return RACK_WORD_GOOD;
	if (lost < MIN_LOST * RACK_WORD_UNIT || lost < sent / LOST_PART)
		return 0;
	return RACK_WORD_LOST |
	       (sent - lost <= sent / DEAD_KEPT_PART ? RACK_WORD_DEAD : 0);
}

bool
rack_word_is_miscounted(const struct window_pair *pair)
{
	const uint64_t answered = pair->outcomes[WIRE_OK];

	return answered >= MIN_SENT * RACK_WORD_UNIT &&
	       pair->newest_sent <= STALE_WINDOWS &&
	       -MISCOUNTED_PART * pair->arrived > (double)answered;
}

/* As we saw it ourselves: who confesses a stall, or pauses, is no witness meanwhile,
 * but what it said before stays said. */
static void
note_away(struct rack_words *words, const struct rack *rack)
{
	for (size_t i = 0; i < words->host_count; i++) {
		struct rack_host_words *host = &words->hosts[i];
		const enum host_state state = rack->hosts[i].state;

		if (state == HOST_STALLED || state == HOST_PAUSED)
			continue;
		if (state != HOST_OK)
			host->away = RACK_BACK_WINDOWS;
		else if (host->away > 0)
			host->away--;
	}
}

/* What others saw of a host while it was away it has not seen, and the other way round:
 * that is no contradiction. */
static bool
was_away(
    const struct rack_words *words, const struct rack *rack, uint32_t src, uint32_t dst)
{
	return words->hosts[rack->members[src].host_index].away > 0 ||
	       words->hosts[rack->members[dst].host_index].away > 0;
}

/* What was heard before, a little less of it, without what has faded away. */
static int
fade(struct rack_words *words, const struct rack *rack)
{
	const struct pair_table *from = &words->heard[words->current];
	struct pair_table *to = &words->heard[!words->current];

	pair_table_clear(to);
	for (size_t i = 0; i < from->count; i++) {
		const struct window_pair *old = &from->pairs[i];
		struct window_pair *pair;

		if (old->outcomes[WIRE_OK] + old->outcomes[WIRE_NO_REPLY] +
			    old->outcomes[WIRE_SEND_FAILED] <
			RACK_WORD_UNIT ||
		    was_away(words, rack, old->src, old->dst))
			continue;
		pair = pair_table_get(to, old->src, old->dst);
		if (pair == NULL)
			return -ENOMEM;
		for (int k = 0; k < WIRE_OUTCOMES; k++)
			pair->outcomes[k] =
			    old->outcomes[k] - (old->outcomes[k] + DECAY - 1) / DECAY;
		pair->arrived = old->arrived - old->arrived / DECAY;
		pair->newest_sent = old->newest_sent + 1;
	}
	words->current = !words->current;
	return 0;
}

/* Of all sizes: how many more arrived, as dst counts, than src says were answered.
 * Never more than it says it has lost: there are other probes than these. */
static double
surplus_of(const struct window_pair *pair)
{
	const double answered = (double)pair->outcomes[WIRE_OK] +
				pair->outcomes[WIRE_LATE_REPLY] +
				pair->outcomes[WIRE_INVALID];

	if (!pair->counted)
		return 0;
	return fmin(pair->arrived - answered, pair->outcomes[WIRE_NO_REPLY]);
}

/* Between two hosts that may bear witness. */
static int
add_window(struct rack_words *words, const struct rack *rack,
    const struct window_closed *window)
{
	for (size_t i = 0; i < window->pair_count; i++) {
		const struct window_pair *from = &window->pairs[i];
		struct rack_pair pairs[RACK_PAIR_SIZES];
		const size_t sizes = rack_pair_read(rack, from, pairs);
		struct window_pair *to;

		/* The same size for everybody: large ones may have an MTU's reasons. */
		if (sizes == 0 || pairs[0].foreign || pairs[0].large ||
		    was_away(words, rack, from->src, from->dst))
			continue;
		to =
		    pair_table_get(&words->heard[words->current], from->src, from->dst);
		if (to == NULL)
			return -ENOMEM;
		to->outcomes[WIRE_OK] += PER_PROBE * pairs[0].answered;
		to->outcomes[WIRE_NO_REPLY] +=
		    PER_PROBE * (pairs[0].sent - pairs[0].answered);
		to->outcomes[WIRE_SEND_FAILED] += PER_PROBE * pairs[0].send_failed;
		to->arrived += PER_PROBE * surplus_of(from);
		to->newest_sent = pairs[0].sent > 0 ? 0 : to->newest_sent;
	}
	return 0;
}

static void
hear_own(struct rack_words *words, const struct rack *rack)
{
	const struct pair_table *heard = &words->heard[words->current];

	memset(words->voices, 0, words->member_count * sizeof(*words->voices));
	for (size_t i = 0; i < heard->count; i++) {
		const struct window_pair *pair = &heard->pairs[i];
		const unsigned word = rack_word_of(pair);
		struct rack_voices *own = &words->voices[pair->src];

		if (rack->members[pair->src].host_index ==
		    rack->members[pair->dst].host_index)
			continue;
		own->own += word != 0;
		own->own_good += (word & RACK_WORD_GOOD) != 0;
		own->own_lost += (word & RACK_WORD_LOST) != 0;
		own->own_dead += (word & RACK_WORD_DEAD) != 0;
	}
}

/* An RNIC that loses much of all it sends says nothing of others by that. */
static void
hear_others(struct rack_words *words, const struct rack *rack)
{
	const struct pair_table *heard = &words->heard[words->current];

	memset(words->says, 0, words->member_count * words->host_count);
	for (size_t i = 0; i < heard->count; i++) {
		const struct window_pair *pair = &heard->pairs[i];
		const size_t host = rack->members[pair->src].host_index;
		const struct rack_voices *own = &words->voices[pair->src];

		if (host == rack->members[pair->dst].host_index ||
		    (own->own_lost > 1 && 2 * own->own_lost > own->own))
			continue;
		words->says[host * words->member_count + pair->dst] |=
		    (uint8_t)rack_word_of(pair);
	}
	for (size_t host = 0; host < words->host_count; host++)
		for (size_t m = 0; m < words->member_count; m++) {
			const unsigned bits =
			    words->says[host * words->member_count + m];
			struct rack_voices *voices = &words->voices[m];

			voices->good += bits == RACK_WORD_GOOD;
			voices->lost += (bits & RACK_WORD_LOST) != 0;
			voices->dead += bits == (RACK_WORD_LOST | RACK_WORD_DEAD);
		}
}

/* That others see what it says it does not is not enough: a peer may really refuse it,
 * and says so by its counts. More than may be wrong at once do not. */
static bool
is_wrong(const struct rack *rack, const struct rack_contradiction *now)
{
	return now->counted >= MIN_PEERS || now->peers > rack_max_faulty(rack) ||
	       now->miscounts > rack_max_faulty(rack) || now->denies;
}

static void
note_host(const struct rack *rack, struct rack_host_words *host, rm_wall_t start)
{
	if (is_wrong(rack, &host->now)) {
		if (host->since.ns == 0)
			host->since = start;
		host->absent = 0;
		if (++host->windows >= RACK_NAMED_WINDOWS)
			host->named = true;
		host->told = host->now;
		return;
	}
	host->windows = 0;
	if (host->named && (host->away > 0 || ++host->absent < RACK_ABSENT_WINDOWS))
		return;
	host->named = false;
	host->since.ns = 0;
}

int
rack_words_hear(struct rack_words *words, const struct rack *rack,
    const struct window_closed *window, rm_wall_t window_start)
{
	int r;

	if (rack->host_count < RACK_MIN_HOSTS || window->partial)
		return 0;
	note_away(words, rack);
	r = fade(words, rack);
	if (r == 0)
		r = add_window(words, rack, window);
	if (r < 0)
		return r;
	hear_own(words, rack);
	hear_others(words, rack);
	rack_contradictions_find(words, rack);
	words->any_named = false;
	for (size_t i = 0; i < words->host_count; i++) {
		note_host(rack, &words->hosts[i], window_start);
		words->any_named = words->any_named || words->hosts[i].named;
	}
	rack_quarrels_age(words, rack, window_start);
	return 0;
}

bool
rack_words_is_contradicted(const struct rack_words *words, size_t host)
{
	return words->hosts[host].named;
}
