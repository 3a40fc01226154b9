/*
 * What a switch's Redis says, made up: any bytes, as answers to what was asked.
 * Whatever it says, nothing larger than the limits is kept, and a reading that ends has
 * a port.
 */
#include <event2/buffer.h>
#include <hiredis/hiredis.h>
#include <stdlib.h>

#include "tor-aggregator/switch/redis_reader.h"
#include "tor-aggregator/switch/sonic.h"
#include "tor-aggregator/switch/switch_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static int
take(struct sonic *sonic, struct redis_reader *reader, struct evbuffer *questions)
{
	struct rm_why why = { .text = "" };
	redisReply *answer;
	int r;

	while ((r = redis_reader_next(reader, &answer)) == 1) {
		r = sonic_answer(sonic, answer, &why);
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

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const size_t piece = len > 0 ? 1 + data[0] : 1;
	struct redis_reader *reader = redis_reader_new();
	struct evbuffer *questions = evbuffer_new();
	struct switch_counts counts = { 0 };
	struct sonic *sonic;

	if (reader == NULL || questions == NULL ||
	    sonic_new("", SONIC_NEIGHBORS | SONIC_OPTICS, NULL, &counts, &sonic) < 0)
		abort();
	if (sonic_ask(sonic, questions) < 0)
		abort();
	for (size_t at = 1; at < len && !sonic_is_done(sonic); at += piece)
		if (redis_reader_feed(
			reader, data + at, len - at < piece ? len - at : piece) < 0 ||
		    take(sonic, reader, questions) < 0)
			break;
	if (sonic_is_done(sonic)) {
		struct switch_list *list = sonic_take_list(sonic);

		if (switch_list_count(list) == 0 ||
		    switch_list_count(list) > SWITCH_MAX_OBJECTS ||
		    switch_list_get(list, 0)->part != SWITCH_PORT)
			abort();
		switch_list_free(list);
	}
	sonic_free(sonic);
	redis_reader_free(reader);
	evbuffer_free(questions);
	return 0;
}
