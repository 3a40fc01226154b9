#include "rackmesh/incident/alert_word.h"

#include <stdlib.h>

#include "rackmesh/incident/incident_file.h"

struct alert_word {
	uint64_t incident;
	bool resolved;
	size_t holders;
	bool lost; /* to one of them */
	void (*on_notified)(uint64_t incident, bool resolved, void *arg);
	void *arg;
	const struct rm_incident_file *file; /* NULL: it follows nothing (any more) */
	uint64_t save;                       /* of the file, that has it */
	rm_mono_t patience;
};

struct alert_word *
alert_word_new(uint64_t incident, bool resolved,
    void (*on_notified)(uint64_t incident, bool resolved, void *arg), void *arg)
{
	struct alert_word *word = calloc(1, sizeof *word);

	if (word == NULL)
		return NULL;
	word->incident = incident;
	word->resolved = resolved;
	word->on_notified = on_notified;
	word->arg = arg;
	word->holders = 1;
	return word;
}

void
alert_word_follow(
    struct alert_word *word, const struct rm_incident_file *file, rm_mono_t now)
{
	word->file = file;
	word->save = rm_incident_file_next(file);
	word->patience = rm_mono_add(now, ALERT_WORD_PATIENCE_NS);
}

void
alert_word_hold(struct alert_word *word)
{
	if (word != NULL)
		word->holders++;
}

void
alert_word_put(struct alert_word *word, bool taken)
{
	if (word == NULL)
		return;
	word->lost = word->lost || !taken;
	if (--word->holders > 0)
		return;
	if (!word->lost && word->on_notified != NULL)
		word->on_notified(word->incident, word->resolved, word->arg);
	free(word);
}

void
alert_word_lose(struct alert_word *word)
{
	if (word != NULL)
		word->lost = true;
}

bool
alert_word_may_leave(const struct alert_word *word, rm_mono_t now)
{
	return word == NULL || word->file == NULL ||
	       rm_incident_file_tried(word->file, word->save) ||
	       rm_mono_since(word->patience, now) <= 0;
}

rm_mono_t
alert_word_patience(const struct alert_word *word)
{
	return word->patience;
}

bool
alert_word_left_early(struct alert_word *word)
{
	bool early = word != NULL && word->file != NULL &&
		     !rm_incident_file_has(word->file, word->save);

	if (word != NULL)
		word->file = NULL;
	return early;
}
