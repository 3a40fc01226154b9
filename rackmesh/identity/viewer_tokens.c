#include "rackmesh/identity/viewer_tokens.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/file.h"

#define TOKENS_MAX_BYTES (64 << 10)
#define NAME_MAX_CHARACTERS 64
#define BLANKS " \t\r"
#define NAME_CHARACTERS \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"

struct digest {
	unsigned char bytes[SHA256_DIGEST_LENGTH];
};

static struct digest
digest_of(const char *token, size_t len)
{
	struct digest digest;

	SHA256((const unsigned char *)token, len, digest.bytes);
	return digest;
}

/* line: cut up here. *name: NULL where it says nothing. */
static int
line_read(char *line, const char **name, const char **token, struct rm_why *why,
    const char *path, unsigned number)
{
	char *rest = line + strspn(line, BLANKS);
	char *end;
	size_t len;

	*name = NULL;
	if (rest[0] == '\0' || rest[0] == '#')
		return 0;
	end = rest + strcspn(rest, BLANKS);
	*token = end + strspn(end, BLANKS);
	len = strcspn(*token, BLANKS);
	if ((*token)[len + strspn(*token + len, BLANKS)] != '\0' || len == 0)
		return rm_why(why, -EINVAL,
		    "%s:%u: expected a name and a token, two words", path, number);
	if (len < RM_VIEWER_TOKEN_MIN || len > RM_VIEWER_TOKEN_MAX)
		return rm_why(why, -EINVAL, "%s:%u: a token has %d to %d characters",
		    path, number, RM_VIEWER_TOKEN_MIN, RM_VIEWER_TOKEN_MAX);
	*end = '\0';
	((char *)*token)[len] = '\0';
	if (strlen(rest) > NAME_MAX_CHARACTERS ||
	    rest[strspn(rest, NAME_CHARACTERS)] != '\0')
		return rm_why(why, -EINVAL,
		    "%s:%u: a name has at most %d characters, letters, digits and . _ "
		    "-",
		    path, number, NAME_MAX_CHARACTERS);
	*name = rest;
	return 0;
}

/* Every line is read and compared, whichever is right. token: NULL: nobody's. */
static int
search(char *text, const char *path, const char *token,
    char identity[RM_TLS_MAX_IDENTITY], struct rm_why *why)
{
	struct digest wanted =
	    digest_of(token != NULL ? token : "", token != NULL ? strlen(token) : 0);
	int found = -ENOENT;
	unsigned number = 0;
	char *line;

	while ((line = strsep(&text, "\n")) != NULL) {
		const char *name = NULL, *its = NULL;
		struct digest held;
		int r = line_read(line, &name, &its, why, path, ++number);

		if (r < 0)
			return r;
		if (name == NULL)
			continue;
		held = digest_of(its, strlen(its));
		if (CRYPTO_memcmp(&held, &wanted, sizeof(held)) == 0 && token != NULL) {
			snprintf(identity, RM_TLS_MAX_IDENTITY,
			    "rackmesh://*/viewer/%s", name);
			found = 0;
		}
	}
	return found;
}

static int
read_and_search(const char *path, const char *token, char identity[RM_TLS_MAX_IDENTITY],
    struct rm_why *why)
{
	uint8_t *data = NULL;
	size_t len = 0;
	int r = rm_file_read_secret(path, TOKENS_MAX_BYTES, &data, &len, why);

	if (r < 0)
		return r == -ENOENT ? -ENODATA
				    : r; /* there is no file: not "nobody's" */
	if (strlen((const char *)data) != len)
		r = rm_why(why, -EINVAL, "%s: a byte of 0 in it", path);
	else
		r = search((char *)data, path, token, identity, why);
	OPENSSL_cleanse(data, len);
	free(data);
	return r;
}

int
rm_viewer_tokens_find(const char *path, const char *token,
    char identity[RM_TLS_MAX_IDENTITY], struct rm_why *why)
{
	return read_and_search(path, token, identity, why);
}

int
rm_viewer_tokens_check(const char *path, struct rm_why *why)
{
	char identity[RM_TLS_MAX_IDENTITY];
	int r = read_and_search(path, NULL, identity, why);

	return r == -ENOENT ? 0 : r;
}
