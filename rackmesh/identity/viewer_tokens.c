#include "rackmesh/identity/viewer_tokens.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/file.h"
#include "rackmesh/identity/identity.h"
#include "rackmesh/judge/part.h"

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

struct line {
	const char *name, *token; /* name NULL: an empty line or a comment */
	const char *regions;      /* "*": all regions */
};

/* Cuts the next word off *rest; "": there are no more. */
static char *
next_field(char **rest)
{
	char *field = *rest + strspn(*rest, BLANKS);
	char *end = field + strcspn(field, BLANKS);

	*rest = *end != '\0' ? end + 1 : end;
	*end = '\0';
	return field;
}

static bool
are_regions(const char *regions)
{
	char name[RM_IDENTITY_NAME];

	if (strcmp(regions, "*") == 0)
		return true;
	if (strlen(regions) >= RM_IDENTITY_NAME)
		return false;
	for (;;) {
		const size_t len = strcspn(regions, ",");

		memcpy(name, regions, len);
		name[len] = '\0';
		if (!rm_name_valid(name))
			return false;
		if (regions[len] == '\0')
			return true;
		regions += len + 1;
	}
}

/* Reads a line of the file, and modifies text. */
static int
line_read(char *text, struct line *line, struct rm_error *error, const char *path,
    unsigned number)
{
	const char *name = next_field(&text);
	size_t len;

	line->name = NULL;
	if (name[0] == '\0' || name[0] == '#')
		return 0;
	line->token = next_field(&text);
	line->regions = next_field(&text);
	len = strlen(line->token);
	if (len == 0 || next_field(&text)[0] != '\0')
		return rm_error_set(error, -EINVAL,
		    "%s:%u: expected a name, a token and, of a viewer of some regions "
		    "only, these with a comma between two",
		    path, number);
	if (len < RM_VIEWER_TOKEN_MIN || len > RM_VIEWER_TOKEN_MAX)
		return rm_error_set(error, -EINVAL,
		    "%s:%u: a token has %d to %d characters", path, number,
		    RM_VIEWER_TOKEN_MIN, RM_VIEWER_TOKEN_MAX);
	if (strlen(name) > NAME_MAX_CHARACTERS ||
	    name[strspn(name, NAME_CHARACTERS)] != '\0')
		return rm_error_set(error, -EINVAL,
		    "%s:%u: a name has at most %d characters, letters, digits and . _ "
		    "-",
		    path, number, NAME_MAX_CHARACTERS);
	if (line->regions[0] == '\0')
		line->regions = "*";
	if (!are_regions(line->regions))
		return rm_error_set(error, -EINVAL,
		    "%s:%u: regions are names with a comma between two, without blanks",
		    path, number);
	line->name = name;
	return 0;
}

static int
name_viewer(const struct line *line, char identity[RM_TLS_MAX_IDENTITY])
{
	struct rm_identity viewer = { .role = RM_ROLE_VIEWER };

	snprintf(viewer.region, sizeof(viewer.region), "%s", line->regions);
	snprintf(viewer.name, sizeof(viewer.name), "%s", line->name);
	return rm_identity_format(&viewer, identity, RM_TLS_MAX_IDENTITY);
}

/* Reads and compares every line, so that the time that it takes does not show which
 * line matches. token NULL: only checks the file. */
static int
search(char *text, const char *path, const char *token,
    char identity[RM_TLS_MAX_IDENTITY], struct rm_error *error)
{
	struct digest wanted =
	    digest_of(token != NULL ? token : "", token != NULL ? strlen(token) : 0);
	int found = -ENOENT;
	unsigned number = 0;
	char *rest;

	while ((rest = strsep(&text, "\n")) != NULL) {
		struct line line;
		struct digest held;
		int r = line_read(rest, &line, error, path, ++number);

		if (r < 0)
			return r;
		if (line.name == NULL)
			continue;
		held = digest_of(line.token, strlen(line.token));
		if (CRYPTO_memcmp(&held, &wanted, sizeof(held)) == 0 && token != NULL)
			found = name_viewer(&line, identity);
	}
	return found;
}

static int
read_and_search(const char *path, const char *token, char identity[RM_TLS_MAX_IDENTITY],
    struct rm_error *error)
{
	uint8_t *data = NULL;
	size_t len = 0;
	int r = rm_file_read_secret(path, TOKENS_MAX_BYTES, &data, &len, error);

	/* -ENODATA: there is no file. -ENOENT would mean that no line has the token. */
	if (r < 0)
		return r == -ENOENT ? -ENODATA : r;
	if (strlen((const char *)data) != len)
		r = rm_error_set(error, -EINVAL, "%s: contains a zero byte", path);
	else
		r = search((char *)data, path, token, identity, error);
	OPENSSL_cleanse(data, len);
	free(data);
	return r;
}

int
rm_viewer_tokens_find(const char *path, const char *token,
    char identity[RM_TLS_MAX_IDENTITY], struct rm_error *error)
{
	return read_and_search(path, token, identity, error);
}

int
rm_viewer_tokens_check(const char *path, struct rm_error *error)
{
	char identity[RM_TLS_MAX_IDENTITY];
	int r = read_and_search(path, NULL, identity, error);

	return r == -ENOENT ? 0 : r;
}
