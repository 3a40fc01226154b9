/*
 * tls_stream - TLS between two buffers, one for received and one for outgoing bytes;
 * private to link.
 *
 * A stream has no file descriptor: link moves the bytes, and finds out how a connection
 * ends.
 */
#ifndef RACKMESH_TLS_TLS_STREAM_H
#define RACKMESH_TLS_TLS_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct evbuffer;
struct rm_tls;
struct rm_error;
struct tls_stream;

/* in and out: borrowed. */
int tls_stream_new(struct rm_tls *tls, bool accepting, struct evbuffer *in,
    struct evbuffer *out, struct tls_stream **ret);
void tls_stream_free(struct tls_stream *stream); /* NULL is fine */

/*
 * Checks whether enough bytes have arrived for a step of the handshake. It costs no
 * CPU, and refuses peers whose first bytes are not TLS. 0: enough; -EAGAIN: not yet;
 * -EPROTO: refused, and counted.
 */
int tls_stream_greeted(struct tls_stream *stream, struct rm_error *error);
/* True: a step was made. A peer that has disconnected before the first step cannot
 * complete the handshake. */
bool tls_stream_begun(const struct tls_stream *stream);
/* Makes a step of the handshake, which costs as much CPU as a thousand frames. 0: done;
 * *identity is the peer's, valid as long as the stream. -EAGAIN: more bytes must
 * arrive. Any other error, which was counted, ends the handshake: -EACCES, -EPROTO,
 * -ENOMEM. */
int tls_stream_handshake(
    struct tls_stream *stream, const char **identity, struct rm_error *error);
/* Counts a handshake that did not end. Returns -ECONNRESET, or -ETIMEDOUT if late. */
int tls_stream_give_up(struct tls_stream *stream, bool late, struct rm_error *error);

/* Decrypts bytes until plain has `most` bytes, or a few more. 0: there are new bytes,
 * or plain is full. -EAGAIN: there are none. -ENODATA: the peer has ended the stream
 * (close_notify). -EACCES, -EPROTO, -ENOMEM: the stream is lost. */
int tls_stream_read(struct tls_stream *stream, struct evbuffer *plain, size_t most,
    struct rm_error *error);
/* True: the received bytes end in the middle of a record. Call it after -EAGAIN. */
bool tls_stream_in_record(const struct tls_stream *stream);
/* Encrypts all of plain. < 0: the stream is lost, as a part may have been encrypted. */
int tls_stream_write(struct tls_stream *stream, struct evbuffer *plain);
/* Sends the end of the stream (close_notify). */
void tls_stream_end(struct tls_stream *stream);

/* Call it every LINK_RECHECK_NS. -EACCES: the peer's certificate is not accepted any
 * more. -ESTALE: this side has dialed, and one of the two certificates expires soon, or
 * its own was renewed. */
int tls_stream_check(struct tls_stream *stream, struct rm_error *error);

/* See rm_link_certificate_ends_s and rm_link_certificate_ending. */
int64_t tls_stream_peer_ends_s(const struct tls_stream *stream);
bool tls_stream_peer_ending(const struct tls_stream *stream, int64_t now_s);

#endif
