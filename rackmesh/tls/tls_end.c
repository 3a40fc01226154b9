#include <errno.h>
#include <openssl/err.h>

#include "rackmesh/tls/tls_state.h"

/* What the peer has said of our certificate, if the error is that; else NULL. */
static const char *
alert_of_refusal(unsigned long error)
{
	int alert = ERR_GET_REASON(error) - SSL_AD_REASON_OFFSET;

	if (ERR_GET_LIB(error) != ERR_LIB_SSL)
		return NULL;
	switch (alert) {
	case SSL_AD_BAD_CERTIFICATE:
	case SSL_AD_UNSUPPORTED_CERTIFICATE:
	case SSL_AD_CERTIFICATE_REVOKED:
	case SSL_AD_CERTIFICATE_EXPIRED:
	case SSL_AD_CERTIFICATE_UNKNOWN:
	case SSL_AD_UNKNOWN_CA:
	case SSL_AD_ACCESS_DENIED:
	case SSL_AD_CERTIFICATE_REQUIRED:
		return SSL_alert_desc_string_long(alert);
	default:
		return NULL;
	}
}

int
tls_broken(struct rm_tls *tls, const SSL *ssl, unsigned long error, struct rm_why *why)
{
	const struct tls_note *note = tls_note_of(ssl);
	const char *alert = alert_of_refusal(error), *text;

	ERR_clear_error();
	if (note != NULL && note->why[0] != '\0') {
		tls->counts.refused++;
		return rm_why(
		    why, -EACCES, "the peer's certificate is refused: %s", note->why);
	}
	if (alert != NULL) {
		tls->counts.refused++;
		return rm_why(
		    why, -EACCES, "the peer refuses our certificate: %s", alert);
	}
	if (ERR_GET_LIB(error) == ERR_LIB_SSL &&
	    ERR_GET_REASON(error) == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE) {
		tls->counts.refused++;
		return rm_why(why, -EACCES, "the peer shows no certificate");
	}
	tls->counts.garbled++;
	text = ERR_reason_error_string(error);
	return rm_why(why, -EPROTO, "what the peer says is not TLS 1.3 (%s)",
	    text != NULL ? text : "it cannot be read");
}

void
tls_handshake_done(struct rm_tls *tls)
{
	tls->counts.handshakes++;
}

int
tls_handshake_failed(
    struct rm_tls *tls, const SSL *ssl, unsigned long error, struct rm_why *why)
{
	if (error != 0)
		return tls_broken(tls, ssl, error, why);
	tls->counts.garbled++;
	return rm_why(
	    why, -ECONNRESET, "the peer ended the connection within the TLS handshake");
}

int
tls_handshake_late(struct rm_tls *tls, struct rm_why *why)
{
	tls->counts.timed_out++;
	return rm_why(why, -ETIMEDOUT, "the TLS handshake took too long");
}
