#include "tor-aggregator/drift/drift_settings.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "rackmesh/judge/part.h"

#define PRIORITIES 8
#define MBPS_PER_GBPS 1000

static bool
is_known(const struct drift_settings *settings, enum wire_setting setting)
{
	return (settings->known >> setting & 1) != 0;
}

void
drift_settings_take(struct drift_settings *ret, const struct wire_settings *from)
{
	size_t len = strnlen(from->firmware, sizeof(ret->firmware) - 1);

	*ret = (struct drift_settings){ .known = from->known };
	memcpy(ret->numbers, from->numbers, sizeof(ret->numbers));
	memcpy(ret->dscps, from->dscps, sizeof(ret->dscps));
	for (size_t i = 0; i < len; i++) {
		const char c = from->firmware[i];

		ret->firmware[i] = c <= ' ' || c > '~' ? '_' : c;
	}
}

static bool
dscps_are(const struct drift_settings *actual, const struct drift_settings *expected)
{
	for (size_t i = 0; i < WIRE_DSCPS; i++)
		if (expected->dscps[i] != WIRE_NO_PRIORITY &&
		    expected->dscps[i] != actual->dscps[i])
			return false;
	return true;
}

enum drift_state
drift_settings_compare(const struct drift_settings *expected,
    const struct drift_settings *actual, enum wire_setting setting)
{
	bool same;

	if (!is_known(expected, setting))
		return DRIFT_UNDECLARED;
	if (!is_known(actual, setting))
		return DRIFT_UNKNOWN;
	if (setting == WIRE_SETTING_FIRMWARE)
		same = rm_name_matches(actual->firmware, expected->firmware);
	else if (setting == WIRE_SETTING_DSCPS)
		same = dscps_are(actual, expected);
	else
		same = actual->numbers[setting] == expected->numbers[setting];
	return same ? DRIFT_SAME : DRIFT_DIFFERENT;
}

int
drift_pfc_read(const char *text, uint32_t *ret)
{
	uint32_t mask = 0;

	if (strcmp(text, "none") == 0) {
		*ret = 0;
		return 0;
	}
	for (;; text += 2) {
		if (text[0] < '0' || text[0] >= '0' + PRIORITIES ||
		    (text[1] != ',' && text[1] != '\0'))
			return -EINVAL;
		mask |= UINT32_C(1) << (text[0] - '0');
		if (text[1] == '\0')
			break;
	}
	*ret = mask;
	return 0;
}

int
drift_class_read(const char *text, uint32_t *ret)
{
	uint32_t number = 0;

	if (strcmp(text, "none") == 0) {
		*ret = WIRE_TRAFFIC_CLASS_NONE;
		return 0;
	}
	if (text[0] == '\0' || strlen(text) > 3)
		return -EINVAL;
	for (; *text != '\0'; text++) {
		if (*text < '0' || *text > '9')
			return -EINVAL;
		number = 10 * number + (uint32_t)(*text - '0');
	}
	if (number > UINT8_MAX)
		return -EINVAL;
	*ret = number;
	return 0;
}

/* Reads a number, and moves *text behind its last digit. -1: there is no digit, or the
 * number is above limit. */
static int
read_small(const char **text, int limit)
{
	int number = -1;

	for (; **text >= '0' && **text <= '9'; ++*text) {
		number = (number < 0 ? 0 : 10 * number) + (**text - '0');
		if (number >= limit)
			return -1;
	}
	return number;
}

int
drift_dscps_read(const char *text, uint8_t ret[WIRE_DSCPS])
{
	uint8_t dscps[WIRE_DSCPS];
	bool more = true;

	memset(dscps, WIRE_NO_PRIORITY, sizeof(dscps));
	for (int count = 0; more; count++) {
		int dscp = read_small(&text, WIRE_DSCPS), priority;

		if (count == DRIFT_MAX_DSCPS || dscp < 0 || *text++ != ':')
			return -EINVAL;
		priority = read_small(&text, PRIORITIES);
		more = *text == ',';
		if (priority < 0 || (!more && *text != '\0') ||
		    dscps[dscp] != WIRE_NO_PRIORITY)
			return -EINVAL;
		text += more;
		dscps[dscp] = (uint8_t)priority;
	}
	memcpy(ret, dscps, sizeof(dscps));
	return 0;
}

const char *
drift_fec_str(uint32_t fec)
{
	return fec == WIRE_FEC_OFF     ? "off"
	       : fec == WIRE_FEC_RS    ? "rs"
	       : fec == WIRE_FEC_BASER ? "baser"
	       : fec == WIRE_FEC_LLRS  ? "llrs"
				       : "other";
}

const char *
drift_setting_str(enum wire_setting setting)
{
	static const char *const names[] = {
		[WIRE_SETTING_MTU] = "mtu",
		[WIRE_SETTING_ROCE_MTU] = "roce_mtu",
		[WIRE_SETTING_SPEED] = "speed",
		[WIRE_SETTING_PFC] = "pfc",
		[WIRE_SETTING_FIRMWARE] = "firmware",
		[WIRE_SETTING_TRAFFIC_CLASS] = "traffic_class",
		[WIRE_SETTING_TRUST] = "trust",
		[WIRE_SETTING_FEC] = "fec",
		[WIRE_SETTING_DSCPS] = "dscp",
		[WIRE_SETTING_GID_TYPES] = "gid_types",
	};

	return names[setting];
}

const char *
drift_state_str(enum drift_state state)
{
	static const char *const names[] = {
		[DRIFT_UNDECLARED] = "undeclared",
		[DRIFT_SAME] = "same",
		[DRIFT_DIFFERENT] = "different",
		[DRIFT_UNKNOWN] = "unknown",
	};

	return names[state];
}

/* The name of the GID types; unknown bits, from a newer release, have no name. */
static const char *
gid_types_str(uint32_t types)
{
	static const char *const names[] = { [WIRE_GID_ROCE_V1] = "v1",
		[WIRE_GID_ROCE_V2] = "v2",
		[WIRE_GID_ROCE_V1 | WIRE_GID_ROCE_V2] = "v1+v2" };

	return types > 0 && types < sizeof(names) / sizeof(names[0]) ? names[types]
								     : "other";
}

static void
pfc_text(uint32_t mask, char ret[DRIFT_TEXT_BYTES])
{
	size_t len = 0;

	for (unsigned i = 0; i < PRIORITIES; i++) {
		if ((mask >> i & 1) == 0)
			continue;
		if (len > 0)
			ret[len++] = ',';
		ret[len++] = (char)('0' + i);
	}
	ret[len] = '\0';
	if (len == 0)
		strcpy(ret, "none");
}

/* Writes text such as "26:3,48:-"; "26:?": the ports of a bond differ. */
static void
dscps_text(const uint8_t dscps[WIRE_DSCPS], const uint8_t expected[WIRE_DSCPS],
    char ret[DRIFT_TEXT_BYTES])
{
	size_t len = 0;

	for (unsigned i = 0; i < WIRE_DSCPS && len + 8 < DRIFT_TEXT_BYTES; i++) {
		const char digit = dscps[i] < PRIORITIES ? (char)('0' + dscps[i])
				   : dscps[i] == WIRE_PRIORITIES_DIFFER ? '?'
									: '-';

		if (expected[i] != WIRE_NO_PRIORITY)
			len += (size_t)snprintf(ret + len, DRIFT_TEXT_BYTES - len,
			    "%s%u:%c", len > 0 ? "," : "", i, digit);
	}
}

void
drift_setting_text(const struct drift_settings *settings,
    const struct drift_settings *expected, enum wire_setting setting,
    char ret[DRIFT_TEXT_BYTES])
{
	const uint32_t number = settings->numbers[setting];
	const bool in_gbps = number % MBPS_PER_GBPS == 0;

	ret[0] = '\0';
	if (!is_known(settings, setting))
		return;
	if (number == WIRE_PORTS_DIFFER)
		strcpy(ret, "ports differ");
	else if (setting == WIRE_SETTING_FIRMWARE)
		snprintf(ret, DRIFT_TEXT_BYTES, "%s", settings->firmware);
	else if (setting == WIRE_SETTING_PFC)
		pfc_text(number, ret);
	else if (setting == WIRE_SETTING_DSCPS)
		dscps_text(settings->dscps, expected->dscps, ret);
	else if (setting == WIRE_SETTING_FEC)
		strcpy(ret, drift_fec_str(number));
	else if (setting == WIRE_SETTING_GID_TYPES)
		strcpy(ret, gid_types_str(number));
	else if (setting == WIRE_SETTING_TRUST)
		strcpy(ret, number == WIRE_TRUST_DSCP ? "dscp" : "pcp");
	else if (setting == WIRE_SETTING_TRAFFIC_CLASS &&
		 number == WIRE_TRAFFIC_CLASS_NONE)
		strcpy(ret, "none");
	else if (setting == WIRE_SETTING_SPEED)
		snprintf(ret, DRIFT_TEXT_BYTES, "%u %cb/s",
		    in_gbps ? number / MBPS_PER_GBPS : number, in_gbps ? 'G' : 'M');
	else
		snprintf(ret, DRIFT_TEXT_BYTES, "%u", number);
}
