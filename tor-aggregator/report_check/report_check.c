#include "tor-aggregator/report_check/report_check_state.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/judge/crossings.h"
#include "tor-aggregator/suspect/rack_pair.h"
#include "tor-aggregator/window/rack_view.h"
#include "tor-aggregator/window/window.h"

#define MAX_PAIRS 131072
/* The sums of a pair's reports lose a sixteenth per window. Windows overlap, so each
 * probe is in four of them. */
#define DECAY 16
#define PER_PROBE 4

/* A pair is removed after this many windows without a probe. */
#define STALE_WINDOWS 4
#define MIN_SENT 8
#define MIN_LOST 8
/* A good pair has lost at most this many probes, plus a fiftieth of all. */
#define GOOD_STRAY 1
#define GOOD_PART 50
/* A pair is lost if at least a fifth of its probes is lost. */
#define LOST_PART 5
/* A pair is dead if at most a fifth of its probes are answered. */
#define DEAD_KEPT_PART 5
#define MISCOUNTED_PART 2

#define MIN_PEERS 2

static unsigned reports(const struct report_check *check, size_t host, size_t member);
static void rack_contradictions_find(
    struct report_check *check, const struct rack *rack);

int
report_check_new(struct report_check **ret)
{
	struct report_check *check = calloc(1, sizeof(*check));

	if (check == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < 2; i++)
		pair_table_init(&check->reported[i], MAX_PAIRS);
	*ret = check;
	return 0;
}

static void
release_rack(struct report_check *check)
{
	free(check->reports);
	free(check->observers);
	free(check->hosts);
	free(check->against);
	free(check->quarrels);
	check->reports = check->against = NULL;
	check->quarrels = NULL;
	check->quarrel_count = 0;
	check->observers = NULL;
	check->hosts = NULL;
	check->member_count = check->host_count = 0;
	check->any_named = false;
}

void
report_check_free(struct report_check *check)
{
	if (check == NULL)
		return;
	release_rack(check);
	for (size_t i = 0; i < 2; i++)
		pair_table_release(&check->reported[i]);
	free(check->accepted);
	free(check);
}

int
report_check_forget(struct report_check *check, const struct rack *rack)
{
	const size_t members = rack->member_count + 1, hosts = rack->host_count + 1;

	release_rack(check);
	for (size_t i = 0; i < 2; i++)
		pair_table_clear(&check->reported[i]);
	check->reports = calloc(members * hosts, sizeof(*check->reports));
	check->observers = calloc(members, sizeof(*check->observers));
	check->hosts = calloc(hosts, sizeof(*check->hosts));
	check->against = calloc(hosts * hosts, sizeof(*check->against));
	check->quarrels = calloc(hosts, sizeof(*check->quarrels));
	if (check->reports == NULL || check->observers == NULL ||
	    check->hosts == NULL || check->against == NULL || check->quarrels == NULL) {
		release_rack(check);
		return -ENOMEM;
	}
	check->member_count = rack->member_count;
	check->host_count = rack->host_count;
	return 0;
}

/* Returns the report that the sums of a pair give, as bits of enum rack_report. 0:
 * none, because there are too few or no recent probes, the prober cannot send, or the
 * losses are too many for RACK_REPORT_GOOD and too few for RACK_REPORT_LOST. */
static unsigned
rack_report_of(const struct window_pair *pair)
{
	const uint64_t lost = pair->outcomes[WIRE_NO_REPLY];
	const uint64_t sent = lost + pair->outcomes[WIRE_OK];
	const uint64_t failed = pair->outcomes[WIRE_SEND_FAILED];

	if (sent < MIN_SENT * RACK_REPORT_UNIT || pair->newest_sent > STALE_WINDOWS ||
	    failed > sent / LOST_PART)
		return 0;
	/* A prober that could not send until now counts as healthy only when others
	 * have seen it, too. */
	if (lost + failed <= GOOD_STRAY * RACK_REPORT_UNIT + sent / GOOD_PART)
		return RACK_REPORT_GOOD;
	if (lost < MIN_LOST * RACK_REPORT_UNIT || lost < sent / LOST_PART)
		return 0;
	return RACK_REPORT_LOST |
	       (sent - lost <= sent / DEAD_KEPT_PART ? RACK_REPORT_DEAD : 0);
}

/* True: dst counted less than half of the probes that src reports as answered. */
static bool
rack_report_is_miscounted(const struct window_pair *pair)
{
	const uint64_t answered = pair->outcomes[WIRE_OK];

	return answered >= MIN_SENT * RACK_REPORT_UNIT &&
	       pair->newest_sent <= STALE_WINDOWS &&
	       -MISCOUNTED_PART * pair->arrived > (double)answered;
}

/* Stores which hosts are away, by this aggregator's own data. A host that stalls or is
 * paused is not a witness during that time, but its earlier reports stay valid. */
static void
note_away(struct report_check *check, const struct rack *rack)
{
	for (size_t i = 0; i < check->host_count; i++) {
		struct rack_host_check *host = &check->hosts[i];
		const enum host_state state = rack->hosts[i].state;

		if (state == HOST_STALLED || state == HOST_STUTTERED ||
		    state == HOST_PAUSED)
			continue;
		if (state != HOST_OK)
			host->away = RACK_BACK_WINDOWS;
		else if (host->away > 0)
			host->away--;
	}
}

/* True: one of the hosts was away. Reports on that time differ, but that is no
 * contradiction. */
static bool
was_away(const struct report_check *check, const struct rack *rack, uint32_t src,
    uint32_t dst)
{
	return check->hosts[rack->members[src].host_index].away > 0 ||
	       check->hosts[rack->members[dst].host_index].away > 0;
}

/* Lets earlier reports decay a little, and removes those that have decayed
 * completely. */
static int
fade(struct report_check *check, const struct rack *rack)
{
	const struct pair_table *from = &check->reported[check->current];
	struct pair_table *to = &check->reported[!check->current];

	pair_table_clear(to);
	for (size_t i = 0; i < from->count; i++) {
		const struct window_pair *old = &from->pairs[i];
		struct window_pair *pair;

		if (old->outcomes[WIRE_OK] + old->outcomes[WIRE_NO_REPLY] +
			    old->outcomes[WIRE_SEND_FAILED] <
			RACK_REPORT_UNIT ||
		    was_away(check, rack, old->src, old->dst))
			continue;
		pair = pair_table_get(to, old->src, old->dst);
		if (pair == NULL)
			return -ENOMEM;
		for (int k = 0; k < WIRE_OUTCOMES; k++)
			pair->outcomes[k] =
			    old->outcomes[k] - (old->outcomes[k] + DECAY - 1) / DECAY;
		pair->arrived = old->arrived - old->arrived / DECAY;
		pair->newest_sent = old->newest_sent + 1;
	}
	check->current = !check->current;
	return 0;
}

/* Over all sizes: how many more probes dst counted than src reports as answered. The
 * result is at most the number that src reports as lost, because dst also counts probes
 * that are not in this table. */
static double
surplus_of(const struct window_pair *pair)
{
	const double answered = (double)pair->outcomes[WIRE_OK] +
				pair->outcomes[WIRE_LATE_REPLY] +
				pair->outcomes[WIRE_INVALID];

	if (!pair->counted)
		return 0;
	return fmin(pair->arrived - answered, pair->outcomes[WIRE_NO_REPLY]);
}

/* Adds the reports of pairs of two hosts that are both witnesses. */
static int
add_window(struct report_check *check, const struct rack *rack,
    const struct window_closed *window)
{
	for (size_t i = 0; i < window->pair_count; i++) {
		const struct window_pair *from = &window->pairs[i];
		struct rack_pair pairs[RACK_PAIR_SIZES];
		const size_t sizes = rack_pair_read(rack, from, pairs);
		struct window_pair *to;

		/* Only the small probes, which all hosts send: large probes may be lost
		 * because of an MTU. */
		if (sizes == 0 || pairs[0].remote || pairs[0].large ||
		    was_away(check, rack, from->src, from->dst))
			continue;
		to = pair_table_get(
		    &check->reported[check->current], from->src, from->dst);
		if (to == NULL)
			return -ENOMEM;
		to->outcomes[WIRE_OK] += PER_PROBE * pairs[0].answered;
		to->outcomes[WIRE_NO_REPLY] +=
		    PER_PROBE * (pairs[0].sent - pairs[0].answered);
		to->outcomes[WIRE_SEND_FAILED] += PER_PROBE * pairs[0].send_failed;
		to->arrived += PER_PROBE * surplus_of(from);
		to->counted = from->counted;
		to->newest_sent = pairs[0].sent > 0 ? 0 : to->newest_sent;
	}
	return 0;
}

static void
receive_own(struct report_check *check, const struct rack *rack)
{
	const struct pair_table *reported = &check->reported[check->current];

	memset(check->observers, 0, check->member_count * sizeof(*check->observers));
	for (size_t i = 0; i < reported->count; i++) {
		const struct window_pair *pair = &reported->pairs[i];
		const unsigned report = rack_report_of(pair);
		struct rack_observers *own = &check->observers[pair->src];

		if (rack->members[pair->src].host_index ==
		    rack->members[pair->dst].host_index)
			continue;
		own->own += report != 0;
		own->own_good += (report & RACK_REPORT_GOOD) != 0;
		own->own_counted += (report & RACK_REPORT_GOOD) != 0 && pair->counted &&
				    !rack_report_is_miscounted(pair);
		own->own_lost += (report & RACK_REPORT_LOST) != 0;
		own->own_dead += (report & RACK_REPORT_DEAD) != 0;
	}
}

/* If an RNIC loses much of what it sends, its losses are not evidence about others. */
static void
receive_others(struct report_check *check, const struct rack *rack)
{
	const struct pair_table *reported = &check->reported[check->current];

	memset(check->reports, 0, check->member_count * check->host_count);
	for (size_t i = 0; i < reported->count; i++) {
		const struct window_pair *pair = &reported->pairs[i];
		const size_t host = rack->members[pair->src].host_index;
		const struct rack_observers *own = &check->observers[pair->src];

		if (host == rack->members[pair->dst].host_index ||
		    (own->own_lost > 1 && 2 * own->own_lost > own->own))
			continue;
		check->reports[host * check->member_count + pair->dst] |=
		    (uint8_t)rack_report_of(pair);
	}
	for (size_t host = 0; host < check->host_count; host++)
		for (size_t m = 0; m < check->member_count; m++) {
			const unsigned bits =
			    check->reports[host * check->member_count + m];
			struct rack_observers *observers = &check->observers[m];

			observers->good += bits == RACK_REPORT_GOOD;
			observers->lost += (bits & RACK_REPORT_LOST) != 0;
			observers->dead +=
			    bits == (RACK_REPORT_LOST | RACK_REPORT_DEAD);
		}
}

/* True: the host's reports are wrong. If others reach an RNIC that this host reports as
 * lost, that alone proves nothing: the RNIC's host may refuse the probes of this host,
 * as its receive counts then show. That explains the reports on at most
 * rack_max_faulty() peers. */
static bool
is_wrong(const struct rack *rack, const struct rack_contradiction *now)
{
	return now->counted >= MIN_PEERS || now->peers > rack_max_faulty(rack) ||
	       now->miscounts > rack_max_faulty(rack) || now->reaches_alone;
}

static void
note_host(const struct rack *rack, struct rack_host_check *host, rm_wall_t start)
{
	if (is_wrong(rack, &host->now)) {
		if (host->since.ns == 0)
			host->since = start;
		host->absent = 0;
		if (++host->windows >= RACK_NAMED_WINDOWS)
			host->named = true;
		host->reported = host->now;
		return;
	}
	host->windows = 0;
	if (host->named && (host->away > 0 || ++host->absent < RACK_ABSENT_WINDOWS))
		return;
	host->named = false;
	host->since.ns = 0;
}

int
report_check_receive(struct report_check *check, const struct rack *rack,
    const struct window_closed *window, rm_wall_t window_start)
{
	int r;

	if (rack->host_count < RACK_MIN_HOSTS || window->partial)
		return 0;
	note_away(check, rack);
	r = fade(check, rack);
	if (r == 0)
		r = add_window(check, rack, window);
	if (r < 0)
		return r;
	receive_own(check, rack);
	receive_others(check, rack);
	rack_contradictions_find(check, rack);
	check->any_named = false;
	for (size_t i = 0; i < check->host_count; i++) {
		note_host(rack, &check->hosts[i], window_start);
		check->any_named = check->any_named || check->hosts[i].named;
	}
	rack_quarrels_age(check, rack, window_start);
	return 0;
}

bool
report_check_is_contradicted(const struct report_check *check, size_t host)
{
	return check->hosts[host].named;
}

#define MIN_OBSERVERS 2 /* observers that report the opposite */
/* The observers must be at least this many times as many as the hosts that agree with
 * the report. */
#define OUTNUMBERED 2

static unsigned
reports(const struct report_check *check, size_t host, size_t member)
{
	return check->reports[host * check->member_count + member];
}

static bool
outnumbers(uint32_t observers, uint32_t others)
{
	return observers >= MIN_OBSERVERS && observers > OUTNUMBERED * others;
}

/* Returns the reports of all hosts but this one about a member; the member's own
 * reports are separate. */
static struct rack_observers
observers_without(const struct report_check *check, size_t member, size_t host)
{
	struct rack_observers observers = check->observers[member];
	const unsigned bits = reports(check, host, member);

	observers.good -= bits == RACK_REPORT_GOOD;
	observers.lost -= (bits & RACK_REPORT_LOST) != 0;
	observers.dead -= bits == (RACK_REPORT_LOST | RACK_REPORT_DEAD);
	return observers;
}

/* Checks whether a member is healthy by its own reports, and by those of other hosts
 * except `without`. Returns the number of observers; 0: it is not healthy. */
static uint32_t
is_well(const struct report_check *check, size_t member, size_t without)
{
	const struct rack_observers observers =
	    observers_without(check, member, without);
	const uint32_t good = observers.good + 1;

	if (2 * observers.own_good <= observers.own)
		return 0;
	return observers.good > 0 && outnumbers(good, observers.lost) ? good : 0;
}

/* Checks whether a member is dead by its own reports, if it can send, and by the
 * reports of more hosts than may be wrong at the same time. Returns the number of
 * observers; 0: it is not dead. */
static uint32_t
is_dead(const struct report_check *check, const struct rack *rack, size_t member,
    size_t without)
{
	const struct rack_observers observers =
	    observers_without(check, member, without);
	const uint32_t dead = observers.dead + (observers.own > 0);

	if (2 * observers.own_dead <= observers.own && observers.own > 0)
		return 0;
	return dead > rack_max_faulty(rack) && outnumbers(dead, observers.good) ? dead
										: 0;
}

/* True: others reach the member. Its own reports are not used, because they are what is
 * checked. */
static bool
is_reached(const struct report_check *check, size_t member, size_t without)
{
	const struct rack_observers observers =
	    observers_without(check, member, without);

	return observers.good > OUTNUMBERED * observers.lost;
}

/* True: dst counted at least half of the probes that src reports as lost. */
static bool
is_counted(const struct window_pair *pair)
{
	return 2 * pair->arrived >= pair->outcomes[WIRE_NO_REPLY];
}

/* Stores that a host reports losses to an RNIC that is healthy. */
static void
note_loss(struct report_check *check, const struct rack *rack,
    const struct window_pair *pair, unsigned reverse)
{
	const size_t host = rack->members[pair->src].host_index;
	const size_t peer = rack->members[pair->dst].host_index;
	struct rack_contradiction *now = &check->hosts[host].now;
	uint8_t *against = &check->against[host * check->host_count + peer];
	const uint32_t observers = is_well(check, pair->dst, host);
	const struct rack_quarrel seen = {
		.src = pair->src,
		.dst = pair->dst,
		.lost = pair->outcomes[WIRE_NO_REPLY],
		.sent = pair->outcomes[WIRE_NO_REPLY] + pair->outcomes[WIRE_OK],
		.both_directions = (reverse & RACK_REPORT_LOST) != 0,
	};

	if (observers == 0 || !is_reached(check, pair->src, peer))
		return;
	rack_quarrels_note(check, rack, &seen);
	if (seen.both_directions)
		return;
	if (now->sent == 0 || pair->src < now->src ||
	    (pair->src == now->src && pair->dst < now->dst)) {
		now->src = pair->src;
		now->dst = pair->dst;
		now->observers = observers;
	}
	now->lost += seen.lost;
	now->sent += seen.sent;
	now->peers += !(*against & RACK_REPORTS_LOSS);
	*against |= RACK_REPORTS_LOSS;
	if (is_counted(pair)) {
		now->counted += !(*against & RACK_COUNTED);
		*against |= RACK_COUNTED;
	}
}

/* One of the two reports is wrong: a probe that is answered has arrived. */
static void
note_miscount(
    struct report_check *check, const struct rack *rack, const struct window_pair *pair)
{
	const size_t ends[] = { rack->members[pair->src].host_index,
		rack->members[pair->dst].host_index };
	const double arrived = (double)pair->outcomes[WIRE_OK] + pair->arrived;
	const struct rack_miscount miscount = { pair->src, pair->dst,
		pair->outcomes[WIRE_OK], arrived > 0 ? (uint64_t)arrived : 0 };
	const struct rack_quarrel seen = { .src = pair->src,
		.dst = pair->dst,
		.sent = miscount.answered,
		.lost = miscount.answered - miscount.arrived,
		.counts = true };

	rack_quarrels_note(check, rack, &seen);
	for (size_t i = 0; i < 2; i++) {
		struct rack_host_check *host = &check->hosts[ends[i]];
		uint8_t *against =
		    &check->against[ends[i] * check->host_count + ends[1 - i]];

		if (*against & RACK_MISCOUNTS)
			continue;
		*against |= RACK_MISCOUNTS;
		if (host->now.miscounts++ == 0)
			host->miscount = miscount;
	}
}

static void
note_denial(struct report_check *check, const struct rack *rack,
    const struct window_pair *pair, uint32_t observers)
{
	struct rack_contradiction *now =
	    &check->hosts[rack->members[pair->src].host_index].now;

	if (observers == 0 || now->reaches_alone || now->sent > 0)
		return;
	*now = (struct rack_contradiction){
		.src = pair->src,
		.dst = pair->dst,
		.lost = pair->outcomes[WIRE_NO_REPLY],
		.sent = pair->outcomes[WIRE_NO_REPLY] + pair->outcomes[WIRE_OK],
		.observers = observers,
		.reaches_alone = true,
	};
}

/* Returns the number of hosts that do not reach the host's own RNIC, if they are more
 * than may be wrong at the same time. If they count its probes, the host only refuses
 * their probes, as a firewall does, and its report is right: then returns 0. */
static uint32_t
contradicts_itself(
    const struct report_check *check, const struct rack *rack, size_t member)
{
	const struct rack_observers *observers = &check->observers[member];

	return 2 * observers->own_good > observers->own &&
		       2 * observers->own_counted <= observers->own_good &&
		       observers->lost > rack_max_faulty(rack) &&
		       outnumbers(observers->lost, observers->good)
		   ? observers->lost
		   : 0;
}

static void
find_denial(struct report_check *check, const struct rack *rack,
    const struct window_pair *pair, unsigned reverse)
{
	const size_t host = rack->members[pair->src].host_index;
	const uint32_t itself = contradicts_itself(check, rack, pair->src);
	struct window_pair own = *pair;

	own.dst = own.src;
	if (itself > 0)
		note_denial(check, rack, &own, itself);
	else if (reverse != RACK_REPORT_GOOD)
		note_denial(check, rack, pair, is_dead(check, rack, pair->dst, host));
}

/* If more hosts count differently than may be wrong at the same time, none of them is
 * taken as wrong: they count in the same way, but differently from this aggregator. */
static void
forgive_miscounts(struct report_check *check, const struct rack *rack)
{
	size_t wrong = 0;

	for (size_t i = 0; i < check->host_count; i++)
		wrong += check->hosts[i].now.miscounts > rack_max_faulty(rack);
	check->counts_differ = wrong > rack_max_faulty(rack);
	for (size_t i = 0; i < check->host_count && check->counts_differ; i++)
		check->hosts[i].now.miscounts = 0;
}

static void
find_contradiction(
    struct report_check *check, const struct rack *rack, const struct window_pair *pair)
{
	const unsigned report = rack_report_of(pair);
	const struct window_pair *back;
	unsigned reverse;

	if (report == 0)
		return;
	back = pair_table_get(&check->reported[check->current], pair->dst, pair->src);
	reverse = back == NULL ? 0 : rack_report_of(back);
	if (report == RACK_REPORT_GOOD)
		find_denial(check, rack, pair, reverse);
	else
		note_loss(check, rack, pair, reverse);
}

/* Sets hosts[].now and hosts[].miscount, and notes quarrels, by reported, reports and
 * against. */
static void
rack_contradictions_find(struct report_check *check, const struct rack *rack)
{
	struct pair_table *reported = &check->reported[check->current];
	const size_t count = reported->count;

	memset(check->against, 0, check->host_count * check->host_count);
	for (size_t i = 0; i < check->host_count; i++)
		check->hosts[i].now = (struct rack_contradiction){ 0 };
	for (size_t i = 0; i < count; i++) {
		/* A copy: the search for the reverse pair may move the table. */
		const struct window_pair pair = reported->pairs[i];

		if (rack->members[pair.src].host_index ==
		    rack->members[pair.dst].host_index)
			continue;
		if (rack_report_is_miscounted(&pair))
			note_miscount(check, rack, &pair);
		find_contradiction(check, rack, &pair);
	}
	forgive_miscounts(check, rack);
}

/* A pair with a loss is probed five times as fast. More than this factor times the
 * usual number of results of a pair is not plausible. */
#define MOST_TIMES 6
#define COMMON_LEAST 4
#define BUCKETS 1024

static uint32_t
results_of(const struct window_pair *pair)
{
	return pair->outcomes[WIRE_OK] + pair->outcomes[WIRE_LATE_REPLY] +
	       pair->outcomes[WIRE_INVALID] + pair->outcomes[WIRE_NO_REPLY] +
	       pair->outcomes[WIRE_SEND_FAILED];
}

/* The largest plausible number of results of a pair, by the median of all pairs in the
 * rack. */
static uint32_t
most_of(const struct rack *rack, const struct window_closed *window)
{
	uint32_t buckets[BUCKETS] = { 0 }, common = 0;
	size_t pairs = 0, below = 0;

	for (size_t i = 0; i < window->pair_count; i++) {
		const struct window_pair *pair = &window->pairs[i];
		const uint32_t results = results_of(pair);

		if (pair->dst >= rack->member_count || results == 0)
			continue;
		buckets[results < BUCKETS ? results : BUCKETS - 1]++;
		pairs++;
	}
	while (common < BUCKETS - 1 && 2 * (below += buckets[common]) < pairs)
		common++;
	return MOST_TIMES * (common > COMMON_LEAST ? common : COMMON_LEAST);
}

static uint32_t
scale(uint32_t count, double by)
{
	return (uint32_t)((double)count * by);
}

/* Multiplies the counts of a pair by `by`. All counts are rounded down, so a part is
 * never larger than its whole. */
static void
shrink(struct window_pair *pair, double by)
{
	struct window_large *large = &pair->large;

	for (int k = 0; k < WIRE_OUTCOMES; k++)
		pair->outcomes[k] = scale(pair->outcomes[k], by);
	pair->newest_lost = scale(pair->newest_lost, by);
	pair->newest_sent = scale(pair->newest_sent, by);
	pair->arrived *= by;
	large->answered = scale(large->answered, by);
	large->lost = scale(large->lost, by);
	large->failed = scale(large->failed, by);
	large->newest_sent = scale(large->newest_sent, by);
	large->newest_lost = scale(large->newest_lost, by);
}

static bool
is_disbelieved(const struct report_check *check, const struct rack *rack, size_t member)
{
	return member < rack->member_count &&
	       check->hosts[rack->members[member].host_index].named;
}

static bool
accepts_all(const struct report_check *check, const struct rack *rack,
    const struct window_closed *window, uint32_t most)
{
	if (check->any_named)
		return false;
	for (size_t i = 0; i < window->pair_count; i++)
		if (window->pairs[i].dst < rack->member_count &&
		    results_of(&window->pairs[i]) > most)
			return false;
	return true;
}

struct window_closed
report_check_accepted(struct report_check *check, const struct rack *rack,
    const struct window_closed *window)
{
	struct window_closed accepted = *window;
	uint32_t most;
	size_t count = 0;

	if (rack->host_count < RACK_MIN_HOSTS)
		return accepted;
	most = most_of(rack, window);
	/* Without memory for a copy all reports are accepted. */
	if (accepts_all(check, rack, window, most) ||
	    rm_scratch(&check->accepted, &check->accepted_size, window->pair_count + 1,
		sizeof(*check->accepted)) < 0)
		return accepted;
	for (size_t i = 0; i < window->pair_count; i++) {
		struct window_pair *pair = &check->accepted[count];

		if (is_disbelieved(check, rack, window->pairs[i].src))
			continue;
		*pair = window->pairs[i];
		if (is_disbelieved(check, rack, pair->dst))
			pair->counted = false;
		if (pair->dst < rack->member_count && results_of(pair) > most)
			shrink(pair, (double)most / results_of(pair));
		count++;
	}
	accepted.pairs = check->accepted;
	accepted.pair_count = count;
	return accepted;
}
