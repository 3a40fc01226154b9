#include "host-agent/counters/counter_settings.h"

#include <stdio.h>
#include <string.h>

#include "host-agent/counters/counter_table.h"
#include "host-agent/counters/counters.h"

_Static_assert(COUNTER_NO_CLASS == WIRE_TRAFFIC_CLASS_NONE, "one number");
_Static_assert((int)COUNTER_GID_ROCE_V1 == WIRE_GID_ROCE_V1 &&
		   (int)COUNTER_GID_ROCE_V2 == WIRE_GID_ROCE_V2,
    "the same bits");
_Static_assert(DCB_NO_PRIORITY == WIRE_NO_PRIORITY, "one number");
_Static_assert((int)DCB_DSCPS == WIRE_DSCPS, "as many");

/* The states of a row, one per value. */
static const struct counter_state *
states_of(const struct counters_port *port, const char *name)
{
	const struct counter_state *states = port->states;

	for (const struct counter_row *row = counter_rows; row->name != NULL;
	     states += counter_row_values(row++))
		if (strcmp(row->name, name) == 0)
			return states;
	return NULL;
}

static bool
is_known(const struct wire_settings *settings, enum wire_setting setting)
{
	return (settings->known & UINT32_C(1) << setting) != 0;
}

static void
set(struct wire_settings *settings, enum wire_setting setting, uint64_t value)
{
	settings->known |= UINT32_C(1) << setting;
	settings->numbers[setting] = value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

/* Adds the settings of one port with a cable. */
static void
add_link(struct wire_settings *settings, const struct counters_port *port)
{
	const struct counter_state *pfc = states_of(port, "pfc_enabled");
	uint64_t mask = 0;
	bool all = pfc != NULL;

	for (int i = 0; i < COUNTER_INDEXES && all; i++) {
		all = pfc[i].there;
		mask |= (uint64_t)(pfc[i].total != 0) << i;
	}
	if (all)
		set(settings, WIRE_SETTING_PFC, mask);
	if (port->reading.fec != 0)
		set(settings, WIRE_SETTING_FEC, port->reading.fec);
	if (port->reading.trusts_dscp >= 0) {
		set(settings, WIRE_SETTING_TRUST,
		    port->reading.trusts_dscp ? WIRE_TRUST_DSCP : WIRE_TRUST_PCP);
		set(settings, WIRE_SETTING_DSCPS, 0);
		memcpy(settings->dscps, port->reading.dscps, sizeof(settings->dscps));
	}
}

/* Keeps what the settings have in common with those of another port. */
static void
keep_common(struct wire_settings *settings, const struct wire_settings *other)
{
	settings->known &= other->known;
	for (size_t i = 0; i < WIRE_SETTINGS; i++)
		if (settings->numbers[i] != other->numbers[i])
			settings->numbers[i] = WIRE_PORTS_DIFFER;
	for (size_t i = 0; i < WIRE_DSCPS; i++)
		if (settings->dscps[i] != other->dscps[i])
			settings->dscps[i] = WIRE_PRIORITIES_DIFFER;
}

static struct wire_settings
common_links(const struct counters_port *const *lowers, size_t lower_count)
{
	struct wire_settings common = { 0 };

	for (size_t i = 0; i < lower_count; i++) {
		struct wire_settings link = { 0 };

		if (lowers[i] != NULL)
			add_link(&link, lowers[i]);
		if (i == 0)
			common = link;
		else
			keep_common(&common, &link);
	}
	return common;
}

/* Takes those settings of ports with cables that are not known yet. */
static void
take_missing(struct wire_settings *settings, const struct wire_settings *from)
{
	static const enum wire_setting links[] = { WIRE_SETTING_PFC, WIRE_SETTING_FEC,
		WIRE_SETTING_TRUST, WIRE_SETTING_DSCPS };

	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		if (is_known(settings, links[i]) || !is_known(from, links[i]))
			continue;
		set(settings, links[i], from->numbers[links[i]]);
		if (links[i] == WIRE_SETTING_DSCPS)
			memcpy(settings->dscps, from->dscps, sizeof(settings->dscps));
	}
}

static void
name_bond_ports(const struct counter_reading *bond, char ret[WIRE_BOND_PORTS_BYTES])
{
	size_t len = 0;

	_Static_assert(
	    COUNTER_MAX_LOWERS * sizeof(bond->lowers[0]) < WIRE_BOND_PORTS_BYTES,
	    "all names fit");
	ret[0] = '\0';
	for (size_t i = 0; i < bond->lower_count; i++)
		len += (size_t)snprintf(ret + len, WIRE_BOND_PORTS_BYTES - len, "%s%s",
		    i > 0 ? " " : "", bond->lowers[i]);
}

void
counter_settings_fill(const struct counters_port *port,
    const struct counters_port *const *lowers, size_t lower_count,
    struct wire_settings *ret)
{
	const struct counter_state *speed = states_of(port, "port_rate_mbps");
	const struct wire_settings common = common_links(lowers, lower_count);

	if (speed != NULL && speed->there && speed->total > 0)
		set(ret, WIRE_SETTING_SPEED, speed->total);
	if (port->reading.traffic_class >= 0)
		set(ret, WIRE_SETTING_TRAFFIC_CLASS,
		    (uint64_t)port->reading.traffic_class);
	if (port->reading.gid_types != 0)
		set(ret, WIRE_SETTING_GID_TYPES, port->reading.gid_types);
	add_link(ret, port);
	take_missing(ret, &common);
	ret->firmware = port->reading.firmware;
	if (ret->firmware[0] != '\0')
		ret->known |= UINT32_C(1) << WIRE_SETTING_FIRMWARE;
	name_bond_ports(&port->reading, ret->bond_ports);
}

static bool
was_read(const struct counters_port *port)
{
	return port != NULL && port->at.ns != 0 && port->error == 0;
}

void
counter_settings_of(const struct counters *counters,
    const struct counter_port_place *place, struct wire_settings *ret)
{
	const struct counters_port *port = counters_find(counters, place);
	const struct counters_port *lowers[COUNTER_MAX_LOWERS];

	if (!was_read(port))
		return;
	for (size_t i = 0; i < port->reading.lower_count; i++) {
		lowers[i] = counters_lower(counters, port, i);
		if (!was_read(lowers[i]))
			lowers[i] = NULL;
	}
	counter_settings_fill(port, lowers, port->reading.lower_count, ret);
}
