/* Any bytes as a peer's sketch: they are refused and leave it empty, or are accepted
 * and in the canonical form. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/metrics/sketch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct rm_sketch *sketch, *other;
	uint8_t again[RM_SKETCH_MAX_BYTES];
	uint64_t last = 0;

	if (sketch == NULL) {
		sketch = rm_sketch_new();
		other = rm_sketch_new();
		if (sketch == NULL || other == NULL)
			abort();
	}
	if (rm_sketch_decode(sketch, data, len) < 0) {
		if (rm_sketch_count(sketch) != 0 || rm_sketch_max_ns(sketch) != 0)
			abort();
		return 0;
	}

	if (rm_sketch_encode(sketch, again, sizeof(again)) != (int)len)
		abort();
	if (memcmp(again, data, len) != 0)
		abort();
	for (double q = 0.05; q <= 1; q += 0.05) {
		uint64_t value = rm_sketch_quantile_ns(sketch, q);

		if (value < last || value > rm_sketch_max_ns(sketch))
			abort();
		last = value;
	}
	rm_sketch_merge(other, sketch);
	return 0;
}
