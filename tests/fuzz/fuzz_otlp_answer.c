/*
 * The server at otlp.url may answer anything: two bytes of status, then the body. Only
 * a 2xx status accepts a message, and only four statuses cause a retry.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/http/http_client.h"
#include "tor-aggregator/otlp/otlp_answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct rm_http_answer http = { .retry_after_s = -1 };
	struct otlp_answer answer;
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
	otlp_answer_read(&http, &answer);
	if (strlen(answer.sentence) >= OTLP_SENTENCE_BYTES)
		abort();
	if ((answer.status == OTLP_TAKEN) != (http.status >= 200 && http.status < 300))
		abort();
	if ((answer.status == OTLP_RETRY) !=
	    (http.status == 429 || (http.status >= 502 && http.status <= 504)))
		abort();
	if (answer.rejected > 0 && answer.status != OTLP_TAKEN)
		abort();
	free(body);
	return 0;
}
