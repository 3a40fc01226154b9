/*
 * probe_format - the contents of a probe and its reply, for any format.
 *
 * There are two formats: STAMP (stamp.h) for UDP, so that switches and routers can
 * answer, and a shorter one of our own (roce_packet.h) for UD messages. Times are PTP
 * truncated or NTP, as stamp.h reads and writes them, in both. Reading checks
 * everything: -EBADMSG for a packet that is short, damaged, of another version, or a
 * reply in place of a probe (or the other way round).
 *
 * Each has a keyed variant, whose packets look different, so that a reader can tell
 * which variant a packet has. The contents of a keyed packet must not be used before
 * its MAC was verified: with the pair's key for probes, with the responder's key for
 * replies, see rackmesh/identity/probe_key.h.
 */
#ifndef HOST_AGENT_PACKET_PROBE_FORMAT_H
#define HOST_AGENT_PACKET_PROBE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROBE_HEAD_BYTES 180 /* of any format: the bytes that are not zero */

struct probe_mac;

struct probe_ask {
	uint32_t seq;
	uint64_t timestamp; /* comes back: tells an old reply from a new one */
	uint16_t error_estimate;
	uint16_t ssid;
	bool has_class; /* dscp is set: the sender's wish, the path may have changed it
			 */
	uint8_t dscp;
	uint32_t tx_count; /* sent so far in this class, this one included */
	uint32_t label;    /* flow label of the probe, for the reply; 0: none */
};

struct probe_answer { /* what a reflector adds to a probe to make its reply */
	uint64_t receive_timestamp;
	uint64_t timestamp;          /* now */
	uint8_t ttl, dscp, ecn;      /* as the probe arrived */
	uint32_t rx_count, tx_count; /* of this prober and class; rx 0: not counted */
	uint32_t follow_up_seq;
	uint64_t follow_up_timestamp; /* 0: none */
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
	uint8_t dscp, ecn; /* as the probe arrived */
	uint32_t tx_count, rx_count, reflector_tx_count;
	uint32_t follow_up_seq;
	uint64_t follow_up_timestamp;
};

struct probe_format {
	const char *name;  /* "stamp", "roce" */
	size_t base_bytes; /* size of a probe without any TLV; its reply has no TLVs
			      either */
	/* The size that is sent when size is asked for: at least as large as all
	 * fields. */
	size_t (*size)(size_t asked);
	/* Writes a probe of size bytes, size(asked) or base_bytes, except the zeros
	 * at its end. Returns the number of bytes written. */
	size_t (*write_probe)(
	    const struct probe_ask *ask, size_t size, uint8_t out[PROBE_HEAD_BYTES]);
	int (*read_probe)(const uint8_t *data, size_t len, struct probe_ask *ret);
	/* Turns the probe (already read into ask) into its reply, in place and of
	 * the same length. */
	void (*write_reply)(uint8_t *data, size_t len, const struct probe_ask *ask,
	    const struct probe_answer *answer);
	int (*read_reply)(const uint8_t *data, size_t len, struct probe_reply *ret);
	/* Reads the reply to a probe of base_bytes, whatever bytes follow the base. */
	int (*read_plain_reply)(
	    const uint8_t *data, size_t len, struct probe_reply *ret);

	/* The variant with a MAC; NULL: this format is the keyed one, and only it
	 * has the functions below. */
	const struct probe_format *keyed;
	/* Verifies the MAC of a packet that read_probe or read_reply accepted. A
	 * single changed bit, also in the padding, gives false. */
	bool (*verify)(const uint8_t *data, size_t len, const struct probe_mac *mac);
	/* Writes the MAC into a reply, or into the part of a probe that write_probe
	 * has written. */
	void (*sign)(uint8_t *data, const struct probe_mac *mac);
};

extern const struct probe_format stamp_format;      /* stamp.c */
extern const struct probe_format stamp_auth_format; /* stamp.c */
extern const struct probe_format roce_format;       /* roce_packet.c */
extern const struct probe_format roce_keyed_format;

#endif
