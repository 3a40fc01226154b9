/*
 * base64 - bytes as text (RFC 4648, section 4, with padding).
 */
#ifndef RACKMESH_ETCD_BASE64_H
#define RACKMESH_ETCD_BASE64_H

#include <stddef.h>
#include <stdint.h>

/* Without the terminator. */
static inline size_t
rm_base64_size(size_t len)
{
	return (len + 2) / 3 * 4;
}

/* Writes rm_base64_size(len) characters and a terminating 0. -EMSGSIZE: more than
 * OpenSSL can encode at once, about 1.5 GiB. */
int rm_base64_encode(const void *data, size_t len, char *text);

/* ret has room for len / 4 * 3 bytes, and all of them may be overwritten; *ret_len is
 * the number of decoded bytes. -EINVAL: not base64. */
int rm_base64_decode(const char *text, size_t len, void *ret, size_t *ret_len);

#endif
