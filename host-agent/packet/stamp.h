/*
 * stamp - the bytes of STAMP packets (RFC 8762, RFC 8972): stamp_format of
 * probe_format.h is the unauthenticated mode, stamp_auth_format (stamp.c) the
 * authenticated one.
 *
 * A probe of ours is the 44-byte base and four TLVs whose answers the reflector
 * writes in place, so that a reply is as long as its probe. Reading never trusts:
 * -EBADMSG for what is short, or has a TLV that runs beyond the packet. A plain probe
 * is the base alone, for reflectors that know no TLVs (RFC 5357: TWAMP-Light).
 *
 * Our own time stamps are PTP truncated (Z = 1); a peer's may be NTP, too.
 *
 * Authenticated packets are of our own agents only, and have the one layout that those
 * write: the 112-byte base with its HMAC, the same TLVs, the HMAC TLV, and Extra
 * Padding of zeros. Replies have another key than probes, so that no reflected packet
 * is ever a reply; the standard knows one key a session, and its reflectors would not
 * understand us. Nor is a packet answered whose TLVs do not verify, where the standard
 * would have them sent back flagged.
 */
#ifndef HOST_AGENT_PACKET_STAMP_H
#define HOST_AGENT_PACKET_STAMP_H

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
#define STAMP_AUTH_BASE_BYTES 112
#define STAMP_AUTH_PROBE_BYTES 176 /* base, class, counts, follow-up, HMAC TLVs */
#define STAMP_AUTH_HEAD_BYTES 180  /* and the header of the Extra Padding */

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

/* Both formats, as ns on a ring of 2^32 s. -EBADMSG: nanoseconds beyond a second. */
uint64_t stamp_time_write(int64_t wall_ns); /* PTP truncated */
int stamp_time_read(uint64_t stamp, bool ptp, int64_t *ret);
/* later - earlier of two read ones, across the end of the ring. */
int64_t stamp_time_between(int64_t later, int64_t earlier);

#endif
