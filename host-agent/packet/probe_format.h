/*
 * probe_format - the contents of a probe and its reply, for any format.
 *
 * There are two formats: STAMP (stamp.h) for UDP, which switches and routers can
 * answer, and a shorter format of Rackmesh (roce_packet.h) for UD messages. Time stamps
 * have the formats of stamp.h in both: PTP truncated or NTP. Reading checks everything:
 * -EBADMSG for a packet that is short, damaged, of another version, or a reply in place
 * of a probe (or the other way round).
 *
 * Each format has a keyed variant with a MAC; the bytes of a packet show which variant
 * it is. The contents of a keyed packet must not be used before its MAC was verified:
 * with the pair's key for probes, with the responder's key for replies, see
 * rackmesh/identity/probe_key.h.
 */
#ifndef HOST_AGENT_PACKET_PROBE_FORMAT_H
#define HOST_AGENT_PACKET_PROBE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* maximum number of bytes of a probe, in any format, that are not zeros */
#define PROBE_HEAD_BYTES 180

struct probe_mac;

struct probe_ask {
	uint32_t seq;
	/* the reply echoes it, which distinguishes an old reply from a new one */
	uint64_t timestamp;
	uint16_t error_estimate;
	uint16_t ssid;
	/* dscp is set to the class in which the prober sent the probe; the path may
	 * change the DSCP in the IP header */
	bool has_class;
	uint8_t dscp;
	/* number of probes that were sent in this class so far, including this one */
	uint32_t tx_count;
	/* flow label of the probe, which the reply uses, too; 0: none */
	uint32_t label;
};

struct probe_answer { /* what a reflector adds to a probe to make its reply */
	uint64_t receive_timestamp;
	uint64_t timestamp;     /* time at which the reply is written */
	uint8_t ttl, dscp, ecn; /* TTL, DSCP and ECN of the probe as it arrived */
	/* probes received from, and replies sent to, this prober in this class;
	 * rx_count 0: not counted */
	uint32_t rx_count, tx_count;
	uint32_t follow_up_seq;
	uint64_t follow_up_timestamp; /* send time of an earlier reply; 0: none */
};

struct probe_reply {
	uint32_t seq;
	uint64_t timestamp;
	uint16_t error_estimate;
	uint16_t ssid;
	uint64_t receive_timestamp;
	uint32_t sender_seq;
	uint64_t sender_timestamp;
	uint16_t sender_error_estimate;
	uint8_t sender_ttl;
	bool has_class, has_counts, has_follow_up;
	uint8_t dscp, ecn; /* DSCP and ECN of the probe as it arrived */
	uint32_t tx_count, rx_count, reflector_tx_count;
	uint32_t follow_up_seq;
	uint64_t follow_up_timestamp;
};

struct probe_format {
	const char *name; /* "stamp", "roce" */
	/* size of a plain probe, which has no TLVs, as its reply has none */
	size_t base_bytes;
	/* Returns the size of the probe to send if `asked` bytes are wanted: at least
	 * the size of all fields. */
	size_t (*size)(size_t asked);
	/* Writes a probe of size bytes (a value from size(), or base_bytes) except the
	 * zeros at its end. Returns the number of bytes written. */
	size_t (*write_probe)(
	    const struct probe_ask *ask, size_t size, uint8_t out[PROBE_HEAD_BYTES]);
	int (*read_probe)(const uint8_t *data, size_t len, struct probe_ask *ret);
	/* Turns the probe (already read into ask) into its reply, in place and of
	 * the same length. */
	void (*write_reply)(uint8_t *data, size_t len, const struct probe_ask *ask,
	    const struct probe_answer *answer);
	int (*read_reply)(const uint8_t *data, size_t len, struct probe_reply *ret);
	/* Reads the reply to a probe of base_bytes; any bytes may follow the base. */
	int (*read_plain_reply)(
	    const uint8_t *data, size_t len, struct probe_reply *ret);

	/* The keyed variant of this format; NULL: this format is a keyed one. Only
	 * keyed formats have the functions below. */
	const struct probe_format *keyed;
	/* Verifies the MAC of a packet that read_probe or read_reply has accepted.
	 * False if any bit of the packet has changed, padding included. */
	bool (*verify)(const uint8_t *data, size_t len, const struct probe_mac *mac);
	/* Writes the MAC into a reply, or into the bytes of a probe that write_probe
	 * has written. */
	void (*sign)(uint8_t *data, const struct probe_mac *mac);
};

extern const struct probe_format stamp_format;      /* stamp.c */
extern const struct probe_format stamp_auth_format; /* stamp.c */
extern const struct probe_format roce_format;       /* roce_packet.c */
extern const struct probe_format roce_keyed_format;

#endif
