/*
 * Answers of etcd's gateway. The first byte selects an answer, with one of several
 * statuses, or the lines of a watch in two pieces (the second is repeated until a line
 * that begins with '!' ends it), or base64 in both directions. Every byte handed over
 * is read.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/etcd/base64.h"
#include "rackmesh/etcd/etcd_json.h"
#include "rackmesh/etcd/line_splitter.h"
#include "tests/support/failing_malloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile size_t sink;

static void
walk(const struct rm_etcd_value *value)
{
	sink += strlen(value->key);
	for (size_t i = 0; i <= value->value_len; i++)
		sink += (unsigned char)value->value[i];
	if (value->mod_revision < 0 || value->create_revision < 0 || value->version < 0)
		abort();
}

static bool
on_line(const char *text, size_t len, void *arg)
{
	struct rm_etcd_line line;

	if (memchr(text, '\n', len) != NULL || len == 0)
		abort();
	if (text[0] == '!')
		return false;
	if (rm_etcd_json_line(text, len, &line) < 0)
		return true;
	for (size_t i = 0; i < line.count; i++) {
		walk(&line.events[i].value);
		if (line.events[i].value.mod_revision > line.last)
			abort();
	}
	sink += strlen(line.error);
	rm_etcd_line_clear(&line);
	return true;
}

static void
lines(uint8_t how, const char *text, size_t size)
{
	struct rm_line_splitter splitter = { 0 };
	size_t half = size * how / 256, times = 1;
	int r;

	failing_malloc_arm(how == 0xf7 ? 2 : 0);
	if (size > 2 && text[0] == '*')
		times = 40;
	r = rm_line_splitter_feed(&splitter, text, half, on_line, NULL);
	for (size_t i = 0; r == 0 && i < times; i++)
		r = rm_line_splitter_feed(
		    &splitter, text + half, size - half, on_line, NULL);
	if ((r != 0 && r != -ENOBUFS) || splitter.len > RM_ETCD_MAX_LINE)
		abort();
	(void)failing_malloc_disarm();
	rm_line_splitter_clear(&splitter);
}

static void
base64(const char *text, size_t size)
{
	char *coded = malloc(rm_base64_size(size) + 1);
	uint8_t *plain = malloc(rm_base64_size(size) + 3);
	size_t len;

	if (coded == NULL || plain == NULL)
		abort();
	if (rm_base64_decode(text, size, plain, &len) == 0 && len > size / 4 * 3)
		abort();
	rm_base64_encode(text, size, coded);
	if (rm_base64_decode(coded, rm_base64_size(size), plain, &len) < 0 ||
	    len != size || memcmp(plain, text, size) != 0)
		abort();
	free(coded);
	free(plain);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const long statuses[] = { 200, 400, 401, 404, 429, 500, 503 };
	const char *text = (const char *)data + 1;
	struct rm_etcd_reply reply;

	if (size == 0)
		return 0;
	size--;
	if (data[0] == 0xff) {
		base64(text, size);
		return 0;
	}
	if (data[0] % 8 == 7) {
		lines(data[0], text, size);
		return 0;
	}
	rm_etcd_json_answer(statuses[data[0] % 8], text, size, &reply);
	for (size_t i = 0; i < reply.answer.count; i++)
		walk(&reply.answer.values[i]);
	if (reply.answer.r > 0 || reply.answer.ttl_s < 0)
		abort();
	sink += strlen(reply.answer.error);
	rm_etcd_reply_clear(&reply);
	return 0;
}
