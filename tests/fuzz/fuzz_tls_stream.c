/*
 * fuzz_tls_stream - any bytes, in pieces, to an accepting TLS stream, as the first
 * message of an unauthenticated peer.
 *
 * The peer is never accepted, and after its end no call succeeds. Before a whole first
 * message has arrived, the stream allocates no more memory than the peer has sent.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <event2/buffer.h>
#include <stdlib.h>

#include "rackmesh/core/error.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/tls/tls_stream.h"
#include "tests/support/pki.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static struct rm_tls *
tls_once(void)
{
	static struct rm_tls *tls;
	static struct rm_loop *loop;
	struct rm_tls_files files;
	struct pki *pki;

	if (tls != NULL)
		return tls;
	pki = pki_new();
	files = pki_issue(
	    pki, "own", &(struct pki_wish){ .uri = "rackmesh://r1/analyzer/a" });
	if (rm_loop_new(&loop) < 0 || rm_tls_new(loop, &files, NULL, &tls) < 0)
		abort();
	pki_free(pki);
	return tls;
}

/* As a link does. */
static int
step(struct tls_stream *stream, const char **identity, struct rm_error *error)
{
	int r = tls_stream_greeted(stream, error);

	return r < 0 ? r : tls_stream_handshake(stream, identity, error);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct evbuffer *in = evbuffer_new(), *out = evbuffer_new();
	const char *identity = NULL;
	struct tls_stream *stream = NULL;
	struct rm_error error = { .text = "" };
	size_t piece, at = 0;
	int r = -EAGAIN;

	if (in == NULL || out == NULL ||
	    tls_stream_new(tls_once(), true, in, out, &stream) < 0)
		abort();
	/* The first byte gives the size of the pieces. */
	piece = len > 0 ? (size_t)data[at++] * 4 + 1 : 1;
	while (at < len && r == -EAGAIN) {
		size_t n = len - at < piece ? len - at : piece;

		evbuffer_add(in, data + at, n);
		at += n;
		r = step(stream, &identity, &error);
	}
	/* No peer can prove by chance that it has a key. */
	if (r == 0 || identity != NULL)
		abort();
	if (r != -EAGAIN &&
	    (error.text[0] == '\0' || step(stream, &identity, &error) != r))
		abort();
	tls_stream_end(stream);
	tls_stream_free(stream);
	evbuffer_free(in);
	evbuffer_free(out);
	return 0;
}
