/* The bytes in front of a UD payload. */
#include <stdlib.h>
#include <string.h>

#include "host-agent/packet/grh.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void
check(const struct grh *grh, const uint8_t *data)
{
	size_t at = grh->src.family == 6 ? 8 : 32; /* an IPv4 header, or a GRH */

	if (grh->src.family != grh->dst.family ||
	    (grh->src.family != 4 && grh->src.family != 6))
		abort();
	if (grh->src.port != 0 || grh->dst.port != 0)
		abort();
	if (grh->dscp > 63 || grh->ecn > 3 || grh->flow_label > 0xfffff)
		abort();
	if (grh->src.family == 6 && memcmp(grh->src.bytes, data + at, 16) != 0)
		abort();
	if (grh->src.family == 4 && memcmp(grh->src.bytes, data + at, 4) != 0 &&
	    memcmp(grh->src.bytes, data + 20, 4) != 0)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint8_t *copy = malloc(len == 0 ? 1 : len); /* of exact length */
	struct grh grh;

	if (copy == NULL)
		return 0;
	memcpy(copy, data, len);
	if (grh_parse(copy, len, &grh) == 0)
		check(&grh, copy);
	free(copy);
	return 0;
}
