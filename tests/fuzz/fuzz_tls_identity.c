/*
 * fuzz_tls_identity - any certificate (DER) through the code that reads its identity.
 *
 * An identity consists of printable characters, and comes from a certificate with
 * exactly one URI.
 */
#include <openssl/err.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/tls/tls_state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char identity[RM_TLS_MAX_IDENTITY];
	X509 *certificate = d2i_X509(NULL, &data, (long)len);
	int uris = -1, r;

	memset(identity, 'x', sizeof(identity));
	if (certificate != NULL) {
		r = tls_certificate_identity(certificate, identity, &uris);
		if ((r == 0) != (identity[0] != '\0') || (r == 0 && uris != 1) ||
		    memchr(identity, '\0', sizeof(identity)) == NULL)
			abort();
		for (const char *at = identity; *at != '\0'; at++)
			if (*at <= ' ' || *at > '~')
				abort();
		(void)tls_wall_s(X509_get0_notAfter(certificate));
	}
	X509_free(certificate);
	ERR_clear_error();
	return 0;
}
