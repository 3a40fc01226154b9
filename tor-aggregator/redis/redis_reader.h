/*
 * redis_reader - splits the bytes from a Redis server into answers: the reader of
 * hiredis, with limits. Pure.
 *
 * A server may send wrong lengths, counts and types. An answer with more than
 * REDIS_MAX_BYTES or REDIS_MAX_ELEMENTS is refused, whatever it announces.
 */
#ifndef TOR_AGGREGATOR_REDIS_REDIS_READER_H
#define TOR_AGGREGATOR_REDIS_REDIS_READER_H

#include <stddef.h>

#define REDIS_MAX_BYTES (4 * 1024 * 1024)
#define REDIS_MAX_ELEMENTS (2 * 32768)

struct redis_reader;
struct redisReply; /* hiredis/hiredis.h */

struct redis_reader *redis_reader_new(void);         /* NULL when out of memory */
void redis_reader_free(struct redis_reader *reader); /* NULL is allowed */

int redis_reader_feed(struct redis_reader *reader, const void *data, size_t len);
/* 1: *ret is the next answer; free it with freeReplyObject. 0: no answer is complete.
 * -EMSGSIZE: an answer is too large; -EBADMSG: the bytes are not Redis' protocol. */
int redis_reader_next(struct redis_reader *reader, struct redisReply **ret);

#endif
