#include "host-agent/reflector/reflector_keys.h"

#include <string.h>

#include "host-agent/packet/key_ring.h"
#include "host-agent/packet/probe_format.h"
#include "host-agent/reflector/reflector_session.h"

static void
keys_add(struct reflector_keys *keys, const struct key_ring *ring,
    struct wire_rnic_id own, uint32_t epoch)
{
	const uint8_t *key = key_ring_responder(ring, own, epoch);

	if (key == NULL)
		return;
	keys->own[keys->count].epoch = epoch;
	memcpy(keys->own[keys->count++].key, key, PROBE_KEY_BYTES);
}

void
reflector_keys_set(
    struct reflector_keys *keys, const struct key_ring *ring, struct wire_rnic_id own)
{
	uint32_t epoch = key_ring_own_epoch(ring, own);

	explicit_bzero(keys, sizeof(*keys));
	if (epoch == 0)
		return;
	keys_add(keys, ring, own, epoch);
	keys_add(keys, ring, own, epoch + 1);
	if (epoch > 1)
		keys_add(keys, ring, own, epoch - 1);
}

static bool
is_held(const struct reflector_keys *keys, uint32_t epoch)
{
	for (size_t i = 0; i < keys->count; i++)
		if (keys->own[i].epoch == epoch)
			return true;
	return false;
}

static bool
try_epoch(const uint8_t key[PROBE_KEY_BYTES], const struct probe_format *format,
    const uint8_t *data, size_t len, struct wire_rnic_id prober,
    struct probe_macs *macs)
{
	uint8_t pair_key[PROBE_KEY_BYTES];

	probe_key_pair(key, (struct rm_rnic_id){ prober.guid, prober.port }, pair_key);
	probe_macs_init(macs, pair_key);
	explicit_bzero(pair_key, sizeof(pair_key));
	return format->verify(data, len, &macs->probe);
}

bool
reflector_keys_verify(const struct reflector_keys *keys,
    const struct probe_format *format, const uint8_t *data, size_t len,
    struct wire_rnic_id prober, struct reflector_auth *auth)
{
	if (auth->epoch != 0 && is_held(keys, auth->epoch) &&
	    format->verify(data, len, &auth->macs.probe))
		return true;
	/* The key of auth's own epoch is derived and tried again, too, since the ToR's
	 * secret may have changed. */
	for (size_t i = 0; i < keys->count && prober.guid != 0; i++) {
		struct probe_macs macs;

		if (!try_epoch(keys->own[i].key, format, data, len, prober, &macs))
			continue;
		auth->macs = macs;
		auth->epoch = keys->own[i].epoch;
		return true;
	}
	return false;
}
