#include "tor-aggregator/redis/redis_reader.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdlib.h>

#if HIREDIS_MAJOR >= 1
typedef size_t redis_count;
#else
typedef int redis_count;
#endif

struct redis_reader {
	redisReader *parser;
	redisReplyObjectFunctions make;
	void *(*make_array)(const redisReadTask *task, redis_count count);
	size_t waiting;  /* bytes since the last complete answer */
	size_t elements; /* elements that the present answer has announced so far */
	bool too_many;
};

/* Refuses an array with too many elements: hiredis would allocate as many elements as
 * are announced, for arrays within arrays, too. */
static void *
make_array(const redisReadTask *task, redis_count count)
{
	struct redis_reader *reader = task->privdata;

	if (count > 0)
		reader->elements += (size_t)count;
	if (reader->elements > REDIS_MAX_ELEMENTS) {
		reader->too_many = true;
		return NULL;
	}
	return reader->make_array(task, count);
}

struct redis_reader *
redis_reader_new(void)
{
	struct redis_reader *reader = calloc(1, sizeof(*reader));

	if (reader == NULL)
		return NULL;
	reader->parser = redisReaderCreate();
	if (reader->parser == NULL) {
		free(reader);
		return NULL;
	}
	reader->make = *reader->parser->fn;
	reader->make_array = reader->make.createArray;
	reader->make.createArray = make_array;
	reader->parser->fn = &reader->make;
	reader->parser->privdata = reader;
	return reader;
}

void
redis_reader_free(struct redis_reader *reader)
{
	if (reader == NULL)
		return;
	redisReaderFree(reader->parser);
	free(reader);
}

int
redis_reader_feed(struct redis_reader *reader, const void *data, size_t len)
{
	reader->waiting += len;
	if (reader->waiting > REDIS_MAX_BYTES)
		return -EMSGSIZE;
	return redisReaderFeed(reader->parser, data, len) == REDIS_OK ? 0 : -ENOMEM;
}

int
redis_reader_next(struct redis_reader *reader, struct redisReply **ret)
{
	void *reply = NULL;

	if (redisReaderGetReply(reader->parser, &reply) != REDIS_OK)
		return reader->too_many ? -EMSGSIZE : -EBADMSG;
	if (reply == NULL)
		return 0;
	reader->waiting = 0;
	reader->elements = 0;
	*ret = reply;
	return 1;
}
