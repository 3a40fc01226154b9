#include "rackmesh/net/strangers.h"

#include <errno.h>
#include <string.h>

#include "rackmesh/net/link.h"

void
rm_strangers_remove(struct rm_strangers *strangers, struct rm_stranger *stranger)
{
	if (stranger->link == NULL)
		return;
	if (stranger->older != NULL)
		stranger->older->newer = stranger->newer;
	else
		strangers->oldest = stranger->newer;
	if (stranger->newer != NULL)
		stranger->newer->older = stranger->older;
	else
		strangers->newest = stranger->older;
	*stranger = (struct rm_stranger){ 0 };
	strangers->count--;
}

/* Its link closes from the loop; until then it is nobody's stranger any more. */
static void
send_away(struct rm_strangers *strangers, struct rm_stranger *stranger, int reason)
{
	struct rm_link *link = stranger->link;

	rm_strangers_remove(strangers, stranger);
	rm_link_close(link, reason);
}

void
rm_strangers_add(struct rm_strangers *strangers, struct rm_stranger *stranger,
    struct rm_link *link, rm_mono_t now)
{
	if (strangers->count == RM_STRANGERS_MAX) {
		strangers->pushed_out++;
		send_away(strangers, strangers->oldest, -EUSERS);
	}
	*stranger = (struct rm_stranger){
		.link = link,
		.since = now,
		.older = strangers->newest,
	};
	if (strangers->newest != NULL)
		strangers->newest->newer = stranger;
	else
		strangers->oldest = stranger;
	strangers->newest = stranger;
	strangers->count++;
}

void
rm_strangers_named(struct rm_strangers *strangers, const struct rm_stranger *stranger)
{
	struct rm_stranger *same = NULL;
	const char *identity;
	size_t count = 0;

	if (stranger->link == NULL)
		return;
	identity = rm_link_identity(stranger->link);
	if (identity[0] == '\0') /* without TLS everybody is nobody */
		return;
	for (struct rm_stranger *s = strangers->newest; s != NULL; s = s->older)
		if (strcmp(rm_link_identity(s->link), identity) == 0) {
			same = s;
			count++;
		}
	if (count <= RM_STRANGERS_SAME_MAX)
		return;
	strangers->pushed_out++;
	send_away(strangers, same, -EUSERS);
}

void
rm_strangers_sweep(struct rm_strangers *strangers, rm_mono_t now)
{
	while (
	    strangers->oldest != NULL &&
	    rm_mono_since(now, strangers->oldest->since) > RM_STRANGERS_PATIENCE_NS) {
		strangers->timed_out++;
		send_away(strangers, strangers->oldest, -ETIMEDOUT);
	}
}
