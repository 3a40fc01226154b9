/*
 * stamp - the bytes of STAMP packets (RFC 8762, RFC 8972): stamp_format of
 * probe_format.h is the unauthenticated mode, stamp_auth_format (stamp.c) the
 * authenticated one.
 *
 * A probe of a host-agent is the 44-byte base and four TLVs whose answers the reflector
 * writes in place, so that a reply is as long as its probe. Readers check all bytes:
 * -EBADMSG for a packet that is too short, or has a TLV that runs beyond the packet. A
 * plain probe is the base alone, for reflectors that know no TLVs (RFC 5357:
 * TWAMP-Light).
 *
 * Our own time stamps are PTP truncated (Z = 1); a peer's may be NTP, too.
 *
 * Only host-agents send authenticated packets, in one layout: the 112-byte base with
 * its HMAC, the same TLVs, the HMAC TLV, and Extra Padding of zeros. Replies have
 * another key than probes, so that no reflected packet can pass as a reply; the
 * standard has one key per session, so reflectors of other makers do not understand
 * these packets. A packet whose TLVs do not verify is not answered, although the
 * standard wants it sent back with a flag.
 */
#ifndef HOST_AGENT_PACKET_STAMP_H
#define HOST_AGENT_PACKET_STAMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STAMP_PORT 862
#define STAMP_BASE_BYTES 44
#define STAMP_PLAIN_REPLY_BYTES 41 /* a base without the zeros at its end */
#define STAMP_TLV_BYTES 4          /* a TLV's header */
#define STAMP_PROBE_BYTES 88       /* base, class, counts, follow-up TLVs */
/* the base, the three TLVs and the header of the Extra Padding */
#define STAMP_HEAD_BYTES 92
#define STAMP_MAX_BYTES 9216
#define STAMP_AUTH_BASE_BYTES 112
#define STAMP_AUTH_PROBE_BYTES 176 /* base, class, counts, follow-up, HMAC TLVs */
#define STAMP_AUTH_HEAD_BYTES 180  /* the same, and the header of the Extra Padding */

enum stamp_tlv {
	STAMP_EXTRA_PADDING = 1,
	STAMP_CLASS_OF_SERVICE = 4,
	STAMP_DIRECT_MEASUREMENT = 5,
	STAMP_FOLLOW_UP = 7,
	STAMP_HMAC = 8,
};

enum stamp_tlv_flags {
	STAMP_UNRECOGNIZED =
	    0x80, /* set by the sender, cleared by a reflector that knows the TLV */
	STAMP_MALFORMED = 0x40,
	STAMP_INTEGRITY = 0x20,
};

#define STAMP_ERROR_ESTIMATE 0x4001 /* S = 0, Z = 1, scale 0, multiplier 1 */
#define STAMP_ERROR_PTP 0x4000      /* its Z bit */
#define STAMP_METHOD_SOFTWARE 2     /* RFC 8972: how a follow-up was stamped */

/* These functions convert between time stamps on the wire and ns on a ring of 2^32 s.
 * -EBADMSG: the part below a second is a second or more. */
uint64_t stamp_time_write(int64_t wall_ns); /* PTP truncated */
int stamp_time_read(uint64_t stamp, bool ptp, int64_t *ret);
/* The time in ns from earlier to later, two results of stamp_time_read, across the end
 * of the ring, too. */
int64_t stamp_time_between(int64_t later, int64_t earlier);

#endif
