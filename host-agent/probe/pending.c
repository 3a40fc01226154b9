#include "host-agent/probe/pending.h"

#include <errno.h>
#include <stdlib.h>

#include "host-agent/packet/stamp.h"

#define ABSURD_NS (10 * RM_NS_PER_S)
#define MIN_CAPACITY 64

struct pending {
	struct pending_probe *ring; /* the probe with number seq is at seq % capacity */
	size_t capacity;            /* a power of two */
	uint32_t oldest, next;      /* sequence numbers; equal: no probe is in flight */
	size_t count;
};

static size_t
power_of_two(size_t n)
{
	size_t p = MIN_CAPACITY;

	while (p < n)
		p *= 2;
	return p;
}

struct pending *
pending_new(size_t capacity, uint32_t first_seq)
{
	struct pending *pending = calloc(1, sizeof(*pending));

	if (pending == NULL)
		return NULL;
	pending->capacity = power_of_two(capacity);
	pending->oldest = pending->next = first_seq;
	pending->ring = calloc(pending->capacity, sizeof(*pending->ring));
	if (pending->ring == NULL) {
		free(pending);
		return NULL;
	}
	return pending;
}

void
pending_free(struct pending *pending)
{
	if (pending == NULL)
		return;
	free(pending->ring);
	free(pending);
}

static struct pending_probe *
pending_at(struct pending *pending, uint32_t seq)
{
	return &pending->ring[seq & (pending->capacity - 1)];
}

int
pending_reserve(struct pending *pending, size_t capacity)
{
	struct pending grown = *pending;

	grown.capacity = power_of_two(capacity);
	if (grown.capacity <= pending->capacity)
		return 0;
	grown.ring = calloc(grown.capacity, sizeof(*grown.ring));
	if (grown.ring == NULL)
		return -ENOMEM;
	for (uint32_t seq = pending->oldest; seq != pending->next; seq++)
		*pending_at(&grown, seq) = *pending_at(pending, seq);
	free(pending->ring);
	*pending = grown;
	return 0;
}

struct pending_probe *
pending_add(struct pending *pending)
{
	struct pending_probe *probe;

	if (pending->next - pending->oldest >= pending->capacity)
		return NULL;
	probe = pending_at(pending, pending->next);
	*probe =
	    (struct pending_probe){ .seq = pending->next++, .has = PENDING_IN_FLIGHT };
	pending->count++;
	return probe;
}

struct pending_probe *
pending_find(struct pending *pending, uint32_t seq)
{
	struct pending_probe *probe = pending_at(pending, seq);

	return probe->seq == seq && (probe->has & PENDING_IN_FLIGHT) ? probe : NULL;
}

struct pending_probe *
pending_oldest(struct pending *pending)
{
	return pending->count == 0 ? NULL : pending_at(pending, pending->oldest);
}

void
pending_remove(struct pending *pending, struct pending_probe *probe)
{
	probe->has = 0;
	pending->count--;
	while (pending->oldest != pending->next &&
	       pending_at(pending, pending->oldest)->has == 0)
		pending->oldest++;
}

size_t
pending_count(const struct pending *pending)
{
	return pending->count;
}

bool
pending_complete(const struct pending_probe *probe)
{
	const uint8_t all =
	    PENDING_SENT | PENDING_REPLIED | PENDING_ARRIVED | PENDING_ANSWERED;

	return (probe->has & all) == all && !probe->unstamped;
}

struct terms {
	int64_t round_trip, rtt, prober_delay, responder_delay;
	bool sent_is_stamped; /* false: the prober's own delay is not known */
	bool split;
};

static enum wire_invalid_reason
terms_check(const struct terms *terms)
{
	if (terms->round_trip < 0)
		return WIRE_T5_BEFORE_T2;
	if (terms->split && terms->responder_delay < 0)
		return WIRE_T4_BEFORE_T3;
	if (terms->split && terms->rtt < 0)
		return WIRE_RTT_NEGATIVE;
	if (terms->sent_is_stamped && terms->prober_delay < 0)
		return WIRE_DELAY_NEGATIVE;
	if (terms->round_trip > ABSURD_NS || terms->prober_delay > ABSURD_NS)
		return WIRE_ABSURD;
	if (terms->split && terms->responder_delay > ABSURD_NS)
		return WIRE_ABSURD;
	return WIRE_VALID;
}

static uint32_t
clamp32(int64_t ns)
{
	if (ns < 0)
		return 0;
	return ns > UINT32_MAX ? UINT32_MAX : (uint32_t)ns;
}

static void
conclude_lost(
    const struct pending_probe *probe, bool self_loss, struct wire_result *result)
{
	if (self_loss)
		result->outcome = WIRE_SELF_LOSS;
	else if (probe->result_flags & WIRE_LATE_SEND)
		result->outcome = WIRE_SENT_LATE;
	else
		result->outcome = WIRE_NO_REPLY;
}

/* True: the probe has T2 and T5. A NIC sometimes leaves out a stamp, and its clock may
 * be distrusted for a while. */
static bool
probe_is_stamped(const struct pending_probe *probe)
{
	return (probe->has & PENDING_SENT) && !probe->unstamped;
}

/* If one of the NIC's two stamps is missing, the host's times are used, and the
 * round trip is not split into its parts. */
static int64_t
probe_round_trip(const struct pending_probe *probe)
{
	int64_t ns = 0;

	if (probe_is_stamped(probe))
		return probe->back_ns - probe->sent_ns;
	if (probe->own_clock || probe->unstamped)
		return rm_mono_since(probe->seen, probe->posted);
	(void)stamp_time_read(probe->timestamp, true, &ns);
	return probe->back_ns - ns;
}

void
pending_conclude(const struct pending_probe *probe, int64_t timeout_ns, bool self_loss,
    struct wire_result *result)
{
	struct terms terms = { .sent_is_stamped = probe_is_stamped(probe),
		.split = pending_complete(probe) };

	result->flags = probe->result_flags;
	result->stamp_source =
	    probe_is_stamped(probe) ? probe->stamp_source : WIRE_STAMP_USER;
	result->invalid_reason = WIRE_VALID;
	result->rtt_ns = result->prober_delay_ns = result->responder_delay_ns = 0;
	result->round_trip_ns = 0;
	if (!(probe->has & PENDING_REPLIED)) {
		result->stamp_source = probe->own_clock ? 0 : WIRE_STAMP_KERNEL;
		conclude_lost(probe, self_loss, result);
		return;
	}
	terms.round_trip = probe_round_trip(probe);
	terms.prober_delay =
	    rm_mono_since(probe->seen, probe->posted) - terms.round_trip;
	if (terms.split) {
		terms.responder_delay =
		    stamp_time_between(probe->answered_ns, probe->arrived_ns);
		terms.rtt = terms.round_trip - terms.responder_delay;
	}
	result->invalid_reason = (uint8_t)terms_check(&terms);
	if (result->invalid_reason != WIRE_VALID) {
		result->outcome = WIRE_INVALID;
		return;
	}
	result->outcome = terms.round_trip > timeout_ns ? WIRE_LATE_REPLY : WIRE_OK;
	result->round_trip_ns = clamp32(terms.round_trip);
	if (!terms.split)
		return;
	result->flags |= WIRE_SPLIT;
	result->rtt_ns = clamp32(terms.rtt);
	result->prober_delay_ns = clamp32(terms.prober_delay);
	result->responder_delay_ns = clamp32(terms.responder_delay);
}
