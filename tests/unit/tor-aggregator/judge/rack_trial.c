#include "rack_trial.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define BACKGROUND_LOSS 1e-4
#define FAULT_NS (2 * RM_NS_PER_S)
#define END_NS (9 * RM_NS_PER_S)
#define MANY 20 /* how often one result is reported */

const char *const lie_names[LIES] = { "accuse one", "accuse one, with false counts",
	"accuse one many times", "accuse two", "accuse all of a third", "accuse all",
	"hide a fault", "hide it many times", "hide its own", "false counts",
	"false delays", "nothing outside", "cannot send", "port down", "port flaps",
	"random" };

static uint64_t
next(struct trial *trial)
{
	uint64_t x = trial->random += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static size_t
below(struct trial *trial, size_t limit)
{
	return (size_t)(next(trial) % limit);
}

static size_t
host_of(const struct trial *trial, size_t member)
{
	return member / trial->options.rnics_per_host;
}

static bool
is_faulty_host(const struct trial *trial, size_t host)
{
	return trial->faulty < trial->options.members &&
	       host == host_of(trial, trial->faulty);
}

static void
set_delays(struct trial *trial, struct wire_result *result)
{
	const uint32_t delay = below(trial, 2) == 0 ? 0 : UINT32_MAX;

	result->rtt_ns = result->round_trip_ns = delay;
	result->prober_delay_ns = result->responder_delay_ns = UINT32_MAX - delay;
}

static unsigned
on_result(void *arg, size_t src, size_t dst, bool remote, struct wire_result *result)
{
	struct trial *trial = arg;
	const size_t host = host_of(trial, src);
	const bool victim = !remote && dst == trial->victims[host];
	const bool hidden = !remote && dst == trial->faulty;

	if (!trial->liars[host])
		return 1;
	switch (trial->lie[host]) {
	case LIE_ACCUSE_ONE:
	case LIE_ACCUSE_ONE_FALSE_COUNTS:
	case LIE_ACCUSE_ONE_MANY_TIMES:
		if (!victim)
			return 1;
		result->outcome = WIRE_NO_REPLY;
		return trial->lie[host] == LIE_ACCUSE_ONE_MANY_TIMES ? MANY : 1;
	case LIE_ACCUSE_TWO:
		if (victim || (!remote && dst == trial->seconds[host]))
			result->outcome = WIRE_NO_REPLY;
		return 1;
	case LIE_DELAYS:
		set_delays(trial, result);
		return 1;
	case LIE_ACCUSE_SOME_OF_ALL:
		if (!remote && below(trial, 3) == 0)
			result->outcome = WIRE_NO_REPLY;
		return 1;
	case LIE_ACCUSE_ALL:
		if (!remote)
			result->outcome = WIRE_NO_REPLY;
		return 1;
	case LIE_HIDE:
	case LIE_HIDE_MANY_TIMES:
		if (!hidden)
			return 1;
		result->outcome = WIRE_OK;
		return trial->lie[host] == LIE_HIDE_MANY_TIMES ? MANY : 1;
	case LIE_HIDE_OWN:
		result->outcome = WIRE_OK;
		return 1;
	case LIE_OUTSIDE:
		if (remote)
			result->outcome = WIRE_NO_REPLY;
		return 1;
	case LIE_SEND_FAILED:
		result->outcome = WIRE_SEND_FAILED;
		return 1;
	case LIE_RANDOM:
		result->outcome = below(trial, 2) == 0 ? WIRE_OK : WIRE_NO_REPLY;
		return (unsigned)below(trial, 3);
	default:
		return 1;
	}
}

static uint64_t
on_count(void *arg, size_t src, size_t dst, uint64_t received)
{
	struct trial *trial = arg;
	const size_t host = host_of(trial, dst);

	if (!trial->liars[host])
		return received;
	switch (trial->lie[host]) {
	case LIE_ACCUSE_ONE_FALSE_COUNTS:
		return src == trial->victims[host] ? 0 : received;
	case LIE_HIDE:
	case LIE_HIDE_MANY_TIMES:
		return src == trial->faulty ? 1000 : received;
	case LIE_COUNTS:
		return trial->coordinated ? 0 : (uint64_t)below(trial, 1000);
	case LIE_RANDOM:
		return (uint64_t)below(trial, 10);
	default:
		return received;
	}
}

static bool
on_port(void *arg, size_t member, bool down)
{
	struct trial *trial = arg;
	const size_t host = host_of(trial, member);

	if (!trial->liars[host])
		return down;
	switch (trial->lie[host]) {
	case LIE_PORT_DOWN:
		return true;
	case LIE_PORT_FLAPS:
		return below(trial, 2) == 0;
	default:
		return down;
	}
}

static bool
refuses(void *arg, size_t member, size_t prober)
{
	const struct trial *trial = arg;
	const size_t host = host_of(trial, member);

	return trial->refuses && trial->liars[host] &&
	       (prober == trial->victims[host] ||
		   (trial->refuses_second && prober == trial->seconds[host]));
}

static bool
shuns(void *arg, size_t member, size_t target)
{
	const struct trial *trial = arg;

	return trial->shuns && refuses(arg, member, target);
}

/* A member whose agent reports correctly and that is not faulty. */
static size_t
pick_innocent(struct trial *trial)
{
	for (;;) {
		const size_t member = below(trial, trial->options.members);
		const size_t host = host_of(trial, member);

		if (!trial->liars[host] && !is_faulty_host(trial, host))
			return member;
	}
}

/* A second victim, if possible on another host. */
static size_t
pick_second(struct trial *trial, size_t victim)
{
	for (unsigned i = 0; i < 64; i++) {
		const size_t member = pick_innocent(trial);

		if (host_of(trial, member) != host_of(trial, victim))
			return member;
	}
	return victim;
}

static void
pick_rack(struct trial *trial)
{
	static const size_t per_host[] = { 1, 1, 1, 2, 8 };
	static const size_t members[] = { 4, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 10, 10, 12,
		16, 24, 32, 64 };
	struct sim_options *options = &trial->options;

	*options = (struct sim_options){ .loss = BACKGROUND_LOSS,
		.count_noise = 1,
		.seed = trial->random,
		.lies = &trial->lies };
	do {
		options->rnics_per_host = per_host[below(trial, 5)];
		options->members = members[below(trial, 18)];
		trial->hosts = (options->members + options->rnics_per_host - 1) /
			       options->rnics_per_host;
	} while (trial->hosts < 4);
	options->witnesses = options->members < 8 && below(trial, 2) == 0 ? 3 : 0;
}

static void
pick_fault(struct trial *trial)
{
	static const enum sim_fault_kind kinds[] = { SIM_RNIC_BOTH, SIM_RNIC_SEND,
		SIM_RNIC_RECEIVE, SIM_RNIC_LINK_DOWN, SIM_RNIC_LOSSY,
		SIM_RNIC_LOSES_BOTH, SIM_RNIC_PORT_DOWN, SIM_RNIC_UNABLE,
		SIM_AGENT_KILLED, SIM_HOST_GONE };

	trial->faulty = trial->options.members;
	if (below(trial, 3) == 0)
		return;
	trial->fault = (struct sim_fault){ .kind = kinds[below(trial, 10)],
		.from_ns = FAULT_NS,
		.to_ns = 2 * END_NS,
		.share = 0.1 };
	do
		trial->faulty = below(trial, trial->options.members);
	while (trial->liars[host_of(trial, trial->faulty)]);
	trial->fault.index = trial->fault.kind >= SIM_AGENT_KILLED
				 ? host_of(trial, trial->faulty)
				 : trial->faulty;
}

static void
pick_lies(struct trial *trial)
{
	const size_t victim = pick_innocent(trial);
	const size_t second = pick_second(trial, victim);
	const enum lie lie = (enum lie)below(trial, LIES);

	trial->coordinated = below(trial, 2) == 0;
	for (size_t i = 0; i < trial->hosts; i++) {
		trial->lie[i] = trial->coordinated ? lie : (enum lie)below(trial, LIES);
		trial->victims[i] = trial->coordinated ? victim : pick_innocent(trial);
		trial->seconds[i] =
		    trial->coordinated ? second : pick_second(trial, trial->victims[i]);
	}
}

static void
pick_liars(struct trial *trial, size_t count)
{
	while (trial->liar_count < count) {
		const size_t host = below(trial, trial->hosts);

		trial->liar_count += !trial->liars[host];
		trial->liars[host] = true;
	}
}

static void
prepare(struct trial *trial, uint64_t seed)
{
	*trial = (struct trial){ .random = seed * UINT64_C(1000003) };
	trial->lies =
	    (struct sim_lies){ on_result, on_count, on_port, refuses, shuns, trial };
}

static void
start(struct trial *trial)
{
	assert_int_equal(sim_new(&trial->options, &trial->sim), 0);
	if (trial->faulty < trial->options.members)
		sim_add_fault(trial->sim, trial->fault);
}

void
trial_begin(struct trial *trial, uint64_t seed)
{
	prepare(trial, seed);
	pick_rack(trial);
	pick_liars(trial, (trial->hosts - 1) / 3);
	pick_fault(trial);
	pick_lies(trial);
	start(trial);
}

static void
set_rack(struct trial *trial, size_t hosts)
{
	trial->hosts = trial->faulty = hosts;
	trial->options = (struct sim_options){ .members = hosts,
		.rnics_per_host = 1,
		.loss = BACKGROUND_LOSS,
		.count_noise = 1,
		.seed = trial->random,
		.lies = &trial->lies };
}

void
trial_begin_one(struct trial *trial, uint64_t seed, size_t hosts, enum lie lie,
    size_t victim, size_t dead)
{
	prepare(trial, seed);
	set_rack(trial, hosts);
	trial->liars[0] = true;
	trial->lie[0] = lie;
	trial->victims[0] = victim;
	trial->seconds[0] = victim + 1;
	trial->coordinated = true;
	if (dead < hosts) {
		trial->faulty = dead;
		trial->fault = (struct sim_fault){ .kind = SIM_RNIC_BOTH,
			.index = dead,
			.from_ns = FAULT_NS,
			.to_ns = 2 * END_NS };
	}
	start(trial);
}

void
trial_begin_refusal(struct trial *trial, uint64_t seed, size_t hosts, size_t refusers,
    bool of_two, bool lying)
{
	static const enum lie lies[] = { LIE_ACCUSE_ONE, LIE_ACCUSE_TWO, LIE_OUTSIDE };
	size_t victim, second;

	prepare(trial, seed);
	set_rack(trial, hosts);
	pick_liars(trial, refusers);
	trial->refuses = true;
	trial->refuses_second = of_two;
	trial->shuns = below(trial, 2) == 0;
	victim = pick_innocent(trial);
	second = pick_second(trial, victim);
	for (size_t i = 0; i < hosts; i++) {
		trial->lie[i] = lying ? lies[below(trial, 3)] : LIES;
		trial->victims[i] = victim;
		trial->seconds[i] = second;
	}
	start(trial);
}

/* True if the verdict has the kind that the fault must cause, or a similar one. */
static bool
is_of_fault(const struct trial *trial, const struct rm_verdict *verdict)
{
	switch (trial->fault.kind) {
	case SIM_AGENT_KILLED:
		return verdict->kind == RM_KIND_AGENT_DOWN;
	case SIM_HOST_GONE:
		return verdict->kind == RM_KIND_HOST_DOWN;
	case SIM_RNIC_LOSSY:
	case SIM_RNIC_LOSES_BOTH:
		return verdict->kind == RM_KIND_RNIC_LOSSY;
	case SIM_RNIC_UNABLE:
		return verdict->kind == RM_KIND_RNIC_SEND_FAILED;
	default:
		return verdict->kind == RM_KIND_RNIC_DOWN ||
		       verdict->kind == RM_KIND_RNIC_SEND_DEAD ||
		       verdict->kind == RM_KIND_RNIC_RECEIVE_DEAD;
	}
}

static void
check_verdict(struct trial *trial, const struct rm_verdict *verdict)
{
	const struct rack *rack = sim_rack(trial->sim);
	bool justified = false;

	if (verdict->kind == RM_KIND_PAIR_CONTRADICTED)
		memcpy(trial->pair, verdict->part.name, sizeof(trial->pair));
	for (size_t i = 0; i < rack->member_count; i++) {
		const size_t host = host_of(trial, i);
		char name[2 * RM_NAME_BYTES];

		if (verdict->part.type == RM_PART_RNIC)
			snprintf(name, sizeof(name), "%.30s/%.30s",
			    rack->members[i].host, rack->members[i].device);
		else
			snprintf(name, sizeof(name), "%.60s", rack->members[i].host);
		if (verdict->part.type == RM_PART_TOR ||
		    !rm_part_names(&verdict->part, name))
			continue;
		if (trial->liars[host]) {
			justified = true;
			trial->named[host] |=
			    verdict->kind == RM_KIND_AGENT_CONTRADICTED;
			trial->hinted[host] = true;
		}
		if (i == trial->faulty || (verdict->part.type != RM_PART_RNIC &&
					      is_faulty_host(trial, host) &&
					      trial->fault.kind >= SIM_AGENT_KILLED)) {
			justified = true;
			if (is_of_fault(trial, verdict))
				trial->found = true;
			else
				trial->found_otherwise = true;
		}
	}
	if (justified)
		return;
	if (verdict->kind == RM_KIND_AGENT_CONTRADICTED)
		trial->framed++;
	else
		trial->innocents++;
	if (trial->innocents + trial->framed == 1) {
		char sentence[RM_SENTENCE_BYTES];

		rm_verdict_sentence(verdict, sentence, sizeof(sentence));
		print_error("seed %llu, fault %d of %zu, %s: %s\n",
		    (unsigned long long)trial->options.seed, (int)trial->fault.kind,
		    trial->faulty,
		    trial->coordinated ? lie_names[trial->lie[0]] : "mixed", sentence);
	}
}

void
trial_run(struct trial *trial)
{
	for (int64_t now = 0; now < END_NS;) {
		struct rack_judgement judgement;
		const int r = sim_step(trial->sim, &now, &judgement);

		if (r == -EAGAIN)
			continue;
		assert_int_equal(r, 0);
		for (size_t i = 0; i < judgement.verdict_count; i++)
			check_verdict(trial, &judgement.verdicts[i]);
	}
	sim_free(trial->sim);
	trial->sim = NULL;
}
