#include "rackmesh/http/http_token.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <string.h>
#include <strings.h>

#define TOKEN_MAX_BASIC 512 /* most base64 characters: a name and the longest token */

/* The credentials in the header, after the scheme and spaces; NULL: another scheme. */
static const char *
after_scheme(const char *header, const char *scheme)
{
	size_t len = strlen(scheme);

	if (strncasecmp(header, scheme, len) != 0 || header[len] != ' ')
		return NULL;
	return header + len + strspn(header + len, " ");
}

static int
take(const char *from, char token[RM_HTTP_MAX_TOKEN])
{
	size_t len = strlen(from);

	if (len == 0 || len >= RM_HTTP_MAX_TOKEN)
		return -EINVAL;
	memcpy(token, from, len + 1);
	return 0;
}

static int
take_basic(const char *text, char token[RM_HTTP_MAX_TOKEN])
{
	char plain[TOKEN_MAX_BASIC / 4 * 3 + 1];
	size_t len = strlen(text);
	const char *colon;
	int n, r = -EINVAL;

	if (len == 0 || len > TOKEN_MAX_BASIC || len % 4 != 0)
		return -EINVAL;
	/* The result includes the padding, as bytes of 0. */
	n = EVP_DecodeBlock(
	    (unsigned char *)plain, (const unsigned char *)text, (int)len);
	if (n < 0)
		return -EINVAL;
	plain[n] = '\0';
	colon = strchr(plain, ':');
	if (colon != NULL)
		r = take(colon + 1, token);
	OPENSSL_cleanse(plain, sizeof(plain));
	return r;
}

int
http_token_of(const char *header, char token[RM_HTTP_MAX_TOKEN])
{
	const char *rest;

	if (header == NULL)
		return -ENOKEY;
	rest = after_scheme(header, "Bearer");
	if (rest != NULL)
		return take(rest, token);
	rest = after_scheme(header, "Basic");
	return rest != NULL ? take_basic(rest, token) : -ENOKEY;
}
