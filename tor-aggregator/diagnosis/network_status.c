#include "tor-aggregator/diagnosis/network_status.h"

#include <stdbool.h>
#include <stdio.h>

#include "tor-aggregator/diagnosis/evidence.h"

/* fewer events in an interval are ignored, because they may be chance */
#define STRAY 10

static const struct sign {
	uint8_t indicator;
	bool needed; /* if the indicator is missing, the status is not known */
	double from; /* a value of at least this is evidence against the network */
} signs[] = {
	{ PROBE_LOSS, true, 0.01 },
	{ LINK_DOWNS, false, 1 },
	{ CARRIER_CHANGES, false, 1 },
	{ CRC_ERRORS, false, STRAY },
	{ SYMBOL_ERRORS, false, STRAY },
	{ FEC_FAILURES, false, STRAY },
	{ ICRC_ERRORS, false, STRAY },
	{ SWITCH_ERRORS, false, STRAY },
	{ SWITCH_FEC_FAILURES, false, STRAY },
	{ SWITCH_DROPS, false, 1 },
	{ HEADROOM_DROPS, false, 1 },
	{ RETRIES_EXCEEDED, false, 1 },
	{ ACK_TIMEOUTS, true, STRAY },
	{ SEQUENCE_NAKS, true, STRAY },
	{ OUT_OF_ORDER, false, STRAY },
	{ PAUSED, false, 1 },
	{ PFC_RECEIVED, true, 1 },
	{ GLOBAL_PAUSES_RECEIVED, false, 1 },
	{ SLOWED, true, 1 },
};

#define SIGNS (sizeof(signs) / sizeof(signs[0]))

const char *
network_status_str(enum network_status status)
{
	static const char *const names[] = { "not-known", "innocent", "suspect" };

	return names[status];
}

/* Lists the evidence against the network, as much as fits. */
static size_t
list_evidence(const struct evidence *evidence, char out[RULE_SENTENCE_BYTES])
{
	char text[INDICATOR_TEXT];
	size_t len = 0, count = 0;
	double value = 0;

	for (size_t i = 0; i < SIGNS && count < RULE_REPORTS; i++) {
		if (indicator_read(evidence, signs[i].indicator, &value) !=
			INDICATOR_KNOWN ||
		    value < signs[i].from)
			continue;
		indicator_report(evidence, signs[i].indicator, text);
		len += (size_t)snprintf(out + len, RULE_SENTENCE_BYTES - len, "%s%s",
		    count == 0 ? "" : ", ", text);
		count++;
	}
	return count;
}

enum network_status
network_status_of(const struct evidence *evidence, char out[RULE_SENTENCE_BYTES])
{
	double value = 0;

	out[0] = '\0';
	if (list_evidence(evidence, out) > 0)
		return NETWORK_SUSPECT;
	for (size_t i = 0; i < SIGNS; i++) {
		if (!signs[i].needed || indicator_read(evidence, signs[i].indicator,
					    &value) != INDICATOR_MISSING)
			continue;
		snprintf(out, RULE_SENTENCE_BYTES, "%s",
		    indicator_needs(evidence, signs[i].indicator));
		return NETWORK_NOT_KNOWN;
	}
	return NETWORK_INNOCENT;
}
