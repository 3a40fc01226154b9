/*
 * Any bytes as the file in which the analyzer keeps its SLA figures. Bytes that are
 * refused change nothing; what was read can be shown, written and read again, and gives
 * the same figures.
 *
 * Input: the contents of the file without its first 12 bytes, which this target makes,
 * because a fuzzer cannot guess a checksum. An input that begins with 'R' is a whole
 * file.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/sla/sla.h"
#include "analyzer/sla/sla_kept.h"
#include "rackmesh/core/crc32c.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define HEAD_BYTES 12
/* the time of the files in the corpus */
#define NOW_NS (INT64_C(28333320) * 60 * RM_NS_PER_S)

#define EMPTY                                                                         \
	"{\"missing\": {\"day\": 0, \"hour\": 0}, \"scopes\": [], \"services\": [], " \
	"\"since\": null}"

static const struct sla_options options = { 10 };

static void
on_minute(const struct sla_minute *minute, void *arg)
{
}

static struct sla *
read_back(const uint8_t *data, size_t len, int *r)
{
	struct sla *sla;

	if (sla_new(&options, &sla) < 0)
		abort();
	*r = sla_kept_read(sla, data, len, (rm_wall_t){ NOW_NS });
	if (*r == 0 && sla_kept_earliest(data, len).ns > NOW_NS)
		abort();
	sla_close(sla, (rm_wall_t){ NOW_NS }, 0, on_minute, NULL);
	return sla;
}

static char *
show(struct sla *sla)
{
	json_t *json = sla_json(sla, NULL);
	char *text = json_dumps(json, JSON_SORT_KEYS);

	if (text == NULL)
		abort();
	json_decref(json);
	return text;
}

static void
write_all(struct sla *sla, struct sla_save *save)
{
	int r;

	while ((r = sla_kept_write(sla, save)) == 0)
		;
	if (r < 0 || save->len > save->max_bytes)
		abort();
	sla_kept_seal(save);
}

static void
run(const uint8_t *data, size_t len)
{
	struct sla_save save = { .max_bytes = 1 << 20, .turn_bytes = 1 };
	struct sla_save small = { .max_bytes = 500, .turn_bytes = 500 };
	char *first, *second;
	struct sla *sla, *again;
	int r;

	sla = read_back(data, len, &r);
	first = show(sla);
	if (r < 0) {
		if (strcmp(first, EMPTY) != 0)
			abort();
		free(first);
		sla_free(sla);
		return;
	}
	write_all(sla, &save);
	again = read_back(save.data, save.len, &r);
	if (r < 0)
		abort();
	second = show(again);
	if (save.left_out == 0 && strcmp(first, second) != 0)
		abort();
	sla_close(again, (rm_wall_t){ NOW_NS + 120 * RM_NS_PER_S }, 0, on_minute, NULL);
	write_all(again, &small);
	free(first);
	free(second);
	sla_kept_drop(&save);
	sla_kept_drop(&small);
	sla_free(again);
	sla_free(sla);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const uint8_t magic[8] = { 'R', 'M', 'S', 'L', 'A', 0, 0, 1 };
	uint8_t *file;
	uint32_t crc;

	if (len > 0 && data[0] == 'R') {
		run(data, len);
		return 0;
	}
	file = malloc(HEAD_BYTES + len);
	if (file == NULL)
		abort();
	memcpy(file, magic, sizeof(magic));
	if (len > 0)
		memcpy(file + HEAD_BYTES, data, len);
	crc = rm_crc32c(0, file + HEAD_BYTES, len);
	for (int i = 0; i < 4; i++)
		file[8 + i] = (uint8_t)(crc >> (24 - 8 * i));
	run(file, HEAD_BYTES + len);
	free(file);
	return 0;
}
