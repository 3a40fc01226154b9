#include "tests/sim/hex.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void
hex_write(FILE *out, const uint8_t *data, size_t len)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < len; i++) {
		putc(digits[data[i] >> 4], out);
		putc(digits[data[i] & 15], out);
	}
}

static int
digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int
hex_read(const char *text, struct hex_bytes *ret)
{
	const size_t digits = text == NULL ? 0 : strlen(text);

	if (digits == 0 || digits % 2 != 0)
		return -EINVAL;
	if (ret->room < digits / 2) {
		uint8_t *grown = realloc(ret->bytes, digits);

		if (grown == NULL)
			return -ENOMEM;
		ret->bytes = grown;
		ret->room = digits;
	}
	for (size_t i = 0; i < digits; i += 2) {
		const int high = digit(text[i]), low = digit(text[i + 1]);

		if (high < 0 || low < 0)
			return -EINVAL;
		ret->bytes[i / 2] = (uint8_t)(high << 4 | low);
	}
	ret->len = digits / 2;
	return 0;
}
