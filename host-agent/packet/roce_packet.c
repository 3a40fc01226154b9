#include "host-agent/packet/roce_packet.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "host-agent/packet/probe_format.h"
#include "host-agent/packet/stamp.h"
#include "rackmesh/identity/probe_mac.h"

#define LABEL_MAX 0xfffff
#define DSCP_MAX 63

/* The bytes on the wire: big-endian, without padding. */
struct roce_bytes {
	uint16_t magic;
	uint8_t version, kind;
	uint16_t ssid, size;
	uint32_t seq, tx_count;
	uint64_t timestamp;
	uint32_t label;
	uint16_t error_estimate;
	uint8_t flags, dscp;
	/* The following fields are zero in a probe: */
	uint64_t receive_timestamp, follow_up_timestamp;
	uint32_t follow_up_seq, rx_count, reflector_tx_count;
	uint16_t reply_error_estimate;
	uint8_t ttl, arrived; /* DSCP 6, ECN 2 */
};

_Static_assert(sizeof(struct roce_bytes) == ROCE_BASE_BYTES, "no holes, no more");
_Static_assert(ROCE_KEYED_BYTES <= PROBE_HEAD_BYTES, "every probe fits into a head");
_Static_assert(ROCE_MAC_BYTES == PROBE_MAC_BYTES, "the MAC has the size of its field");

static size_t
size_between(size_t min, size_t asked)
{
	if (asked < min)
		return min;
	return asked < ROCE_MAX_BYTES ? asked : ROCE_MAX_BYTES;
}

static size_t
roce_size(size_t asked)
{
	return size_between(ROCE_BASE_BYTES, asked);
}

static size_t
keyed_size(size_t asked)
{
	return size_between(ROCE_KEYED_BYTES, asked);
}

static void
write_base(const struct probe_ask *ask, size_t size, uint8_t flags, uint8_t *out)
{
	struct roce_bytes bytes = { .magic = htobe16(ROCE_MAGIC),
		.version = ROCE_VERSION,
		.kind = ROCE_PROBE,
		.ssid = htobe16(ask->ssid),
		.size = htobe16((uint16_t)size),
		.seq = htobe32(ask->seq),
		.tx_count = htobe32(ask->tx_count),
		.timestamp = htobe64(ask->timestamp),
		.label = htobe32(ask->label & LABEL_MAX),
		.error_estimate = htobe16(ask->error_estimate),
		.flags = ROCE_HAS_CLASS | flags,
		.dscp = ask->dscp & DSCP_MAX };

	memcpy(out, &bytes, sizeof(bytes));
}

static size_t
roce_write_probe(
    const struct probe_ask *ask, size_t size, uint8_t out[PROBE_HEAD_BYTES])
{
	write_base(ask, size, 0, out);
	return ROCE_BASE_BYTES;
}

static size_t
keyed_write_probe(
    const struct probe_ask *ask, size_t size, uint8_t out[PROBE_HEAD_BYTES])
{
	write_base(ask, size, ROCE_KEYED, out);
	memset(out + ROCE_BASE_BYTES, 0, ROCE_MAC_BYTES);
	return ROCE_KEYED_BYTES;
}

/* keyed: the flag that the packet must have, 0 or ROCE_KEYED. */
static int
read_base(const uint8_t *data, size_t len, enum roce_kind kind, uint8_t keyed,
    struct roce_bytes *ret)
{
	struct roce_bytes bytes;

	if (len < sizeof(bytes))
		return -EBADMSG;
	memcpy(&bytes, data, sizeof(bytes));
	if (be16toh(bytes.magic) != ROCE_MAGIC || bytes.version != ROCE_VERSION ||
	    bytes.kind != kind || be16toh(bytes.size) != len ||
	    be32toh(bytes.label) > LABEL_MAX || bytes.dscp > DSCP_MAX ||
	    (bytes.flags & ROCE_KEYED) != keyed ||
	    (keyed != 0 && len < ROCE_KEYED_BYTES))
		return -EBADMSG;
	*ret = bytes;
	return 0;
}

static int
read_probe(const uint8_t *data, size_t len, uint8_t keyed, struct probe_ask *ret)
{
	struct roce_bytes bytes;
	int r = read_base(data, len, ROCE_PROBE, keyed, &bytes);

	if (r < 0)
		return r;
	*ret = (struct probe_ask){
		.seq = be32toh(bytes.seq),
		.timestamp = be64toh(bytes.timestamp),
		.error_estimate = be16toh(bytes.error_estimate),
		.ssid = be16toh(bytes.ssid),
		.has_class = bytes.flags & ROCE_HAS_CLASS,
		.dscp = bytes.dscp,
		.tx_count = be32toh(bytes.tx_count),
		.label = be32toh(bytes.label),
	};
	return 0;
}

static int
roce_read_probe(const uint8_t *data, size_t len, struct probe_ask *ret)
{
	return read_probe(data, len, 0, ret);
}

static int
keyed_read_probe(const uint8_t *data, size_t len, struct probe_ask *ret)
{
	return read_probe(data, len, ROCE_KEYED, ret);
}

static void
roce_write_reply(uint8_t *data, size_t len, const struct probe_ask *ask,
    const struct probe_answer *answer)
{
	bool follow_up = answer->follow_up_timestamp != 0;
	struct roce_bytes bytes;

	/* The received packet is long enough for all fields of ask. */
	(void)len;
	(void)ask;
	memcpy(&bytes, data, sizeof(bytes));
	bytes.kind = ROCE_REPLY;
	bytes.flags = (uint8_t)((bytes.flags & (ROCE_HAS_CLASS | ROCE_KEYED)) |
				(answer->rx_count != 0 ? ROCE_HAS_COUNTS : 0) |
				(follow_up ? ROCE_HAS_FOLLOW_UP : 0));
	bytes.receive_timestamp = htobe64(answer->receive_timestamp);
	bytes.follow_up_timestamp = htobe64(answer->follow_up_timestamp);
	bytes.follow_up_seq = htobe32(follow_up ? answer->follow_up_seq : 0);
	bytes.rx_count = htobe32(answer->rx_count);
	bytes.reflector_tx_count = htobe32(answer->tx_count);
	bytes.reply_error_estimate = htobe16(STAMP_ERROR_ESTIMATE);
	bytes.ttl = answer->ttl;
	bytes.arrived = (uint8_t)(answer->dscp << 2 | (answer->ecn & 3));
	memcpy(data, &bytes, sizeof(bytes));
}

static int
read_reply(const uint8_t *data, size_t len, uint8_t keyed, struct probe_reply *ret)
{
	struct roce_bytes bytes;
	int r = read_base(data, len, ROCE_REPLY, keyed, &bytes);

	if (r < 0)
		return r;
	*ret = (struct probe_reply){
		.seq = be32toh(bytes.seq),
		.error_estimate = be16toh(bytes.reply_error_estimate),
		.ssid = be16toh(bytes.ssid),
		.receive_timestamp = be64toh(bytes.receive_timestamp),
		.sender_seq = be32toh(bytes.seq),
		.sender_timestamp = be64toh(bytes.timestamp),
		.sender_error_estimate = be16toh(bytes.error_estimate),
		.sender_ttl = bytes.ttl,
		/* a packet always contains the class in which it was sent */
		.has_class = true,
		.has_counts = bytes.flags & ROCE_HAS_COUNTS,
		.has_follow_up = bytes.flags & ROCE_HAS_FOLLOW_UP,
		.dscp = bytes.arrived >> 2,
		.ecn = bytes.arrived & 3,
		.tx_count = be32toh(bytes.tx_count),
		.rx_count = be32toh(bytes.rx_count),
		.reflector_tx_count = be32toh(bytes.reflector_tx_count),
		.follow_up_seq = be32toh(bytes.follow_up_seq),
		.follow_up_timestamp = be64toh(bytes.follow_up_timestamp),
	};
	return 0;
}

static int
roce_read_reply(const uint8_t *data, size_t len, struct probe_reply *ret)
{
	return read_reply(data, len, 0, ret);
}

static int
keyed_read_reply(const uint8_t *data, size_t len, struct probe_reply *ret)
{
	return read_reply(data, len, ROCE_KEYED, ret);
}

static struct probe_mac_piece
signed_part(const uint8_t *data)
{
	return (struct probe_mac_piece){ data, ROCE_BASE_BYTES };
}

static bool
keyed_verify(const uint8_t *data, size_t len, const struct probe_mac *mac)
{
	const struct probe_mac_piece piece = signed_part(data);
	const uint8_t *rest = data + ROCE_KEYED_BYTES;
	size_t n = len - ROCE_KEYED_BYTES;

	return probe_mac_verify(mac, &piece, 1, data + ROCE_BASE_BYTES) &&
	       (n == 0 || (rest[0] == 0 && memcmp(rest, rest + 1, n - 1) == 0));
}

static void
keyed_sign(uint8_t *data, const struct probe_mac *mac)
{
	const struct probe_mac_piece piece = signed_part(data);

	probe_mac_sign(mac, &piece, 1, data + ROCE_BASE_BYTES);
}

const struct probe_format roce_format = {
	.name = "roce",
	.base_bytes = ROCE_BASE_BYTES,
	.size = roce_size,
	.write_probe = roce_write_probe,
	.read_probe = roce_read_probe,
	.write_reply = roce_write_reply,
	.read_reply = roce_read_reply,
	/* A plain probe does not exist in this format: every probe has all fields. */
	.read_plain_reply = roce_read_reply,
	.keyed = &roce_keyed_format,
};

const struct probe_format roce_keyed_format = {
	.name = "roce keyed",
	.base_bytes = ROCE_KEYED_BYTES,
	.size = keyed_size,
	.write_probe = keyed_write_probe,
	.read_probe = keyed_read_probe,
	.write_reply = roce_write_reply,
	.read_reply = keyed_read_reply,
	.read_plain_reply = keyed_read_reply,
	.verify = keyed_verify,
	.sign = keyed_sign,
};
