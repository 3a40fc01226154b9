#include "tor-aggregator/diagnosis/proof_judge.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const question_names[PROOF_QUESTIONS] = { "ecn", "cnp", "pfc" };
static const char *const state_names[] = { "working", "not-needed", "failing",
	"not-known" };

const char *
proof_question_str(enum proof_question question)
{
	return question_names[question];
}

const char *
proof_state_str(enum proof_state state)
{
	return state_names[state];
}

static enum proof_state report(char sentence[PROOF_TEXT], enum proof_state state,
    const char *format, ...) __attribute__((format(printf, 3, 4)));

static enum proof_state
report(char sentence[PROOF_TEXT], enum proof_state state, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(sentence, PROOF_TEXT, format, arguments);
	va_end(arguments);
	return state;
}

struct percent {
	char text[16];
};

/* Formats a percentage such as "0.5", "2.1" or "80", without an exponent. */
static struct percent
percent(double pct)
{
	struct percent percent;

	if (pct > 0 && pct < 0.01)
		snprintf(percent.text, sizeof(percent.text), "0.01");
	else
		snprintf(percent.text, sizeof(percent.text),
		    pct < 9.95 ? "%.2g" : "%.0f", pct < 1e6 ? pct : 1e6);
	return percent;
}

/* ---- pauses by direction ---- */

/* The strongest pauses of all priorities in one direction, as either side counts them:
 * one end of a link counts them as sent, the other end as received. */
struct pressure {
	double pct;
	char who[EVIDENCE_NAME_BYTES + 32];
	unsigned priority;
	int64_t ns;
	uint32_t steady; /* number of parts that are paused steadily */
	bool known;      /* frames or time are known */
	uint64_t frames;
	double untimed_rate; /* frames per second, if the duration is not known */
};

static void
press(struct pressure *worst, const struct proof_share *share, unsigned priority,
    const char *prefix)
{
	if (share->steady > worst->steady)
		worst->steady = share->steady;
	if (share->pct <= worst->pct)
		return;
	worst->pct = share->pct;
	worst->priority = priority;
	worst->ns = share->ns;
	snprintf(worst->who, sizeof(worst->who), "%s%s", prefix, share->who);
}

static bool
is_timed(const struct proof_share *share)
{
	return share->timed > 0 && share->untimed == 0;
}

/* Adds the counts of host and port, which count the same pauses. */
static void
press_both(struct pressure *worst, const struct proof_share *host,
    const struct proof_share *port, unsigned priority)
{
	press(worst, host, priority, "");
	press(worst, port, priority, "port ");
	worst->known |= host->timed + host->untimed + port->timed + port->untimed > 0;
	if (is_timed(host) || is_timed(port))
		return;
	if (host->untimed_rate > worst->untimed_rate)
		worst->untimed_rate = host->untimed_rate;
	if (port->untimed_rate > worst->untimed_rate)
		worst->untimed_rate = port->untimed_rate;
}

/* Returns the pauses that stop the senders. They come from the switch, or from the
 * network beyond it, and mean congestion. */
static struct pressure
pressed_senders(const struct proof_total *total)
{
	struct pressure worst = { 0 };

	for (unsigned p = 0; p < PROOF_PRIORITIES; p++) {
		const struct proof_pauses *host = &total->pauses[PROOF_HOST][p],
					  *port = &total->pauses[PROOF_SWITCH][p];

		press_both(&worst, &host->paused, &port->pausing, p);
		worst.frames += host->knows_received ? host->received : port->sent;
	}
	return worst;
}

/* Returns the pauses that stop the switch. They come from receivers: an RNIC, or the
 * other end of an uplink. */
static struct pressure
pressing_receivers(const struct proof_total *total)
{
	struct pressure worst = { 0 };

	for (unsigned p = 0; p < PROOF_PRIORITIES; p++) {
		const struct proof_pauses *host = &total->pauses[PROOF_HOST][p],
					  *port = &total->pauses[PROOF_SWITCH][p];

		press_both(&worst, &host->pausing, &port->paused, p);
		worst.frames += host->knows_sent ? host->sent : port->received;
	}
	return worst;
}

static const struct pressure *
worse(const struct pressure *a, const struct pressure *b)
{
	return a->pct >= b->pct ? a : b;
}

/* ---- marks ---- */

static bool
all_count(const struct proof_sum *sum)
{
	return sum->counted > 0 && sum->missing == 0;
}

static bool
most_count(const struct proof_sum *sum)
{
	return sum->counted > 0 && sum->counted >= sum->missing;
}

/* True: the share is low at each part. The sum over all parts would hide one congested
 * port. */
static bool
is_low(const struct proof_sum *sum)
{
	return sum->most_pct < PROOF_LOW_CE_PCT;
}

/* PFC stops senders steadily: decides whether ECN worked before that. Marks that the
 * rack's RNICs receive may be from other switches, and marks of this switch may be
 * received in other racks. */
static enum proof_state
ecn_under_pressure(const struct proof_total *total, const struct pressure *senders,
    char sentence[PROOF_TEXT])
{
	const struct proof_sum *host = &total->ratios[PROOF_HOST_CE],
			       *port = &total->ratios[PROOF_SWITCH_CE],
			       *cnps = &total->numbers[PROOF_HOST][PROOF_CNPS_RECEIVED];
	const struct percent pct = percent(senders->pct);

	if (all_count(port) && port->per >= PROOF_FEW)
		return is_low(port)
			   ? report(sentence, PROOF_FAILING,
				 "The switch marks %" PRIu64 " of %" PRIu64
				 " packets, and PFC pauses for %s %% of the time "
				 "(%.60s): %s lies above that of PFC.",
				 port->of, port->per, pct.text, senders->who,
				 port->of == 0 ? "ECN is off, or its threshold"
					       : "the threshold of ECN")
			   : report(sentence, PROOF_WORKING,
				 "The switch marks %" PRIu64 " of %" PRIu64
				 " packets; PFC pauses for %s %% of the time (%.60s) "
				 "nevertheless.",
				 port->of, port->per, pct.text, senders->who);
	if (host->per >= PROOF_FEW && !is_low(host))
		return report(sentence, PROOF_WORKING,
		    "RNICs receive %" PRIu64 " marks with %" PRIu64
		    " packets; PFC pauses for %s %% of the time (%.60s) nevertheless.",
		    host->of, host->per, pct.text, senders->who);
	if (all_count(host) && host->per >= PROOF_FEW && all_count(cnps) &&
	    cnps->of < PROOF_FEW)
		return report(sentence, PROOF_FAILING,
		    "RNICs receive %" PRIu64 " marks with %" PRIu64
		    " packets and %" PRIu64 " CNPs, and PFC pauses for %s %% of the "
		    "time (%.60s): ECN is off, or its threshold lies above that of "
		    "PFC.",
		    host->of, host->per, cnps->of, pct.text, senders->who);
	return report(sentence, PROOF_NOT_KNOWN,
	    "PFC pauses for %s %% of the time (%.60s), and RNICs here receive %" PRIu64
	    " marks: others may go to other racks, which only counters of all ports "
	    "of the switch show.",
	    pct.text, senders->who, host->of);
}

static enum proof_state
ecn_unmarked(const struct proof_total *total, const struct pressure *senders,
    const struct pressure *receivers, char sentence[PROOF_TEXT])
{
	const struct proof_sum *host = &total->ratios[PROOF_HOST_CE],
			       *port = &total->ratios[PROOF_SWITCH_CE],
			       *dropped = &total->numbers[PROOF_SWITCH][PROOF_DROPPED];
	const struct pressure *worst = worse(senders, receivers);

	if (!most_count(host) && !most_count(port))
		return report(sentence, PROOF_NOT_KNOWN,
		    "No mark is counted, by %u of %u RNICs and %u of %u ports: too few "
		    "of them count marks.",
		    host->counted, host->counted + host->missing, port->counted,
		    port->counted + port->missing);
	if (senders->untimed_rate > 0 || receivers->untimed_rate > 0)
		return report(sentence, PROOF_NOT_KNOWN,
		    "No packet is marked, and %" PRIu64
		    " PFC frames were sent; the time that they pause is not counted.",
		    senders->frames + receivers->frames);
	if (worst->pct >= PROOF_HEALTHY_PCT)
		return report(sentence, PROOF_NOT_KNOWN,
		    "No packet is marked, and PFC pauses for %s %% of the time "
		    "(%.60s): too little, or too short, to tell whether ECN is off.",
		    percent(worst->pct).text, worst->who);
	if (dropped->of >= PROOF_FEW)
		return report(sentence, PROOF_NOT_KNOWN,
		    "No packet is marked, and the switch dropped %" PRIu64
		    " instead of sending them: they are of a class without ECN, or ECN "
		    "is off.",
		    dropped->of);
	if (!senders->known)
		return report(sentence, PROOF_NOT_KNOWN,
		    "No packet is marked, and pauses are not counted: there is no "
		    "congestion, or ECN is off.");
	if (worst->pct > 0)
		return report(sentence, PROOF_NOT_NEEDED,
		    "No packet is marked, and PFC pauses for at most %s %% of the "
		    "time: there is no lasting congestion.",
		    percent(worst->pct).text);
	return report(
	    sentence, PROOF_NOT_NEEDED, "No packet is marked: there is no congestion.");
}

static enum proof_state
judge_ecn(const struct proof_total *total, char sentence[PROOF_TEXT])
{
	const struct proof_sum *host = &total->ratios[PROOF_HOST_CE],
			       *port = &total->ratios[PROOF_SWITCH_CE],
			       *probe = &total->ratios[PROOF_PROBE_CE];
	const struct pressure senders = pressed_senders(total),
			      receivers = pressing_receivers(total);
	const bool marked = host->of > 0 || port->of > 0 || probe->of > 0;
	char reason[PROOF_SIDES][PROOF_TEXT];
	double unused;

	if (host->counted == 0 && port->counted == 0 && probe->of == 0) {
		proof_read(total, PROOF_HOST_CE, &unused, reason[PROOF_HOST]);
		proof_read(total, PROOF_SWITCH_CE, &unused, reason[PROOF_SWITCH]);
		return report(sentence, PROOF_NOT_KNOWN,
		    "Marks are not counted: %.90s, and %.90s.", reason[PROOF_HOST],
		    reason[PROOF_SWITCH]);
	}
	if (receivers.steady > 0 && is_low(host) && is_low(port))
		return report(sentence, PROOF_NOT_KNOWN,
		    "PFC delays the switch for %s %% of the time (%.60s): pauses that "
		    "begin there need no marks, and are no evidence on ECN.",
		    percent(receivers.pct).text, receivers.who);
	if (senders.steady > 0 && receivers.steady == 0)
		return ecn_under_pressure(total, &senders, sentence);
	if (!marked)
		return ecn_unmarked(total, &senders, &receivers, sentence);
	if (senders.untimed_rate >= PROOF_BUSY_FRAMES && is_low(host) && is_low(port))
		return report(sentence, PROOF_NOT_KNOWN,
		    "Few packets are marked, %" PRIu64 " received by RNICs and %" PRIu64
		    " sent by the switch, and %" PRIu64
		    " PFC frames paused senders; the time is not counted.",
		    host->of, port->of, senders.frames);
	return report(sentence, PROOF_WORKING,
	    "Packets are marked%s: RNICs received %" PRIu64
	    " marked packets, the switch marked %" PRIu64 ", and %" PRIu64
	    " probes arrived marked.",
	    all_count(port) && port->of == 0 ? ", by other switches" : "", host->of,
	    port->of, probe->of);
}

/* ---- CNPs ---- */

struct others {
	char text[32];
};

/* Writes text such as " and 2 others". */
static struct others
others(uint32_t parts)
{
	struct others others = { "" };

	if (parts > 1)
		snprintf(others.text, sizeof(others.text), " and %u other%s", parts - 1,
		    parts > 2 ? "s" : "");
	return others;
}

static enum proof_state
cnp_faults(const struct proof_total *total, char sentence[PROOF_TEXT])
{
	const struct proof_worst *off = &total->cnp_off, *ignored = &total->cnp_ignored;

	if (off->parts > 0)
		return report(sentence, PROOF_FAILING,
		    "%.80s%s answers %" PRIu64 " marks with %" PRIu64
		    " CNPs: its senders are not informed of the congestion.",
		    off->who, others(off->parts).text, off->per, off->of);
	if (ignored->parts > 0)
		return report(sentence, PROOF_FAILING,
		    "%.80s%s ignores %" PRIu64 " of the %" PRIu64
		    " CNPs that reach it, and does not slow down.",
		    ignored->who, others(ignored->parts).text, ignored->of,
		    ignored->per);
	return PROOF_WORKING;
}

static enum proof_state
judge_cnp(const struct proof_total *total, char sentence[PROOF_TEXT])
{
	const struct proof_sum *marks = &total->numbers[PROOF_HOST][PROOF_MARKED],
			       *sent = &total->numbers[PROOF_HOST][PROOF_CNPS_SENT],
			       *got = &total->numbers[PROOF_HOST][PROOF_CNPS_RECEIVED];
	const struct proof_sum *both = &total->ratios[PROOF_CNP_PER_CE];

	if (cnp_faults(total, sentence) == PROOF_FAILING)
		return PROOF_FAILING;
	if (sent->counted == 0 && got->counted == 0)
		return report(sentence, PROOF_NOT_KNOWN, "No RNIC counts CNPs%s.",
		    total->parts[PROOF_HOST].read == 0 ? ": none has reported lately"
						       : "");
	if (both->of == 0 && both->per > 0)
		return report(sentence, PROOF_NOT_KNOWN,
		    "RNICs received %" PRIu64
		    " marks and sent no CNP, but each of them received too few marks "
		    "for a verdict.",
		    both->per);
	if (sent->of == 0 && got->of == 0 && !most_count(both))
		return report(sentence, PROOF_NOT_KNOWN,
		    "No CNP is sent or received, and %u of %u RNICs count marks and "
		    "CNPs.",
		    both->counted, both->counted + both->missing);
	if (sent->of == 0 && got->of == 0)
		return report(sentence, PROOF_NOT_NEEDED,
		    "No packet was marked, so no CNP was needed.");
	if (got->counted == 0)
		return report(sentence, PROOF_NOT_KNOWN,
		    "RNICs of the rack sent %" PRIu64
		    " CNPs; those that arrive are not counted.",
		    sent->of);
	if (got->of == 0)
		return report(sentence, PROOF_NOT_KNOWN,
		    "RNICs of the rack sent %" PRIu64
		    " CNPs and received none: they are lost, or went to other racks.",
		    sent->of);
	if (sent->counted == 0)
		return report(sentence, PROOF_NOT_KNOWN,
		    "RNICs of the rack received %" PRIu64
		    " CNPs; those that they send are not counted.",
		    got->of);
	return report(sentence, PROOF_WORKING,
	    "RNICs of the rack sent %" PRIu64 " CNPs for %" PRIu64
	    " marks and received %" PRIu64 ", also from and to other racks.",
	    sent->of, marks->of, got->of);
}

/* ---- PFC ---- */

static enum proof_state
pfc_quiet(const struct proof_total *total, char sentence[PROOF_TEXT])
{
	const struct proof_parts *host = &total->parts[PROOF_HOST],
				 *port = &total->parts[PROOF_SWITCH];

	if (2 * host->pauses < host->read && 2 * port->pauses < port->read)
		return report(sentence, PROOF_NOT_KNOWN,
		    "No pause is counted, by %u of %u RNICs and %u of %u ports: too "
		    "few "
		    "of them count pauses.",
		    host->pauses, host->read, port->pauses, port->read);
	return report(sentence, PROOF_NOT_NEEDED, "No port was paused.");
}

/* PFC stops senders for some of the time, or for a time that is not known: decides the
 * state for this case. */
static enum proof_state
pfc_in_use(const struct pressure *worst, double untimed_rate, uint64_t frames,
    char sentence[PROOF_TEXT])
{
	const struct percent pct = percent(worst->pct);

	if (worst->pct >= PROOF_STEADY_PCT && worst->ns < PROOF_STEADY_NS)
		return report(sentence, PROOF_NOT_KNOWN,
		    "PFC pauses for %s %% of the time (%.80s, priority %u), which is "
		    "counted for %" PRId64 " s only: too short to tell.",
		    pct.text, worst->who, worst->priority, worst->ns / RM_NS_PER_S);
	if (untimed_rate >= PROOF_BUSY_FRAMES)
		return report(sentence, PROOF_NOT_KNOWN,
		    "%" PRIu64
		    " PFC frames were sent, up to %.0f a second at one port; their "
		    "duration is not counted.",
		    frames, untimed_rate);
	if (worst->pct > 0)
		return report(sentence, PROOF_WORKING,
		    "PFC pauses rarely: for at most %s %% of the time (%.80s, "
		    "priority %u).",
		    pct.text, worst->who, worst->priority);
	return report(sentence, PROOF_WORKING,
	    "PFC pauses rarely: %" PRIu64 " frames, less than %u a second at any port.",
	    frames, PROOF_BUSY_FRAMES);
}

static enum proof_state
judge_pfc(const struct proof_total *total, char sentence[PROOF_TEXT])
{
	const struct pressure senders = pressed_senders(total),
			      receivers = pressing_receivers(total);
	const double rate = senders.untimed_rate > receivers.untimed_rate
				? senders.untimed_rate
				: receivers.untimed_rate;

	if (!senders.known && !receivers.known)
		return report(sentence, PROOF_NOT_KNOWN,
		    "Neither an RNIC nor the switch counts pauses%s.",
		    total->parts[PROOF_SWITCH].ever &&
			    total->parts[PROOF_SWITCH].read == 0
			? ", or was read lately"
			: "");
	if (receivers.steady > 0)
		return report(sentence, PROOF_FAILING,
		    "PFC delays the switch for %s %% of the time (%.80s, priority %u; "
		    "%u in all): first find out why packets are not accepted there.",
		    percent(receivers.pct).text, receivers.who, receivers.priority,
		    receivers.steady);
	if (senders.steady > 0)
		return report(sentence, PROOF_FAILING,
		    "PFC pauses all the time: it delays senders for %s %% of the time "
		    "(%.80s, priority %u; %u in all).",
		    percent(senders.pct).text, senders.who, senders.priority,
		    senders.steady);
	if (senders.frames == 0 && receivers.frames == 0 && senders.pct <= 0 &&
	    receivers.pct <= 0)
		return pfc_quiet(total, sentence);
	return pfc_in_use(worse(&senders, &receivers), rate,
	    senders.frames + receivers.frames, sentence);
}

enum proof_state
proof_judge(const struct proof_total *total, enum proof_question question,
    char sentence[PROOF_TEXT])
{
	switch (question) {
	case PROOF_ECN:
		return judge_ecn(total, sentence);
	case PROOF_CNP:
		return judge_cnp(total, sentence);
	default:
		return judge_pfc(total, sentence);
	}
}
