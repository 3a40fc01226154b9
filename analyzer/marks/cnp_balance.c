#include "analyzer/marks/cnp_balance.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "rackmesh/judge/part.h"

#define MORE ", ..."

struct rack {
	char tor[RM_NAME_BYTES];
	rm_mono_t at;
	struct wire_rack_state state;
	char uncounted[WIRE_UNCOUNTED_BYTES];
	UT_hash_handle hh;
};

struct cnp_balance {
	struct rack *racks;
	rm_mono_t refused; /* when the table last had no room for a rack; ns 0: never */
	rm_mono_t judged;  /* ns 0: never */
	/* time since which too few CNPs arrive; ns 0: enough arrive */
	rm_mono_t missing;
	struct cnp_finding finding;
};

struct sums {
	unsigned racks;
	/* uncounted: number of these RNICs that do not count CNPs */
	uint64_t rnics, uncounted;
	/* number of the uncounted RNICs that do not report packets either */
	uint64_t silent;
	uint64_t uncounted_sent; /* packets that the other uncounted RNICs have sent */
	/* names of RNICs that do not count CNPs, as in cnp_finding */
	char names[CNP_NAMES];
	size_t names_len;
	bool more; /* there are more names than fit */
	uint64_t rdma_sent, rdma_received, cnps_sent, cnps_received;
};

const char *
cnp_state_str(enum cnp_state state)
{
	static const char *const names[] = { [CNP_NOT_KNOWN] = "not-known",
		[CNP_NOT_NEEDED] = "not-needed",
		[CNP_WORKING] = "working",
		[CNP_LOST] = "failing" };

	return names[state];
}

struct cnp_balance *
cnp_balance_new(void)
{
	struct cnp_balance *cnp_balance = calloc(1, sizeof(*cnp_balance));

	if (cnp_balance != NULL)
		snprintf(cnp_balance->finding.sentence, CNP_TEXT,
		    "No rack has reported yet.");
	return cnp_balance;
}

static void
forget(struct cnp_balance *cnp_balance, struct rack *rack)
{
	HASH_DEL(cnp_balance->racks, rack);
	free(rack);
}

void
cnp_balance_free(struct cnp_balance *cnp_balance)
{
	struct rack *rack, *next;

	if (cnp_balance == NULL)
		return;
	HASH_ITER (hh, cnp_balance->racks, rack, next)
		forget(cnp_balance, rack);
	free(cnp_balance);
}

static struct rack *
find_or_add(struct cnp_balance *cnp_balance, const char *tor)
{
	struct rack *rack;

	HASH_FIND_STR(cnp_balance->racks, tor, rack);
	if (rack != NULL || HASH_COUNT(cnp_balance->racks) == CNP_MAX_RACKS)
		return rack;
	rack = calloc(1, sizeof(*rack));
	if (rack == NULL)
		return NULL;
	snprintf(rack->tor, sizeof(rack->tor), "%s", tor);
	HASH_ADD_STR(cnp_balance->racks, tor, rack);
	if (rack->hh.tbl == NULL) { /* uthash could not grow */
		free(rack);
		return NULL;
	}
	return rack;
}

/* Copies names from a peer, for a sentence. Names that are not plain text are left out.
 */
static void
copy_names(char out[WIRE_UNCOUNTED_BYTES], const char *names)
{
	size_t len = 0;

	while (names != NULL && names[len] >= ' ' && names[len] <= '~')
		len++;
	if (names == NULL || names[len] != '\0' || len >= WIRE_UNCOUNTED_BYTES)
		len = 0;
	snprintf(
	    out, WIRE_UNCOUNTED_BYTES, "%.*s", (int)len, names == NULL ? "" : names);
}

void
cnp_balance_summary(struct cnp_balance *cnp_balance, const struct wire_summary *summary,
    int64_t age_ns, rm_mono_t now)
{
	struct rack *rack;

	if (!summary->has_state || age_ns < 0 || age_ns > CNP_FRESH_NS)
		return;
	rack = find_or_add(cnp_balance, summary->tor);
	if (rack == NULL) {
		cnp_balance->refused = now;
		return;
	}
	rack->at = now;
	rack->state = summary->state;
	copy_names(rack->uncounted, summary->uncounted);
}

/* ---- judging ---- */

static void
add(uint64_t *sum, uint64_t value)
{
	if (__builtin_add_overflow(*sum, value, sum))
		*sum = UINT64_MAX;
}

static uint64_t
count_names(const char *names)
{
	uint64_t count = names[0] != '\0';

	for (; *names != '\0'; names++)
		count += *names == ',';
	return count;
}

/* Appends "tor1: h1/mlx5_0", or "tor1 (8)" if the rack does not name its RNICs. */
static void
name_uncounted(struct sums *sums, const struct rack *rack, bool fresh, uint64_t count)
{
	const char *names = fresh ? rack->uncounted : "";
	char text[CNP_NAMES];
	int len;

	if (names[0] != '\0')
		len = snprintf(text, sizeof(text), "%s: %s%s", rack->tor, names,
		    count_names(names) < count ? MORE : "");
	else
		len =
		    snprintf(text, sizeof(text), "%s (%" PRIu64 ")", rack->tor, count);
	if (sums->names_len + strlen("; ") + (size_t)len + sizeof(MORE) > CNP_NAMES) {
		sums->more = true;
		return;
	}
	sums->names_len += (size_t)snprintf(sums->names + sums->names_len,
	    CNP_NAMES - sums->names_len, "%s%s", sums->names_len > 0 ? "; " : "", text);
}

static void
add_rack(struct sums *sums, const struct rack *rack, bool fresh)
{
	const struct wire_rack_state *state = &rack->state;
	const uint64_t counting = fresh ? state->rnics_counting : 0,
		       bounded = fresh ? state->rnics_packets_only : 0;

	sums->racks++;
	add(&sums->rnics, state->rnics);
	/* An older aggregator also counts RNICs that have just left the rack. These
	 * must not be subtracted from the RNICs without counters of another rack. */
	if (counting < state->rnics) {
		add(&sums->uncounted, state->rnics - counting);
		if (bounded < state->rnics - counting)
			add(&sums->silent, state->rnics - counting - bounded);
		name_uncounted(sums, rack, fresh, state->rnics - counting);
	}
	if (!fresh)
		return;
	add(&sums->rdma_sent, state->rdma_sent);
	add(&sums->rdma_received, state->rdma_received);
	add(&sums->cnps_sent, state->cnps_sent);
	add(&sums->cnps_received, state->cnps_received);
	add(&sums->uncounted_sent, state->packets_only_sent);
}

static struct sums
sum_up(struct cnp_balance *cnp_balance, rm_mono_t now)
{
	struct sums sums = { 0 };
	struct rack *rack, *next;

	HASH_ITER (hh, cnp_balance->racks, rack, next) {
		const int64_t age_ns = rm_mono_since(now, rack->at);

		if (age_ns > CNP_FORGET_NS)
			forget(cnp_balance, rack);
		else
			add_rack(&sums, rack, age_ns <= CNP_FRESH_NS);
	}
	if (sums.more)
		strcpy(sums.names + sums.names_len, MORE);
	return sums;
}

/* True: the sums of sent and of received packets are nearly equal, so RNICs that are
 * not in the sums have no large share of the traffic. */
static bool
is_closed(const struct sums *sums)
{
	const double sent = (double)sums->rdma_sent,
		     received = (double)sums->rdma_received;

	return received * 100 <= sent * (100 + CNP_CLOSED_PCT) &&
	       sent * 100 <= received * (100 + CNP_CLOSED_PCT);
}

static bool
is_covered(const struct sums *sums)
{
	return (double)(sums->rnics - sums->uncounted) * 100 >=
	       (double)sums->rnics * CNP_COVERAGE_PCT;
}

static double
arriving_pct(const struct sums *sums)
{
	return 100 * (double)sums->cnps_received / (double)sums->cnps_sent;
}

/* Returns the share of the CNPs that arrived, on the assumption that each RNIC that
 * does not count CNPs received one for each packet that it sent. The silent RNICs are
 * left out. */
static double
highest_arriving_pct(const struct sums *sums)
{
	return arriving_pct(sums) +
	       100 * (double)sums->uncounted_sent / (double)sums->cnps_sent;
}

/* Silent RNICs report neither CNPs nor packets. If no more CNPs are lost than usual,
 * each silent RNIC must have received this many times the CNPs of an average RNIC. */
static double
silent_weight(const struct sums *sums)
{
	const double missing_pct = CNP_ARRIVING_PCT - highest_arriving_pct(sums);

	return missing_pct / 100 * (double)sums->rnics / (double)sums->silent;
}

static bool
are_missing(const struct sums *sums)
{
	return highest_arriving_pct(sums) < CNP_ARRIVING_PCT &&
	       (sums->silent == 0 || silent_weight(sums) > CNP_UNCOUNTED_WEIGHT);
}

/* True: a short time ago the table had no room for a rack. */
static bool
is_refused(const struct cnp_balance *cnp_balance, rm_mono_t now)
{
	return cnp_balance->refused.ns != 0 &&
	       rm_mono_since(now, cnp_balance->refused) <= CNP_FRESH_NS;
}

static bool
can_compare(
    const struct cnp_balance *cnp_balance, const struct sums *sums, rm_mono_t now)
{
	return sums->racks > 0 && !is_refused(cnp_balance, now) && is_covered(sums) &&
	       sums->cnps_sent >= CNP_FEW && is_closed(sums);
}

__attribute__((format(printf, 3, 4))) static enum cnp_state
set_sentence(char sentence[CNP_TEXT], enum cnp_state state, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(sentence, CNP_TEXT, format, args);
	va_end(args);
	return state;
}

/* Writes why the sums cannot be compared. */
static enum cnp_state
explain(const struct cnp_balance *cnp_balance, const struct sums *sums, rm_mono_t now,
    char sentence[CNP_TEXT])
{
	if (sums->racks == 0)
		return set_sentence(
		    sentence, CNP_NOT_KNOWN, "No rack has reported yet.");
	if (is_refused(cnp_balance, now))
		return set_sentence(sentence, CNP_NOT_KNOWN,
		    "The region has more than %u racks: the sums are incomplete.",
		    CNP_MAX_RACKS);
	if (!is_covered(sums))
		return set_sentence(sentence, CNP_NOT_KNOWN,
		    "Too few RNICs count CNPs and RDMA packets for a verdict.");
	if (sums->cnps_sent < CNP_FEW)
		return set_sentence(sentence, CNP_NOT_NEEDED,
		    "RNICs of the region sent %" PRIu64 " CNPs in a minute: too few to "
		    "compare.",
		    sums->cnps_sent);
	return set_sentence(sentence, CNP_NOT_KNOWN,
	    "RNICs of the region sent %" PRIu64 " RDMA packets in a minute and "
	    "received %" PRIu64 ": RNICs whose counters are not read take part, and "
	    "CNPs may go to them.",
	    sums->rdma_sent, sums->rdma_received);
}

static void
add_doubt(const struct sums *sums, char sentence[CNP_TEXT])
{
	const size_t len = strlen(sentence);

	snprintf(sentence + len, CNP_TEXT - len,
	    " Otherwise %" PRIu64 " %s received %.0f times as many as an average RNIC.",
	    sums->silent,
	    sums->silent == 1 ? "RNIC that reports no packets"
			      : "RNICs that report no packets each",
	    silent_weight(sums));
}

static enum cnp_state
compare(const struct cnp_balance *cnp_balance, const struct sums *sums, rm_mono_t now,
    char sentence[CNP_TEXT])
{
	const double pct = arriving_pct(sums);
	int64_t missing_ns;

	if (pct > CNP_MOST_ARRIVING_PCT)
		return set_sentence(sentence, CNP_NOT_KNOWN,
		    "RNICs of the region sent %" PRIu64
		    " CNPs in a minute and received "
		    "%" PRIu64
		    ": RNICs whose counters are not read send some, which may "
		    "hide a loss of others.",
		    sums->cnps_sent, sums->cnps_received);
	if (pct >= CNP_ARRIVING_PCT)
		return set_sentence(sentence, CNP_WORKING,
		    "Of %" PRIu64 " CNPs that RNICs of the region sent in a minute, "
		    "%.0f %% arrived at the senders.",
		    sums->cnps_sent, pct < 100 ? pct : 100);
	if (!are_missing(sums))
		return set_sentence(sentence, CNP_NOT_KNOWN,
		    "Of %" PRIu64 " CNPs that RNICs of the region sent in a minute, "
		    "%.1f %% arrived: the others may have gone to RNICs that do not "
		    "count them.",
		    sums->cnps_sent, pct);
	missing_ns = rm_mono_since(now, cnp_balance->missing);
	if (missing_ns < CNP_LOST_NS)
		return set_sentence(sentence, CNP_NOT_KNOWN,
		    "Of %" PRIu64
		    " CNPs that were sent in a minute %.1f %% arrived, for "
		    "%" PRId64 " s now: this is too short for a verdict.",
		    sums->cnps_sent, pct, missing_ns / RM_NS_PER_S);
	(void)set_sentence(sentence, CNP_LOST,
	    "CNPs are lost: of %" PRIu64 " that RNICs of the region sent in a minute, "
	    "%.1f %% arrived at the senders, for %" PRId64 " min now.",
	    sums->cnps_sent, pct, missing_ns / (60 * RM_NS_PER_S));
	if (sums->silent > 0)
		add_doubt(sums, sentence);
	return CNP_LOST;
}

/* Appends the number of RNICs on which the verdict is based. */
static void
add_coverage(struct cnp_finding *finding)
{
	const size_t len = strlen(finding->sentence);

	if (finding->rnics_counting < finding->rnics)
		snprintf(finding->sentence + len, CNP_TEXT - len,
		    " (%" PRIu64 " of %" PRIu64 " RNICs have these counters; without: "
		    "%s)",
		    finding->rnics_counting, finding->rnics, finding->uncounted);
}

void
cnp_balance_judge(struct cnp_balance *cnp_balance, rm_mono_t now, rm_wall_t wall)
{
	struct cnp_finding *finding = &cnp_balance->finding;
	struct sums sums;

	if (cnp_balance->judged.ns != 0 &&
	    rm_mono_since(now, cnp_balance->judged) < CNP_JUDGE_NS)
		return;
	cnp_balance->judged = now;
	sums = sum_up(cnp_balance, now);
	if (!can_compare(cnp_balance, &sums, now)) {
		cnp_balance->missing.ns = 0;
		finding->state = explain(cnp_balance, &sums, now, finding->sentence);
	} else {
		if (!are_missing(&sums))
			cnp_balance->missing.ns = 0;
		else if (cnp_balance->missing.ns == 0)
			cnp_balance->missing = now;
		finding->state = compare(cnp_balance, &sums, now, finding->sentence);
	}
	finding->since.ns = finding->state == CNP_LOST
				? wall.ns - rm_mono_since(now, cnp_balance->missing)
				: 0;
	finding->sent = sums.cnps_sent;
	finding->received = sums.cnps_received;
	finding->rnics = sums.rnics;
	finding->rnics_counting = sums.rnics - sums.uncounted;
	strcpy(finding->uncounted, sums.names);
	add_coverage(finding);
}

const struct cnp_finding *
cnp_balance_finding(const struct cnp_balance *cnp_balance)
{
	return &cnp_balance->finding;
}
