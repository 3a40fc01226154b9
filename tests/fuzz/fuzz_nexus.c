/*
 * Any bytes as the answer of a Nexus switch to all commands, read twice. Nothing larger
 * than the limits is kept, a successful reading has a port, and its neighbours are
 * plain text.
 */
#include <stdlib.h>
#include <string.h>

#include "tor-aggregator/switch/nexus.h"
#include "tor-aggregator/switch/nexus_list.h"
#include "tor-aggregator/switch/switch_list.h"
#include "tor-aggregator/switch/switch_neighbor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void
check_text(const char text[SWITCH_NEIGHBOR_BYTES])
{
	if (memchr(text, '\0', SWITCH_NEIGHBOR_BYTES) == NULL)
		abort();
	for (; *text != '\0'; text++)
		if (*text < ' ' || *text > '~')
			abort();
}

/* A port counter; there are no queue counters. */
static void
check_neighbor(const struct switch_list *list, size_t i)
{
	const struct switch_neighbor *neighbor = switch_list_neighbor(list, i);
	const struct switch_object *object = switch_list_get(list, i);
	uint64_t mac = 0;

	if (neighbor == NULL)
		return;
	if (object->part != SWITCH_PORT || !switch_neighbor_is_there(neighbor))
		abort();
	check_text(neighbor->name);
	check_text(neighbor->port);
	check_text(neighbor->description);
	if (neighbor->port[0] != '\0' &&
	    !switch_neighbor_is_at(neighbor, neighbor->port))
		abort();
	if (switch_neighbor_mac(neighbor, &mac) &&
	    (!switch_mac_is_of_guid(mac, mac) ||
		(mac >> 32 != 0 &&
		    !switch_mac_is_of_guid(
			mac, mac >> 24 << 40 | 0xfffe000000 | (mac & 0xffffff)))))
		abort();
	(void)switch_name_is_same(neighbor->name, neighbor->description);
	(void)switch_neighbor_is_at(neighbor, object->port);
}

static struct switch_list *
read_once(const uint8_t *data, size_t len, const struct switch_list *before)
{
	struct switch_counts counts = { 0 };
	struct rm_error error = { .text = "" };
	struct nexus_values *values;
	struct switch_list *list = NULL;

	/* The second reading does not request neighbours and modules: the known ones
	 * stay. */
	if (nexus_parse((const char *)data, len,
		before == NULL ? NEXUS_NEIGHBORS | NEXUS_OPTICS : 0, &values,
		&error) < 0)
		return NULL;
	if (nexus_list(values, before, &counts, &list, &error) == 0 &&
	    (switch_list_count(list) == 0 ||
		switch_list_count(list) > SWITCH_MAX_OBJECTS ||
		switch_list_get(list, 0)->part != SWITCH_PORT || counts.resets != 0))
		abort();
	nexus_values_free(values);
	for (size_t i = 0; i < switch_list_count(list); i++)
		check_neighbor(list, i);
	return list;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct switch_list *first = read_once(data, len, NULL),
			   *again = first == NULL ? NULL : read_once(data, len, first);

	if (first != NULL &&
	    (again == NULL || switch_list_count(again) != switch_list_count(first)))
		abort();
	switch_list_free(again);
	switch_list_free(first);
	return 0;
}
