/* Two aggregators of a ToR: after any events one of them is active if it can be. */
#include "tests/support/peer_pair.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	peer_pair_run(data, size < 512 ? size : 512);
	return 0;
}
