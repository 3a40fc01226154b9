#include "tor-aggregator/api/proof_answer.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/http/http_server.h"
#include "tor-aggregator/diagnosis/diagnoses.h"
#include "tor-aggregator/diagnosis/proof.h"
#include "tor-aggregator/diagnosis/proof_judge.h"
#include "tor-aggregator/tor_aggregator_diagnosis.h"
#include "tor-aggregator/tor_aggregator_state.h"

static void
set_u64(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key,
	    json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value));
}

static void
set_known(json_t *object, const char *key, bool known, double value)
{
	json_object_set_new(object, key, known ? json_real(value) : json_null());
}

static void
set_text(json_t *object, const char *key, const char *text)
{
	json_object_set_new(
	    object, key, text[0] == '\0' ? json_null() : json_string(text));
}

static json_t *
show_answers(const struct proof_total *total)
{
	json_t *list = json_array();

	for (int i = 0; i < PROOF_QUESTIONS; i++) {
		const enum proof_question question = (enum proof_question)i;
		char sentence[PROOF_TEXT];
		const enum proof_state state = proof_judge(total, question, sentence);
		json_t *object = json_object();

		json_object_set_new(
		    object, "question", json_string(proof_question_str(question)));
		json_object_set_new(
		    object, "state", json_string(proof_state_str(state)));
		json_object_set_new(object, "sentence", json_string(sentence));
		json_array_append_new(list, object);
	}
	return list;
}

static json_t *
show_ratios(const struct proof_total *total)
{
	json_t *list = json_array();

	for (int i = 0; i < PROOF_RATIOS; i++) {
		const enum proof_ratio ratio = (enum proof_ratio)i;
		const struct proof_sum *sum = &total->ratios[i];
		char error[PROOF_TEXT];
		double value = 0;
		const enum proof_status status =
		    proof_read(total, ratio, &value, error);
		json_t *object = json_object();

		json_object_set_new(
		    object, "name", json_string(proof_ratio_str(ratio)));
		json_object_set_new(
		    object, "what", json_string(proof_ratio_what(ratio)));
		set_known(object, "pct", status == PROOF_KNOWN, value);
		json_object_set_new(
		    object, "known", json_boolean(status != PROOF_UNKNOWN));
		set_u64(object, "of", sum->of);
		set_u64(object, "per", sum->per);
		set_u64(object, "counted", sum->counted);
		set_u64(object, "missing", sum->missing);
		set_text(object, "error", error);
		json_array_append_new(list, object);
	}
	return list;
}

static void
set_frames(json_t *object, const char *key, bool known, uint64_t frames)
{
	if (known)
		set_u64(object, key, frames);
	else
		json_object_set_new(object, key, json_null());
}

/* Sets NAME_pct, NAME (share->who) and NAME_parts. */
static void
set_share(json_t *object, const char *name, const struct proof_share *share)
{
	char key[32];

	snprintf(key, sizeof(key), "%s_pct", name);
	set_known(object, key, share->known, share->pct);
	set_text(object, name, share->who);
	snprintf(key, sizeof(key), "%s_parts", name);
	json_object_set_new(
	    object, key, share->known ? json_integer(share->steady) : json_null());
}

static json_t *
show_side(const struct proof_pauses *pauses)
{
	json_t *object = json_object();

	set_frames(object, "frames_received", pauses->knows_received, pauses->received);
	set_frames(object, "frames_sent", pauses->knows_sent, pauses->sent);
	set_share(object, "paused", &pauses->paused);
	set_share(object, "pausing", &pauses->pausing);
	return object;
}

static json_t *
show_priorities(const struct proof_total *total)
{
	json_t *list = json_array();

	for (int p = 0; p < PROOF_PRIORITIES; p++) {
		json_t *object = json_object();

		json_object_set_new(object, "priority", json_integer(p));
		json_object_set_new(
		    object, "host", show_side(&total->pauses[PROOF_HOST][p]));
		json_object_set_new(
		    object, "switch", show_side(&total->pauses[PROOF_SWITCH][p]));
		json_array_append_new(list, object);
	}
	return list;
}

/* In per cent. */
static const struct {
	const char *key;
	enum indicator indicator;
} columns[] = {
	{ "receive_use_pct", RECEIVE_USE },
	{ "ce_pct", CE_RATIO },
	{ "cnp_per_ce_pct", CNP_PER_CE },
	{ "paused_pct", PAUSED },
	{ "pausing_pct", PAUSING },
};

static json_t *
show_rnics(const struct diagnoses *diagnoses)
{
	json_t *list = json_array();

	for (size_t i = 0; i < diagnoses_rnics(diagnoses); i++) {
		const struct diagnosed *rnic = diagnoses_rnic(diagnoses, i);
		json_t *object;

		if (!rnic->fresh || rnic->kind != DIAGNOSED_RNIC)
			continue;
		object = json_object();
		json_object_set_new(object, "host", json_string(rnic->host));
		json_object_set_new(object, "device", json_string(rnic->device));
		for (size_t c = 0; c < sizeof(columns) / sizeof(columns[0]); c++) {
			double value = 0;
			const enum indicator_status status = indicator_read(
			    &rnic->evidence, columns[c].indicator, &value);

			set_known(
			    object, columns[c].key, status == INDICATOR_KNOWN, value);
		}
		json_array_append_new(list, object);
	}
	return list;
}

static void
set_age(json_t *object, const char *key, const struct proof_parts *parts)
{
	json_object_set_new(object, key,
	    parts->ever ? json_integer(parts->age_ns / RM_NS_PER_S) : json_null());
}

json_t *
proof_show(const struct tor_aggregator *aggregator, size_t rack)
{
	struct proof_total total;
	json_t *object = json_object();

	proof_sum_up(aggregator->proofs[rack].proof, rm_mono_now(), &total);
	json_object_set_new(object, "tor", json_string(aggregator->tors[rack]));
	json_object_set_new(
	    object, "seconds", json_integer(total.parts[PROOF_HOST].ns / RM_NS_PER_S));
	set_age(object, "age_s", &total.parts[PROOF_HOST]);
	json_object_set_new(object, "switch_configured",
	    json_boolean(aggregator->switches[rack] != NULL));
	json_object_set_new(
	    object, "switch_read", json_boolean(total.parts[PROOF_SWITCH].read > 0));
	json_object_set_new(object, "switch_seconds",
	    json_integer(total.parts[PROOF_SWITCH].ns / RM_NS_PER_S));
	set_age(object, "switch_age_s", &total.parts[PROOF_SWITCH]);
	json_object_set_new(object, "answers", show_answers(&total));
	json_object_set_new(object, "ratios", show_ratios(&total));
	json_object_set_new(object, "priorities", show_priorities(&total));
	json_object_set_new(object, "rnics", show_rnics(aggregator->diagnoses[rack]));
	return object;
}

void
proof_answer_get(struct rm_http_request *request, void *arg)
{
	const struct tor_aggregator *aggregator = arg;
	const char *tor = rm_http_query(request, "tor");
	json_t *all = json_object(), *racks = json_array();

	for (size_t i = 0; i < aggregator->rack_count; i++)
		if (tor == NULL || strcmp(tor, aggregator->tors[i]) == 0)
			json_array_append_new(racks, proof_show(aggregator, i));
	json_object_set_new(all, "racks", racks);
	rm_http_reply_json(request, 200, all);
}
