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
	bool left_out;     /* a rack, since there was no room: the sums are not whole */
	rm_mono_t judged;  /* ns 0: never */
	rm_mono_t missing; /* since when CNPs are; ns 0: they are not */
	struct cnp_finding finding;
};

struct sums {
	unsigned racks, silent;
	uint64_t rnics, missing; /* missing: of these, they do not count */
	const char *unread;      /* a rack of which some do not count */
	const char *quiet;       /* a rack that tells nothing */
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
		    "No rack has been heard of yet.");
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
			sums.silent++;
			sums.quiet = rack->tor;
			continue;
		}
		sums.rnics += rack->state.rnics;
		/* One that has left a rack counts there for a while: it stands for none
		 * of another rack. */
		if (rack->state.rnics_counting < rack->state.rnics) {
			sums.missing += rack->state.rnics - rack->state.rnics_counting;
			sums.unread = rack->tor;
		}
		add(&sums.rdma_sent, rack->state.rdma_sent);
		add(&sums.rdma_received, rack->state.rdma_received);
		add(&sums.cnps_sent, rack->state.cnps_sent);
		add(&sums.cnps_received, rack->state.cnps_received);
	}
	return sums;
}

/* What is received has been sent by others that are counted, but for some loss. */
static bool
is_closed(const struct sums *sums)
{
	const double sent = (double)sums->rdma_sent, got = (double)sums->rdma_received;

	return got * 100 <= sent * (100 + CNP_CLOSED_PCT) &&
	       sent * 100 <= got * (100 + CNP_CLOSED_PCT);
}

__attribute__((format(printf, 3, 4))) static enum cnp_state
tell(char sentence[CNP_TEXT], enum cnp_state state, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(sentence, CNP_TEXT, format, args);
	va_end(args);
	return state;
}

/* Of sums that are whole. */
static enum cnp_state
compare(struct cnp_balance *cnp_balance, const struct sums *sums, rm_mono_t now,
    char sentence[CNP_TEXT])
{
	const double pct = 100 * (double)sums->cnps_received / (double)sums->cnps_sent;
	int64_t missing_ns;

	if (pct >= CNP_ARRIVING_PCT) {
		cnp_balance->missing.ns = 0;
		return tell(sentence, CNP_WORKING,
		    "Of %" PRIu64 " CNPs that RNICs of the region sent in a minute, "
		    "%.0f %% arrived at its senders.",
		    sums->cnps_sent, pct < 100 ? pct : 100);
	}
	if (cnp_balance->missing.ns == 0)
		cnp_balance->missing = now;
	missing_ns = rm_mono_since(now, cnp_balance->missing);
	if (missing_ns < CNP_LOST_NS)
		return tell(sentence, CNP_NOT_KNOWN,
		    "Of %" PRIu64
		    " CNPs that were sent in a minute %.1f %% arrived, for "
		    "%" PRId64 " s now: too short to tell.",
		    sums->cnps_sent, pct, missing_ns / RM_NS_PER_S);
	return tell(sentence, CNP_LOST,
	    "CNPs are lost: of %" PRIu64 " that RNICs of the region sent in a minute, "
	    "%.1f %% arrived at its senders, which all count them, for %" PRId64
	    " min now.",
	    sums->cnps_sent, pct, missing_ns / (60 * RM_NS_PER_S));
}

static enum cnp_state
judge(struct cnp_balance *cnp_balance, const struct sums *sums, rm_mono_t now,
    char sentence[CNP_TEXT])
{
	if (sums->racks == 0)
		return tell(sentence, CNP_NOT_KNOWN, "No rack has been heard of.");
	if (cnp_balance->left_out)
		return tell(sentence, CNP_NOT_KNOWN,
		    "There are more than %u racks: their sums are not whole.",
		    CNP_MAX_RACKS);
	if (sums->silent > 0)
		return tell(sentence, CNP_NOT_KNOWN,
		    "%u of %u racks tell nothing now, as %.64s: their RNICs may "
		    "send or receive CNPs.",
		    sums->silent, sums->racks, sums->quiet);
	if (sums->unread != NULL)
		return tell(sentence, CNP_NOT_KNOWN,
		    "%" PRIu64 " of %" PRIu64 " RNICs do not count CNPs and packets of "
		    "RDMA, as in %.64s: CNPs may go to them.",
		    sums->missing, sums->rnics, sums->unread);
	if (sums->cnps_sent < CNP_FEW)
		return tell(sentence, CNP_NOT_NEEDED,
		    "RNICs of the region sent %" PRIu64 " CNPs in a minute: too few to "
		    "compare.",
		    sums->cnps_sent);
	if (!is_closed(sums))
		return tell(sentence, CNP_NOT_KNOWN,
		    "RNICs of the region sent %" PRIu64 " packets of RDMA in a minute "
		    "and received %" PRIu64 ": there are ends that nobody reads, and "
		    "CNPs may go to them.",
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
	/* Other sums than those before, or none, are no part of the same time. */
	if (state == CNP_NOT_KNOWN && (sums.silent > 0 || sums.unread != NULL ||
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
