#include "tor-aggregator/agents/session.h"

#include <stdbool.h>
#include <stdlib.h>

struct session {
	bool known;
	uint64_t incarnation;
	uint64_t seq;
};

struct session *
session_new(void)
{
	return calloc(1, sizeof(struct session));
}

void
session_free(struct session *session)
{
	free(session);
}

enum session_status
session_batch(
    struct session *session, uint64_t incarnation, uint64_t seq, uint64_t *gap)
{
	bool restarted = !session->known || session->incarnation != incarnation;

	if (seq == 0)
		return SESSION_DUPLICATE;
	if (restarted) {
		if (session->known)
			*gap += seq - 1;
		session->known = true;
		session->incarnation = incarnation;
		session->seq = seq;
		return SESSION_RESTARTED;
	}
	if (seq <= session->seq)
		return SESSION_DUPLICATE;
	*gap += seq - session->seq - 1;
	session->seq = seq;
	return SESSION_COUNT;
}

uint64_t
session_counted(const struct session *session, uint64_t incarnation)
{
	if (!session->known || session->incarnation != incarnation)
		return 0;
	return session->seq;
}
