/*
 * roce_packet - the bytes of probes in UD messages: roce_format of probe_format.h.
 *
 * A layout of Rackmesh, big-endian, in 64 bytes, so that even the smallest probe
 * returns all fields. A reply is its probe, answered in place: the second half is zero
 * until then. Between RNICs that authenticate, a MAC of the 64 bytes follows
 * (roce_keyed_format), so that 80 bytes are the smallest packet there. The rest of a
 * larger packet is zero.
 *
 * Offset, field, and number of bytes:
 *
 *    0 magic 2, version 1, kind 1         32 received (T3) 8
 *    4 ssid 2, bytes of the message 2     40 follow-up: sent (T4) 8
 *    8 seq 4, sent in this class 4        48 follow-up: seq 4, received in this class 4
 *   16 timestamp 8                        56 replied 4, error estimate of the reply 2
 *   24 flow label 4, error estimate 2     62 TTL 1, DSCP and ECN 1, as it arrived
 *   30 flags 1, DSCP as sent 1
 *
 * A reply does not have the time at which it was written, only the time at which the
 * previous reply left, in the follow-up.
 */
#ifndef HOST_AGENT_PACKET_ROCE_PACKET_H
#define HOST_AGENT_PACKET_ROCE_PACKET_H

#define ROCE_MAGIC 0x724d
#define ROCE_VERSION 1 /* version of the packet; other versions are refused */
#define ROCE_BASE_BYTES 64
/* The MAC follows the base in packets with the flag ROCE_KEYED. */
#define ROCE_MAC_BYTES 16
#define ROCE_KEYED_BYTES (ROCE_BASE_BYTES + ROCE_MAC_BYTES)
#define ROCE_MAX_BYTES 9216

/* The kind is in the packet, because a QP number does not show whether a packet is a
 * probe or a reply. */
enum roce_kind { ROCE_PROBE = 1, ROCE_REPLY };

enum roce_flags {
	ROCE_HAS_CLASS = 1,
	ROCE_HAS_COUNTS = 2,    /* of a reply */
	ROCE_HAS_FOLLOW_UP = 4, /* of a reply */
	ROCE_KEYED = 8,         /* a MAC follows */
};

#endif
