#include "rackmesh/etcd/base64.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include <openssl/evp.h>

#define ALPHABET "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

int
rm_base64_encode(const void *data, size_t len, char *text)
{
	if (len > INT_MAX / 4 * 3 - 3)
		return -EMSGSIZE;
	EVP_EncodeBlock((unsigned char *)text, data, (int)len);
	return 0;
}

int
rm_base64_decode(const char *text, size_t len, void *ret, size_t *ret_len)
{
	size_t padding = 0;

	if (len % 4 != 0 || len > INT_MAX)
		return -EINVAL;
	while (padding < 2 && padding < len && text[len - 1 - padding] == '=')
		padding++;
	/* OpenSSL skips white space, and accepts '=' anywhere. */
	for (size_t i = 0; i < len - padding; i++)
		if (text[i] == '\0' || strchr(ALPHABET, text[i]) == NULL)
			return -EINVAL;
	if (len > 0 && EVP_DecodeBlock(ret, (const unsigned char *)text, (int)len) < 0)
		return -EINVAL;
	*ret_len = len / 4 * 3 - padding;
	return 0;
}
