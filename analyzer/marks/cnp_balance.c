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

struct rack {
	char tor[RM_NAME_BYTES];
	rm_mono_t at;
	struct wire_rack_state state;
	UT_hash_handle hh;
};

struct cnp_balance {
	struct rack *racks;
	bool left_out;     /* the table had no room for a rack: the sums lack it */
	rm_mono_t judged;  /* ns 0: never */
	rm_mono_t missing; /* since when too few CNPs arrive; ns 0: enough arrive */
	struct cnp_finding finding;
};

struct sums {
	unsigned racks, outdated;  /* outdated: of these, without a recent summary */
	uint64_t rnics, uncounted; /* uncounted: of these, without the counters */
	const char *uncounted_tor; /* a rack that has such an RNIC */
	const char *outdated_tor;
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

void
cnp_balance_summary(struct cnp_balance *cnp_balance, const struct wire_summary *summary,
    rm_mono_t now, rm_wall_t wall)
{
	struct rack *rack;

	if (!summary->has_state || summary->end_wall_ns > INT64_MAX ||
	    wall.ns - (int64_t)summary->end_wall_ns > CNP_FRESH_NS)
		return;
	rack = find_or_add(cnp_balance, summary->tor);
	if (rack == NULL) {
		cnp_balance->left_out = true;
		return;
	}
	rack->at = now;
	rack->state = summary->state;
}

/* ---- judging ---- */

static void
add(uint64_t *sum, uint64_t value)
{
	if (__builtin_add_overflow(*sum, value, sum))
		*sum = UINT64_MAX;
}

static struct sums
sum_up(struct cnp_balance *cnp_balance, rm_mono_t now)
{
	struct sums sums = { 0 };
	struct rack *rack, *next;

	HASH_ITER (hh, cnp_balance->racks, rack, next) {
		const int64_t age_ns = rm_mono_since(now, rack->at);

		if (age_ns > CNP_FORGET_NS) {
			forget(cnp_balance, rack);
			continue;
		}
		sums.racks++;
		if (age_ns > CNP_FRESH_NS) {
			sums.outdated++;
			sums.outdated_tor = rack->tor;
			continue;
		}
		sums.rnics += rack->state.rnics;
		/* For a while a rack also counts RNICs that have left it. Such an RNIC
		 * does not make up for one without counters in another rack. */
		if (rack->state.rnics_counting < rack->state.rnics) {
			sums.uncounted +=
			    rack->state.rnics - rack->state.rnics_counting;
			sums.uncounted_tor = rack->tor;
		}
		add(&sums.rdma_sent, rack->state.rdma_sent);
		add(&sums.rdma_received, rack->state.rdma_received);
		add(&sums.cnps_sent, rack->state.cnps_sent);
		add(&sums.cnps_received, rack->state.cnps_received);
	}
	return sums;
}

/* The packets sent equal those received, apart from some loss: no RNIC outside of the
 * sums takes a large part in the traffic. */
static bool
is_closed(const struct sums *sums)
{
	const double sent = (double)sums->rdma_sent,
		     received = (double)sums->rdma_received;

	return received * 100 <= sent * (100 + CNP_CLOSED_PCT) &&
	       sent * 100 <= received * (100 + CNP_CLOSED_PCT);
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

/* The sums must hold all racks and RNICs. */
static enum cnp_state
compare(struct cnp_balance *cnp_balance, const struct sums *sums, rm_mono_t now,
    char sentence[CNP_TEXT])
{
	const double pct = 100 * (double)sums->cnps_received / (double)sums->cnps_sent;
	int64_t missing_ns;

	if (pct >= CNP_ARRIVING_PCT) {
		cnp_balance->missing.ns = 0;
		return set_sentence(sentence, CNP_WORKING,
		    "Of %" PRIu64 " CNPs that RNICs of the region sent in a minute, "
		    "%.0f %% arrived at the senders.",
		    sums->cnps_sent, pct < 100 ? pct : 100);
	}
	if (cnp_balance->missing.ns == 0)
		cnp_balance->missing = now;
	missing_ns = rm_mono_since(now, cnp_balance->missing);
	if (missing_ns < CNP_LOST_NS)
		return set_sentence(sentence, CNP_NOT_KNOWN,
		    "Of %" PRIu64
		    " CNPs that were sent in a minute %.1f %% arrived, for "
		    "%" PRId64 " s now: this is too short for a verdict.",
		    sums->cnps_sent, pct, missing_ns / RM_NS_PER_S);
	return set_sentence(sentence, CNP_LOST,
	    "CNPs are lost: of %" PRIu64 " that RNICs of the region sent in a minute, "
	    "%.1f %% arrived at the senders, for %" PRId64 " min now.",
	    sums->cnps_sent, pct, missing_ns / (60 * RM_NS_PER_S));
}

static enum cnp_state
judge(struct cnp_balance *cnp_balance, const struct sums *sums, rm_mono_t now,
    char sentence[CNP_TEXT])
{
	if (sums->racks == 0)
		return set_sentence(
		    sentence, CNP_NOT_KNOWN, "No rack has reported yet.");
	if (cnp_balance->left_out)
		return set_sentence(sentence, CNP_NOT_KNOWN,
		    "The region has more than %u racks: the sums are incomplete.",
		    CNP_MAX_RACKS);
	if (sums->outdated > 0)
		return set_sentence(sentence, CNP_NOT_KNOWN,
		    "%u of %u racks do not report, for example %.64s: their RNICs "
		    "may send or receive CNPs.",
		    sums->outdated, sums->racks, sums->outdated_tor);
	if (sums->uncounted > 0)
		return set_sentence(sentence, CNP_NOT_KNOWN,
		    "%" PRIu64 " of %" PRIu64 " RNICs do not count CNPs and RDMA "
		    "packets, for example in %.64s: CNPs may go to them.",
		    sums->uncounted, sums->rnics, sums->uncounted_tor);
	if (sums->cnps_sent < CNP_FEW)
		return set_sentence(sentence, CNP_NOT_NEEDED,
		    "RNICs of the region sent %" PRIu64 " CNPs in a minute: too few to "
		    "compare.",
		    sums->cnps_sent);
	if (!is_closed(sums))
		return set_sentence(sentence, CNP_NOT_KNOWN,
		    "RNICs of the region sent %" PRIu64 " RDMA packets in a minute "
		    "and received %" PRIu64 ": RNICs whose counters are not read take "
		    "part, and CNPs may go to them.",
		    sums->rdma_sent, sums->rdma_received);
	return compare(cnp_balance, sums, now, sentence);
}

void
cnp_balance_judge(struct cnp_balance *cnp_balance, rm_mono_t now, rm_wall_t wall)
{
	struct cnp_finding *finding = &cnp_balance->finding;
	enum cnp_state state;
	struct sums sums;

	if (cnp_balance->judged.ns != 0 &&
	    rm_mono_since(now, cnp_balance->judged) < CNP_JUDGE_NS)
		return;
	cnp_balance->judged = now;
	sums = sum_up(cnp_balance, now);
	state = judge(cnp_balance, &sums, now, finding->sentence);
	if (state != CNP_LOST && state != CNP_NOT_KNOWN)
		cnp_balance->missing.ns = 0;
	/* A loss must be seen in each judgement: incomplete sums end the time. */
	if (state == CNP_NOT_KNOWN && (sums.outdated > 0 || sums.uncounted > 0 ||
					  cnp_balance->left_out || !is_closed(&sums)))
		cnp_balance->missing.ns = 0;
	finding->since.ns =
	    state == CNP_LOST ? wall.ns - rm_mono_since(now, cnp_balance->missing) : 0;
	finding->state = state;
	finding->sent = sums.cnps_sent;
	finding->received = sums.cnps_received;
}

const struct cnp_finding *
cnp_balance_finding(const struct cnp_balance *cnp_balance)
{
	return &cnp_balance->finding;
}
