#include "region-controller/registry/probe_keys.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/error.h"
#include "rackmesh/core/file.h"
#include "rackmesh/identity/probe_key.h"
#include "rackmesh/judge/part.h"

#define MIN_SECRET 32
#define MAX_FILE 1024 /* bytes */
#define FROM " from "

_Static_assert(PROBE_KEY_BYTES == WIRE_KEY_BYTES, "keys fit the wire");

struct master {
	char text[PROBE_MAC_MAX_KEY];
	size_t len;
	rm_wall_t from;
	uint32_t epoch; /* the first epoch in which the secret is used */
};

struct probe_keys {
	/* sorted by epoch, the oldest first */
	struct master masters[PROBE_KEYS_SECRETS];
	size_t count;
	uint64_t epoch_s;
};

/* Reads "SECRET" or "SECRET from TIME". line is modified. */
static int
add_line(struct probe_keys *keys, char *line)
{
	struct master *master = &keys->masters[keys->count];
	char *from = strstr(line, FROM);

	if (keys->count == PROBE_KEYS_SECRETS)
		return -E2BIG;
	if (from != NULL) {
		const int64_t epoch_ns = (int64_t)keys->epoch_s * RM_NS_PER_S;

		*from = '\0';
		if (!rm_wall_parse(from + strlen(FROM), &master->from))
			return -EINVAL;
		/* An epoch has one secret: a new one is used from the next epoch on. */
		master->epoch =
		    (uint32_t)((master->from.ns + epoch_ns - 1) / epoch_ns) + 1;
	}
	master->len = strlen(line);
	if (master->len < MIN_SECRET || master->len > sizeof(master->text))
		return -EINVAL;
	if (keys->count > 0 && master->from.ns <= master[-1].from.ns)
		return -EINVAL;
	memcpy(master->text, line, master->len);
	keys->count++;
	return 0;
}

static int
read_lines(
    struct probe_keys *keys, const char *path, char *text, struct rm_error *error)
{
	char *line;
	int r = 0;

	while (r == 0 && (line = strsep(&text, "\r\n")) != NULL)
		if (*line != '\0')
			r = add_line(keys, line);
	if (r == 0 && keys->count > 0)
		return 0;
	return rm_error_set(error, -EINVAL,
	    "%s: secret %zu: expected a line of %d to %d characters, made by: openssl "
	    "rand -base64 32; each line but the first must end with a time, as in "
	    "' from 2026-11-29T00:00:00Z', and be later than the line before; at most "
	    "%d lines",
	    path, keys->count + 1, MIN_SECRET, PROBE_MAC_MAX_KEY, PROBE_KEYS_SECRETS);
}

int
probe_keys_new(
    const char *path, uint64_t epoch_s, struct rm_error *error, struct probe_keys **ret)
{
	struct probe_keys *keys = calloc(1, sizeof(*keys));
	uint8_t *text = NULL;
	size_t len = 0;
	int r;

	if (keys == NULL)
		return rm_error_set(error, -ENOMEM, "out of memory");
	keys->epoch_s = epoch_s;
	r = rm_file_read_secret(path, MAX_FILE, &text, &len, error);
	if (r == 0)
		r = read_lines(keys, path, (char *)text, error);
	if (text != NULL)
		explicit_bzero(text, len);
	free(text);
	if (r < 0)
		probe_keys_free(keys);
	else
		*ret = keys;
	return r;
}

bool
probe_keys_next(const struct probe_keys *keys, rm_wall_t now, rm_wall_t *from)
{
	for (size_t i = 0; i < keys->count; i++)
		if (keys->masters[i].from.ns > now.ns) {
			*from = keys->masters[i].from;
			return true;
		}
	return false;
}

void
probe_keys_print(const struct probe_keys *keys, char ret[PROBE_KEYS_PRINT])
{
	static const char label[] = "rackmesh print";
	const uint64_t epoch_s = htobe64(keys->epoch_s);
	uint8_t print[PROBE_SECRET_BYTES] = { 0 };

	for (size_t i = 0; i < keys->count; i++) {
		const struct master *master = &keys->masters[i];
		/* The oldest secret is also used for all earlier epochs. */
		const uint32_t epoch = htobe32(i == 0 ? 0 : master->epoch);
		const struct probe_mac_piece pieces[] = { { label, sizeof(label) - 1 },
			{ &epoch_s, sizeof(epoch_s) }, { &epoch, sizeof(epoch) },
			{ print, sizeof(print) } };
		struct probe_mac mac;
		uint8_t next[PROBE_SECRET_BYTES];

		probe_mac_init(&mac, master->text, master->len);
		probe_mac_full(&mac, pieces, 4, next);
		probe_mac_clear(&mac);
		memcpy(print, next, sizeof(print));
	}
	for (size_t i = 0; i < (PROBE_KEYS_PRINT - 1) / 2; i++)
		snprintf(ret + 2 * i, 3, "%02x", print[i]);
}

/* Returns the secret of the epoch; for epochs before the oldest secret, returns the
 * oldest one. */
static const struct master *
master_of(const struct probe_keys *keys, uint32_t epoch)
{
	size_t i = keys->count - 1;

	while (i > 0 && keys->masters[i].epoch > epoch)
		i--;
	return &keys->masters[i];
}

static bool
have_equal(const struct probe_keys *a, const struct probe_keys *b, uint32_t epoch)
{
	const struct master *of_a = master_of(a, epoch), *of_b = master_of(b, epoch);

	return of_a->len == of_b->len && memcmp(of_a->text, of_b->text, of_a->len) == 0;
}

static bool
are_equal(const struct probe_keys *a, const struct probe_keys *b)
{
	char print_a[PROBE_KEYS_PRINT], print_b[PROBE_KEYS_PRINT];

	probe_keys_print(a, print_a);
	probe_keys_print(b, print_b);
	return strcmp(print_a, print_b) == 0;
}

int
probe_keys_reload(
    struct probe_keys *keys, const char *path, uint32_t epoch, struct rm_error *error)
{
	struct probe_keys *fresh = NULL;
	int r = probe_keys_new(path, keys->epoch_s, error, &fresh);

	if (r < 0)
		return r;
	/* Responders hold the keys of these three epochs. */
	for (uint32_t e = epoch > 1 ? epoch - 1 : 1; r == 0 && e <= epoch + 1; e++)
		if (!have_equal(keys, fresh, e))
			r = rm_error_set(error, -EKEYREJECTED,
			    "%s: it has another secret for an epoch that is in use",
			    path);
	if (r == 0) {
		r = are_equal(keys, fresh) ? 0 : 1;
		*keys = *fresh;
	}
	probe_keys_free(fresh);
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
	const struct master *master = master_of(keys, epoch);
	uint8_t secret[PROBE_SECRET_BYTES];

	probe_key_secret(master->text, master->len, epoch, secret);
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

/* The keys of one plan. */
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
