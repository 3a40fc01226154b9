#include "rackmesh/base/strangers.h"

#include <errno.h>

#include "rackmesh/base/link.h"

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
rm_strangers_sweep(struct rm_strangers *strangers, rm_mono_t now)
{
	while (
	    strangers->oldest != NULL &&
	    rm_mono_since(now, strangers->oldest->since) > RM_STRANGERS_PATIENCE_NS) {
		strangers->timed_out++;
		send_away(strangers, strangers->oldest, -ETIMEDOUT);
	}
}
