#include "rackmesh/tls/tls_stream.h"

#include <errno.h>
#include <event2/buffer.h>
#include <limits.h>
#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/tls/tls_state.h"

#define STREAM_RECORD_BYTES (16 << 10)
/* maximum number of bytes of a first message, ten times the size of a normal one */
#define STREAM_HELLO_BYTES (8 << 10)
/* The header of a record, and that of the message in it. */
#define STREAM_HEAD_BYTES 9
/* A link is closed this many seconds before the certificate expires, which leaves time
 * for two more checks. In its first STREAM_YOUNG_CHECKS checks a link is not closed for
 * that reason, since a new link would have the same certificate. */
#define STREAM_RENEW_S 7
#define STREAM_YOUNG_CHECKS 2
/* Certificates are renewed when a third of their life is left. So when a quarter (1 /
 * STREAM_RENEWED_PARTS) is left, a link should use the new certificate. A link that
 * still has the old one when a fifth is left shows that the renewal has failed. */
#define STREAM_RENEWED_PARTS 4

struct tls_stream {
	struct rm_tls *tls;
	/* NULL: this side is the server, and the client has sent nothing yet */
	SSL *ssl;
	struct evbuffer *in, *out;
	bool open; /* the handshake has ended */
	/* the error that ended the stream, or 0; after it OpenSSL must not be called */
	int lost;
	unsigned checks;
	char identity[RM_TLS_MAX_IDENTITY];
};

static int
stream_bio_read(BIO *bio, char *data, int len)
{
	struct tls_stream *stream = BIO_get_data(bio);
	int n = evbuffer_remove(stream->in, data, (size_t)len);

	BIO_clear_retry_flags(bio);
	if (n > 0)
		return n;
	BIO_set_retry_read(bio);
	return -1;
}

static int
stream_bio_write(BIO *bio, const char *data, int len)
{
	struct tls_stream *stream = BIO_get_data(bio);

	BIO_clear_retry_flags(bio);
	return evbuffer_add(stream->out, data, (size_t)len) < 0 ? -1 : len;
}

static long
stream_bio_ctrl(BIO *bio, int what, long number, void *pointer)
{
	return what == BIO_CTRL_FLUSH; /* OpenSSL needs this callback */
}

/* There is one per process. */
static BIO_METHOD *
stream_bio_method(void)
{
	static BIO_METHOD *method;

	if (method != NULL)
		return method;
	method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "evbuffers");
	if (method != NULL) {
		BIO_meth_set_read(method, stream_bio_read);
		BIO_meth_set_write(method, stream_bio_write);
		BIO_meth_set_ctrl(method, stream_bio_ctrl);
	}
	return method;
}

static BIO *
stream_bio_new(struct tls_stream *stream)
{
	BIO_METHOD *method = stream_bio_method();
	BIO *bio = method != NULL ? BIO_new(method) : NULL;

	if (bio == NULL)
		return NULL;
	BIO_set_data(bio, stream);
	BIO_set_init(bio, 1);
	return bio;
}

static int
stream_begin(struct tls_stream *stream, bool accepting)
{
	SSL *ssl =
	    accepting ? rm_tls_accepting(stream->tls) : rm_tls_connecting(stream->tls);
	BIO *bio = ssl != NULL ? stream_bio_new(stream) : NULL;

	if (bio == NULL) {
		SSL_free(ssl);
		return -ENOMEM;
	}
	SSL_set_bio(ssl, bio, bio);
	stream->ssl = ssl;
	return 0;
}

int
tls_stream_new(struct rm_tls *tls, bool accepting, struct evbuffer *in,
    struct evbuffer *out, struct tls_stream **ret)
{
	struct tls_stream *stream = calloc(1, sizeof(*stream));

	if (stream == NULL)
		return -ENOMEM;
	stream->tls = tls;
	stream->in = in;
	stream->out = out;
	if (!accepting && stream_begin(stream, false) < 0) {
		tls_stream_free(stream);
		return -ENOMEM;
	}
	*ret = stream;
	return 0;
}

void
tls_stream_free(struct tls_stream *stream)
{
	if (stream == NULL)
		return;
	SSL_free(stream->ssl);
	free(stream);
	ERR_clear_error();
}

/* Returns the error of a call that returned r: -EAGAIN, -ENODATA, or an error by its
 * class. */
static int
stream_error(struct tls_stream *stream, int r, struct rm_error *failure)
{
	unsigned long error = ERR_peek_error();

	switch (SSL_get_error(stream->ssl, r)) {
	case SSL_ERROR_WANT_READ:
		ERR_clear_error();
		return -EAGAIN;
	case SSL_ERROR_ZERO_RETURN:
		ERR_clear_error();
		return -ENODATA;
	case SSL_ERROR_SSL:
		stream->lost = tls_broken(stream->tls, stream->ssl, error, failure);
		return stream->lost;
	default: /* our buffers are out of memory */
		ERR_clear_error();
		stream->lost = rm_error_set(failure, -ENOMEM, "out of memory in TLS");
		return stream->lost;
	}
}

static int
stream_odd(struct tls_stream *stream, const char *what, struct rm_error *error)
{
	stream->tls->counts.garbled++;
	stream->lost =
	    rm_error_set(error, -EPROTO, "the peer does not use TLS 1.3 (%s)", what);
	return stream->lost;
}

/*
 * Checks the first message before OpenSSL gets it. OpenSSL allocates about 70 KiB at
 * once, and up to 128 KiB more for the length that a first message announces. An
 * unknown peer must not get that for a few bytes: so its first message must have
 * arrived completely, in one record, and with a normal length. Returns 0, -EAGAIN, or
 * the error.
 */
int
tls_stream_greeted(struct tls_stream *stream, struct rm_error *error)
{
	uint8_t head[STREAM_HEAD_BYTES] = { 0 };
	size_t have, record, message;

	if (stream->lost != 0)
		return stream->lost;
	if (stream->ssl != NULL)
		return 0;
	have = evbuffer_get_length(stream->in);
	if (have == 0)
		return -EAGAIN;
	evbuffer_copyout(stream->in, head, sizeof(head));
	if (head[0] != SSL3_RT_HANDSHAKE)
		return stream_odd(stream, "no handshake", error);
	if (have < sizeof(head))
		return -EAGAIN;
	record = (size_t)head[3] << 8 | head[4];
	message = (size_t)head[6] << 16 | (size_t)head[7] << 8 | head[8];
	if (head[5] != SSL3_MT_CLIENT_HELLO || record > STREAM_HELLO_BYTES ||
	    message + SSL3_HM_HEADER_LENGTH > record)
		return stream_odd(stream, "its first message is malformed", error);
	if (have < SSL3_RT_HEADER_LENGTH + record)
		return -EAGAIN;
	return 0;
}

bool
tls_stream_begun(const struct tls_stream *stream)
{
	return stream->ssl != NULL;
}

int
tls_stream_handshake(
    struct tls_stream *stream, const char **identity, struct rm_error *error)
{
	int r;

	if (stream->lost != 0)
		return stream->lost;
	r = stream->ssl != NULL ? 0 : stream_begin(stream, true);
	if (r < 0)
		return r;
	ERR_clear_error();
	r = SSL_do_handshake(stream->ssl);
	if (r != 1) {
		r = stream_error(stream, r, error);
		return r == -ENODATA ? tls_stream_give_up(stream, false, error) : r;
	}
	/* The handshake has checked the identity already; this checks it again, by the
	 * same rule. */
	r = rm_tls_identity(stream->ssl, stream->identity);
	if (r < 0) {
		stream->lost = rm_error_set(error, -EACCES, "the peer has no identity");
		return stream->lost;
	}
	stream->open = true;
	tls_handshake_done(stream->tls);
	*identity = stream->identity;
	return 0;
}

int
tls_stream_give_up(struct tls_stream *stream, bool late, struct rm_error *error)
{
	stream->lost = late ? tls_handshake_late(stream->tls, error)
			    : tls_handshake_failed(stream->tls, stream->ssl, 0, error);
	return stream->lost;
}

int
tls_stream_read(struct tls_stream *stream, struct evbuffer *plain, size_t most,
    struct rm_error *error)
{
	bool got = false;

	if (stream->lost != 0)
		return stream->lost;
	ERR_clear_error();
	while (evbuffer_get_length(plain) < most) {
		struct evbuffer_iovec space;
		int r;

		if (evbuffer_reserve_space(plain, STREAM_RECORD_BYTES, &space, 1) != 1)
			return -ENOMEM;
		r = SSL_read(stream->ssl, space.iov_base, STREAM_RECORD_BYTES);
		if (r <= 0) {
			r = stream_error(stream, r, error);
			/* Bytes that were read before the error are delivered before
			 * it. */
			return got ? 0 : r;
		}
		space.iov_len = (size_t)r;
		if (evbuffer_commit_space(plain, &space, 1) < 0)
			return -ENOMEM;
		got = true;
	}
	return 0;
}

bool
tls_stream_in_record(const struct tls_stream *stream)
{
	return stream->ssl != NULL &&
	       (SSL_has_pending(stream->ssl) ||
		   /* OpenSSL is reading the body of a record */
		   strcmp(SSL_rstate_string(stream->ssl), "RB") == 0);
}

int
tls_stream_write(struct tls_stream *stream, struct evbuffer *plain)
{
	struct evbuffer_iovec piece;

	if (stream->lost != 0)
		return stream->lost;
	ERR_clear_error();
	while (evbuffer_peek(plain, -1, NULL, &piece, 1) > 0) {
		int n = piece.iov_len > INT_MAX ? INT_MAX : (int)piece.iov_len;

		n = SSL_write(stream->ssl, piece.iov_base, n);
		if (n <= 0)
			return stream_error(stream, n, NULL);
		if (evbuffer_drain(plain, (size_t)n) < 0)
			return -EIO;
	}
	return 0;
}

void
tls_stream_end(struct tls_stream *stream)
{
	if (stream->open && stream->lost == 0)
		SSL_shutdown(stream->ssl);
	ERR_clear_error();
}

/* True: our certificate was renewed after the link began, so the peer still has the
 * former one. */
static bool
stream_is_renewed(const struct tls_stream *stream, const struct tls_note *note)
{
	const X509 *own = SSL_get_certificate(stream->ssl);
	int64_t until_s = note->own_until_wall_s;

	return !SSL_is_server(stream->ssl) && own != NULL &&
	       stream->tls->set->expires_wall_s > until_s &&
	       tls_last_part(tls_wall_s(X509_get0_notBefore(own)), until_s,
		   rm_wall_now().ns / RM_NS_PER_S, STREAM_RENEWED_PARTS);
}

/* True: our certificate ends soon, so this side should close the link now, in order,
 * rather than lose it at the end. */
static bool
stream_outlives(const struct tls_stream *stream, const struct tls_note *note)
{
	int64_t until_s = note->own_until_wall_s;

	if (note->until_wall_s < until_s)
		until_s = note->until_wall_s;
	return !SSL_is_server(stream->ssl) && stream->checks >= STREAM_YOUNG_CHECKS &&
	       until_s - rm_wall_now().ns / RM_NS_PER_S < STREAM_RENEW_S;
}

int
tls_stream_check(struct tls_stream *stream, struct rm_error *error)
{
	const struct tls_note *note = tls_note_of(stream->ssl);

	stream->checks++;
	if (!rm_tls_still_good(stream->tls, stream->ssl)) {
		stream->tls->counts.refused++;
		return rm_error_set(error, -EACCES,
		    "the peer's certificate is refused now: %s", note->reason);
	}
	if (stream_is_renewed(stream, note))
		return rm_error_set(
		    error, -ESTALE, "certificate renewed, reconnecting");
	if (stream_outlives(stream, note))
		return rm_error_set(
		    error, -ESTALE, "a certificate expires soon, reconnecting");
	return 0;
}

int64_t
tls_stream_peer_ends_s(const struct tls_stream *stream)
{
	return stream->open ? tls_note_of(stream->ssl)->until_wall_s : 0;
}

bool
tls_stream_peer_ending(const struct tls_stream *stream, int64_t now_s)
{
	const struct tls_note *note;

	if (!stream->open)
		return false;
	note = tls_note_of(stream->ssl);
	return tls_last_part(
	    note->since_wall_s, note->until_wall_s, now_s, TLS_ENDING_PARTS);
}
