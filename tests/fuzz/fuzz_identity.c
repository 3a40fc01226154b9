/* A certificate's URI: an accepted one is written with the same bytes, and the
 * rackmesh URI of a SPIFFE ID gives the same identity. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/identity/identity.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct rm_identity identity;
	static char again[1 << 16];
	char *uri = malloc(len + 1);

	if (uri == NULL)
		return 0;
	memcpy(uri, data, len);
	uri[len] = '\0';
	if (rm_identity_parse(uri, &identity) == 0) {
		static struct rm_identity same;

		if (rm_identity_format(&identity, again, sizeof(again)) < 0)
			abort();
		if (strncmp(uri, "spiffe:", strlen("spiffe:")) != 0) {
			if (strcmp(again, uri) != 0)
				abort();
		} else if (rm_identity_parse(again, &same) < 0 ||
			   memcmp(&same, &identity, sizeof(same)) != 0 ||
			   identity.region[0] == '*') {
			abort();
		}
	}
	free(uri);
	return 0;
}
