/*
 * stamp - the bytes of STAMP packets (RFC 8762, RFC 8972), unauthenticated mode.
 *
 * A probe of ours is the 44-byte base and four TLVs whose answers the reflector
 * writes in place, so that a reply is as long as its probe. Reading never trusts:
 * -EBADMSG for what is short, or has a TLV that runs beyond the packet. A plain probe
 * is the base alone, for reflectors that know no TLVs (RFC 5357: TWAMP-Light).
 *
 * Our own time stamps are PTP truncated (Z = 1); a peer's may be NTP, too.
 */
#ifndef HOST_AGENT_STAMP_H
#define HOST_AGENT_STAMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STAMP_PORT 862
#define STAMP_BASE_BYTES 44
#define STAMP_PLAIN_REPLY_BYTES 41 /* of a base, less what is zero at its end */
#define STAMP_TLV_BYTES 4          /* a TLV's header */
#define STAMP_PROBE_BYTES 88       /* base, class, counts, follow-up TLVs */
#define STAMP_HEAD_BYTES 92        /* and the header of the Extra Padding */
#define STAMP_MAX_BYTES 9216

enum stamp_tlv {
	STAMP_EXTRA_PADDING = 1,
	STAMP_CLASS_OF_SERVICE = 4,
	STAMP_DIRECT_MEASUREMENT = 5,
	STAMP_FOLLOW_UP = 7,
};

enum stamp_tlv_flags {
	STAMP_UNRECOGNIZED = 0x80, /* set by the sender, cleared by who understands */
	STAMP_MALFORMED = 0x40,
	STAMP_INTEGRITY = 0x20,
};

#define STAMP_ERROR_ESTIMATE 0x4001 /* S = 0, Z = 1, scale 0, multiplier 1 */
#define STAMP_ERROR_PTP 0x4000      /* its Z bit */
#define STAMP_METHOD_SOFTWARE 2     /* RFC 8972: how a follow-up was stamped */

/* Both formats, as ns on a ring of 2^32 s. -EBADMSG: nanoseconds beyond a second. */
uint64_t stamp_time_write(int64_t wall_ns); /* PTP truncated */
int stamp_time_read(uint64_t stamp, bool ptp, int64_t *ret);
/* later - earlier of two read ones, across the end of the ring. */
int64_t stamp_time_between(int64_t later, int64_t earlier);

struct stamp_probe {
	uint32_t seq;
	uint64_t timestamp;
	uint16_t error_estimate;
	uint16_t ssid;
	bool has_class; /* Class of Service TLV: dscp is the sender's wish (DSCP1) */
	uint8_t dscp;
	uint32_t tx_count; /* Direct Measurement: sent so far, this one included */
};

/* The size really sent where size is asked for: room for all TLVs. */
size_t stamp_probe_size(size_t size);
/*
 * Writes all but the zeros that fill a probe of size bytes (from stamp_probe_size, or
 * STAMP_BASE_BYTES: plain). Returns how many bytes that is: STAMP_BASE_BYTES,
 * STAMP_PROBE_BYTES or STAMP_HEAD_BYTES.
 */
size_t stamp_write_probe(
    const struct stamp_probe *probe, size_t size, uint8_t out[STAMP_HEAD_BYTES]);
/* A reply is no probe, -EBADMSG, so that two reflectors can never answer each other. */
int stamp_read_probe(const uint8_t *data, size_t len, struct stamp_probe *ret);

struct stamp_answer { /* what a reflector knows about a probe */
	uint64_t receive_timestamp;
	uint64_t timestamp;          /* now */
	uint8_t ttl, dscp, ecn;      /* as the probe arrived */
	uint32_t rx_count, tx_count; /* of this prober and class; rx 0: not counted */
	uint32_t follow_up_seq;
	uint64_t follow_up_timestamp; /* 0: none */
};

/* Turns the probe (already read as probe) into its reply, in place, same length. */
void stamp_write_reply(uint8_t *data, size_t len, const struct stamp_probe *probe,
    const struct stamp_answer *answer);

struct stamp_reply {
	uint32_t seq;
	uint64_t timestamp;
	uint16_t error_estimate;
	uint16_t ssid;
	uint64_t receive_timestamp;
	uint32_t sender_seq;
	uint64_t sender_timestamp;
	uint16_t sender_error_estimate;
	uint8_t sender_ttl;
	/* Of a TLV that the reflector has understood only. */
	bool has_class, has_counts, has_follow_up;
	uint8_t dscp, ecn; /* as the probe arrived */
	uint32_t tx_count, rx_count, reflector_tx_count;
	uint32_t follow_up_seq;
	uint64_t follow_up_timestamp;
};

int stamp_read_reply(const uint8_t *data, size_t len, struct stamp_reply *ret);
/* Its base, whatever follows: TWAMP-Light may copy a probe's padding to anywhere. */
int stamp_read_plain_reply(const uint8_t *data, size_t len, struct stamp_reply *ret);

#endif
