#include "tor-aggregator/optics/nexus_optics.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tor-aggregator/optics/optics_text.h"

#define LEAST_MBPS 1000

const char *
nexus_light_str(enum nexus_light light)
{
	static const char *const names[] = { "optics_rx_lowest_nw",
		"optics_rx_highest_nw", "optics_tx_lowest_nw", "optics_rx_low_alarm_nw",
		"optics_celsius", "optics_lane_mbps" };

	return names[light];
}

/* Reads a value, which may be a string or a number. -ENODATA: it is not measured. */
static int
read_field(const json_t *lane, const char *key,
    int (*read)(const char *text, size_t len, uint64_t *ret), uint64_t *ret)
{
	const json_t *value = json_object_get(lane, key);
	const char *text = json_string_value(value);
	char number[32];
	size_t len;

	if (value == NULL || json_is_null(value))
		return -ENODATA;
	if (json_is_number(value)) {
		snprintf(number, sizeof(number), "%.3f", json_number_value(value));
		text = number;
	}
	if (text == NULL)
		return -EBADMSG;
	text += strspn(text, " ");
	for (len = strlen(text); len > 0 && text[len - 1] == ' ';)
		len--;
	if (len == strspn(text, "-"))
		return -ENODATA;
	return read(text, len, ret);
}

static void
take(struct nexus_optics *optics, enum nexus_light light, bool highest, uint64_t value)
{
	if (optics->there[light] &&
	    (highest ? value <= optics->value[light] : value >= optics->value[light]))
		return;
	optics->there[light] = true;
	optics->value[light] = value;
}

static size_t
read_lane(const json_t *lane, struct nexus_optics *optics)
{
	uint64_t sent = 0, received = 0, alarm = 0, celsius = 0;
	const int tx = read_field(lane, "tx_pwr", optics_text_power, &sent),
		  rx = read_field(lane, "rx_pwr", optics_text_power, &received),
		  low = read_field(lane, "rx_pwr_alrm_lo", optics_text_power, &alarm),
		  heat = read_field(lane, "temperature", optics_text_celsius, &celsius);

	if (tx == 0)
		take(optics, NEXUS_TX_LOWEST_NW, false, sent);
	if (rx == 0 && (tx != 0 || sent >= OPTICS_DARK_NW)) {
		take(optics, NEXUS_RX_LOWEST_NW, false, received);
		take(optics, NEXUS_RX_HIGHEST_NW, true, received);
	}
	if (low == 0)
		take(optics, NEXUS_RX_LOW_ALARM_NW, true, alarm);
	if (heat == 0)
		take(optics, NEXUS_CELSIUS, true, celsius);
	return (size_t)(tx == -EBADMSG) + (rx == -EBADMSG) + (low == -EBADMSG) +
	       (heat == -EBADMSG);
}

/* Reads megabits per second, as digits. Some modules show impossible values, such
 * as 56. */
static int
read_rate(const char *text, size_t len, uint64_t *ret)
{
	const size_t digits = strspn(text, "0123456789");

	if (digits > 9 || (digits < len && text[digits] != '.'))
		return -EBADMSG;
	*ret = strtoull(text, NULL, 10);
	return *ret < LEAST_MBPS ? -ENODATA : 0;
}

static size_t
read_lanes(const json_t *row, struct nexus_optics *ret)
{
	const json_t *table = json_object_get(row, "TABLE_lane"),
		     *lanes = json_object_get(table, "ROW_lane");
	size_t errors = 0;

	if (table == NULL)
		return read_lane(row, ret);
	if (json_is_object(lanes))
		return read_lane(lanes, ret);
	if (!json_is_array(lanes))
		return 1;
	for (size_t i = 0; i < json_array_size(lanes) && i < NEXUS_MAX_LANES; i++)
		errors += read_lane(json_array_get(lanes, i), ret);
	return errors;
}

size_t
nexus_optics_read(const json_t *row, struct nexus_optics *ret)
{
	uint64_t mbps = 0;
	int r;

	*ret = (struct nexus_optics){ 0 };
	r = read_field(row, "nom_bitrate", read_rate, &mbps);
	if (r == 0)
		take(ret, NEXUS_LANE_MBPS, true, mbps);
	return (size_t)(r == -EBADMSG) + read_lanes(row, ret);
}
