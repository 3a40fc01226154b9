#include "tor-aggregator/diagnosis/proof.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define FEW 100         /* of which no share is taken */
#define CNP_OFF_PCT 0.1 /* as of the diagnosis cnp-off */
#define CNP_IGNORED_PCT 10
#define STEADY_PCT 5 /* paused for so long, PFC carries the load */

struct ratio {
	const char *word, *what;
	const char *needs; /* the counters, for people */
	uint8_t of[2], per[2];
};

/* clang-format off */
static const struct ratio ratios[PROOF_RATIOS] = {
	[PROOF_PROBE_CE] = { "probe_ce", "probes that arrived with a congestion mark", "no probe arrives able to be marked (ECT)", { 0 }, { 0 } },
	[PROOF_SWITCH_CE] = { "switch_ce", "packets that the switch has marked, of those it sent", "the switch is not read, or counts no marks (SONiC: off by default)", { SWITCH_ECN_MARKED }, { SWITCH_TX_PKTS } },
	[PROOF_HOST_CE] = { "host_ce", "RDMA packets received with a congestion mark", "no RNIC counts ecn_ce_rx and rdma_rx_pkts", { WIRE_COUNTER_ECN_CE_RX }, { WIRE_COUNTER_RDMA_RX_PKTS } },
	[PROOF_CNP_PER_CE] = { "cnp_per_ce", "CNPs sent for each mark received", "no RNIC counts cnp_tx and ecn_ce_rx", { WIRE_COUNTER_CNP_TX }, { WIRE_COUNTER_ECN_CE_RX } },
	[PROOF_CNP_BALANCE] = { "cnp_balance", "CNPs that reached RNICs of the rack, to those that were sent in it", "no RNIC counts cnp_rx_handled and cnp_tx", { WIRE_COUNTER_CNP_RX_HANDLED, WIRE_COUNTER_CNP_RX_IGNORED }, { WIRE_COUNTER_CNP_TX } },
	[PROOF_CNP_IGNORED] = { "cnp_ignored", "CNPs received that slowed nothing down", "no RNIC counts cnp_rx_ignored and cnp_rx_handled", { WIRE_COUNTER_CNP_RX_IGNORED }, { WIRE_COUNTER_CNP_RX_HANDLED, WIRE_COUNTER_CNP_RX_IGNORED } },
};

static const struct {
	uint8_t received, sent, paused_us, pausing_us;
} pause_numbers[PROOF_SIDES] = {
	[PROOF_HOST] = { WIRE_COUNTER_PFC_RX_FRAMES, WIRE_COUNTER_PFC_TX_FRAMES, WIRE_COUNTER_PFC_RX_PAUSE_US, WIRE_COUNTER_PFC_TX_PAUSE_US },
	[PROOF_SWITCH] = { SWITCH_PFC_RX_FRAMES, SWITCH_PFC_TX_FRAMES, SWITCH_PFC_RX_PAUSE_US, SWITCH_PFC_TX_PAUSE_US },
};
/* clang-format on */

const char *
proof_ratio_word(enum proof_ratio ratio)
{
	return ratios[ratio].word;
}

const char *
proof_ratio_what(enum proof_ratio ratio)
{
	return ratios[ratio].what;
}

/* ---- adding up ---- */

static uint64_t
plus(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* The first of them has to be there; a driver may have no other one. */
static bool
sum_of(const struct evidence *evidence, const uint8_t of[2], uint64_t *ret)
{
	uint64_t more = 0;

	if (!evidence_sum(evidence, of[0], 0, ret))
		return false;
	if (of[1] != 0 && evidence_sum(evidence, of[1], 0, &more))
		*ret = plus(*ret, more);
	return true;
}

static void
add_ratio(
    struct proof_round *round, enum proof_ratio ratio, const struct evidence *evidence)
{
	struct proof_sum *sum = &round->ratios[ratio];
	uint64_t of = 0, per = 0;

	if (!sum_of(evidence, ratios[ratio].of, &of) ||
	    !sum_of(evidence, ratios[ratio].per, &per)) {
		sum->missing++;
		return;
	}
	sum->counted++;
	sum->of = plus(sum->of, of);
	sum->per = plus(sum->per, per);
}

static bool
read_at(const struct evidence *evidence, unsigned number, unsigned index, uint64_t *ret)
{
	if ((evidence->there[number] & 1u << index) == 0 ||
	    evidence_seconds(evidence, number) <= 0)
		return false;
	*ret = evidence->value[number][index];
	return true;
}

static void
take_most(double *most, char who[EVIDENCE_NAME_BYTES], double value, const char *name)
{
	if (value <= *most)
		return;
	*most = value;
	snprintf(who, EVIDENCE_NAME_BYTES, "%s", name);
}

static void
add_pauses(struct proof_round *round, enum proof_side side,
    const struct evidence *evidence, const char *name)
{
	for (unsigned p = 0; p < PROOF_PRIORITIES; p++) {
		struct proof_pauses *pauses = &round->pauses[side][p];
		const double us =
		    1e6 * evidence_seconds(evidence, pause_numbers[side].paused_us);
		uint64_t received = 0, sent = 0, paused = 0, pausing = 0;

		pauses->knows_received |=
		    read_at(evidence, pause_numbers[side].received, p, &received);
		pauses->knows_sent |=
		    read_at(evidence, pause_numbers[side].sent, p, &sent);
		pauses->knows_paused |=
		    read_at(evidence, pause_numbers[side].paused_us, p, &paused);
		pauses->knows_pausing |=
		    read_at(evidence, pause_numbers[side].pausing_us, p, &pausing);
		pauses->received = plus(pauses->received, received);
		pauses->sent = plus(pauses->sent, sent);
		if (us <= 0)
			continue;
		take_most(&pauses->paused_pct, pauses->paused,
		    100 * (double)paused / us, name);
		take_most(&pauses->pausing_pct, pauses->pausing,
		    100 * (double)pausing / us, name);
	}
}

void
proof_add_rnic(struct proof *proof, const struct evidence *evidence)
{
	for (int i = PROOF_HOST_CE; i < PROOF_RATIOS; i++)
		add_ratio(&proof->now, (enum proof_ratio)i, evidence);
	add_pauses(&proof->now, PROOF_HOST, evidence, evidence->name);
}

void
proof_add_port(struct proof *proof, const struct evidence *evidence)
{
	add_ratio(&proof->now, PROOF_SWITCH_CE, evidence);
	add_pauses(&proof->now, PROOF_SWITCH, evidence, evidence->port);
}

void
proof_add_probes(struct proof *proof, uint64_t markable, uint64_t marked)
{
	struct proof_sum *sum = &proof->now.ratios[PROOF_PROBE_CE];

	if (markable == 0)
		return;
	sum->counted = 1;
	sum->per = plus(sum->per, markable);
	sum->of = plus(sum->of, marked);
}

void
proof_end_round(struct proof *proof, int64_t ns)
{
	proof->now.ns = ns;
	proof->rounds[proof->next] = proof->now;
	proof->next = (proof->next + 1) % PROOF_ROUNDS;
	if (proof->count < PROOF_ROUNDS)
		proof->count++;
	memset(&proof->now, 0, sizeof(proof->now));
}

static uint32_t
larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static void
total_sum(struct proof_sum *total, const struct proof_sum *sum)
{
	total->of = plus(total->of, sum->of);
	total->per = plus(total->per, sum->per);
	total->counted = larger(total->counted, sum->counted);
	total->missing = larger(total->missing, sum->missing);
}

static void
total_pauses(struct proof_pauses *total, const struct proof_pauses *pauses)
{
	total->knows_received |= pauses->knows_received;
	total->knows_sent |= pauses->knows_sent;
	total->knows_paused |= pauses->knows_paused;
	total->knows_pausing |= pauses->knows_pausing;
	total->received = plus(total->received, pauses->received);
	total->sent = plus(total->sent, pauses->sent);
	take_most(
	    &total->paused_pct, total->paused, pauses->paused_pct, pauses->paused);
	take_most(
	    &total->pausing_pct, total->pausing, pauses->pausing_pct, pauses->pausing);
}

void
proof_total(const struct proof *proof, struct proof_round *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < proof->count; i++) {
		const struct proof_round *round = &proof->rounds[i];

		ret->ns += round->ns;
		for (int r = 0; r < PROOF_RATIOS; r++)
			total_sum(&ret->ratios[r], &round->ratios[r]);
		for (int s = 0; s < PROOF_SIDES; s++)
			for (int p = 0; p < PROOF_PRIORITIES; p++)
				total_pauses(&ret->pauses[s][p], &round->pauses[s][p]);
	}
}

/* ---- reading it ---- */

enum proof_status
proof_read(const struct proof_round *total, enum proof_ratio ratio, double *ret,
    char error[PROOF_TEXT])
{
	const struct proof_sum *sum = &total->ratios[ratio];

	error[0] = '\0';
	if (sum->counted == 0) {
		snprintf(error, PROOF_TEXT, "%s", ratios[ratio].needs);
		return PROOF_UNKNOWN;
	}
	if (sum->missing > 0)
		snprintf(error, PROOF_TEXT, "%u of %u do not count it", sum->missing,
		    sum->counted + sum->missing);
	if (sum->per < FEW)
		return PROOF_IDLE;
	*ret = 100 * (double)sum->of / (double)sum->per;
	return PROOF_KNOWN;
}

static const char *const question_words[PROOF_QUESTIONS] = { "ecn", "cnp", "pfc" };
static const char *const state_words[] = { "working", "not-needed", "failing",
	"not-known" };

const char *
proof_question_word(enum proof_question question)
{
	return question_words[question];
}

const char *
proof_state_word(enum proof_state state)
{
	return state_words[state];
}

struct pressure { /* the worst of all priorities, of either side */
	bool frames, time;
	uint64_t count; /* frames */
	double pct;
	unsigned priority;
	const char *who;
};

static void
press(struct pressure *worst, double pct, unsigned priority, const char *who)
{
	if (pct <= worst->pct)
		return;
	worst->pct = pct;
	worst->priority = priority;
	worst->who = who;
}

static struct pressure
pressure_of(const struct proof_round *total)
{
	struct pressure worst = { 0 };

	for (int s = 0; s < PROOF_SIDES; s++)
		for (unsigned p = 0; p < PROOF_PRIORITIES; p++) {
			const struct proof_pauses *pauses = &total->pauses[s][p];

			/* A pause is received by one side, or sent by the other. */
			const struct proof_pauses *other =
			    &total->pauses[PROOF_SIDES - 1 - s][p];

			worst.frames |= pauses->knows_received || pauses->knows_sent;
			worst.time |= pauses->knows_paused || pauses->knows_pausing;
			worst.count = plus(worst.count,
			    pauses->knows_received ? pauses->received : other->sent);
			press(&worst, pauses->paused_pct, p, pauses->paused);
			press(&worst, pauses->pausing_pct, p, pauses->pausing);
		}
	return worst;
}

static enum proof_state
answer_ecn(const struct proof_round *total, char sentence[PROOF_TEXT])
{
	const struct proof_sum *host = &total->ratios[PROOF_HOST_CE];
	const struct proof_sum *probe = &total->ratios[PROOF_PROBE_CE];
	const struct proof_sum *marked = &total->ratios[PROOF_SWITCH_CE];
	const struct pressure pressure = pressure_of(total);

	if (host->of + probe->of + marked->of > 0) {
		snprintf(sentence, PROOF_TEXT,
		    "Packets are marked: %" PRIu64 " received by RNICs, %" PRIu64
		    " sent by the switch, %" PRIu64 " probes.",
		    host->of, marked->of, probe->of);
		return PROOF_WORKING;
	}
	if (host->counted == 0 && marked->counted == 0) {
		snprintf(sentence, PROOF_TEXT, "Nobody counts marks: %s, and %s.",
		    ratios[PROOF_HOST_CE].needs, ratios[PROOF_SWITCH_CE].needs);
		return PROOF_NOT_KNOWN;
	}
	if (pressure.pct >= STEADY_PCT) {
		snprintf(sentence, PROOF_TEXT,
		    "No packet is marked, and PFC pauses for %.0f %% of the time: ECN "
		    "is off, or its threshold lies above that of PFC.",
		    pressure.pct);
		return PROOF_FAILING;
	}
	snprintf(sentence, PROOF_TEXT, "No packet is marked: there is no congestion.");
	return PROOF_NOT_NEEDED;
}

static enum proof_state
answer_cnp(const struct proof_round *total, char sentence[PROOF_TEXT])
{
	const struct proof_sum *sent = &total->ratios[PROOF_CNP_PER_CE];
	const struct proof_sum *ignored = &total->ratios[PROOF_CNP_IGNORED];
	const struct proof_sum *balance = &total->ratios[PROOF_CNP_BALANCE];
	char error[PROOF_TEXT];
	double pct = 0;

	if (proof_read(total, PROOF_CNP_IGNORED, &pct, error) == PROOF_KNOWN &&
	    pct >= CNP_IGNORED_PCT) {
		snprintf(sentence, PROOF_TEXT,
		    "Senders ignore %.0f %% of the CNPs that reach them.", pct);
		return PROOF_FAILING;
	}
	if (sent->counted == 0 && ignored->counted == 0) {
		snprintf(sentence, PROOF_TEXT, "%s", "No RNIC counts CNPs.");
		return PROOF_NOT_KNOWN;
	}
	if (sent->per >= 1000 && (double)sent->of * 1e9 < (double)total->ns &&
	    100 * (double)sent->of < CNP_OFF_PCT * (double)sent->per) {
		snprintf(sentence, PROOF_TEXT,
		    "Receivers answer %" PRIu64 " marks with %" PRIu64
		    " CNPs: senders are not told.",
		    sent->per, sent->of);
		return PROOF_FAILING;
	}
	if (sent->of == 0 && balance->of == 0 && ignored->per == 0) {
		snprintf(sentence, PROOF_TEXT, "No mark asks for a CNP.");
		return PROOF_NOT_NEEDED;
	}
	snprintf(sentence, PROOF_TEXT,
	    "RNICs of the rack sent %" PRIu64 " CNPs and received %" PRIu64
	    ", also from and to other racks.",
	    balance->per > sent->of ? balance->per : sent->of,
	    balance->of > ignored->per ? balance->of : ignored->per);
	return PROOF_WORKING;
}

static enum proof_state
answer_pfc(const struct proof_round *total, char sentence[PROOF_TEXT])
{
	const struct pressure worst = pressure_of(total);

	if (!worst.frames && !worst.time) {
		snprintf(sentence, PROOF_TEXT,
		    "Neither an RNIC nor the switch counts pauses.");
		return PROOF_NOT_KNOWN;
	}
	if (worst.count == 0 && worst.pct <= 0) {
		snprintf(sentence, PROOF_TEXT, "Nobody pauses anybody.");
		return PROOF_NOT_NEEDED;
	}
	if (!worst.time) {
		snprintf(sentence, PROOF_TEXT,
		    "%" PRIu64 " PFC frames were sent; nobody counts for how long they "
		    "pause.",
		    worst.count);
		return PROOF_WORKING;
	}
	snprintf(sentence, PROOF_TEXT,
	    "PFC is %s: at most %.2g %% of the time, priority %u, %.100s.",
	    worst.pct >= STEADY_PCT ? "the steady state" : "the backstop", worst.pct,
	    worst.priority, worst.who == NULL ? "" : worst.who);
	return worst.pct >= STEADY_PCT ? PROOF_FAILING : PROOF_WORKING;
}

enum proof_state
proof_answer(const struct proof_round *total, enum proof_question question,
    char sentence[PROOF_TEXT])
{
	switch (question) {
	case PROOF_ECN:
		return answer_ecn(total, sentence);
	case PROOF_CNP:
		return answer_cnp(total, sentence);
	default:
		return answer_pfc(total, sentence);
	}
}
