/*
 * link - one framed connection between two daemons.
 *
 * on_frame gets every whole frame; returning < 0 closes the link with that
 * reason. on_close is called exactly once, is the link's last use of anything,
 * and may free it (also from inside on_frame's return path, never from inside
 * on_frame itself).
 */
#ifndef RACKMESH_BASE_LINK_H
#define RACKMESH_BASE_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rm_address;
struct rm_link;
struct rm_loop;

struct rm_link_counts {
	uint64_t frames_in, bytes_in;	/* bytes with frame headers */
	uint64_t frames_out, bytes_out; /* handed to the kernel's stream or its queue */
	uint64_t refused_frames;	/* damaged or oversized */
	uint64_t refused_sends;		/* output queue full */
};

struct rm_link_callbacks {
	/* data is aligned to 8 and borrowed for the call. */
	int (*on_frame)(struct rm_link *link, const uint8_t *data, size_t len, void *arg);
	/* reason: 0 the peer closed in order; -ECONNRESET, -ETIMEDOUT, -EBADMSG,
	 * -EMSGSIZE, or what on_frame returned. */
	void (*on_close)(struct rm_link *link, int reason, void *arg);
	/* The output queue has become empty; may be NULL. */
	void (*on_drained)(struct rm_link *link, void *arg);
};

struct rm_link_limits {
	size_t max_frame_bytes;	 /* larger incoming frames close the link */
	size_t max_output_bytes; /* rm_link_send refuses past this */
};

/* Takes fd (connected, any blocking mode), also on failure. Sets TCP_NODELAY. */
int rm_link_new(struct rm_loop *loop, int fd, const struct rm_link_limits *limits,
    const struct rm_link_callbacks *callbacks, void *arg, struct rm_link **ret);
void rm_link_free(struct rm_link *link); /* closes without calling on_close */

/* -ENOBUFS: nothing was queued. */
int rm_link_send(struct rm_link *link, const uint8_t *data, size_t len);
size_t rm_link_output_bytes(const struct rm_link *link); /* queued, not in the kernel */

/* Closes soon, from the loop, through on_close(reason): safe anywhere. */
void rm_link_close(struct rm_link *link, int reason);

/*
 * Does the peer's kernel still acknowledge? ns since its last ACK arrived, and
 * how many of our bytes wait for one (TCP_INFO's last_ack_recv, unacked). For
 * telling a frozen process from a vanished host.
 */
int rm_link_peer_ack(const struct rm_link *link, int64_t *since_ns, uint32_t *unacked);

const struct rm_address *rm_link_peer(const struct rm_link *link);
const struct rm_link_counts *rm_link_counts(const struct rm_link *link);

#endif
