#define HASH_NONFATAL_OOM 1
#include "analyzer/incidents/board.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/incidents/board_state.h"
#include "analyzer/incidents/board_told.h"
#include "rackmesh/incident/incident.h"

/* ---- entries ------------------------------------------------------------------ */

static void
key_of(const struct board_told *told, char key[KEY_BYTES])
{
	snprintf(key, KEY_BYTES, "%s|%016" PRIx64, told->region, told->id);
}

static void
labels_of(const struct board_told *told, char labels[LABELS_BYTES])
{
	snprintf(labels, LABELS_BYTES, "%s|%s|%s|%s", told->region, told->part_type,
	    told->part, told->place);
}

static void
node_free(struct board *board, struct node *node)
{
	for (size_t i = 0; i < node->telling_count; i++) {
		HASH_DEL(board->by_key, node->tellings[i]);
		free(node->tellings[i]);
	}
	free(node->entry.sentence);
	free(node->entry.evidence_json);
	free(node);
}

static void
add_source(struct board_entry *entry, const char *source)
{
	for (size_t i = 0; i < entry->source_count; i++)
		if (strcmp(entry->sources[i], source) == 0)
			return;
	if (entry->source_count < BOARD_SOURCES)
		strcpy(entry->sources[entry->source_count++], source);
}

/* The place of what the same rack of the same aggregator has said, or a free one. NULL:
 * there is none. */
static struct telling **
telling_place(struct node *node, const struct board_told *told)
{
	for (size_t i = 0; i < node->telling_count; i++)
		if (strcmp(node->tellings[i]->source, told->source) == 0 &&
		    strcmp(node->tellings[i]->tor, told->tor) == 0)
			return &node->tellings[i];
	return node->telling_count < MAX_TELLINGS ? &node->tellings[node->telling_count]
						  : NULL;
}

/* Whoever opens anew what he has open has been killed before he could keep its id: he
 * will not end the old one any more. */
static int
add_telling(struct board *board, struct node *node, const struct board_told *told)
{
	struct telling *telling, **place = telling_place(node, told);

	if (place == NULL)
		return -ENOBUFS;
	telling = calloc(1, sizeof(*telling));
	if (telling == NULL)
		return -ENOMEM;
	key_of(told, telling->key);
	strcpy(telling->source, told->source);
	strcpy(telling->tor, told->tor);
	telling->node = node;
	telling->is_own = told->is_own;
	telling->is_open = told->state != WIRE_RESOLVED;
	telling->changed = told->changed;
	HASH_ADD_STR(board->by_key, key, telling);
	if (telling->hh.tbl == NULL) {
		free(telling);
		return -ENOMEM;
	}
	if (place == &node->tellings[node->telling_count]) {
		node->telling_count++;
	} else {
		HASH_DEL(board->by_key, *place);
		free(*place);
	}
	*place = telling;
	add_source(&node->entry, told->source);
	return 0;
}

/* What is known of it now. Nothing of it changes for want of memory. */
static int
node_say(struct node *node, const struct board_told *told)
{
	struct board_entry *entry = &node->entry;
	char *sentence = strdup(told->sentence);
	char *evidence = strdup(told->evidence_json);

	if (sentence == NULL || evidence == NULL) {
		free(sentence);
		free(evidence);
		return -ENOMEM;
	}
	free(entry->sentence);
	free(entry->evidence_json);
	entry->sentence = sentence;
	entry->evidence_json = evidence;
	strcpy(entry->kind, told->kind);
	entry->confidence = told->confidence;
	if (told->changed.ns > entry->changed.ns)
		entry->changed = told->changed;
	return 0;
}

/* ---- open and closed ----------------------------------------------------------- */

static void
remember_closed(struct board *board, struct node *node)
{
	if (board->closed_count == BOARD_MAX_CLOSED)
		node_free(board, board->closed[board->closed_next]);
	else
		board->closed_count++;
	board->closed[board->closed_next] = node;
	board->closed_next = (board->closed_next + 1) % BOARD_MAX_CLOSED;
}

static void
node_close(struct board *board, struct node *node, rm_wall_t resolved)
{
	HASH_DEL(board->by_labels, node);
	board->open_count--;
	for (size_t i = node->place; i < board->open_count; i++) {
		board->open[i] = board->open[i + 1];
		board->open[i]->place = i;
	}
	node->entry.is_open = false;
	node->entry.resolved = resolved;
	board->counts.resolved++;
	remember_closed(board, node);
}

static int
node_new(struct board *board, const struct board_told *told)
{
	bool is_open = told->state != WIRE_RESOLVED;
	struct board_entry *entry;
	struct node *node;
	int r;

	if (is_open && board->open_count == BOARD_MAX_OPEN)
		return -ENOBUFS;
	node = calloc(1, sizeof(*node));
	if (node == NULL)
		return -ENOMEM;
	entry = &node->entry;
	entry->id = told->id;
	entry->is_open = is_open;
	entry->began = told->began;
	entry->opened = told->opened;
	entry->resolved = is_open ? (rm_wall_t){ 0 } : told->changed;
	strcpy(entry->region, told->region);
	strcpy(entry->tor, told->tor);
	strcpy(entry->part_type, told->part_type);
	strcpy(entry->part, told->part);
	strcpy(entry->place, told->place);
	labels_of(told, node->labels);
	r = node_say(node, told);
	if (r == 0)
		r = add_telling(board, node, told);
	if (r == 0 && is_open) {
		HASH_ADD_STR(board->by_labels, labels, node);
		r = node->hh.tbl == NULL ? -ENOMEM : 0;
	}
	if (r < 0) {
		node_free(board, node);
		return r;
	}
	entry->changes = ++board->changes;
	board->counts.opened++;
	if (!is_open) {
		board->counts.resolved++;
		remember_closed(board, node);
		return 1;
	}
	node->place = board->open_count;
	board->open[board->open_count++] = node;
	return 1;
}

/* ---- what is told ---------------------------------------------------------------- */

/* Is it still open, and do we say so ourselves? */
static bool
still_open(const struct node *node, bool own_only)
{
	for (size_t i = 0; i < node->telling_count; i++)
		if (node->tellings[i]->is_open &&
		    (node->tellings[i]->is_own || !own_only))
			return true;
	return false;
}

static int
tell_known(struct board *board, struct telling *telling, const struct board_told *told)
{
	struct node *node = telling->node;
	int r = 0;

	/* Of two aggregators of a rack the other one goes on with it. */
	if (!told->is_own && strcmp(telling->source, told->source) != 0) {
		strcpy(telling->source, told->source);
		add_source(&node->entry, told->source);
	}
	/* An opening that was resolved does not come back under its id. */
	if (!telling->is_open ||
	    (told->state != WIRE_RESOLVED && told->changed.ns <= telling->changed.ns)) {
		board->counts.repeated++;
		return 0;
	}
	/* Our own words weigh more than a single rack's. */
	if (told->is_own || !still_open(node, true))
		r = node_say(node, told);
	if (r < 0)
		return r;
	telling->changed = told->changed;
	telling->is_open = told->state != WIRE_RESOLVED;
	node->entry.changes = ++board->changes;
	if (!still_open(node, false))
		node_close(board, node, told->changed);
	else
		board->counts.updated++;
	return 1;
}

/* Another one tells of what is open already. */
static int
tell_again(struct board *board, struct node *node, const struct board_told *told)
{
	int r;

	if (told->state == WIRE_RESOLVED) {
		board->counts.repeated++; /* of an opening before this one */
		return 0;
	}
	r = add_telling(board, node, told);
	if (r == 0 && told->is_own)
		r = node_say(node, told);
	if (r < 0)
		return r;
	if (told->began.ns < node->entry.began.ns)
		node->entry.began = told->began;
	node->entry.changes = ++board->changes;
	board->counts.updated++;
	return 1;
}

static int
board_tell(struct board *board, const struct board_told *told)
{
	char key[KEY_BYTES], labels[LABELS_BYTES];
	struct telling *telling;
	struct node *node;
	int r;

	key_of(told, key);
	HASH_FIND_STR(board->by_key, key, telling);
	labels_of(told, labels);
	HASH_FIND_STR(board->by_labels, labels, node);
	if (telling != NULL)
		r = tell_known(board, telling, told);
	else if (node != NULL)
		r = tell_again(board, node, told);
	else
		r = node_new(board, told);
	if (r < 0)
		board->counts.refused++;
	return r;
}

int
board_edge(struct board *board, const struct wire_incident *incident)
{
	struct board_told told;
	int r;

	r = board_told_edge(incident, &told);
	if (r < 0) {
		board->counts.refused++;
		return r;
	}
	return board_tell(board, &told);
}

int
board_own(struct board *board, const char *region, const char *analyzer,
    enum wire_incident_state state, const struct rm_incident *incident)
{
	struct board_told told;
	json_t *json = rm_verdict_json(&incident->verdict);
	char *evidence = json != NULL ? json_dumps(json, JSON_COMPACT) : NULL;
	int r = -ENOMEM;

	if (evidence != NULL)
		r = board_told_own(region, analyzer, state, incident, evidence, &told);
	if (r == 0)
		r = board_tell(board, &told);
	else
		board->counts.refused++;
	json_decref(json);
	free(evidence);
	return r;
}

/* ---- what is told no more ---------------------------------------------------------
 */

size_t
board_end_calm(struct board *board,
    rm_wall_t (*calm)(const char *region, const char *source, const char *tor,
	rm_wall_t changed, void *arg),
    void (*on_ended)(const struct board_entry *entry, void *arg), void *arg)
{
	size_t ended = 0;

	for (size_t i = board->open_count; i-- > 0;) {
		struct node *node = board->open[i];
		rm_wall_t last = { 0 };

		for (size_t t = 0; t < node->telling_count; t++) {
			struct telling *telling = node->tellings[t];
			rm_wall_t since = { 0 };

			if (telling->is_open && !telling->is_own)
				since = calm(node->entry.region, telling->source,
				    telling->tor, telling->changed, arg);
			if (since.ns == 0)
				continue;
			telling->is_open = false;
			telling->changed = last = since;
		}
		if (last.ns == 0 || still_open(node, false))
			continue;
		node->entry.changed = last;
		node->entry.changes = ++board->changes;
		node_close(board, node, last);
		on_ended(&node->entry, arg);
		ended++;
	}
	return ended;
}

/* ---- life ---------------------------------------------------------------------- */

int
board_new(struct board **ret)
{
	struct board *board = calloc(1, sizeof(*board));

	if (board == NULL)
		return -ENOMEM;
	*ret = board;
	return 0;
}

void
board_free(struct board *board)
{
	if (board == NULL)
		return;
	HASH_CLEAR(hh, board->by_labels);
	for (size_t i = 0; i < board->open_count; i++)
		node_free(board, board->open[i]);
	for (size_t i = 0; i < board->closed_count; i++)
		node_free(board, board->closed[i]);
	free(board);
}
