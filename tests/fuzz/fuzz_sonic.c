/*
 * Any bytes as the answers of a switch's Redis. Nothing larger than the limits is kept,
 * and a reading that succeeds has a port. A second reading, which requests less, keeps
 * the neighbours.
 *
 * Input: any bytes, as answers to all requests, in pieces of 1 + the first byte. Or,
 * after a 'Q', one line for each requested value: the answer then has as many values as
 * the request, whatever the size of the table of counters. An empty line is nil; a line
 * "!..." replaces a whole answer; a line "." ends a map.
 */
#include <event2/buffer.h>
#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>

#include "tor-aggregator/redis/redis_reader.h"
#include "tor-aggregator/switch/sonic.h"
#include "tor-aggregator/switch/switch_list.h"
#include "tor-aggregator/switch/switch_neighbor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define QUESTIONS 'Q'
#define MOST_PAIRS 64 /* lines of a map */

struct lines {
	const char *at;
	size_t left;
};

static int
take(struct sonic *sonic, struct redis_reader *reader, struct evbuffer *questions)
{
	struct rm_error error = { .text = "" };
	redisReply *answer;
	int r;

	while ((r = redis_reader_next(reader, &answer)) == 1) {
		r = sonic_answer(sonic, answer, &error);
		freeReplyObject(answer);
		if (r < 0 || sonic_is_done(sonic))
			break;
		if (sonic_is_answered(sonic))
			r = sonic_ask(sonic, questions);
		if (r < 0)
			break;
	}
	return r;
}

static struct lines
next_line(struct lines *lines)
{
	const char *end = memchr(lines->at, '\n', lines->left);
	const struct lines line = { lines->at,
		end == NULL ? lines->left : (size_t)(end - lines->at) };
	const size_t all = line.left + (end != NULL);

	lines->at += all;
	lines->left -= all;
	return line;
}

static bool
begins_with(const struct lines *lines, char first)
{
	return lines->left > 0 && lines->at[0] == first;
}

static void
put_value(struct evbuffer *out, struct lines line)
{
	if (line.left == 0) {
		evbuffer_add_printf(out, "$-1\r\n");
		return;
	}
	evbuffer_add_printf(out, "$%zu\r\n", line.left);
	evbuffer_add(out, line.at, line.left);
	evbuffer_add_printf(out, "\r\n");
}

static void
put_map(struct evbuffer *out, struct lines *lines)
{
	struct lines found[2 * MOST_PAIRS];
	size_t count = 0;

	while (count < 2 * MOST_PAIRS && lines->left > 0) {
		found[count] = next_line(lines);
		if (found[count].left == 1 && found[count].at[0] == '.')
			break;
		count++;
	}
	evbuffer_add_printf(out, "*%zu\r\n", count);
	for (size_t i = 0; i < count; i++)
		put_value(out, found[i]);
}

static void
put_answer(struct evbuffer *out, const redisReply *question, struct lines *lines)
{
	const char *verb = question->element[0]->str;

	if (begins_with(lines, '!')) {
		const struct lines line = next_line(lines);

		evbuffer_add(out, line.at + 1, line.left - 1);
		evbuffer_add_printf(out, "\r\n");
	} else if (strcmp(verb, "HGETALL") == 0) {
		put_map(out, lines);
	} else if (strcmp(verb, "HMGET") == 0) {
		evbuffer_add_printf(out, "*%zu\r\n", question->elements - 2);
		for (size_t i = 2; i < question->elements; i++)
			put_value(out, next_line(lines));
	} else {
		evbuffer_add_printf(out, "+OK\r\n");
	}
}

/* Answers all requests with lines of the input. < 0: the reading failed, or waits
 * for the rest of an answer. */
static int
answer_questions(struct sonic *sonic, struct redis_reader *reader,
    struct evbuffer *questions, struct lines *lines)
{
	redisReader *parser = redisReaderCreate();
	struct evbuffer *answers = evbuffer_new();
	void *question = NULL;
	int r = evbuffer_get_length(questions) > 0 ? 0 : -1;

	if (parser == NULL || answers == NULL ||
	    redisReaderFeed(parser, (char *)evbuffer_pullup(questions, -1),
		evbuffer_get_length(questions)) != REDIS_OK)
		abort();
	evbuffer_drain(questions, evbuffer_get_length(questions));
	while (r == 0 && redisReaderGetReply(parser, &question) == REDIS_OK &&
	       question != NULL) {
		put_answer(answers, question, lines);
		freeReplyObject(question);
	}
	if (r == 0)
		r = redis_reader_feed(
		    reader, evbuffer_pullup(answers, -1), evbuffer_get_length(answers));
	if (r == 0)
		r = take(sonic, reader, questions);
	redisReaderFree(parser);
	evbuffer_free(answers);
	return r;
}

static void
read_pieces(struct sonic *sonic, struct redis_reader *reader,
    struct evbuffer *questions, const uint8_t *data, size_t len)
{
	const size_t piece = len > 0 ? 1 + data[0] : 1;

	evbuffer_drain(questions, evbuffer_get_length(questions));
	for (size_t at = 1; at < len && !sonic_is_done(sonic); at += piece)
		if (redis_reader_feed(
			reader, data + at, len - at < piece ? len - at : piece) < 0 ||
		    take(sonic, reader, questions) < 0)
			break;
}

/* NULL: the reading failed. */
static struct switch_list *
read_switch(const uint8_t *data, size_t len, unsigned also, struct switch_list *before)
{
	struct redis_reader *reader = redis_reader_new();
	struct evbuffer *questions = evbuffer_new();
	struct lines lines = { (const char *)data + 1, len - 1 };
	struct switch_counts counts = { 0 };
	struct switch_list *list = NULL;
	struct sonic *sonic;

	if (reader == NULL || questions == NULL ||
	    sonic_new(data[0] == QUESTIONS ? "secret" : "", also, before, &counts,
		&sonic) < 0)
		abort();
	if (sonic_ask(sonic, questions) < 0)
		abort();
	if (data[0] != QUESTIONS)
		read_pieces(sonic, reader, questions, data, len);
	else
		while (!sonic_is_done(sonic) &&
		       answer_questions(sonic, reader, questions, &lines) == 0)
			;
	if (sonic_is_done(sonic)) {
		list = sonic_take_list(sonic);
		if (switch_list_count(list) == 0 ||
		    switch_list_count(list) > SWITCH_MAX_OBJECTS ||
		    switch_list_get(list, 0)->part != SWITCH_PORT)
			abort();
	}
	sonic_free(sonic);
	redis_reader_free(reader);
	evbuffer_free(questions);
	return list;
}

/* The same answers without the later ones: there are no neighbours. Lines may then
 * go to other requests, and the reading may fail. */
static void
read_again(const uint8_t *data, size_t len, struct switch_list *before)
{
	struct switch_list *list = read_switch(data, len, 0, before);

	if (list == NULL && data[0] == QUESTIONS)
		return;
	if (list == NULL || switch_list_count(list) != switch_list_count(before))
		abort();
	for (size_t i = 0; i < switch_list_count(list); i++) {
		const struct switch_neighbor *now = switch_list_neighbor(list, i),
					     *old = switch_list_neighbor(before, i);

		if ((now == NULL) != (old == NULL) ||
		    (now != NULL && memcmp(now, old, sizeof(*now)) != 0))
			abort();
	}
	switch_list_free(list);
}

/* All objects of the switch but one port are missing until this reading fails. */
static void
read_others(struct switch_list *before)
{
	static const char answers[] =
	    "\xff+OK\r\n*2\r\n$9\r\nEthernet4\r\n$3\r\no:9\r\n*0\r\n*0\r\n";

	if (read_switch((const uint8_t *)answers, sizeof(answers) - 1, 0, before) !=
	    NULL)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct switch_list *list;

	if (len == 0)
		return 0;
	list = read_switch(
	    data, len, SONIC_NEIGHBORS | SONIC_OPTICS | SONIC_SETTINGS, NULL);
	if (list != NULL) {
		read_again(data, len, list);
		read_others(list);
	}
	switch_list_free(list);
	return 0;
}
