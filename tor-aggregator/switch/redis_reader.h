/*
 * redis_reader - cuts the answers of a Redis out of its bytes: hiredis' reader with
 * limits. Pure.
 *
 * A server may send wrong lengths, counts and types. No answer may be larger than
 * REDIS_MAX_BYTES or have more than REDIS_MAX_ELEMENTS, whatever it announces.
 */
#ifndef TOR_AGGREGATOR_SWITCH_REDIS_READER_H
#define TOR_AGGREGATOR_SWITCH_REDIS_READER_H

#include <stddef.h>

#define REDIS_MAX_BYTES (4 * 1024 * 1024)
#define REDIS_MAX_ELEMENTS (2 * 32768)

struct redis_reader;
struct redisReply; /* hiredis/hiredis.h */

struct redis_reader *redis_reader_new(void);         /* NULL when out of memory */
void redis_reader_free(struct redis_reader *reader); /* NULL is allowed */

int redis_reader_feed(struct redis_reader *reader, const void *data, size_t len);
/* 1: *ret is the next answer, to be freed by freeReplyObject; 0: it is not complete.
 * -EMSGSIZE: too large; -EBADMSG: the server is not a Redis. */
int redis_reader_next(struct redis_reader *reader, struct redisReply **ret);

#endif
