/*
 * fuzz_address - any text through rm_address_parse and rm_endpoint_parse, any bytes as
 * a peer's address from the kernel.
 *
 * An accepted address is equal to what its own text, parsed without a default port,
 * gives; a refused one changes nothing.
 *
 * Input: one byte of mode, two of a default port, the text.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/address.h"
#include "rackmesh/core/endpoint.h"
#include "tests/fuzz/script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void
require(int truth)
{
	if (!truth)
		abort();
}

static void
parse(const char *text, int port)
{
	struct rm_address address, again, before;
	char shown[RM_ADDRESS_TEXT];
	int r;

	memset(&address, 0xa5, sizeof(address));
	before = address;
	r = rm_address_parse(text, port, &address);
	require(r == 0 || r == -EINVAL);
	if (r < 0) {
		require(memcmp(&address, &before, sizeof(address)) == 0);
		return;
	}
	require(address.len <= sizeof(address.storage));
	memset(shown, 0xa5, sizeof(shown));
	rm_address_format(&address, shown);
	require(memchr(shown, '\0', sizeof(shown)) != NULL);
	require(rm_address_parse(shown, -1, &again) == 0);
	require(rm_address_equal(&address, &again) && address.len == again.len);
	/* Two addresses that differ in one byte are not equal. */
	((uint8_t *)&again.storage)[2] ^= 1;
	require(!rm_address_equal(&address, &again));
}

static void
parse_endpoint(const char *text)
{
	struct rm_endpoint endpoint, again, before;
	char shown[RM_ENDPOINT_TEXT];
	int r;

	memset(&endpoint, 0xa5, sizeof(endpoint));
	before = endpoint;
	r = rm_endpoint_parse(text, &endpoint);
	require(r == 0 || r == -EINVAL);
	if (r < 0) {
		require(memcmp(&endpoint, &before, sizeof(endpoint)) == 0);
		return;
	}
	memset(shown, 0xa5, sizeof(shown));
	rm_endpoint_format(&endpoint, shown);
	require(memchr(shown, '\0', sizeof(shown)) != NULL);
	require(rm_endpoint_parse(shown, &again) == 0);
	require(rm_endpoint_equal(&endpoint, &again));
}

static void
show(const uint8_t *data, size_t len)
{
	struct rm_address address = { 0 };
	char shown[RM_ADDRESS_TEXT];

	address.len = len < sizeof(address.storage) ? len : sizeof(address.storage);
	memcpy(&address.storage, data, address.len);
	memset(shown, 0xa5, sizeof(shown));
	rm_address_format(&address, shown);
	require(memchr(shown, '\0', sizeof(shown)) != NULL);
	require(rm_address_equal(&address, &address));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_bytes bytes = { data, len };
	const bool has_port = fuzz_u8(&bytes) & 1;
	const int port = fuzz_two(&bytes);
	char *text = malloc(bytes.left + 1);

	require(text != NULL);
	if (bytes.left > 0)
		memcpy(text, bytes.at, bytes.left);
	text[bytes.left] = '\0';
	parse(text, has_port ? port : -1);
	parse_endpoint(text);
	show((const uint8_t *)text, bytes.left);
	free(text);
	return 0;
}
