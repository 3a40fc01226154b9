/* Why a registration has no place, for people. */
#include "region-controller/registry/registry.h"

static const struct {
	const char *word, *sentence;
} refusals[REGISTRY_REFUSALS] = {
	[REGISTRY_PLACED] = { "placed", "it is in the plans" },
	[REGISTRY_BAD_ID] = { "bad_id", "its id is no GUID and port and no MAC" },
	[REGISTRY_BAD_NAME] = { "bad_name",
	    "a name is malformed, given twice, or of another host" },
	[REGISTRY_BAD_ADDRESS] = { "bad_address",
	    "an address is not unicast or has a wrong port, or its QPs are no pair" },
	[REGISTRY_NO_TOR] = { "no_tor",
	    "it names no ToR; give one in the agent's config" },
	[REGISTRY_ANOTHERS] = { "of_other_host",
	    "another host has told of it before; if it has moved, POST /v1/forget/ID "
	    "to the controller and restart its new host's agent" },
	[REGISTRY_STALE] = { "stale",
	    "the agent has been restarted or replaced since" },
	[REGISTRY_FULL] = { "registry_full",
	    "the region has too many RNICs; split it" },
	[REGISTRY_UNKNOWN_TOR] = { "unknown_tor",
	    "the topology has no such ToR; add it there, or correct the agent's "
	    "config" },
	[REGISTRY_NOT_A_TOR] = { "not_a_tor",
	    "the topology gives that switch another role; correct it, or the agent's "
	    "config" },
	[REGISTRY_WRONG_PLANE] = { "wrong_plane",
	    "its ToRs are in different planes; correct the topology, or the agent's "
	    "config" },
	[REGISTRY_RACK_FULL] = { "rack_full", "the ToR has too many RNICs" },
};

const char *
registry_refusal_word(enum registry_refusal refusal)
{
	return refusal < REGISTRY_REFUSALS ? refusals[refusal].word : "unknown";
}

const char *
registry_refusal_sentence(enum registry_refusal refusal)
{
	return refusal < REGISTRY_REFUSALS ? refusals[refusal].sentence : "unknown";
}
