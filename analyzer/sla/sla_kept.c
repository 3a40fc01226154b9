/*
 * Numbers are big-endian. After the magic bytes with the version and the checksum of
 * the rest: the last closed minute, the counted minutes by hour, and the scopes, each
 * with its racks, minutes and hours.
 */
#include "analyzer/sla/sla_kept.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/sla/sla_state.h"
#include "rackmesh/core/crc32c.h"

static const uint8_t magic[8] = { 'R', 'M', 'S', 'L', 'A', 0, 0, 1 };
#define HEAD_BYTES (sizeof(magic) + 4)
#define FIGURES 7
/* The clock may have been set back by this time, which sla_close waits for. */
#define AHEAD_MINUTES 30
#define MOST_FIGURE (UINT64_C(1) << 53) /* of a figure: sums of all do not overflow */

/* ---- writing ---- */

static void
put(struct sla_save *save, const void *data, size_t len)
{
	size_t room = save->room == 0 ? 65536 : save->room;

	while (room < save->len + len)
		room *= 2;
	if (room != save->room && !save->failed) {
		uint8_t *grown = realloc(save->data, room);

		save->failed = grown == NULL;
		save->data = grown == NULL ? save->data : grown;
		save->room = grown == NULL ? save->room : room;
	}
	if (save->failed)
		return;
	if (len > 0)
		memcpy(save->data + save->len, data, len);
	save->len += len;
}

static void
put_u64(struct sla_save *save, uint64_t value)
{
	const uint64_t big = htobe64(value);

	put(save, &big, sizeof(big));
}

static void
put_u32(struct sla_save *save, uint32_t value)
{
	const uint32_t big = htobe32(value);

	put(save, &big, sizeof(big));
}

static void
put_u8(struct sla_save *save, uint8_t value)
{
	put(save, &value, 1);
}

static void
put_text(struct sla_save *save, const char *text)
{
	put_u8(save, (uint8_t)strlen(text));
	put(save, text, strlen(text));
}

static void
put_past(struct sla_save *save, const struct sla_past *past, size_t count)
{
	uint8_t used = 0;

	for (size_t i = 0; i < count; i++)
		used += past[i].number != 0;
	put_u8(save, used);
	for (size_t i = 0; i < count; i++) {
		const struct sla_figures *f = &past[i].figures;
		const uint64_t figures[FIGURES] = { f->sent, f->lost, f->invalid,
			f->not_sent, f->available, f->unavailable, f->unknown };

		if (past[i].number == 0)
			continue;
		put_u64(save, (uint64_t)past[i].number);
		for (size_t k = 0; k < FIGURES; k++)
			put_u64(save, figures[k]);
		put_u32(save, (uint32_t)past[i].rtt_len);
		put(save, past[i].rtt, past[i].rtt_len);
	}
}

static void
put_scope(struct sla_save *save, const struct sla_scope *scope)
{
	put_u8(save, (uint8_t)scope->kind);
	put_u8(save, scope->dscp);
	put_text(save, scope->region);
	put_text(save, scope->service);
	put_u64(save, (uint64_t)scope->last);
	put_u32(save, (uint32_t)HASH_COUNT(scope->racks));
	for (const struct sla_rack *rack = scope->racks; rack != NULL;
	     rack = rack->hh.next) {
		put_text(save, rack->tor);
		put_u64(save, (uint64_t)rack->last);
	}
	put_past(save, scope->minutes, SLA_MINUTES);
	put_past(save, scope->hours, SLA_HOURS);
}

/* Begins a save, also instead of one that a newly closed minute has made old. */
static void
begin(struct sla *sla, struct sla_save *save)
{
	save->len = save->left_out = 0;
	save->closed = sla_closed(sla);
	sla->saves++;
	put(save, magic, sizeof(magic));
	put_u32(save, 0); /* for sla_kept_seal */
	put_u64(save, (uint64_t)save->closed);
	for (size_t i = 0; i < SLA_HOURS; i++) {
		put_u64(save, (uint64_t)sla->counted[i].hour);
		put_u64(save, sla->counted[i].minutes);
	}
}

/* Adds the next scopes, or services. Returns false if there are more. */
static bool
put_some(struct sla *sla, struct sla_save *save, bool services, size_t until)
{
	for (struct sla_scope *scope = sla->scopes; scope != NULL;
	     scope = scope->hh.next) {
		const size_t before = save->len;

		if (scope->saved == sla->saves ||
		    (scope->kind == SLA_SERVICE) != services)
			continue;
		if (save->left_out > 0) {
			save->left_out++;
			continue;
		}
		if (before >= until)
			return false;
		put_scope(save, scope);
		scope->saved = sla->saves;
		if (save->len > save->max_bytes) {
			save->len = before;
			save->left_out = 1;
		}
	}
	return true;
}

int
sla_kept_write(struct sla *sla, struct sla_save *save)
{
	bool complete;
	size_t until;

	if (save->len == 0 || save->closed != sla_closed(sla))
		begin(sla, save);
	until = save->len + save->turn_bytes;
	complete =
	    put_some(sla, save, false, until) && put_some(sla, save, true, until);
	return save->failed ? -ENOMEM : complete;
}

void
sla_kept_seal(struct sla_save *save)
{
	const uint32_t crc =
	    htobe32(rm_crc32c(0, save->data + HEAD_BYTES, save->len - HEAD_BYTES));

	memcpy(save->data + sizeof(magic), &crc, sizeof(crc));
}

void
sla_kept_drop(struct sla_save *save)
{
	free(save->data);
	*save = (struct sla_save){ .max_bytes = save->max_bytes,
		.turn_bytes = save->turn_bytes };
}

/* ---- reading ---- */

struct in {
	const uint8_t *at;
	size_t left;
	bool damaged;
	int64_t minute; /* the present one */
};

static const uint8_t *
get(struct in *in, size_t len)
{
	const uint8_t *at = in->at;

	if (in->damaged || len > in->left) {
		in->damaged = true;
		return NULL;
	}
	in->at += len;
	in->left -= len;
	return at;
}

static uint64_t
get_u64(struct in *in)
{
	const uint8_t *at = get(in, 8);
	uint64_t big = 0;

	if (at != NULL)
		memcpy(&big, at, sizeof(big));
	return be64toh(big);
}

static uint32_t
get_u32(struct in *in)
{
	const uint8_t *at = get(in, 4);
	uint32_t big = 0;

	if (at != NULL)
		memcpy(&big, at, sizeof(big));
	return be32toh(big);
}

static uint8_t
get_u8(struct in *in)
{
	const uint8_t *at = get(in, 1);

	return at == NULL ? 0 : *at;
}

/* A number of a minute or an hour. */
static int64_t
get_number(struct in *in)
{
	const uint64_t number = get_u64(in);

	in->damaged |= number > INT64_MAX / SLA_MINUTE_NS;
	return in->damaged ? 0 : (int64_t)number;
}

static void
get_text(struct in *in, char *text, size_t size)
{
	const size_t len = get_u8(in);
	const uint8_t *at = get(in, len);

	text[0] = '\0';
	in->damaged |= len >= size;
	if (in->damaged)
		return;
	for (size_t i = 0; i < len; i++)
		in->damaged |= at[i] < ' ' || at[i] > '~';
	memcpy(text, at, len);
	text[len] = '\0';
}

static void
get_figures(struct in *in, struct sla_figures *f)
{
	uint64_t *const figures[FIGURES] = { &f->sent, &f->lost, &f->invalid,
		&f->not_sent, &f->available, &f->unavailable, &f->unknown };

	for (size_t k = 0; k < FIGURES; k++) {
		const uint64_t value = get_u64(in);

		*figures[k] = value < MOST_FIGURE ? value : MOST_FIGURE;
	}
}

/* Reads minutes or hours into the array of `count`, which the number of each divides
 * into slots. past: NULL: none is kept. */
static int
get_past(struct sla *sla, struct in *in, struct sla_past *past, size_t count)
{
	const size_t used = get_u8(in);

	in->damaged |= used > count;
	for (size_t i = 0; i < used && !in->damaged; i++) {
		struct sla_past one = { .number = get_number(in) };
		struct sla_past *slot;
		const uint8_t *rtt;

		get_figures(in, &one.figures);
		one.rtt_len = get_u32(in);
		rtt = get(in, one.rtt_len);
		in->damaged |= one.number == 0 || (one.rtt_len > 0 && rtt != NULL &&
						      rm_sketch_decode(sla->scratch,
							  rtt, one.rtt_len) < 0);
		if (in->damaged || past == NULL)
			continue;
		slot = &past[(uint64_t)one.number % count];
		in->damaged |= slot->number != 0;
		if (in->damaged)
			continue;
		one.rtt = one.rtt_len == 0 ? NULL : malloc(one.rtt_len);
		if (one.rtt_len > 0 && one.rtt == NULL)
			return -ENOMEM;
		if (one.rtt_len > 0)
			memcpy(one.rtt, rtt, one.rtt_len);
		*slot = one;
	}
	return 0;
}

/* Reads the last minute with results; of one in the future, the present one, so that a
 * clock that was wrong keeps no rack for ever. */
static int64_t
get_last(struct in *in)
{
	const int64_t last = get_number(in);

	return last < in->minute ? last : in->minute;
}

static void
get_racks(struct sla *sla, struct in *in, struct sla_scope *scope)
{
	const uint32_t count = get_u32(in);
	char tor[RM_NAME_BYTES];

	for (uint32_t i = 0; i < count && !in->damaged; i++) {
		struct sla_rack *rack = NULL;
		int64_t last;

		get_text(in, tor, sizeof(tor));
		last = get_last(in);
		in->damaged |= !rm_name_valid(tor);
		if (!in->damaged && scope != NULL)
			rack = sla_rack_get(sla, scope, tor);
		if (rack != NULL)
			rack->last = last;
	}
}

static int
get_scope(struct sla *sla, struct in *in)
{
	const uint8_t kind = get_u8(in), dscp = get_u8(in);
	char region[RM_NAME_BYTES], service[SLA_SERVICE_BYTES];
	struct sla_scope *scope = NULL;
	int64_t last;
	int r;

	get_text(in, region, sizeof(region));
	get_text(in, service, sizeof(service));
	last = get_last(in);
	in->damaged |= kind > SLA_SERVICE || !rm_name_valid(region) ||
		       (kind == SLA_SERVICE) != (service[0] != '\0');
	if (!in->damaged && last + FORGET_MINUTES >= in->minute)
		scope = sla_scope_get(sla, region, dscp, (enum sla_kind)kind, service);
	in->damaged |= scope != NULL && scope->last != 0; /* the scope is there twice */
	if (scope != NULL)
		scope->last = last;
	get_racks(sla, in, scope);
	r = get_past(sla, in, scope == NULL ? NULL : scope->minutes, SLA_MINUTES);
	if (r == 0)
		r = get_past(sla, in, scope == NULL ? NULL : scope->hours, SLA_HOURS);
	return r;
}

static void
get_counted(struct sla *sla, struct in *in)
{
	for (size_t i = 0; i < SLA_HOURS; i++) {
		sla->counted[i].hour = get_number(in);
		sla->counted[i].minutes = get_u64(in);
	}
}

/* Reads the head and the last closed minute. */
static int
get_closed(struct in *in, int64_t *closed)
{
	const uint8_t *head = get(in, sizeof(magic));
	const uint32_t crc = get_u32(in);

	if (in->damaged || memcmp(head, magic, sizeof(magic)) != 0 ||
	    crc != rm_crc32c(0, in->at, in->left))
		return -EBADMSG;
	*closed = get_number(in);
	return in->damaged ? -EBADMSG : 0;
}

rm_wall_t
sla_kept_earliest(const uint8_t *data, size_t len)
{
	struct in in = { data, len, false, 0 };
	int64_t closed;

	if (get_closed(&in, &closed) < 0)
		return (rm_wall_t){ 0 };
	return (rm_wall_t){ (closed - AHEAD_MINUTES) * SLA_MINUTE_NS };
}

int
sla_kept_read(struct sla *sla, const uint8_t *data, size_t len, rm_wall_t now)
{
	struct in in = { data, len, false, now.ns / SLA_MINUTE_NS };
	int64_t closed;
	int r;

	sla_clear(sla); /* rows may have come before the clock was set */
	r = get_closed(&in, &closed);
	if (r < 0)
		return r;
	if (closed > in.minute + AHEAD_MINUTES || closed + FORGET_MINUTES < in.minute)
		return -ERANGE;
	get_counted(sla, &in);
	while (r == 0 && in.left > 0 && !in.damaged)
		r = get_scope(sla, &in);
	if (r == 0 && in.damaged)
		r = -EBADMSG;
	if (r == 0) {
		sla->closed = closed;
		return 0;
	}
	sla_clear(sla);
	memset(sla->counted, 0, sizeof(sla->counted));
	return r;
}
