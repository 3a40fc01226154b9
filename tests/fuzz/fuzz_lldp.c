/* The output of lldpcli: the device at the other end of a cable chooses the names in
 * it. */
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/rnic/lldp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void
check_text(const char *text, size_t size)
{
	if (memchr(text, 0, size) == NULL || text[0] == '\0')
		abort();
	for (; *text != '\0'; text++)
		if (!isgraph((unsigned char)*text) || *text == '"' || *text == '\\')
			abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct lldp lldp;

	lldp.count = 0;
	if (lldp_parse((const char *)data, len, &lldp) < 0)
		return 0;
	if (lldp.count > LLDP_MAX_NEIGHBORS)
		abort();
	for (size_t i = 0; i < lldp.count; i++) {
		const struct lldp_neighbor *neighbor = &lldp.list[i];
		const char *name = lldp_switch(&lldp, neighbor->netdev);

		check_text(neighbor->netdev, sizeof(neighbor->netdev));
		check_text(neighbor->name, sizeof(neighbor->name));
		if (name != NULL && strlen(name) >= LLDP_NAME_BYTES)
			abort();
	}
	return 0;
}
