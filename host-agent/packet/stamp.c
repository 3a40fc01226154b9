#include "host-agent/packet/stamp.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "host-agent/packet/probe_format.h"
#include "rackmesh/identity/probe_mac.h"

#define NS_PER_S INT64_C(1000000000)
#define RING_NS (NS_PER_S << 32)
#define NTP_TO_UNIX_S UINT32_C(2208988800) /* from 1900 to 1970 */

/* Offsets of the fields in the base. */
enum {
	AT_SEQ = 0,
	AT_TIMESTAMP = 4,
	AT_ERROR_ESTIMATE = 12,
	AT_SSID = 14,
	AT_RECEIVE_TIMESTAMP = 16,
	AT_SENDER_SEQ = 24,
	AT_SENDER_TIMESTAMP = 28,
	AT_SENDER_ERROR_ESTIMATE = 36,
	AT_SENDER_TTL = 40,
};

#define CLASS_BYTES 4 /* length of the value */
#define COUNTS_BYTES 12
#define FOLLOW_UP_BYTES 16

_Static_assert(STAMP_HEAD_BYTES <= PROBE_HEAD_BYTES, "every probe fits into a head");

static struct tlv_head head(uint8_t flags, enum stamp_tlv type, size_t len);

static uint16_t
get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static uint32_t
get32(const uint8_t *p)
{
	return (uint32_t)get16(p) << 16 | get16(p + 2);
}

static uint64_t
get64(const uint8_t *p)
{
	return (uint64_t)get32(p) << 32 | get32(p + 4);
}

static void
put16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static void
put32(uint8_t *p, uint32_t v)
{
	put16(p, (uint16_t)(v >> 16));
	put16(p + 2, (uint16_t)v);
}

static void
put64(uint8_t *p, uint64_t v)
{
	put32(p, (uint32_t)(v >> 32));
	put32(p + 4, (uint32_t)v);
}

uint64_t
stamp_time_write(int64_t wall_ns)
{
	uint64_t ns = wall_ns < 0 ? 0 : (uint64_t)wall_ns;

	return (ns / NS_PER_S) << 32 | ns % NS_PER_S;
}

int
stamp_time_read(uint64_t stamp, bool ptp, int64_t *ret)
{
	uint32_t seconds = (uint32_t)(stamp >> 32);
	uint32_t fraction = (uint32_t)stamp;

	if (ptp) {
		if (fraction >= NS_PER_S)
			return -EBADMSG;
	} else {
		seconds -= NTP_TO_UNIX_S; /* modulo 2^32, so eras do not matter */
		fraction = (uint32_t)(((uint64_t)fraction * NS_PER_S) >> 32);
	}
	*ret = (int64_t)seconds * NS_PER_S + fraction;
	return 0;
}

int64_t
stamp_time_between(int64_t later, int64_t earlier)
{
	int64_t ns = later - earlier;

	if (ns > RING_NS / 2)
		ns -= RING_NS;
	else if (ns < -RING_NS / 2)
		ns += RING_NS;
	return ns;
}

/* Returns at least the size of a probe with all TLVs. */
static size_t
stamp_size(size_t size)
{
	if (size <= STAMP_PROBE_BYTES)
		return STAMP_PROBE_BYTES;
	if (size < STAMP_HEAD_BYTES) /* too few bytes for the header of one more TLV */
		return STAMP_HEAD_BYTES;
	return size < STAMP_MAX_BYTES ? size : STAMP_MAX_BYTES;
}

/* Returns where the value begins. */
static uint8_t *
write_tlv(uint8_t *p, enum stamp_tlv type, size_t len)
{
	p[0] = STAMP_UNRECOGNIZED;
	p[1] = (uint8_t)type;
	put16(p + 2, (uint16_t)len);
	return p + STAMP_TLV_BYTES;
}

/* size is STAMP_BASE_BYTES, STAMP_PROBE_BYTES, or at least STAMP_HEAD_BYTES. */
static size_t
stamp_write_probe(
    const struct probe_ask *ask, size_t size, uint8_t out[PROBE_HEAD_BYTES])
{
	uint8_t *p = out + STAMP_BASE_BYTES;

	memset(out, 0, STAMP_HEAD_BYTES);
	put32(out + AT_SEQ, ask->seq);
	put64(out + AT_TIMESTAMP, ask->timestamp);
	put16(out + AT_ERROR_ESTIMATE, ask->error_estimate);
	put16(out + AT_SSID, ask->ssid);
	if (size == STAMP_BASE_BYTES)
		return STAMP_BASE_BYTES;

	p = write_tlv(p, STAMP_CLASS_OF_SERVICE, CLASS_BYTES);
	p[0] = (uint8_t)(ask->dscp << 2);
	p += CLASS_BYTES;
	p = write_tlv(p, STAMP_DIRECT_MEASUREMENT, COUNTS_BYTES);
	put32(p, ask->tx_count);
	p += COUNTS_BYTES;
	p = write_tlv(p, STAMP_FOLLOW_UP, FOLLOW_UP_BYTES);
	p += FOLLOW_UP_BYTES;
	if (size < STAMP_HEAD_BYTES)
		return STAMP_PROBE_BYTES;
	write_tlv(p, STAMP_EXTRA_PADDING, size - STAMP_HEAD_BYTES);
	return STAMP_HEAD_BYTES;
}

/* One TLV that ends within its packet. */
struct tlv {
	size_t at; /* offset of its header */
	uint8_t flags, type;
	uint16_t len;
};

/* Returns 1: *ret is the TLV at offset at; 0: the packet ends there; -EBADMSG:
 * malformed. */
static int
read_tlv(const uint8_t *data, size_t len, size_t at, struct tlv *ret)
{
	if (at == len)
		return 0;
	if (len - at < STAMP_TLV_BYTES)
		return -EBADMSG;
	ret->at = at;
	ret->flags = data[at];
	ret->type = data[at + 1];
	ret->len = get16(data + at + 2);
	return ret->len > len - at - STAMP_TLV_BYTES ? -EBADMSG : 1;
}

static size_t
tlv_end(const struct tlv *tlv)
{
	return tlv->at + STAMP_TLV_BYTES + tlv->len;
}

/* Returns the flags that the reply has in this TLV. */
static uint8_t
tlv_verdict(const struct tlv *tlv)
{
	switch (tlv->type) {
	case STAMP_EXTRA_PADDING:
		return 0;
	case STAMP_CLASS_OF_SERVICE:
		return tlv->len == CLASS_BYTES ? 0 : STAMP_MALFORMED;
	case STAMP_DIRECT_MEASUREMENT:
		return tlv->len == COUNTS_BYTES ? 0 : STAMP_MALFORMED;
	case STAMP_FOLLOW_UP:
		return tlv->len == FOLLOW_UP_BYTES ? 0 : STAMP_MALFORMED;
	default:
		return STAMP_UNRECOGNIZED;
	}
}

/* A reply is never accepted as a probe, so two reflectors cannot answer each other. */
static int
stamp_read_probe(const uint8_t *data, size_t len, struct probe_ask *ret)
{
	struct probe_ask probe = { 0 };
	size_t at = STAMP_BASE_BYTES;
	struct tlv tlv;
	bool malformed = false;
	int r;

	/* A reply has the time at which the probe was received where a probe has
	 * zeros. */
	if (len < STAMP_BASE_BYTES || get64(data + AT_RECEIVE_TIMESTAMP) != 0)
		return -EBADMSG;
	probe.seq = get32(data + AT_SEQ);
	probe.timestamp = get64(data + AT_TIMESTAMP);
	probe.error_estimate = get16(data + AT_ERROR_ESTIMATE);
	probe.ssid = get16(data + AT_SSID);

	while ((r = read_tlv(data, len, at, &tlv)) == 1) {
		const uint8_t *value = data + at + STAMP_TLV_BYTES;

		malformed = malformed || tlv_verdict(&tlv) == STAMP_MALFORMED;
		if (!malformed && tlv.type == STAMP_CLASS_OF_SERVICE) {
			probe.has_class = true;
			probe.dscp = value[0] >> 2;
		}
		if (!malformed && tlv.type == STAMP_DIRECT_MEASUREMENT)
			probe.tx_count = get32(value);
		at = tlv_end(&tlv);
	}
	if (r < 0)
		return r;
	*ret = probe;
	return 0;
}

static void
answer_tlv(uint8_t *value, uint8_t type, const struct probe_answer *answer)
{
	switch (type) {
	case STAMP_CLASS_OF_SERVICE: /* DSCP1 6, DSCP2 6, ECN 2, RP 2, reserved 16 */
		value[0] = (uint8_t)((value[0] & 0xfc) | (answer->dscp & 0x3f) >> 4);
		value[1] =
		    (uint8_t)((answer->dscp & 0x0f) << 4 | (answer->ecn & 3) << 2);
		put16(value + 2, 0);
		break;
	case STAMP_DIRECT_MEASUREMENT:
		put32(value + 4, answer->rx_count);
		put32(value + 8, answer->tx_count);
		break;
	case STAMP_FOLLOW_UP:
		memset(value, 0, FOLLOW_UP_BYTES);
		if (answer->follow_up_timestamp == 0)
			break;
		put32(value, answer->follow_up_seq);
		put64(value + 4, answer->follow_up_timestamp);
		value[12] = STAMP_METHOD_SOFTWARE;
		break;
	default:
		break;
	}
}

static void
stamp_write_reply(uint8_t *data, size_t len, const struct probe_ask *ask,
    const struct probe_answer *answer)
{
	size_t at = STAMP_BASE_BYTES;
	struct tlv tlv;

	put64(data + AT_TIMESTAMP, answer->timestamp);
	put16(data + AT_ERROR_ESTIMATE, STAMP_ERROR_ESTIMATE);
	put64(data + AT_RECEIVE_TIMESTAMP, answer->receive_timestamp);
	put32(data + AT_SENDER_SEQ, ask->seq);
	put64(data + AT_SENDER_TIMESTAMP, ask->timestamp);
	put16(data + AT_SENDER_ERROR_ESTIMATE, ask->error_estimate);
	put16(data + AT_SENDER_ERROR_ESTIMATE + 2, 0);
	data[AT_SENDER_TTL] = answer->ttl;
	memset(data + AT_SENDER_TTL + 1, 0, 3);

	/* Stops at the first malformed TLV: the rest is sent back as received. */
	while (read_tlv(data, len, at, &tlv) == 1) {
		data[at] = tlv_verdict(&tlv);
		if (data[at] == STAMP_MALFORMED)
			break;
		if (data[at] == 0)
			answer_tlv(data + at + STAMP_TLV_BYTES, tlv.type, answer);
		at = tlv_end(&tlv);
	}
}

/* Called only for a TLV that the reflector has marked as understood. */
static void
read_answer(const uint8_t *value, uint8_t type, struct probe_reply *reply)
{
	switch (type) {
	case STAMP_CLASS_OF_SERVICE:
		reply->has_class = true;
		reply->dscp = (uint8_t)((value[0] & 0x03) << 4 | value[1] >> 4);
		reply->ecn = value[1] >> 2 & 3;
		break;
	case STAMP_DIRECT_MEASUREMENT:
		reply->tx_count = get32(value);
		reply->rx_count = get32(value + 4);
		reply->reflector_tx_count = get32(value + 8);
		/* A reflector that counts has counted this probe, too: so 0 means that
		 * it does not count. */
		reply->has_counts = reply->rx_count != 0;
		break;
	case STAMP_FOLLOW_UP:
		reply->follow_up_seq = get32(value);
		reply->follow_up_timestamp = get64(value + 4);
		reply->has_follow_up = reply->follow_up_timestamp != 0;
		break;
	default:
		break;
	}
}

/* The bytes after the base are not checked: TWAMP-Light may put the padding of the
 * probe anywhere there. */
static int
stamp_read_plain_reply(const uint8_t *data, size_t len, struct probe_reply *ret)
{
	if (len < STAMP_PLAIN_REPLY_BYTES)
		return -EBADMSG;
	*ret = (struct probe_reply){
		.seq = get32(data + AT_SEQ),
		.timestamp = get64(data + AT_TIMESTAMP),
		.error_estimate = get16(data + AT_ERROR_ESTIMATE),
		.ssid = get16(data + AT_SSID),
		.receive_timestamp = get64(data + AT_RECEIVE_TIMESTAMP),
		.sender_seq = get32(data + AT_SENDER_SEQ),
		.sender_timestamp = get64(data + AT_SENDER_TIMESTAMP),
		.sender_error_estimate = get16(data + AT_SENDER_ERROR_ESTIMATE),
		.sender_ttl = data[AT_SENDER_TTL],
	};
	return 0;
}

static int
stamp_read_reply(const uint8_t *data, size_t len, struct probe_reply *ret)
{
	struct probe_reply reply;
	size_t at = STAMP_BASE_BYTES;
	bool heed = true;
	struct tlv tlv;
	int r;

	if (len < STAMP_BASE_BYTES || stamp_read_plain_reply(data, len, &reply) < 0)
		return -EBADMSG;
	while ((r = read_tlv(data, len, at, &tlv)) == 1) {
		if (tlv.flags & (STAMP_MALFORMED | STAMP_INTEGRITY))
			heed = false;
		if (heed && tlv.flags == 0 && tlv_verdict(&tlv) == 0)
			read_answer(data + at + STAMP_TLV_BYTES, tlv.type, &reply);
		at = tlv_end(&tlv);
	}
	if (r < 0)
		return r;
	*ret = reply;
	return 0;
}

const struct probe_format stamp_format = {
	.name = "stamp",
	.base_bytes = STAMP_BASE_BYTES,
	.size = stamp_size,
	.write_probe = stamp_write_probe,
	.read_probe = stamp_read_probe,
	.write_reply = stamp_write_reply,
	.read_reply = stamp_read_reply,
	.read_plain_reply = stamp_read_plain_reply,
	.keyed = &stamp_auth_format,
};

/* ---- STAMP's authenticated mode, in the one layout that host-agents write ------- */

#define SIGNED_BASE_BYTES 96 /* the base without its HMAC */

struct tlv_head {
	uint8_t flags, type;
	uint16_t len;
};

/* The bytes on the wire: big-endian, without padding. Members named zero are reserved
 * and zero. */
struct __attribute__((packed)) auth_bytes {
	uint32_t seq;
	uint8_t zero_1[12];
	uint64_t timestamp;
	uint16_t error_estimate, ssid;
	uint8_t zero_2[4];
	/* The following fields are zero in a probe: */
	uint64_t receive_timestamp;
	uint8_t zero_3[8];
	uint32_t sender_seq;
	uint8_t zero_4[12];
	uint64_t sender_timestamp;
	uint16_t sender_error_estimate;
	uint8_t zero_5[6];
	uint8_t sender_ttl;
	uint8_t zero_6[15];
	uint8_t mac[PROBE_MAC_BYTES]; /* HMAC of all bytes before it */
	struct tlv_head class;
	uint8_t dscps[2], class_zero[2]; /* bits: DSCP1 6, DSCP2 6, ECN 2, RP 2 */
	struct tlv_head counts;
	uint32_t tx_count, rx_count, reflector_tx_count;
	struct tlv_head follow_up;
	uint32_t follow_up_seq;
	uint64_t follow_up_timestamp;
	uint8_t follow_up_method, follow_up_zero[3];
	struct tlv_head hmac;
	uint8_t tlv_mac[PROBE_MAC_BYTES]; /* HMAC of seq and of the TLVs before it */
};

#define AT(field) offsetof(struct auth_bytes, field)

_Static_assert(sizeof(struct auth_bytes) == STAMP_AUTH_PROBE_BYTES, "no holes");
_Static_assert(AT(mac) == SIGNED_BASE_BYTES, "HMAC signs six blocks");
_Static_assert(AT(class) == STAMP_AUTH_BASE_BYTES, "TLVs follow the base");
_Static_assert(
    STAMP_AUTH_HEAD_BYTES <= PROBE_HEAD_BYTES, "every probe fits into a head");

static size_t
auth_size(size_t asked)
{
	if (asked <= STAMP_AUTH_PROBE_BYTES)
		return STAMP_AUTH_PROBE_BYTES;
	/* The rest is too small for the header of one more TLV. */
	if (asked < STAMP_AUTH_HEAD_BYTES)
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

/* True: every TLV is in its place with this type and length, and each has these
 * flags. */
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

/* size: STAMP_AUTH_PROBE_BYTES (no padding), or STAMP_AUTH_HEAD_BYTES or more. */
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

/* A reply is never accepted as a probe: it has the time at which the probe was
 * received, and other flags in its TLVs. */
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
		data[STAMP_AUTH_PROBE_BYTES] = 0; /* the flags of the padding */
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

/* The bytes that the HMAC TLV signs. */
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
