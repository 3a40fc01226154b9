/*
 * tls_stream - TLS between two buffers: what came from the wire on one side, what goes
 * out to it on the other; private to link.
 *
 * No file descriptor: whoever moves the bytes keeps his own ways of doing it, and of
 * noticing how a connection ends. What goes out is always encrypted, to the last word.
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
 * Is there something for a step of the handshake? Costs nothing, and turns away who
 * does not even begin like TLS: 0, -EAGAIN: more has to come, -EPROTO: has failed,
 * counted.
 */
int tls_stream_greeted(struct tls_stream *stream, struct rm_error *error);
/* Has there been a step? Who has left before the first cannot come to the end. */
bool tls_stream_begun(const struct tls_stream *stream);
/* A step, as costly as a thousand frames. 0: done, identity is the peer's (good as long
 * as the stream). -EAGAIN: more has to come. Else it has failed, and is counted:
 * -EACCES, -EPROTO, -ENOMEM. */
int tls_stream_handshake(
    struct tls_stream *stream, const char **identity, struct rm_error *error);
/* It has not come to its end: -ECONNRESET, or -ETIMEDOUT when late. Counted. */
int tls_stream_give_up(struct tls_stream *stream, bool late, struct rm_error *error);

/* Deciphers until plain holds most bytes, or a little more. 0: something has come, or
 * plain is full. -EAGAIN: nothing. -ENODATA: the peer has said that this was all.
 * -EACCES, -EPROTO, -ENOMEM: lost. */
int tls_stream_read(struct tls_stream *stream, struct evbuffer *plain, size_t most,
    struct rm_error *error);
/* What has come ends within a record; asked after -EAGAIN. */
bool tls_stream_in_record(const struct tls_stream *stream);
/* All of plain. < 0: some may have gone, the stream is lost. */
int tls_stream_write(struct tls_stream *stream, struct evbuffer *plain);
/* Says that this was all. */
void tls_stream_end(struct tls_stream *stream);

/* Every LINK_RECHECK_NS. -EACCES: the peer must not be let in any more. -ESTALE: we
 * have dialed, and one of the two certificates ends soon, or ours has been renewed. */
int tls_stream_check(struct tls_stream *stream, struct rm_error *error);

/* See rm_link_certificate_ends_s and rm_link_certificate_ending. */
int64_t tls_stream_peer_ends_s(const struct tls_stream *stream);
bool tls_stream_peer_ending(const struct tls_stream *stream, int64_t now_s);

#endif
