#include "ctl/client/request_tls.h"

#include <errno.h>
#include <openssl/ssl.h>
#include <stdio.h>

#include "rackmesh/identity/identity.h"
#include "rackmesh/tls/tls.h"

static const char *certificate_file, *key_file, *authorities_file;

void
request_tls_files(const char *certificate, const char *key, const char *authorities)
{
	certificate_file = certificate;
	key_file = key;
	authorities_file = authorities;
}

static bool
is_daemon(const X509 *certificate)
{
	char uri[RM_TLS_MAX_IDENTITY];
	struct rm_identity who;

	if (rm_tls_certificate_identity(certificate, uri) < 0 ||
	    rm_identity_parse(uri, &who) < 0)
		return false;
	return who.role == RM_ROLE_AGENT || who.role == RM_ROLE_AGGREGATOR ||
	       who.role == RM_ROLE_CONTROLLER || who.role == RM_ROLE_ANALYZER;
}

/* After OpenSSL's own look at each certificate, the peer's last. */
static int
on_certificate(int good, X509_STORE_CTX *context)
{
	if (!good || X509_STORE_CTX_get_error_depth(context) > 0)
		return good;
	if (is_daemon(X509_STORE_CTX_get_current_cert(context)))
		return 1;
	X509_STORE_CTX_set_error(context, X509_V_ERR_APPLICATION_VERIFICATION);
	return 0;
}

static CURLcode
on_context(CURL *curl, void *context, void *arg)
{
	SSL_CTX_set_verify(context, SSL_VERIFY_PEER, on_certificate);
	return CURLE_OK;
}

int
request_tls_set(CURL *curl)
{
	if (certificate_file == NULL || key_file == NULL || authorities_file == NULL) {
		fprintf(stderr,
		    "rackmeshctl: https wants --certificate, --key and --authorities "
		    "(or $RACKMESH_CERTIFICATE, $RACKMESH_KEY, "
		    "$RACKMESH_AUTHORITIES)\n");
		return -ENOENT;
	}
	if (curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_3) !=
		CURLE_OK ||
	    curl_easy_setopt(curl, CURLOPT_CAINFO, authorities_file) != CURLE_OK ||
	    curl_easy_setopt(curl, CURLOPT_SSLCERT, certificate_file) != CURLE_OK ||
	    curl_easy_setopt(curl, CURLOPT_SSLKEY, key_file) != CURLE_OK ||
	    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L) != CURLE_OK ||
	    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L) != CURLE_OK ||
	    curl_easy_setopt(curl, CURLOPT_SSL_CTX_FUNCTION, on_context) != CURLE_OK)
		return -ENOMEM;
	return 0;
}
