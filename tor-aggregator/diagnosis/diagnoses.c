#include "tor-aggregator/diagnosis/diagnoses.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct diagnoses {
	struct diagnosed *rnics[DIAGNOSES_MAX_RNICS];
	size_t count;
	/* The evidence of all RNICs that are being judged. */
	struct evidence *joined[DIAGNOSES_MAX_RNICS];
	struct diagnoses_counts counts;
	rm_mono_t started;
	rm_mono_t judged; /* time of the last judgement */
};

struct diagnoses *
diagnoses_new(rm_mono_t now)
{
	struct diagnoses *diagnoses = calloc(1, sizeof(*diagnoses));

	if (diagnoses != NULL)
		diagnoses->started = now;
	return diagnoses;
}

void
diagnoses_free(struct diagnoses *diagnoses)
{
	if (diagnoses == NULL)
		return;
	for (size_t i = 0; i < diagnoses->count; i++)
		free(diagnoses->rnics[i]);
	free(diagnoses);
}

static struct diagnosed *
find(const struct diagnoses *diagnoses, struct wire_rnic_id id)
{
	for (size_t i = 0; i < diagnoses->count; i++)
		if (diagnoses->rnics[i]->kind == DIAGNOSED_RNIC &&
		    diagnoses->rnics[i]->id.guid == id.guid &&
		    diagnoses->rnics[i]->id.port == id.port)
			return diagnoses->rnics[i];
	return NULL;
}

static struct diagnosed *
find_named(const struct diagnoses *diagnoses, enum diagnosed_kind kind,
    const char *host, const char *device)
{
	for (size_t i = 0; i < diagnoses->count; i++) {
		struct diagnosed *rnic = diagnoses->rnics[i];

		if (rnic->kind == kind && strcmp(rnic->host, host) == 0 &&
		    strcmp(rnic->device, device) == 0)
			return rnic;
	}
	return NULL;
}

static struct diagnosed *
add(struct diagnoses *diagnoses)
{
	struct diagnosed *rnic;

	if (diagnoses->count == DIAGNOSES_MAX_RNICS)
		return NULL;
	rnic = calloc(1, sizeof(*rnic));
	if (rnic != NULL)
		diagnoses->rnics[diagnoses->count++] = rnic;
	return rnic;
}

static struct diagnosed *
find_or_add(struct diagnoses *diagnoses, struct wire_rnic_id id)
{
	struct diagnosed *rnic = find(diagnoses, id);

	if (rnic != NULL)
		return rnic;
	rnic = add(diagnoses);
	if (rnic != NULL)
		rnic->id = id;
	return rnic;
}

void
diagnoses_report(struct diagnoses *diagnoses, const char *host, const char *device,
    const struct wire_rnic_counters *counters, rm_mono_t now)
{
	struct diagnosed *rnic = find_or_add(diagnoses, counters->id);

	diagnoses->counts.reports++;
	if (rnic == NULL || counters->interval_ns > INT64_MAX) {
		diagnoses->counts.refused++;
		return;
	}
	snprintf(rnic->host, sizeof(rnic->host), "%s", host);
	snprintf(rnic->device, sizeof(rnic->device), "%s", device);
	rnic->reported = now;
	if (rnic->judged)
		rnic->evidence = (struct evidence){ 0 };
	rnic->judged = false;
	if (__builtin_add_overflow(rnic->evidence.host_ns,
		(int64_t)counters->interval_ns, &rnic->evidence.host_ns))
		rnic->evidence.host_ns = INT64_MAX;
	snprintf(
	    rnic->evidence.name, sizeof(rnic->evidence.name), "%s/%s", host, device);
	for (size_t i = 0; i < counters->value_count; i++) {
		const struct wire_counter_value *value = &counters->values[i];

		if (value->counter == 0 || value->counter >= WIRE_COUNTERS)
			diagnoses->counts.unknown_values++;
		else
			evidence_add(&rnic->evidence, value->counter, value->index,
			    value->value);
	}
}

static void
take_named(struct diagnoses *diagnoses, enum diagnosed_kind kind, const char *host,
    const char *device, const struct evidence *evidence, rm_mono_t now)
{
	struct diagnosed *rnic = find_named(diagnoses, kind, host, device);
	const bool had = rnic != NULL;

	diagnoses->counts.reports++;
	if (!had)
		rnic = add(diagnoses);
	if (rnic == NULL) {
		diagnoses->counts.refused++;
		return;
	}
	rnic->kind = kind;
	snprintf(rnic->host, sizeof(rnic->host), "%s", host);
	snprintf(rnic->device, sizeof(rnic->device), "%s", device);
	rnic->reported = now;
	if (rnic->judged || !had)
		rnic->evidence = *evidence;
	else
		evidence_extend(&rnic->evidence, evidence);
	rnic->judged = false;
}

void
diagnoses_hypervisor(struct diagnoses *diagnoses, const char *host, const char *nic,
    const struct evidence *evidence, rm_mono_t now)
{
	take_named(diagnoses, DIAGNOSED_VMNIC, host, nic, evidence, now);
}

static void
judge_link(const struct evidence *evidence, struct rule_result ret[DIAGNOSES])
{
	rules_judge(evidence, ret);
	for (size_t d = 0; d < DIAGNOSES; d++)
		if (!rules[d].of_links)
			ret[d].status = RULE_NOT_SO;
}

static bool
any_holds(const struct evidence *evidence)
{
	struct rule_result found[DIAGNOSES];

	judge_link(evidence, found);
	for (size_t d = 0; d < DIAGNOSES; d++)
		if (found[d].status == RULE_HOLDS)
			return true;
	return false;
}

void
diagnoses_link(struct diagnoses *diagnoses, const char *name, const char *neighbor,
    const struct evidence *evidence, rm_mono_t at)
{
	struct diagnosed *port;
	struct evidence own;

	if (!any_holds(evidence) &&
	    find_named(diagnoses, DIAGNOSED_PORT, name, evidence->port) == NULL)
		return;
	own = *evidence;
	/* host_ns decides for how long the evidence is used */
	own.host_ns = own.switch_ns;
	snprintf(own.name, sizeof(own.name), "%s/%s", name, own.port);
	take_named(diagnoses, DIAGNOSED_PORT, name, own.port, &own, at);
	port = find_named(diagnoses, DIAGNOSED_PORT, name, own.port);
	if (port != NULL)
		snprintf(port->neighbor, sizeof(port->neighbor), "%s", neighbor);
}

static bool
is_silent(const struct diagnosed *rnic, rm_mono_t now)
{
	const int64_t age_ns = rm_mono_since(now, rnic->reported);

	return age_ns > DIAGNOSES_SILENT_NS && age_ns / 3 > rnic->evidence.host_ns;
}

bool
diagnoses_port(struct diagnoses *diagnoses, struct wire_rnic_id id,
    const struct evidence *evidence, rm_mono_t at)
{
	struct diagnosed *rnic = find(diagnoses, id);
	bool same;

	if (rnic == NULL)
		return rm_mono_since(at, diagnoses->started) <= DIAGNOSES_SILENT_NS;
	if (is_silent(rnic, at))
		return false;
	same = strcmp(rnic->port.counted.port, evidence->port) == 0;
	if (!same && rnic->port.at.ns == at.ns) {
		evidence_add_cable(&rnic->port.counted, evidence);
		rnic->port.cables++;
		return false;
	}
	rnic->port.at = at;
	rnic->port.ns = evidence->switch_ns;
	if (rnic->port.judged || !same)
		rnic->port.counted = *evidence;
	else
		evidence_extend(&rnic->port.counted, evidence);
	rnic->port.counted.cables = evidence->cables;
	rnic->port.cables = 1;
	rnic->port.judged = false;
	return true;
}

static void
take_share(struct probe_share *share, uint64_t sent, uint64_t lost, uint64_t least,
    rm_mono_t now)
{
	const uint64_t more = sent - share->sent, more_lost = lost - share->lost;

	if (more < least)
		return;
	*share = (struct probe_share){ .at = now,
		.pct = 100 * (double)more_lost / (double)more,
		.sent = sent,
		.lost = lost };
}

/* The first counts are only a base, because the time that they cover is not known. */
static void
begin_shares(struct diagnosed *rnic, const struct probe_counts *probes)
{
	rnic->all = (struct probe_share){ .sent = probes->sent, .lost = probes->lost };
	rnic->large_size = (struct probe_share){ .sent = probes->large_sent,
		.lost = probes->large_lost };
	rnic->small_size =
	    (struct probe_share){ .sent = probes->sent - probes->large_sent,
		    .lost = probes->lost - probes->large_lost };
}

static bool
began_again(const struct probe_counts *before, const struct probe_counts *now)
{
	return now->sent < before->sent || now->lost < before->lost ||
	       now->large_sent < before->large_sent ||
	       now->large_lost < before->large_lost;
}

void
diagnoses_probes(struct diagnoses *diagnoses, struct wire_rnic_id id,
    const struct probe_counts *probes, rm_mono_t now)
{
	struct diagnosed *rnic = find(diagnoses, id);

	if (rnic == NULL)
		return;
	if (!rnic->probes_reported || began_again(&rnic->probes, probes))
		begin_shares(rnic, probes);
	rnic->probes_reported = true;
	rnic->probes = *probes;
	take_share(&rnic->all, probes->sent, probes->lost, DIAGNOSES_MIN_PROBES, now);
	take_share(&rnic->small_size, probes->sent - probes->large_sent,
	    probes->lost - probes->large_lost, DIAGNOSES_MIN_SIZED_PROBES, now);
	take_share(&rnic->large_size, probes->large_sent, probes->large_lost,
	    DIAGNOSES_MIN_SIZED_PROBES, now);
}

/* ---- judging ---- */

static void
forget_old(struct diagnoses *diagnoses, rm_mono_t now)
{
	size_t kept = 0;

	for (size_t i = 0; i < diagnoses->count; i++) {
		struct diagnosed *rnic = diagnoses->rnics[i];

		if (rm_mono_since(now, rnic->reported) > DIAGNOSES_FORGET_NS)
			free(rnic);
		else
			diagnoses->rnics[kept++] = rnic;
	}
	diagnoses->count = kept;
}

static bool
is_fresh(const struct diagnosed *rnic, rm_mono_t now)
{
	const int64_t age_ns = rm_mono_since(now, rnic->reported);

	return age_ns <= DIAGNOSES_FRESH_NS || age_ns / 3 <= rnic->evidence.host_ns;
}

static bool
is_port_fresh(const struct diagnosed_port *port, rm_mono_t now)
{
	const int64_t age_ns = rm_mono_since(now, port->at);

	if (port->at.ns == 0 || port->ns <= 0 || port->ns > DIAGNOSES_PORT_LONGEST_NS)
		return false;
	return age_ns <= port->ns + port->ns / 2 ||
	       age_ns <= DIAGNOSES_PORT_NS - port->ns;
}

/* Adds the evidence of the RNIC's port: the readings since the last judgement; without
 * any, the last reading until it is outdated. */
static void
join_port(struct diagnosed *rnic, rm_mono_t now)
{
	const struct evidence *port = &rnic->port.counted;
	struct evidence *evidence = &rnic->evidence;

	rnic->port.judged = true;
	evidence->switch_ns = 0;
	evidence->port[0] = '\0';
	evidence->of_cable_count = 0;
	for (unsigned n = EVIDENCE_SWITCH_FIRST; n < EVIDENCE_NUMBERS; n++)
		evidence->there[n] = 0;
	if (!is_port_fresh(&rnic->port, now))
		return;
	memcpy(evidence->port, port->port, sizeof(evidence->port));
	evidence_extend(evidence, port);
	memcpy(evidence->of_cables, port->of_cables, sizeof(evidence->of_cables));
	evidence->of_cable_count = port->of_cable_count;
	/* The other cables of the bond end at another switch: this one cannot have
	 * received all PFC frames that the RNIC counts. */
	if (rnic->port.cables < port->cables &&
	    evidence->there[WIRE_COUNTER_PFC_TX_FRAMES] != 0)
		evidence->there[SWITCH_PFC_RX_FRAMES] = 0;
}

static void
join_share(struct evidence *evidence, enum evidence_given given,
    const struct probe_share *share, rm_mono_t now)
{
	evidence->given_there &= ~(UINT32_C(1) << given);
	if (share->at.ns != 0 && rm_mono_since(now, share->at) <= DIAGNOSES_SHARE_NS)
		evidence_give(evidence, given, share->pct);
}

static void
join_probes(struct diagnosed *rnic, rm_mono_t now)
{
	join_share(&rnic->evidence, GIVEN_LOSS_PCT, &rnic->all, now);
	join_share(&rnic->evidence, GIVEN_SMALL_LOSS_PCT, &rnic->small_size, now);
	join_share(&rnic->evidence, GIVEN_LARGE_LOSS_PCT, &rnic->large_size, now);
}

static void
held(struct diagnosed *rnic, size_t d, rm_mono_t now, rm_wall_t wall)
{
	struct diagnosis_finding *finding = &rnic->findings[d];

	if (finding->first.ns == 0) {
		finding->first = now;
		finding->since = wall;
	}
	finding->last = now;
	finding->stands =
	    finding->stands || rm_mono_since(now, finding->first) >=
				   (int64_t)rules[d].lasts_s * RM_NS_PER_S;
	finding->loses = rnic->results[d].loses;
	rule_sentence(&rnic->evidence, &rnic->results[d], finding->sentence);
}

/* Notes that the rule of this diagnosis does not hold now. If the diagnosis is not
 * reported yet, it is dropped; if it is reported, it ends after DIAGNOSES_QUIET_NS. */
static void
held_not(struct diagnosis_finding *finding, rm_mono_t now)
{
	if (!finding->stands || rm_mono_since(now, finding->last) >= DIAGNOSES_QUIET_NS)
		*finding = (struct diagnosis_finding){ 0 };
}

/* True: a diagnosis that stands explains this one. It counts even if its rule does not
 * hold now: a link that has come up again after a flap still trains, and counts
 * errors. */
static bool
is_explained(const struct diagnosed *rnic, size_t diagnosis)
{
	for (size_t d = 0; d < DIAGNOSES; d++)
		if ((rules[diagnosis].unless & UINT32_C(1) << d) != 0 &&
		    rnic->findings[d].stands)
			return true;
	return false;
}

static void
judge_network(struct diagnosed *rnic)
{
	rnic->network = NETWORK_NOT_KNOWN;
	if (rnic->fresh && rnic->kind == DIAGNOSED_RNIC)
		rnic->network = network_status_of(&rnic->evidence, rnic->network_text);
	else
		snprintf(rnic->network_text, sizeof(rnic->network_text), "%s",
		    rnic->kind == DIAGNOSED_RNIC ? "a recent report" : "probes");
}

void
diagnoses_judge(struct diagnoses *diagnoses, rm_mono_t now, rm_wall_t wall)
{
	size_t count = 0;

	diagnoses->judged = now;
	forget_old(diagnoses, now);
	for (size_t i = 0; i < diagnoses->count; i++) {
		struct diagnosed *rnic = diagnoses->rnics[i];

		rnic->fresh = is_fresh(rnic, now);
		if (rnic->kind == DIAGNOSED_PORT)
			continue;
		join_port(rnic, now);
		join_probes(rnic, now);
		if (rnic->fresh)
			diagnoses->joined[count++] = &rnic->evidence;
	}
	evidence_join(diagnoses->joined, count);
	for (size_t i = 0; i < diagnoses->count; i++) {
		struct diagnosed *rnic = diagnoses->rnics[i];

		if (rnic->fresh)
			(rnic->kind == DIAGNOSED_PORT ? judge_link : rules_judge)(
			    &rnic->evidence, rnic->results);
		judge_network(rnic);
		rnic->judged = true;
		for (size_t d = 0; d < DIAGNOSES; d++)
			if (rnic->fresh && rnic->results[d].status == RULE_HOLDS &&
			    !is_explained(rnic, d))
				held(rnic, d, now, wall);
			else
				held_not(&rnic->findings[d], now);
	}
}

bool
diagnoses_turn(struct diagnoses_turns *turns, size_t racks, rm_mono_t now, size_t *ret)
{
	const bool first = turns->began.ns == 0;

	if (first || turns->next >= racks) {
		if (!first && rm_mono_since(now, turns->began) < DIAGNOSES_EVERY_NS)
			return false;
		*turns = (struct diagnoses_turns){ .began = now };
	}
	if (racks == 0)
		return false;
	*ret = turns->next++;
	return true;
}

/* ---- display ---- */

size_t
diagnoses_rnics(const struct diagnoses *diagnoses)
{
	return diagnoses->count;
}

size_t
diagnoses_reported(const struct diagnoses *diagnoses)
{
	size_t count = 0;

	for (size_t i = 0; i < diagnoses->count; i++)
		count += diagnoses->rnics[i]->kind == DIAGNOSED_RNIC;
	return count;
}

const struct diagnosed *
diagnoses_rnic(const struct diagnoses *diagnoses, size_t i)
{
	return diagnoses->rnics[i];
}

const struct diagnosed *
diagnoses_find(const struct diagnoses *diagnoses, struct wire_rnic_id id)
{
	return find(diagnoses, id);
}

/* Copies as many parts of a sentence as fit into out; the parts are separated
 * by ", ". */
static void
copy_parts(const char *sentence, char *out, size_t len)
{
	size_t fits = strlen(sentence);

	while (fits >= len) {
		const char *comma = memrchr(sentence, ',', fits);

		fits = comma == NULL ? 0 : (size_t)(comma - sentence);
	}
	memcpy(out, sentence, fits);
	out[fits] = '\0';
}

/* Writes when the rule held last; nothing if that was at the last judgement. */
static void
write_time(const struct diagnoses *diagnoses, const struct diagnosis_finding *finding,
    char out[DIAGNOSES_AT_BYTES])
{
	const rm_wall_t last = { finding->since.ns +
				 rm_mono_since(finding->last, finding->first) };
	char at[RM_WALL_TEXT];

	out[0] = '\0';
	if (rm_mono_since(diagnoses->judged, finding->last) <= 0)
		return;
	rm_wall_format(last, at);
	snprintf(out, DIAGNOSES_AT_BYTES, "at %.*sZ ", (int)strcspn(at, ".Z"), at);
}

/* Writes the explanation of lost probes. False: there is none. */
static bool
explain(const struct diagnoses *diagnoses, const struct diagnosed *rnic, char *out,
    size_t len)
{
	char text[RULE_SENTENCE_BYTES + DIAGNOSES_AT_BYTES], at[DIAGNOSES_AT_BYTES];

	for (size_t d = 0; d < DIAGNOSES; d++) {
		const struct diagnosis_finding *finding = &rnic->findings[d];

		if (!finding->stands || !finding->loses)
			continue;
		write_time(diagnoses, finding, at);
		snprintf(text, sizeof(text), "%s%s", at, finding->sentence);
		copy_parts(text, out, len);
		return true;
	}
	return false;
}

void
diagnoses_sentence(
    const struct diagnoses *diagnoses, struct wire_rnic_id id, char *out, size_t len)
{
	const struct diagnosed *rnic = find(diagnoses, id);

	out[0] = '\0';
	if (rnic != NULL)
		(void)explain(diagnoses, rnic, out, len);
}

size_t
diagnoses_ports(struct diagnoses *diagnoses, struct wire_port_row *rows, size_t room)
{
	size_t count = 0;

	for (size_t i = 0; i < diagnoses->count && count < room; i++) {
		struct diagnosed *port = diagnoses->rnics[i];

		if (port->kind == DIAGNOSED_PORT && port->neighbor[0] != '\0' &&
		    explain(
			diagnoses, port, port->explanation, sizeof(port->explanation)))
			rows[count++] =
			    (struct wire_port_row){ .switch_name = port->host,
				    .port = port->device,
				    .neighbor = port->neighbor,
				    .sentence = port->explanation };
	}
	return count;
}

const struct diagnoses_counts *
diagnoses_counts(const struct diagnoses *diagnoses)
{
	return &diagnoses->counts;
}
