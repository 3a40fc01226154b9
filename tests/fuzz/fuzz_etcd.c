/* Fuzzes what comes from etcd's gateway: the first byte picks an answer, with one of
 * several statuses, or the lines of a watch in two pieces. Every byte handed over is
 * read. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/base/etcd_cutter.h"
#include "rackmesh/base/etcd_json.h"

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

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const long statuses[] = { 200, 400, 401, 404, 429, 500, 503 };
	const char *text = (const char *)data + 1;
	struct rm_etcd_cutter cutter = { 0 };
	struct rm_etcd_reply reply;
	size_t half;

	if (size == 0)
		return 0;
	size--;
	if (data[0] % 8 == 7) {
		half = size * data[0] / 256;
		rm_etcd_cutter_feed(&cutter, text, half, on_line, NULL);
		rm_etcd_cutter_feed(&cutter, text + half, size - half, on_line, NULL);
		rm_etcd_cutter_clear(&cutter);
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
