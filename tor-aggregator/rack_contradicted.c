#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rackmesh/fabric/verdict.h"
#include "tor-aggregator/rack_evidence.h"
#include "tor-aggregator/rack_judge.h"
#include "tor-aggregator/rack_suspect.h"
#include "tor-aggregator/rack_words_state.h"

#define CONFIDENCE 0.95
#define PAIR_CONFIDENCE 0.8
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
	return dead > rack_words_bearable(rack) && outnumbers(dead, voices.good) ? dead
										 : 0;
}

/* Its own probes may fail all the same: it is about its agent's word. */
static bool
is_reached(const struct rack_words *words, size_t member, size_t without)
{
	const struct rack_voices voices = voices_without(words, member, without);

	return voices.good > OUTNUMBERED * voices.lost;
}

/* It says that it loses what it sends to one that is well. */
static void
note_loss(struct rack_words *words, const struct rack *rack,
    const struct window_pair *pair, unsigned reverse)
{
	const size_t host = rack->members[pair->src].host_index;
	const size_t peer = rack->members[pair->dst].host_index;
	struct rack_contradiction *now = &words->hosts[host].now;
	uint8_t *accuses = &words->accuses[host * words->host_count + peer];
	const uint32_t voices = is_well(words, pair->dst, host);
	const bool both_ways = (reverse & RACK_WORD_LOST) != 0;

	/* Where both ends say so, once is enough. */
	if (voices == 0 || !is_reached(words, pair->src, peer) ||
	    (both_ways && pair->src > pair->dst))
		return;
	if (now->sent == 0 || pair->src < now->src ||
	    (pair->src == now->src && pair->dst < now->dst)) {
		now->src = pair->src;
		now->dst = pair->dst;
		now->voices = voices;
	}
	now->lost += pair->outcomes[WIRE_NO_REPLY];
	now->sent += pair->outcomes[WIRE_NO_REPLY] + pair->outcomes[WIRE_OK];
	if (both_ways) {
		now->both_ways = true;
	} else if (*accuses == 0) {
		*accuses = 1;
		now->peers++;
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
		       voices->lost > rack_words_bearable(rack) &&
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

void
rack_contradictions_find(struct rack_words *words, const struct rack *rack)
{
	struct pair_table *heard = &words->heard[words->current];
	const size_t count = heard->count;

	memset(words->accuses, 0, words->host_count * words->host_count);
	for (size_t i = 0; i < words->host_count; i++)
		words->hosts[i].now = (struct rack_contradiction){ 0 };
	for (size_t i = 0; i < count; i++) {
		const struct window_pair pair = heard->pairs[i];
		const unsigned word = rack_word_of(&pair);
		const struct window_pair *back;
		unsigned reverse;

		if (word == 0 || rack->members[pair.src].host_index ==
				     rack->members[pair.dst].host_index)
			continue;
		back = pair_table_get(heard, pair.dst, pair.src);
		reverse = back == NULL ? 0 : rack_word_of(back);
		if (word == RACK_WORD_GOOD)
			find_denial(words, rack, &pair, reverse);
		else
			note_loss(words, rack, &pair, reverse);
	}
}

static void
say_what(const struct rack_words *words, const struct rack *rack, size_t host,
    struct rm_evidence *evidence)
{
	const struct rack_contradiction *told = &words->hosts[host].told;
	const uint64_t lost = told->lost / RACK_WORD_UNIT;
	const uint64_t sent = told->sent / RACK_WORD_UNIT;
	char dst[RACK_MEMBER_NAME_BYTES];

	rack_member_name(rack, told->dst, dst);
	if (told->denies && told->src == told->dst)
		snprintf(evidence->observed, sizeof(evidence->observed),
		    "it says that probes of %.60s are answered, %" PRIu32
		    " others that it answers none",
		    dst, told->voices);
	else if (told->denies)
		snprintf(evidence->observed, sizeof(evidence->observed),
		    "%.50s answered %" PRIu64 " of its %" PRIu64
		    " probes, it says, and none, say %" PRIu32 " others",
		    dst, sent - lost, sent, told->voices);
	else
		snprintf(evidence->observed, sizeof(evidence->observed),
		    "it says that %" PRIu64 " of its %" PRIu64 " probes to %" PRIu32
		    " hosts were lost, as to %.40s; others reach them",
		    lost, sent, told->peers, dst);
	evidence->peers = told->denies ? told->voices : told->peers;
}

static void
rule_out(const struct rack_words *words, const struct rack *rack, size_t member,
    struct rm_evidence *evidence)
{
	const struct rack_voices *voices = &words->voices[member];
	char name[RACK_MEMBER_NAME_BYTES];

	if (voices->good == 0)
		return;
	rack_member_name(rack, member, name);
	snprintf(evidence->ruled_out[evidence->ruled_out_count++], RM_EVIDENCE_TEXT,
	    "%s: %" PRIu32 " hosts say that it answers, and %" PRIu32 " of its %" PRIu32
	    " targets answer it",
	    name, voices->good, voices->own_good, voices->own);
}

static void
agent_verdict(const struct rack_words *words, const struct rack *rack, size_t host,
    struct rm_verdict *ret)
{
	const struct rack_contradiction *told = &words->hosts[host].told;

	*ret = (struct rm_verdict){
		.part = { .type = RM_PART_AGENT },
		.kind = RM_KIND_AGENT_CONTRADICTED,
		.confidence = CONFIDENCE,
		.evidence = { .window_start = words->hosts[host].since },
	};
	snprintf(
	    ret->part.name, sizeof(ret->part.name), "%.63s", rack->hosts[host].name);
	say_what(words, rack, host, &ret->evidence);
	if (!told->denies)
		rule_out(words, rack, told->dst, &ret->evidence);
}

static void
pair_verdict(const struct rack_words *words, const struct rack *rack, size_t host,
    struct rm_verdict *ret)
{
	const struct rack_contradiction *told = &words->hosts[host].told;
	const struct rack_suspect pair = { .member = told->src, .other = told->dst };
	char src[RACK_MEMBER_NAME_BYTES], dst[RACK_MEMBER_NAME_BYTES];

	*ret = (struct rm_verdict){
		.part = { .type = RM_PART_RNIC },
		.kind = RM_KIND_PAIR_CONTRADICTED,
		.confidence = PAIR_CONFIDENCE,
		.evidence = { .window_start = words->hosts[host].pair_since },
	};
	rack_suspect_name(rack, &pair, &ret->part);
	rack_member_name(rack, told->src, src);
	rack_member_name(rack, told->dst, dst);
	snprintf(ret->evidence.observed, sizeof(ret->evidence.observed),
	    "%.30s says that %" PRIu64 " of its %" PRIu64
	    " probes to %.30s were lost, %s; others reach both",
	    src, told->lost / RACK_WORD_UNIT, told->sent / RACK_WORD_UNIT, dst,
	    told->both_ways ? "which says the same" : "which does not");
	rule_out(words, rack, told->src, &ret->evidence);
	rule_out(words, rack, told->dst, &ret->evidence);
}

size_t
rack_words_judge(const struct rack_words *words, const struct rack *rack,
    int64_t window_ns, struct rm_verdict *verdicts)
{
	size_t count = 0;

	if (rack->host_count < RACK_WORDS_MIN_HOSTS)
		return 0;
	for (size_t i = 0; i < words->host_count; i++) {
		const struct rack_host_words *host = &words->hosts[i];

		if (rack->hosts[i].state != HOST_OK)
			continue;
		if (host->named)
			agent_verdict(words, rack, i, &verdicts[count]);
		else if (host->pair_named)
			pair_verdict(words, rack, i, &verdicts[count]);
		else
			continue;
		verdicts[count++].evidence.window_ns = window_ns;
	}
	return count;
}
