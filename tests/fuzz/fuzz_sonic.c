/*
 * What a switch's Redis says, made up: any bytes, as answers to what was asked.
 * Whatever it says, nothing larger than the limits is kept, and a reading that ends has
 * a port. A second one, which asks for less, ends too, and keeps the neighbours.
 */
#include <event2/buffer.h>
#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>

#include "tor-aggregator/switch/redis_reader.h"
#include "tor-aggregator/switch/sonic.h"
#include "tor-aggregator/switch/switch_list.h"
#include "tor-aggregator/switch/switch_neighbor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

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
		if (sonic_is_answered(sonic)) {
			r = sonic_ask(sonic, questions);
			evbuffer_drain(questions, evbuffer_get_length(questions));
		}
		if (r < 0)
			break;
	}
	return r;
}

/* NULL: the reading does not end. */
static struct switch_list *
read_switch(const uint8_t *data, size_t len, unsigned also, struct switch_list *before)
{
	const size_t piece = len > 0 ? 1 + data[0] : 1;
	struct redis_reader *reader = redis_reader_new();
	struct evbuffer *questions = evbuffer_new();
	struct switch_counts counts = { 0 };
	struct switch_list *list = NULL;
	struct sonic *sonic;

	if (reader == NULL || questions == NULL ||
	    sonic_new("", also, before, &counts, &sonic) < 0)
		abort();
	if (sonic_ask(sonic, questions) < 0)
		abort();
	for (size_t at = 1; at < len && !sonic_is_done(sonic); at += piece)
		if (redis_reader_feed(
			reader, data + at, len - at < piece ? len - at : piece) < 0 ||
		    take(sonic, reader, questions) < 0)
			break;
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

/* The same answers but for those that are asked for seldom: nobody has moved. */
static void
read_again(const uint8_t *data, size_t len, struct switch_list *before)
{
	struct switch_list *list = read_switch(data, len, 0, before);

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

/* Of its objects all but a port are missing, until that reading breaks off. */
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
	struct switch_list *list =
	    read_switch(data, len, SONIC_NEIGHBORS | SONIC_OPTICS, NULL);

	if (list != NULL) {
		read_again(data, len, list);
		read_others(list);
	}
	switch_list_free(list);
	return 0;
}
