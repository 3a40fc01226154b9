/* Every message that a peer may send: a message that opens must be safe to read to
 * its end. */
#include <stdlib.h>
#include <string.h>

#include "tests/support/wire_walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	/* Like an arriving frame: malloc'd, so aligned, and of exact length. */
	uint8_t *message = malloc(len ? len : 1);

	if (message == NULL)
		return 0;
	memcpy(message, data, len);
	wire_walk(wire_kind_of(message, len), message, len);
	free(message);
	return 0;
}
