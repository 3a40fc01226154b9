#include "rackmesh/net/pending_conns.h"

#include <errno.h>
#include <string.h>

#include "rackmesh/net/link.h"

void
rm_pending_conns_remove(
    struct rm_pending_conns *pending_conns, struct rm_pending_conn *pending_conn)
{
	if (pending_conn->link == NULL)
		return;
	if (pending_conn->older != NULL)
		pending_conn->older->newer = pending_conn->newer;
	else
		pending_conns->oldest = pending_conn->newer;
	if (pending_conn->newer != NULL)
		pending_conn->newer->older = pending_conn->older;
	else
		pending_conns->newest = pending_conn->older;
	*pending_conn = (struct rm_pending_conn){ 0 };
	pending_conns->count--;
}

/* Removes the connection from the list. Its link is closed later, from the loop. */
static void
send_away(struct rm_pending_conns *pending_conns, struct rm_pending_conn *pending_conn,
    int reason)
{
	struct rm_link *link = pending_conn->link;

	rm_pending_conns_remove(pending_conns, pending_conn);
	rm_link_close(link, reason);
}

void
rm_pending_conns_add(struct rm_pending_conns *pending_conns,
    struct rm_pending_conn *pending_conn, struct rm_link *link, rm_mono_t now)
{
	if (pending_conns->count == RM_PENDING_CONNS_MAX) {
		pending_conns->pushed_out++;
		send_away(pending_conns, pending_conns->oldest, -EUSERS);
	}
	*pending_conn = (struct rm_pending_conn){
		.link = link,
		.since = now,
		.older = pending_conns->newest,
	};
	if (pending_conns->newest != NULL)
		pending_conns->newest->newer = pending_conn;
	else
		pending_conns->oldest = pending_conn;
	pending_conns->newest = pending_conn;
	pending_conns->count++;
}

void
rm_pending_conns_named(
    struct rm_pending_conns *pending_conns, const struct rm_pending_conn *pending_conn)
{
	struct rm_pending_conn *same = NULL;
	const char *identity;
	size_t count = 0;

	if (pending_conn->link == NULL)
		return;
	identity = rm_link_identity(pending_conn->link);
	if (identity[0] == '\0') /* without TLS there are no identities */
		return;
	for (struct rm_pending_conn *s = pending_conns->newest; s != NULL; s = s->older)
		if (strcmp(rm_link_identity(s->link), identity) == 0) {
			same = s;
			count++;
		}
	if (count <= RM_PENDING_CONNS_SAME_MAX)
		return;
	pending_conns->pushed_out++;
	send_away(pending_conns, same, -EUSERS);
}

void
rm_pending_conns_sweep(struct rm_pending_conns *pending_conns, rm_mono_t now)
{
	while (pending_conns->oldest != NULL &&
	       rm_mono_since(now, pending_conns->oldest->since) >
		   RM_PENDING_CONNS_PATIENCE_NS) {
		pending_conns->timed_out++;
		send_away(pending_conns, pending_conns->oldest, -ETIMEDOUT);
	}
}
