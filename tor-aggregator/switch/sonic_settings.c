#include "tor-aggregator/switch/sonic_settings.h"

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tor-aggregator/switch/switch_table.h"

#define PRIORITIES 8
#define MOST_MTU 65535
#define MOST_MBPS 10000000

enum { PORT_MTU, PORT_SPEED, PORT_FEC };
enum { QOS_PFC, QOS_MAP };

const char *const sonic_port_fields[SONIC_PORT_FIELDS] = { "mtu", "speed", "fec" };
const char *const sonic_qos_fields[SONIC_QOS_FIELDS] = { "pfc_enable",
	"dscp_to_tc_map" };

static bool
is_list(const redisReply *answer, size_t fields)
{
	return answer->type == REDIS_REPLY_ARRAY && answer->elements == fields;
}

static void
set(struct wire_settings *settings, enum wire_setting setting, uint64_t number)
{
	settings->known |= UINT32_C(1) << setting;
	settings->numbers[setting] = (uint32_t)number;
}

static unsigned
take_number(struct wire_settings *settings, enum wire_setting setting,
    const redisReply *text, uint64_t most)
{
	uint64_t number;

	if (text->type == REDIS_REPLY_NIL)
		return 0;
	if (text->type != REDIS_REPLY_STRING ||
	    switch_number_read(text->str, (size_t)text->len, &number) < 0 ||
	    number > most)
		return 1;
	set(settings, setting, number);
	return 0;
}

static bool
is_text(const redisReply *text, const char *word)
{
	return text->type == REDIS_REPLY_STRING && strcmp(text->str, word) == 0;
}

/* Automatic FEC has no fixed value. */
static void
take_fec(struct wire_settings *settings, const redisReply *text)
{
	if (is_text(text, "rs"))
		set(settings, WIRE_SETTING_FEC, WIRE_FEC_RS);
	else if (is_text(text, "fc"))
		set(settings, WIRE_SETTING_FEC, WIRE_FEC_BASER);
	else if (is_text(text, "none"))
		set(settings, WIRE_SETTING_FEC, WIRE_FEC_OFF);
}

unsigned
sonic_settings_port(const struct redisReply *answer, struct wire_settings *settings)
{
	unsigned errors;

	if (!is_list(answer, SONIC_PORT_FIELDS))
		return 1;
	errors = take_number(
	    settings, WIRE_SETTING_MTU, answer->element[PORT_MTU], MOST_MTU);
	errors += take_number(
	    settings, WIRE_SETTING_SPEED, answer->element[PORT_SPEED], MOST_MBPS);
	take_fec(settings, answer->element[PORT_FEC]);
	return errors;
}

/* "3,4"; "": none. */
static bool
read_priorities(const redisReply *text, uint32_t *ret)
{
	uint32_t mask = 0;

	for (size_t i = 0; i < (size_t)text->len; i++) {
		const char c = text->str[i];

		if (i % 2 == 1 ? c != ',' : c < '0' || c >= '0' + PRIORITIES)
			return false;
		if (i % 2 == 0)
			mask |= UINT32_C(1) << (c - '0');
	}
	*ret = mask;
	return text->len == 0 || text->len % 2 == 1;
}

/* Reads "AZURE", or, as in old releases, "[DSCP_TO_TC_MAP|AZURE]". */
static bool
read_map(const redisReply *text, char map[SONIC_MAP_BYTES])
{
	const char *bar = memchr(text->str, '|', (size_t)text->len);
	const char *name = bar != NULL ? bar + 1 : text->str;
	size_t len = (size_t)text->len - (size_t)(name - text->str);

	if (bar != NULL && len > 0 && name[len - 1] == ']')
		len--;
	if (len == 0 || len >= SONIC_MAP_BYTES || memchr(name, '\0', len) != NULL)
		return false;
	memcpy(map, name, len);
	map[len] = '\0';
	return true;
}

unsigned
sonic_settings_qos(const struct redisReply *answer, struct wire_settings *settings,
    char map[SONIC_MAP_BYTES])
{
	const redisReply *pfc, *name;
	uint32_t mask = 0;
	unsigned errors = 0;

	map[0] = '\0';
	if (!is_list(answer, SONIC_QOS_FIELDS))
		return 1;
	pfc = answer->element[QOS_PFC];
	name = answer->element[QOS_MAP];
	/* PFC is off for a port whose entry does not have it. Without an entry it is
	 * not known: in old releases one entry may be for several ports. */
	if (pfc->type == REDIS_REPLY_STRING && !read_priorities(pfc, &mask))
		errors++;
	else if (settings->known != 0 &&
		 (pfc->type == REDIS_REPLY_STRING || name->type == REDIS_REPLY_STRING))
		set(settings, WIRE_SETTING_PFC, mask);
	if (name->type != REDIS_REPLY_STRING)
		return errors;
	if (!read_map(name, map))
		return errors + 1;
	set(settings, WIRE_SETTING_TRUST, WIRE_TRUST_DSCP);
	return errors;
}

unsigned
sonic_settings_dscps(const struct redisReply *answer, struct wire_settings *settings)
{
	unsigned errors = 0;

	if (answer->type != REDIS_REPLY_ARRAY || answer->elements % 2 != 0)
		return 1;
	memset(settings->dscps, WIRE_NO_PRIORITY, sizeof(settings->dscps));
	for (size_t i = 0; i < answer->elements; i += 2) {
		const redisReply *from = answer->element[i],
				 *to = answer->element[i + 1];
		uint64_t dscp, class;

		if (from->type != REDIS_REPLY_STRING ||
		    to->type != REDIS_REPLY_STRING ||
		    switch_number_read(from->str, (size_t)from->len, &dscp) < 0 ||
		    switch_number_read(to->str, (size_t)to->len, &class) < 0 ||
		    dscp >= WIRE_DSCPS || class >= PRIORITIES)
			errors++;
		else
			settings->dscps[dscp] = (uint8_t) class;
	}
	if (answer->elements > 0)
		settings->known |= UINT32_C(1) << WIRE_SETTING_DSCPS;
	return errors;
}
