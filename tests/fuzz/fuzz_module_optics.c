/*
 * Any bytes as the memory of an optical module, and as the kernel's answer to a request
 * for it. The light of each lane is between that of the darkest and the brightest lane.
 *
 * Input: the first byte selects the case. For memory each half page follows, up to 128
 * bytes preceded by one byte of length (255: it cannot be read); for netlink each
 * answer, preceded by two bytes of length.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/counters/module_optics.h"
#include "host-agent/kernel/counter_kernel.h"
#include "tests/fuzz/bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static int
half(void *arg, uint8_t bus_address, uint8_t page, bool upper, uint8_t *ret)
{
	struct fuzz_bytes *bytes = arg;
	struct fuzz_bytes part;

	if ((bus_address != 0x50 && bus_address != 0x51) || (page != 0 && !upper))
		abort();
	if (bytes->left > 0 && *bytes->at == 255) {
		(void)fuzz_u8(bytes);
		return -EIO;
	}
	part = fuzz_part(bytes, MODULE_PAGE_BYTES);
	memset(ret, 0, MODULE_PAGE_BYTES);
	memcpy(ret, part.at, part.left);
	return 0;
}

static int
answer(
    void *arg, int protocol, const struct nlmsghdr *question, uint8_t *ret, size_t room)
{
	struct fuzz_bytes *bytes = arg;
	size_t len = fuzz_u8(bytes);

	len = len << 8 | fuzz_u8(bytes);
	len = len < bytes->left ? len : bytes->left;
	len = len < room ? len : room;
	memcpy(ret, bytes->at, len);
	bytes->at += len;
	bytes->left -= len;
	return len == 0 ? -EOPNOTSUPP : (int)len;
}

static void
check(const struct module_optics *optics, int r)
{
	for (unsigned i = 0; i < MODULE_VALUES; i++)
		if (optics->there[i] ? r < 0 : optics->value[i] != 0)
			abort();
	for (unsigned i = MODULE_RX_NW; i < MODULE_RX_NW + MODULE_LANES; i++)
		if (optics->there[i] &&
		    (optics->value[i] < optics->value[MODULE_RX_LOWEST_NW] ||
			optics->value[i] > optics->value[MODULE_RX_HIGHEST_NW]))
			abort();
	if (optics->value[MODULE_RX_HIGHEST_NW] > UINT16_MAX * 100 ||
	    optics->value[MODULE_CELSIUS] > 128)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_bytes bytes = { data, len };
	const struct counter_kernel kernel = { .netlink = answer, .arg = &bytes };
	struct module_optics optics;
	int r;

	if (fuzz_u8(&bytes) % 2 == 0)
		r = module_optics_decode(&optics, half, &bytes);
	else
		r = module_optics_read(&optics, &kernel, "eth1");
	check(&optics, r);
	return 0;
}
