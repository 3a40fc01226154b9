#include "rackmesh/etcd/base64.h"

#include <errno.h>

static const char alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void
rm_base64_encode(const void *data, size_t len, char *text)
{
	const uint8_t *in = data;

	for (; len >= 3; len -= 3, in += 3) {
		uint32_t bits = (uint32_t)in[0] << 16 | (uint32_t)in[1] << 8 | in[2];

		*text++ = alphabet[bits >> 18];
		*text++ = alphabet[bits >> 12 & 63];
		*text++ = alphabet[bits >> 6 & 63];
		*text++ = alphabet[bits & 63];
	}
	if (len > 0) {
		uint32_t bits =
		    (uint32_t)in[0] << 16 | (len == 2 ? (uint32_t)in[1] << 8 : 0);

		*text++ = alphabet[bits >> 18];
		*text++ = alphabet[bits >> 12 & 63];
		*text++ = len == 2 ? alphabet[bits >> 6 & 63] : '=';
		*text++ = '=';
	}
}

static int
value_of(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

int
rm_base64_decode(const char *text, size_t len, void *ret, size_t *ret_len)
{
	uint8_t *out = ret;
	size_t padding = 0;

	if (len % 4 != 0)
		return -EINVAL;
	while (padding < 2 && padding < len && text[len - 1 - padding] == '=')
		padding++;
	for (size_t i = 0; i < len; i += 4) {
		size_t pad = i + 4 == len ? padding : 0;
		uint32_t bits = 0;

		for (size_t j = 0; j < 4; j++) {
			int value = j < 4 - pad ? value_of(text[i + j]) : 0;

			if (value < 0)
				return -EINVAL;
			bits = bits << 6 | (uint32_t)value;
		}
		*out++ = (uint8_t)(bits >> 16);
		if (pad < 2)
			*out++ = (uint8_t)(bits >> 8);
		if (pad < 1)
			*out++ = (uint8_t)bits;
	}
	*ret_len = (size_t)(out - (uint8_t *)ret);
	return 0;
}
