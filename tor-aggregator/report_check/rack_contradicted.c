#include <string.h>

#include "tor-aggregator/report_check/rack_words_state.h"
#include "tor-aggregator/window/rack_view.h"

#define MIN_VOICES 2  /* that say the opposite */
#define OUTNUMBERED 2 /* those of the other opinion, so many times */

static unsigned
says(const struct rack_words *words, size_t host, size_t member)
{
	return words->says[host * words->member_count + member];
}

static bool
outnumbers(uint32_t voices, uint32_t others)
{
	return voices >= MIN_VOICES && voices > OUTNUMBERED * others;
}

/* What all hosts but this one say of a member, its own excluded. */
static struct rack_voices
voices_without(const struct rack_words *words, size_t member, size_t host)
{
	struct rack_voices voices = words->voices[member];
	const unsigned bits = says(words, host, member);

	voices.good -= bits == RACK_WORD_GOOD;
	voices.lost -= (bits & RACK_WORD_LOST) != 0;
	voices.dead -= bits == (RACK_WORD_LOST | RACK_WORD_DEAD);
	return voices;
}

/* By what it says itself and by what others say without this one; returns how many
 * voices, 0: it is not. */
static uint32_t
is_well(const struct rack_words *words, size_t member, size_t without)
{
	const struct rack_voices voices = voices_without(words, member, without);
	const uint32_t good = voices.good + 1;

	if (2 * voices.own_good <= voices.own)
		return 0;
	return voices.good > 0 && outnumbers(good, voices.lost) ? good : 0;
}

/* By its own word, if it can send at all, and more hosts' than may be wrong at once. */
static uint32_t
is_dead(const struct rack_words *words, const struct rack *rack, size_t member,
    size_t without)
{
	const struct rack_voices voices = voices_without(words, member, without);
	const uint32_t dead = voices.dead + (voices.own > 0);

	if (2 * voices.own_dead <= voices.own && voices.own > 0)
		return 0;
	return dead > rack_max_faulty(rack) && outnumbers(dead, voices.good) ? dead : 0;
}

/* Its own probes may fail all the same: it is about its agent's word. */
static bool
is_reached(const struct rack_words *words, size_t member, size_t without)
{
	const struct rack_voices voices = voices_without(words, member, without);

	return voices.good > OUTNUMBERED * voices.lost;
}

/* Dst counts at least half of what src says was lost. */
static bool
is_counted(const struct window_pair *pair)
{
	return 2 * pair->arrived >= pair->outcomes[WIRE_NO_REPLY];
}

/* It says that it loses what it sends to one that is well. */
static void
note_loss(struct rack_words *words, const struct rack *rack,
    const struct window_pair *pair, unsigned reverse)
{
	const size_t host = rack->members[pair->src].host_index;
	const size_t peer = rack->members[pair->dst].host_index;
	struct rack_contradiction *now = &words->hosts[host].now;
	uint8_t *against = &words->against[host * words->host_count + peer];
	const uint32_t voices = is_well(words, pair->dst, host);
	const struct rack_quarrel seen = {
		.src = pair->src,
		.dst = pair->dst,
		.lost = pair->outcomes[WIRE_NO_REPLY],
		.sent = pair->outcomes[WIRE_NO_REPLY] + pair->outcomes[WIRE_OK],
		.both_ways = (reverse & RACK_WORD_LOST) != 0,
	};

	if (voices == 0 || !is_reached(words, pair->src, peer))
		return;
	rack_quarrels_note(words, rack, &seen);
	if (seen.both_ways)
		return;
	if (now->sent == 0 || pair->src < now->src ||
	    (pair->src == now->src && pair->dst < now->dst)) {
		now->src = pair->src;
		now->dst = pair->dst;
		now->voices = voices;
	}
	now->lost += seen.lost;
	now->sent += seen.sent;
	now->peers += !(*against & RACK_ACCUSES);
	*against |= RACK_ACCUSES;
	if (is_counted(pair)) {
		now->counted += !(*against & RACK_COUNTED);
		*against |= RACK_COUNTED;
	}
}

/* One of the two says what is not so: what is answered has arrived. */
static void
note_miscount(
    struct rack_words *words, const struct rack *rack, const struct window_pair *pair)
{
	const size_t ends[] = { rack->members[pair->src].host_index,
		rack->members[pair->dst].host_index };
	const double arrived = (double)pair->outcomes[WIRE_OK] + pair->arrived;
	const struct rack_miscount miscount = { pair->src, pair->dst,
		pair->outcomes[WIRE_OK], arrived > 0 ? (uint64_t)arrived : 0 };
	const struct rack_quarrel seen = { .src = pair->src,
		.dst = pair->dst,
		.sent = miscount.answered,
		.lost = miscount.answered - miscount.arrived,
		.counts = true };

	rack_quarrels_note(words, rack, &seen);
	for (size_t i = 0; i < 2; i++) {
		struct rack_host_words *host = &words->hosts[ends[i]];
		uint8_t *against =
		    &words->against[ends[i] * words->host_count + ends[1 - i]];

		if (*against & RACK_MISCOUNTS)
			continue;
		*against |= RACK_MISCOUNTS;
		if (host->now.miscounts++ == 0)
			host->miscount = miscount;
	}
}

static void
note_denial(struct rack_words *words, const struct rack *rack,
    const struct window_pair *pair, uint32_t voices)
{
	struct rack_contradiction *now =
	    &words->hosts[rack->members[pair->src].host_index].now;

	if (voices == 0 || now->denies || now->sent > 0)
		return;
	*now = (struct rack_contradiction){
		.src = pair->src,
		.dst = pair->dst,
		.lost = pair->outcomes[WIRE_NO_REPLY],
		.sent = pair->outcomes[WIRE_NO_REPLY] + pair->outcomes[WIRE_OK],
		.voices = voices,
		.denies = true,
	};
}

/* Of its own RNIC too: more hosts than may be wrong at once do not reach it. */
static uint32_t
denies_itself(const struct rack_words *words, const struct rack *rack, size_t member)
{
	const struct rack_voices *voices = &words->voices[member];

	return 2 * voices->own_good > voices->own &&
		       voices->lost > rack_max_faulty(rack) &&
		       outnumbers(voices->lost, voices->good)
		   ? voices->lost
		   : 0;
}

static void
find_denial(struct rack_words *words, const struct rack *rack,
    const struct window_pair *pair, unsigned reverse)
{
	const size_t host = rack->members[pair->src].host_index;
	const uint32_t itself = denies_itself(words, rack, pair->src);
	struct window_pair own = *pair;

	own.dst = own.src;
	if (itself > 0)
		note_denial(words, rack, &own, itself);
	else if (reverse != RACK_WORD_GOOD)
		note_denial(words, rack, pair, is_dead(words, rack, pair->dst, host));
}

/* Where more than may lie are of two opinions, it is no lie: they count alike, and
 * other than we do. */
static void
forgive_miscounts(struct rack_words *words, const struct rack *rack)
{
	size_t wrong = 0;

	for (size_t i = 0; i < words->host_count; i++)
		wrong += words->hosts[i].now.miscounts > rack_max_faulty(rack);
	words->counts_differ = wrong > rack_max_faulty(rack);
	for (size_t i = 0; i < words->host_count && words->counts_differ; i++)
		words->hosts[i].now.miscounts = 0;
}

static void
find_contradiction(
    struct rack_words *words, const struct rack *rack, const struct window_pair *pair)
{
	const unsigned word = rack_word_of(pair);
	const struct window_pair *back;
	unsigned reverse;

	if (word == 0)
		return;
	back = pair_table_get(&words->heard[words->current], pair->dst, pair->src);
	reverse = back == NULL ? 0 : rack_word_of(back);
	if (word == RACK_WORD_GOOD)
		find_denial(words, rack, pair, reverse);
	else
		note_loss(words, rack, pair, reverse);
}

void
rack_contradictions_find(struct rack_words *words, const struct rack *rack)
{
	struct pair_table *heard = &words->heard[words->current];
	const size_t count = heard->count;

	memset(words->against, 0, words->host_count * words->host_count);
	for (size_t i = 0; i < words->host_count; i++)
		words->hosts[i].now = (struct rack_contradiction){ 0 };
	for (size_t i = 0; i < count; i++) {
		/* A copy: looking for the way back may move the table. */
		const struct window_pair pair = heard->pairs[i];

		if (rack->members[pair.src].host_index ==
		    rack->members[pair.dst].host_index)
			continue;
		if (rack_word_is_miscounted(&pair))
			note_miscount(words, rack, &pair);
		find_contradiction(words, rack, &pair);
	}
	forgive_miscounts(words, rack);
}
