/*
 * authority - who may do what: one table of role x verb, and whose things. Pure.
 *
 * Every decision on what a peer may do is made here, by its certificate's identity; a
 * peer without one (a link whose config says plaintext in as many words) is whoever it
 * says it is, which is why plaintext is for labs.
 */
#ifndef RACKMESH_IDENTITY_AUTHORITY_H
#define RACKMESH_IDENTITY_AUTHORITY_H

#include <stdbool.h>
#include <stddef.h>

#include "rackmesh/identity/identity.h"

/* What is asked, and of whom: ON names the daemon that is asked. */
enum rm_verb {
	/* on an aggregator */
	RM_VERB_AGENT_SESSION, /* batches, heartbeats, registration; .host: its own */
	RM_VERB_PEER_SESSION,  /* the ToR's other aggregator; .tor: one of its own */
	/* on a controller, an analyzer */
	RM_VERB_AGGREGATOR_SESSION, /* .name: its own */
	RM_VERB_PLAN,               /* the plan and keys of .tor */
	RM_VERB_REGISTER,           /* RNICs attached to .tor */
	RM_VERB_PLACE, /* on a controller: where does .name, the agent's host, belong */
	/* on an analyzer */
	RM_VERB_REPORT, /* summaries and incidents of .tor */
	/* by whom a daemon dials: what it must be to be believed */
	RM_VERB_SERVE_AGENT,      /* pinglists for .tor */
	RM_VERB_SERVE_AGGREGATOR, /* plans */
	RM_VERB_SERVE_PLACE,      /* where a host belongs */
	RM_VERB_SERVE_LANES,      /* acknowledgements of summaries and incidents */
	/* over HTTP, on every daemon */
	RM_VERB_READ,
	RM_VERB_CHANGE,
	RM_VERBS
};

struct rm_request {
	enum rm_verb verb;
	const char *region; /* of what is asked; NULL: it has none, or all */
	/* Host or name that the peer claims, and the ToR that it is about. A verb that
	 * goes by one of them is refused without it; others look at neither. */
	const char *name;
	const char *tor;
};

/* why (may be NULL): a sentence for the log and the peer, when refused. */
bool rm_authority_allows(const struct rm_identity *who,
    const struct rm_request *request, char *reason, size_t len);

/* The same of a peer by the URI of its certificate, as a link has it: "" is a peer
 * without one, on a link without TLS, and may. One that is no identity of ours may
 * nothing. */
bool rm_authority_admits(
    const char *uri, const struct rm_request *request, char *reason, size_t len);

const char *rm_verb_str(enum rm_verb verb);

#endif
