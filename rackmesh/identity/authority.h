/*
 * authority - what each role may do: one table of role x verb. Pure.
 *
 * Every decision on what a peer may do is made here, by the identity in its
 * certificate. A peer without a certificate may claim any identity. Such peers are
 * possible only with `plaintext: true`, which is for labs.
 */
#ifndef RACKMESH_IDENTITY_AUTHORITY_H
#define RACKMESH_IDENTITY_AUTHORITY_H

#include <stdbool.h>
#include <stddef.h>

#include "rackmesh/identity/identity.h"

/* The verbs. ON_x names the daemon that receives the request. */
enum rm_verb {
	/* to an aggregator */
	/* batches, heartbeats, registration; .host: the agent's own host */
	RM_VERB_AGENT_SESSION,
	/* session of the other aggregator of the ToR; .tor: one of its own ToRs */
	RM_VERB_PEER_SESSION,
	/* session of an aggregator at a controller or at an analyzer */
	RM_VERB_AGGREGATOR_SESSION, /* .name: its own */
	RM_VERB_PLAN,               /* to get the plan and the probe keys of .tor */
	RM_VERB_REGISTER,           /* RNICs attached to .tor */
	RM_VERB_PLACE, /* to ask a controller for the ToRs of .name, the agent's host */
	/* to an analyzer */
	RM_VERB_REPORT, /* to send summaries and incidents of .tor */
	/* From here on: verbs of the daemons that this daemon dials. */
	RM_VERB_SERVE_AGENT,      /* pinglists for .tor */
	RM_VERB_SERVE_AGGREGATOR, /* plans */
	RM_VERB_SERVE_PLACE,      /* to name the ToRs and aggregators of a host */
	RM_VERB_SERVE_LANES,      /* to acknowledge summaries and incidents */
	/* to read over HTTP, at any daemon */
	RM_VERB_READ,
	RM_VERB_CHANGE,
	RM_VERBS
};

struct rm_request {
	enum rm_verb verb;
	const char *region; /* region of the request; NULL: none, or all */
	/* The host or name that the peer claims, and the ToR of the request. A verb
	 * that needs one of them is refused without it; other verbs ignore both. */
	const char *name;
	const char *tor;
};

/* True: allowed. reason (may be NULL): if not, a sentence for the log and the peer. */
bool rm_authority_allows(const struct rm_identity *who,
    const struct rm_request *request, char *reason, size_t len);

/* Decides the same as rm_authority_allows, by the URI in the peer's certificate, as
 * rm_link_identity returns it. "": the link has no TLS, and the request is allowed. A
 * URI that is no identity of Rackmesh is refused. */
bool rm_authority_admits(
    const char *uri, const struct rm_request *request, char *reason, size_t len);

const char *rm_verb_str(enum rm_verb verb);

#endif
