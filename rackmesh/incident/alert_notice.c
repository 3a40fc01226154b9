#include "rackmesh/incident/alert_notice.h"

#include <stdlib.h>

#include "rackmesh/incident/incident_file.h"

struct alert_notice {
	uint64_t incident;
	bool resolved;
	size_t holders;
	bool lost; /* a receiver has dropped it without delivery */
	void (*on_notified)(uint64_t incident, bool resolved, void *arg);
	void *arg;
	/* NULL: the notice need not wait for a save */
	const struct rm_incident_file *file;
	uint64_t save; /* number of the save that has the incident */
	rm_mono_t patience;
};

struct alert_notice *
alert_notice_new(uint64_t incident, bool resolved,
    void (*on_notified)(uint64_t incident, bool resolved, void *arg), void *arg)
{
	struct alert_notice *notice = calloc(1, sizeof *notice);

	if (notice == NULL)
		return NULL;
	notice->incident = incident;
	notice->resolved = resolved;
	notice->on_notified = on_notified;
	notice->arg = arg;
	notice->holders = 1;
	return notice;
}

void
alert_notice_follow(
    struct alert_notice *notice, const struct rm_incident_file *file, rm_mono_t now)
{
	notice->file = file;
	notice->save = rm_incident_file_next(file);
	notice->patience = rm_mono_add(now, ALERT_NOTICE_PATIENCE_NS);
}

void
alert_notice_hold(struct alert_notice *notice)
{
	if (notice != NULL)
		notice->holders++;
}

void
alert_notice_put(struct alert_notice *notice, bool taken)
{
	if (notice == NULL)
		return;
	notice->lost = notice->lost || !taken;
	if (--notice->holders > 0)
		return;
	if (!notice->lost && notice->on_notified != NULL)
		notice->on_notified(notice->incident, notice->resolved, notice->arg);
	free(notice);
}

void
alert_notice_lose(struct alert_notice *notice)
{
	if (notice != NULL)
		notice->lost = true;
}

bool
alert_notice_may_leave(const struct alert_notice *notice, rm_mono_t now)
{
	return notice == NULL || notice->file == NULL ||
	       rm_incident_file_tried(notice->file, notice->save) ||
	       rm_mono_since(notice->patience, now) <= 0;
}

rm_mono_t
alert_notice_patience(const struct alert_notice *notice)
{
	return notice->patience;
}

bool
alert_notice_left_early(struct alert_notice *notice)
{
	bool early = notice != NULL && notice->file != NULL &&
		     !rm_incident_file_has(notice->file, notice->save);

	if (notice != NULL)
		notice->file = NULL;
	return early;
}
