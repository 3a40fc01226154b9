#include "rackmesh/identity/authority.h"

#include <stdio.h>
#include <string.h>

#define OF(role) (1u << RM_ROLE_##role)

/* For each verb: the roles that may use it, and what their identity must contain. */
static const struct {
	const char *text;
	unsigned roles;
	bool name; /* the peer may only act under its own name */
	bool tor;  /* the peer may only act for its own ToRs */
} verbs[RM_VERBS] = {
	/* clang-format off */
	[RM_VERB_AGENT_SESSION] =      { "begin an agent's session", OF(AGENT), true, false },
	[RM_VERB_PEER_SESSION] =       { "share a ToR", OF(AGGREGATOR), true, true },
	[RM_VERB_AGGREGATOR_SESSION] = { "begin an aggregator's session", OF(AGGREGATOR), true, false },
	[RM_VERB_PLAN] =               { "have the plan", OF(AGGREGATOR), false, true },
	[RM_VERB_REGISTER] =           { "register RNICs", OF(AGGREGATOR), false, true },
	[RM_VERB_PLACE] =              { "ask for the ToRs of its host", OF(AGENT), true, false },
	[RM_VERB_REPORT] =             { "report", OF(AGGREGATOR), true, true },
	[RM_VERB_SERVE_AGENT] =        { "serve agents", OF(AGGREGATOR), false, true },
	[RM_VERB_SERVE_AGGREGATOR] =   { "serve aggregators", OF(CONTROLLER), false, false },
	[RM_VERB_SERVE_PLACE] =        { "say where hosts belong", OF(CONTROLLER), false, false },
	[RM_VERB_SERVE_LANES] =        { "take reports", OF(ANALYZER), false, false },
	[RM_VERB_READ] =               { "read", OF(OPERATOR) | OF(VIEWER), false, false },
	[RM_VERB_CHANGE] =             { "change things", OF(OPERATOR), false, false },
	/* clang-format on */
};

static bool
has_tor(const struct rm_identity *who, const char *tor)
{
	for (size_t i = 0; i < who->tor_count; i++)
		if (strcmp(who->tors[i], tor) == 0)
			return true;
	return false;
}

/* "": the request is allowed; else the reason why not. */
static const char *
wrong(const struct rm_identity *who, const struct rm_request *request)
{
	if (request->verb < 0 || request->verb >= RM_VERBS || who->role < 0 ||
	    who->role >= RM_ROLES ||
	    (verbs[request->verb].roles & 1u << who->role) == 0)
		return "its role may not";
	if (request->region != NULL && !rm_identity_is_of(who->region, request->region))
		return "it belongs to another region";
	if (verbs[request->verb].name &&
	    (request->name == NULL || strcmp(who->name, request->name) != 0))
		return "it has another name";
	if (verbs[request->verb].tor &&
	    (request->tor == NULL || !has_tor(who, request->tor)))
		return "that ToR is not in its certificate";
	return "";
}

bool
rm_authority_allows(const struct rm_identity *who, const struct rm_request *request,
    char *cause, size_t len)
{
	const char *reason = wrong(who, request);

	if (reason[0] == '\0')
		return true;
	if (cause != NULL && len > 0)
		snprintf(cause, len, "%s '%s' of region '%s' may not %s%s%s%s%s%s: %s",
		    rm_role_str(who->role), who->name, who->region,
		    rm_verb_str(request->verb), request->name != NULL ? " as '" : "",
		    request->name != NULL ? request->name : "",
		    request->name != NULL ? "'" : "",
		    request->tor != NULL ? " for ToR " : "",
		    request->tor != NULL ? request->tor : "", reason);
	return false;
}

bool
rm_authority_admits(
    const char *uri, const struct rm_request *request, char *reason, size_t len)
{
	struct rm_identity who;

	if (uri[0] == '\0')
		return true;
	if (rm_identity_parse(uri, &who) == 0)
		return rm_authority_allows(&who, request, reason, len);
	if (reason != NULL && len > 0)
		snprintf(reason, len, "unknown identity in its certificate: '%s'", uri);
	return false;
}

const char *
rm_verb_str(enum rm_verb verb)
{
	return verb >= 0 && verb < RM_VERBS ? verbs[verb].text : "?";
}
