#include "region-controller/registry/probe_keys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/error.h"
#include "rackmesh/core/file.h"
#include "rackmesh/identity/probe_key.h"
#include "rackmesh/judge/part.h"

#define MIN_SECRET 32

_Static_assert(PROBE_KEY_BYTES == WIRE_KEY_BYTES, "keys fit the wire");

struct probe_keys {
	char master[PROBE_MAC_MAX_KEY + 1];
	size_t len;
	uint64_t epoch_s;
};

int
probe_keys_new(
    const char *path, uint64_t epoch_s, struct rm_error *error, struct probe_keys **ret)
{
	struct probe_keys *keys = calloc(1, sizeof(*keys));
	int r;

	if (keys == NULL)
		return rm_error_set(error, -ENOMEM, "out of memory");
	keys->epoch_s = epoch_s;
	r = rm_file_read_password(path, keys->master, sizeof(keys->master), error);
	if (r < 0)
		goto fail;
	keys->len = strlen(keys->master);
	if (keys->len < MIN_SECRET) {
		r = rm_error_set(error, -EINVAL,
		    "%s: expected one line of %d to %d characters, as of "
		    "openssl rand -base64 32",
		    path, MIN_SECRET, PROBE_MAC_MAX_KEY);
		goto fail;
	}
	*ret = keys;
	return 0;
fail:
	probe_keys_free(keys);
	return r;
}

void
probe_keys_free(struct probe_keys *keys)
{
	if (keys == NULL)
		return;
	explicit_bzero(keys, sizeof(*keys));
	free(keys);
}

uint32_t
probe_keys_epoch(const struct probe_keys *keys, rm_wall_t now)
{
	uint64_t seconds = now.ns > 0 ? (uint64_t)(now.ns / RM_NS_PER_S) : 0;

	return (uint32_t)(seconds / keys->epoch_s) + 1;
}

uint32_t
probe_keys_follow(
    const struct probe_keys *keys, uint32_t held, int64_t held_for_ns, rm_wall_t now)
{
	uint32_t epoch = probe_keys_epoch(keys, now);

	if (held == 0 || epoch == held)
		return epoch;
	if (held_for_ns / (RM_NS_PER_S / 2) < (int64_t)keys->epoch_s)
		return held;
	return epoch > held ? held + 1 : held - 1;
}

static void
responder_key(const struct probe_keys *keys, uint32_t epoch, struct wire_rnic_id id,
    uint8_t ret[PROBE_KEY_BYTES])
{
	uint8_t secret[PROBE_SECRET_BYTES];

	probe_key_secret(keys->master, keys->len, epoch, secret);
	probe_key_responder(
	    secret, epoch, (struct rm_rnic_id){ id.guid, id.port }, ret);
	explicit_bzero(secret, sizeof(secret));
}

void
probe_keys_pair(const struct probe_keys *keys, uint32_t epoch,
    struct wire_rnic_id prober, struct wire_rnic_id responder,
    struct wire_pair_key *ret)
{
	uint8_t key[PROBE_KEY_BYTES];

	responder_key(keys, epoch, responder, key);
	*ret = (struct wire_pair_key){ .src_guid = prober.guid,
		.dst_guid = responder.guid,
		.src_port = prober.port,
		.dst_port = responder.port,
		.epoch = epoch };
	probe_key_pair(key, (struct rm_rnic_id){ prober.guid, prober.port }, ret->key);
	explicit_bzero(key, sizeof(key));
}

/* Those of the plan that the message is made of. */
struct draft {
	struct wire_responder_key *responders;
	struct wire_pair_key *pairs;
	struct wire_rnic_id *plain;
	struct wire_keys out;
};

static int
draft_new(const struct wire_plan *plan, struct draft *draft)
{
	draft->responders = calloc(
	    WIRE_KEY_EPOCHS * plan->member_count + 1, sizeof(*draft->responders));
	draft->pairs = calloc(plan->entry_count + 1, sizeof(*draft->pairs));
	draft->plain =
	    calloc(plan->member_count + plan->remote_count + 1, sizeof(*draft->plain));
	return draft->responders == NULL || draft->pairs == NULL || draft->plain == NULL
		   ? -ENOMEM
		   : 0;
}

static void
draft_clear(struct draft *draft)
{
	if (draft->responders != NULL)
		explicit_bzero(draft->responders,
		    draft->out.responder_count * sizeof(*draft->responders));
	if (draft->pairs != NULL)
		explicit_bzero(
		    draft->pairs, draft->out.pair_count * sizeof(*draft->pairs));
	free(draft->responders);
	free(draft->pairs);
	free(draft->plain);
}

static void
draft_member(
    const struct probe_keys *keys, struct draft *draft, const struct wire_rnic *rnic)
{
	uint32_t epoch = draft->out.epoch;

	if (!rnic->authenticates) {
		draft->plain[draft->out.plain_count++] = rnic->id;
		return;
	}
	for (uint32_t e = epoch > 1 ? epoch - 1 : 1; e <= epoch + 1; e++) {
		struct wire_responder_key *key =
		    &draft->responders[draft->out.responder_count++];

		key->guid = rnic->id.guid;
		key->port = rnic->id.port;
		key->epoch = e;
		responder_key(keys, e, rnic->id, key->key);
	}
}

static void
draft_entries(const struct probe_keys *keys, struct draft *draft,
    const struct wire_plan_view *view)
{
	for (size_t i = 0; i < view->plan.entry_count; i++) {
		struct wire_plan_entry entry;
		struct wire_rnic src, dst;

		wire_plan_entry(view, i, &entry);
		wire_plan_member(view, entry.src, &src);
		wire_plan_remote(view, entry.dst, &dst);
		if (src.authenticates && dst.authenticates)
			probe_keys_pair(keys, draft->out.epoch, src.id, dst.id,
			    &draft->pairs[draft->out.pair_count++]);
	}
}

int
probe_keys_write(const struct probe_keys *keys, const struct wire_plan_view *view,
    uint32_t epoch, uint64_t version, struct wire_writer *writer,
    struct wire_bytes *out)
{
	const struct wire_plan *plan = &view->plan;
	struct draft draft = { .out = {
				   .tor = plan->tor,
				   .epoch = epoch,
				   .version = version,
			       } };
	struct wire_rnic rnic;
	int r = draft_new(plan, &draft);

	if (r < 0)
		goto out;
	for (size_t i = 0; i < plan->member_count; i++) {
		wire_plan_member(view, i, &rnic);
		draft_member(keys, &draft, &rnic);
	}
	for (size_t i = 0; i < plan->remote_count; i++) {
		wire_plan_remote(view, i, &rnic);
		if (!rnic.authenticates)
			draft.plain[draft.out.plain_count++] = rnic.id;
	}
	draft_entries(keys, &draft, view);
	draft.out.responders = draft.responders;
	draft.out.pairs = draft.pairs;
	draft.out.plain = draft.plain;
	r = wire_write_keys(writer, &draft.out, out);
out:
	draft_clear(&draft);
	return r;
}
