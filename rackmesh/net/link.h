/*
 * link - one framed connection between two daemons, in TLS if it is given one.
 *
 * on_open is called when the link may be used. Frames sent before wait, so that a link
 * with TLS never sends in plaintext. on_frame gets every whole frame; returning < 0
 * closes the link with that reason. on_close is called exactly once, is the link's last
 * use of anything, and may free it (also from inside on_frame's return path, never from
 * inside on_frame itself).
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
	uint64_t frames_in, bytes_in;   /* bytes with frame headers */
	uint64_t frames_out, bytes_out; /* handed to the kernel's stream or its queue */
	uint64_t refused_frames;        /* damaged, oversized or empty */
	uint64_t slow_frames;   /* frames begun and not complete in time: 0 or 1 */
	uint64_t refused_sends; /* output queue full */
};

struct rm_link_callbacks {
	/* data is aligned to 8 and borrowed for the call. */
	int (*on_frame)(
	    struct rm_link *link, const uint8_t *data, size_t len, void *arg);
	/*
	 * reason: 0 the peer closed in order; -ECONNRESET (also: in the middle of a
	 * frame or of the handshake, and within TLS any end that the peer has not
	 * signed), -ETIMEDOUT (also: of the handshake, of a frame), -EACCES a
	 * certificate was refused, by us or by the peer, -EPROTO what came is not
	 * TLS 1.3, -ESTALE we have dialed, and a certificate ends soon, or ours has
	 * been renewed: dial again,
	 * -ENOBUFS TLS's own answers are not taken, -EBADMSG, -EMSGSIZE, what on_open
	 * or on_frame returned, or what rm_link_close was given. Frames that came
	 * before the end come first.
	 */
	void (*on_close)(struct rm_link *link, int reason, void *arg);
	/* The output queue became empty; may be NULL. */
	void (*on_drained)(struct rm_link *link, void *arg);
	/*
	 * The link may be used: after the handshake, without TLS soon. Once, from the
	 * loop, before any frame; < 0 closes. May be NULL. In TLS 1.3 the connecting
	 * side ends its handshake first: it learns only from the first frame of the
	 * peer that the peer accepts its certificate; if the peer refuses it, on_close
	 * gets -EACCES.
	 */
	int (*on_open)(struct rm_link *link, void *arg);
};

struct rm_link_limits {
	size_t max_frame_bytes;  /* larger incoming frames close the link */
	size_t max_output_bytes; /* rm_link_send refuses past this */
	/* NULL: plaintext, with a checksum per frame. Borrowed, outlives the link. */
	struct rm_tls *tls;
	bool accepting;   /* which side of the handshake */
	int64_t frame_ns; /* 0: RM_LINK_FRAME_NS */
};

/* Takes fd (connected, any blocking mode), also on failure. Sets TCP_NODELAY
 * and keep-alives. */
int rm_link_new(struct rm_loop *loop, int fd, const struct rm_link_limits *limits,
    const struct rm_link_callbacks *callbacks, void *arg, struct rm_link **ret);
void rm_link_free(struct rm_link *link); /* closes without calling on_close */

/* Before on_open: waits in the queue until then. -ENOBUFS: the queue is full.
 * -ENOTCONN: closed or closing. Whatever fails, nothing was queued. */
int rm_link_send(struct rm_link *link, const uint8_t *data, size_t len);
/* Queued, not in the kernel; with what TLS adds. */
size_t rm_link_output_bytes(const struct rm_link *link);

/* Closes soon, from the loop, through on_close(reason): safe anywhere. No frame is
 * delivered afterwards. Frames sent before are still written if the kernel accepts
 * them. */
void rm_link_close(struct rm_link *link, int reason);

/* The URI in the peer's certificate, from on_open on; "" before, and without TLS. */
const char *rm_link_identity(const struct rm_link *link);
/* When the peer's certificate, or one of its authorities, expires, in wall-clock
 * seconds. 0: without TLS, and before on_open. */
int64_t rm_link_certificate_ends_s(const struct rm_link *link);
/* Less than a fifth of its life is left, so its renewal is overdue. */
bool rm_link_certificate_ending(const struct rm_link *link, int64_t now_wall_s);
/* In on_close: TLS's text on the reason; "": none. */
const char *rm_link_error(const struct rm_link *link);

/* Hands over no frame until it is resumed; the peer's next ones wait, in the end on its
 * side. Also from inside on_frame. */
void rm_link_pause(struct rm_link *link);
void rm_link_resume(struct rm_link *link);

/*
 * Tells whether the peer's kernel still acknowledges: ns since its last ACK arrived,
 * and the number of our bytes that were sent and are not acknowledged (TCP_INFO's
 * last_ack_recv; SIOCOUTQ minus unsent bytes). It distinguishes a frozen process from a
 * vanished host. -EOPNOTSUPP on a Unix socket, -ENOTCONN when closed.
 */
int rm_link_peer_ack(const struct rm_link *link, int64_t *since_ns, uint32_t *unacked);

const struct rm_address *rm_link_peer(const struct rm_link *link);
const struct rm_link_counts *rm_link_counts(const struct rm_link *link);

#endif
