/*
 * The server at influx.url may answer anything: two bytes of status, then the body.
 * Points are dropped only if the database refuses them.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/history/influx_answer.h"
#include "rackmesh/http/http_client.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct rm_http_answer http = { .retry_after_s = -1 };
	struct influx_answer answer;
	char *body;

	if (len < 2)
		return 0;
	/* The client's body ends with a NUL byte. */
	body = malloc(len - 1);
	if (body == NULL)
		return 0;
	memcpy(body, data + 2, len - 2);
	body[len - 2] = '\0';
	http.status = (data[0] << 8 | data[1]) % 1000;
	http.body = body;
	http.body_len = len - 2;
	influx_answer_read(&http, &answer);
	if (strlen(answer.sentence) >= INFLUX_SENTENCE_BYTES)
		abort();
	switch (answer.status) {
	case INFLUX_TAKEN:
		if (http.status < 200 || http.status >= 300)
			abort();
		break;
	case INFLUX_PARTIAL:
		if (answer.dropped == 0 || (http.status != 400 && http.status != 422))
			abort();
		break;
	case INFLUX_REFUSED:
		if (http.status != 400 && http.status != 422)
			abort();
		break;
	case INFLUX_TOO_LARGE:
		if (http.status != 413)
			abort();
		break;
	case INFLUX_CONFIG:
	case INFLUX_RETRY:
		break;
	default:
		abort();
	}
	free(body);
	return 0;
}
