/*
 * link - one connection between two daemons that carries frames, with TLS if limits.tls
 * is set.
 *
 * on_open is called when the link may be used. Frames that are sent earlier wait until
 * then, so a link with TLS sends nothing in plaintext. on_frame gets every whole frame;
 * a result < 0 closes the link for that reason. on_close is called exactly once, as the
 * last callback, and may free the link; on_frame must not free it.
 */
#ifndef RACKMESH_NET_LINK_H
#define RACKMESH_NET_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rm_address;
struct rm_link;
struct rm_loop;
struct rm_tls;

/* Time limit for receiving a frame that has begun. It is checked every LINK_RECHECK_NS,
 * but not while the link is paused. So a peer that sends a byte a second cannot hold a
 * frame's memory for ever. */
#define RM_LINK_FRAME_NS (10 * 1000000000LL)

struct rm_link_counts {
	uint64_t frames_in, bytes_in; /* bytes with frame headers */
	/* frames that were given to the kernel or are in the queue, and their bytes */
	uint64_t frames_out, bytes_out;
	uint64_t refused_frames; /* frames that were damaged, too large or empty */
	uint64_t slow_frames;    /* frames that were not complete in time: 0 or 1 */
	uint64_t refused_sends;  /* output queue full */
};

struct rm_link_callbacks {
	/* data: aligned to 8 bytes, and borrowed for the call. < 0 closes the link. */
	int (*on_frame)(
	    struct rm_link *link, const uint8_t *data, size_t len, void *arg);
	/*
	 * Called at the end of the link, after all frames that arrived before it.
	 * reason: 0: the peer has closed in order; -ECONNRESET: the connection was cut
	 * off, also within a frame or the handshake, and with TLS without close_notify;
	 * -ETIMEDOUT: the peer's host does not acknowledge any more, or a handshake or
	 * a frame took too long; -EACCES: one side has refused the other's certificate;
	 * -EPROTO: the peer does not use TLS 1.3; -ESTALE: this side has dialed, and a
	 * certificate ends soon, or its own was renewed: dial again; -ENOBUFS: the peer
	 * does not read the messages of TLS itself; -EBADMSG, -EMSGSIZE: a frame was
	 * refused; else the error that on_open or on_frame has returned, or that
	 * rm_link_close got.
	 */
	void (*on_close)(struct rm_link *link, int reason, void *arg);
	/* The output queue became empty; may be NULL. */
	void (*on_drained)(struct rm_link *link, void *arg);
	/*
	 * The link may be used: with TLS after the handshake, else soon. Called once,
	 * from the loop, before any frame; < 0 closes the link. May be NULL. In TLS 1.3
	 * the side that has connected ends its handshake first: only the peer's first
	 * frame shows that the peer accepts its certificate; if the peer refuses it,
	 * on_close gets -EACCES.
	 */
	int (*on_open)(struct rm_link *link, void *arg);
};

struct rm_link_limits {
	size_t max_frame_bytes; /* larger incoming frames close the link */
	/* maximum number of bytes in the output queue; then rm_link_send refuses */
	size_t max_output_bytes;
	/* NULL: plaintext, with a checksum per frame. Borrowed, outlives the link. */
	struct rm_tls *tls;
	bool accepting;   /* true: the server's side of the TLS handshake */
	int64_t frame_ns; /* 0: RM_LINK_FRAME_NS */
};

/* Takes ownership of fd, also on failure: a connected socket, blocking or not. Sets
 * TCP_NODELAY and keep-alives. */
int rm_link_new(struct rm_loop *loop, int fd, const struct rm_link_limits *limits,
    const struct rm_link_callbacks *callbacks, void *arg, struct rm_link **ret);
void rm_link_free(struct rm_link *link); /* closes without calling on_close */

/* Sends a frame; before on_open it waits in the queue. -ENOBUFS: the queue is full;
 * -ENOTCONN: closed or closing. On failure nothing was queued. */
int rm_link_send(struct rm_link *link, const uint8_t *data, size_t len);
/* Bytes in the queue, without those in the kernel, and with what TLS adds. */
size_t rm_link_output_bytes(const struct rm_link *link);

/* Closes the link soon, from the loop, through on_close(reason), so it may be called
 * anywhere. No frame is delivered any more. Frames sent before are still written if the
 * kernel takes them at once. */
void rm_link_close(struct rm_link *link, int reason);

/* The URI in the peer's certificate, from on_open on; "" before, and without TLS. */
const char *rm_link_identity(const struct rm_link *link);
/* When the peer's certificate, or one of its authorities, expires, in wall-clock
 * seconds. 0: without TLS, and before on_open. */
int64_t rm_link_certificate_ends_s(const struct rm_link *link);
/* True: less than a fifth of the life of the peer's certificate is left, so its renewal
 * is overdue. */
bool rm_link_certificate_ending(const struct rm_link *link, int64_t now_wall_s);
/* For use in on_close: the text of a TLS error; "": there is no text. */
const char *rm_link_error(const struct rm_link *link);

/* Delivers no frame until rm_link_resume. Further frames wait in buffers. When these
 * are full, the frames wait in the peer, because TCP stops it from sending. May be
 * called from inside on_frame.
 */
void rm_link_pause(struct rm_link *link);
void rm_link_resume(struct rm_link *link);

/*
 * Shows whether the peer's kernel still acknowledges. since_ns: time since its last ACK
 * arrived; unacked: number of bytes that were sent and not acknowledged (TCP_INFO's
 * last_ack_recv; SIOCOUTQ minus unsent bytes). So a caller can distinguish a frozen
 * process, whose kernel still acknowledges, from a host that has vanished. -EOPNOTSUPP:
 * a Unix socket; -ENOTCONN: closed.
 */
int rm_link_peer_ack(const struct rm_link *link, int64_t *since_ns, uint32_t *unacked);

const struct rm_address *rm_link_peer(const struct rm_link *link);
const struct rm_link_counts *rm_link_counts(const struct rm_link *link);

#endif
