/*
 * What a Nexus says, made up: any bytes as the answer to all commands, twice.
 * Whatever it says, nothing larger than the limits is kept, and a reading that succeeds
 * has a port.
 */
#include <stdlib.h>

#include "tor-aggregator/switch/nexus.h"
#include "tor-aggregator/switch/switch_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static struct switch_list *
read_once(const uint8_t *data, size_t len, const struct switch_list *before)
{
	struct switch_counts counts = { 0 };
	struct rm_why why = { .text = "" };
	struct nexus_values *values;
	struct switch_list *list = NULL;

	if (nexus_parse((const char *)data, len, &values, &why) < 0)
		return NULL;
	if (nexus_list(values, before, &counts, &list, &why) == 0 &&
	    (switch_list_count(list) == 0 ||
		switch_list_count(list) > SWITCH_MAX_OBJECTS ||
		switch_list_get(list, 0)->part != SWITCH_PORT || counts.resets != 0))
		abort();
	nexus_values_free(values);
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
