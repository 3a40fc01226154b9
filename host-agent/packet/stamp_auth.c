/* STAMP's authenticated mode, in the one layout that our agents write. */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "host-agent/packet/probe_format.h"
#include "host-agent/packet/stamp.h"
#include "rackmesh/identity/probe_mac.h"

#define SIGNED_BASE_BYTES 96 /* of the base: all but its HMAC */

struct tlv_head {
	uint8_t flags, type;
	uint16_t len;
};

/* Big-endian, and without holes: the bytes themselves. What has no name is zero. */
struct __attribute__((packed)) auth_bytes {
	uint32_t seq;
	uint8_t zero_1[12];
	uint64_t timestamp;
	uint16_t error_estimate, ssid;
	uint8_t zero_2[4];
	/* zero in a probe: */
	uint64_t receive_timestamp;
	uint8_t zero_3[8];
	uint32_t sender_seq;
	uint8_t zero_4[12];
	uint64_t sender_timestamp;
	uint16_t sender_error_estimate;
	uint8_t zero_5[6];
	uint8_t sender_ttl;
	uint8_t zero_6[15];
	uint8_t mac[PROBE_MAC_BYTES]; /* of what is before it */
	struct tlv_head class;
	uint8_t dscps[2], class_zero[2]; /* DSCP1 6, DSCP2 6, ECN 2, RP 2 */
	struct tlv_head counts;
	uint32_t tx_count, rx_count, reflector_tx_count;
	struct tlv_head follow_up;
	uint32_t follow_up_seq;
	uint64_t follow_up_timestamp;
	uint8_t follow_up_method, follow_up_zero[3];
	struct tlv_head hmac;
	uint8_t tlv_mac[PROBE_MAC_BYTES]; /* of seq and the TLVs before it */
};

#define AT(field) offsetof(struct auth_bytes, field)

_Static_assert(sizeof(struct auth_bytes) == STAMP_AUTH_PROBE_BYTES, "no holes");
_Static_assert(AT(mac) == SIGNED_BASE_BYTES, "six blocks are signed");
_Static_assert(AT(class) == STAMP_AUTH_BASE_BYTES, "TLVs follow the base");
_Static_assert(STAMP_AUTH_HEAD_BYTES <= PROBE_HEAD_BYTES, "a head takes any probe");

static size_t
auth_size(size_t asked)
{
	if (asked <= STAMP_AUTH_PROBE_BYTES)
		return STAMP_AUTH_PROBE_BYTES;
	if (asked < STAMP_AUTH_HEAD_BYTES) /* a TLV of less than its header */
		return STAMP_AUTH_HEAD_BYTES;
	return asked < STAMP_MAX_BYTES ? asked : STAMP_MAX_BYTES;
}

static struct tlv_head
head(uint8_t flags, enum stamp_tlv type, size_t len)
{
	return (struct tlv_head){ flags, (uint8_t)type, htobe16((uint16_t)len) };
}

static void
set_heads(struct auth_bytes *bytes, uint8_t flags)
{
	bytes->class = head(flags, STAMP_CLASS_OF_SERVICE, 4);
	bytes->counts = head(flags, STAMP_DIRECT_MEASUREMENT, 12);
	bytes->follow_up = head(flags, STAMP_FOLLOW_UP, 16);
	bytes->hmac = head(flags, STAMP_HMAC, PROBE_MAC_BYTES);
}

static bool
same_head(struct tlv_head a, struct tlv_head b)
{
	return a.flags == b.flags && a.type == b.type && a.len == b.len;
}

/* Every TLV where it belongs, and all of them as they were sent, or as answered. */
static bool
heads_are(const struct auth_bytes *bytes, uint8_t flags)
{
	struct auth_bytes wanted;

	set_heads(&wanted, flags);
	return same_head(bytes->class, wanted.class) &&
	       same_head(bytes->counts, wanted.counts) &&
	       same_head(bytes->follow_up, wanted.follow_up) &&
	       same_head(bytes->hmac, wanted.hmac);
}

static bool
padding_is(const uint8_t *data, size_t len, uint8_t flags)
{
	size_t n = len - STAMP_AUTH_HEAD_BYTES;
	struct tlv_head padding;

	if (len == STAMP_AUTH_PROBE_BYTES)
		return true;
	if (len < STAMP_AUTH_HEAD_BYTES || len > STAMP_MAX_BYTES)
		return false;
	memcpy(&padding, data + STAMP_AUTH_PROBE_BYTES, sizeof(padding));
	return same_head(padding, head(flags, STAMP_EXTRA_PADDING, n));
}

static int
read_bytes(const uint8_t *data, size_t len, uint8_t flags, struct auth_bytes *ret)
{
	if (len < sizeof(*ret))
		return -EBADMSG;
	memcpy(ret, data, sizeof(*ret));
	return heads_are(ret, flags) && padding_is(data, len, flags) ? 0 : -EBADMSG;
}

/* STAMP_AUTH_PROBE_BYTES or STAMP_AUTH_HEAD_BYTES. */
static size_t
auth_write_probe(
    const struct probe_ask *ask, size_t size, uint8_t out[PROBE_HEAD_BYTES])
{
	struct auth_bytes bytes = { .seq = htobe32(ask->seq),
		.timestamp = htobe64(ask->timestamp),
		.error_estimate = htobe16(ask->error_estimate),
		.ssid = htobe16(ask->ssid),
		.dscps = { (uint8_t)(ask->dscp << 2) },
		.tx_count = htobe32(ask->tx_count) };
	struct tlv_head padding;

	set_heads(&bytes, STAMP_UNRECOGNIZED);
	memcpy(out, &bytes, sizeof(bytes));
	if (size < STAMP_AUTH_HEAD_BYTES)
		return STAMP_AUTH_PROBE_BYTES;
	padding =
	    head(STAMP_UNRECOGNIZED, STAMP_EXTRA_PADDING, size - STAMP_AUTH_HEAD_BYTES);
	memcpy(out + STAMP_AUTH_PROBE_BYTES, &padding, sizeof(padding));
	return STAMP_AUTH_HEAD_BYTES;
}

/* A reply is no probe: it tells when it was received, and its TLVs are answered. */
static int
auth_read_probe(const uint8_t *data, size_t len, struct probe_ask *ret)
{
	struct auth_bytes bytes;
	int r = read_bytes(data, len, STAMP_UNRECOGNIZED, &bytes);

	if (r < 0)
		return r;
	if (bytes.receive_timestamp != 0)
		return -EBADMSG;
	*ret = (struct probe_ask){
		.seq = be32toh(bytes.seq),
		.timestamp = be64toh(bytes.timestamp),
		.error_estimate = be16toh(bytes.error_estimate),
		.ssid = be16toh(bytes.ssid),
		.has_class = true,
		.dscp = bytes.dscps[0] >> 2,
		.tx_count = be32toh(bytes.tx_count),
	};
	return 0;
}

static void
auth_write_reply(uint8_t *data, size_t len, const struct probe_ask *ask,
    const struct probe_answer *answer)
{
	bool follow_up = answer->follow_up_timestamp != 0;
	struct auth_bytes bytes;

	memcpy(&bytes, data, sizeof(bytes));
	bytes.timestamp = htobe64(answer->timestamp);
	bytes.error_estimate = htobe16(STAMP_ERROR_ESTIMATE);
	bytes.receive_timestamp = htobe64(answer->receive_timestamp);
	bytes.sender_seq = htobe32(ask->seq);
	bytes.sender_timestamp = htobe64(ask->timestamp);
	bytes.sender_error_estimate = htobe16(ask->error_estimate);
	bytes.sender_ttl = answer->ttl;
	set_heads(&bytes, 0);
	bytes.dscps[0] = (uint8_t)(ask->dscp << 2 | (answer->dscp & 0x3f) >> 4);
	bytes.dscps[1] = (uint8_t)((answer->dscp & 0x0f) << 4 | (answer->ecn & 3) << 2);
	bytes.rx_count = htobe32(answer->rx_count);
	bytes.reflector_tx_count = htobe32(answer->tx_count);
	bytes.follow_up_seq = htobe32(follow_up ? answer->follow_up_seq : 0);
	bytes.follow_up_timestamp = htobe64(answer->follow_up_timestamp);
	bytes.follow_up_method = follow_up ? STAMP_METHOD_SOFTWARE : 0;
	memcpy(data, &bytes, sizeof(bytes));
	if (len > STAMP_AUTH_PROBE_BYTES)
		data[STAMP_AUTH_PROBE_BYTES] = 0; /* the padding's flags */
}

static int
auth_read_reply(const uint8_t *data, size_t len, struct probe_reply *ret)
{
	struct auth_bytes bytes;
	int r = read_bytes(data, len, 0, &bytes);

	if (r < 0)
		return r;
	*ret = (struct probe_reply){
		.seq = be32toh(bytes.seq),
		.timestamp = be64toh(bytes.timestamp),
		.error_estimate = be16toh(bytes.error_estimate),
		.ssid = be16toh(bytes.ssid),
		.receive_timestamp = be64toh(bytes.receive_timestamp),
		.sender_seq = be32toh(bytes.sender_seq),
		.sender_timestamp = be64toh(bytes.sender_timestamp),
		.sender_error_estimate = be16toh(bytes.sender_error_estimate),
		.sender_ttl = bytes.sender_ttl,
		.has_class = true,
		.has_counts = bytes.rx_count != 0,
		.has_follow_up = bytes.follow_up_timestamp != 0,
		.dscp = (uint8_t)((bytes.dscps[0] & 3) << 4 | bytes.dscps[1] >> 4),
		.ecn = bytes.dscps[1] >> 2 & 3,
		.tx_count = be32toh(bytes.tx_count),
		.rx_count = be32toh(bytes.rx_count),
		.reflector_tx_count = be32toh(bytes.reflector_tx_count),
		.follow_up_seq = be32toh(bytes.follow_up_seq),
		.follow_up_timestamp = be64toh(bytes.follow_up_timestamp),
	};
	return 0;
}

/* What the HMAC TLV is of. */
#define TLV_PIECES(data)                                     \
	{                                                    \
		{ (data), sizeof(uint32_t) },                \
		{                                            \
			(data) + STAMP_AUTH_BASE_BYTES,      \
			    AT(hmac) - STAMP_AUTH_BASE_BYTES \
		}                                            \
	}

static bool
auth_verify(const uint8_t *data, size_t len, const struct probe_mac *mac)
{
	const struct probe_mac_piece base = { data, SIGNED_BASE_BYTES };
	const struct probe_mac_piece tlvs[] = TLV_PIECES(data);
	const uint8_t *zeros = data + STAMP_AUTH_HEAD_BYTES;
	size_t n = len > STAMP_AUTH_HEAD_BYTES ? len - STAMP_AUTH_HEAD_BYTES : 0;

	return probe_mac_verify(mac, &base, 1, data + AT(mac)) &&
	       probe_mac_verify(mac, tlvs, 2, data + AT(tlv_mac)) &&
	       (n == 0 || (zeros[0] == 0 && memcmp(zeros, zeros + 1, n - 1) == 0));
}

static void
auth_sign(uint8_t *data, const struct probe_mac *mac)
{
	const struct probe_mac_piece base = { data, SIGNED_BASE_BYTES };
	const struct probe_mac_piece tlvs[] = TLV_PIECES(data);

	probe_mac_sign(mac, &base, 1, data + AT(mac));
	probe_mac_sign(mac, tlvs, 2, data + AT(tlv_mac));
}

const struct probe_format stamp_auth_format = {
	.name = "stamp keyed",
	.base_bytes = STAMP_AUTH_PROBE_BYTES,
	.size = auth_size,
	.write_probe = auth_write_probe,
	.read_probe = auth_read_probe,
	.write_reply = auth_write_reply,
	.read_reply = auth_read_reply,
	.read_plain_reply = auth_read_reply,
	.verify = auth_verify,
	.sign = auth_sign,
};
