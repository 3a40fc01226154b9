/* The HTTP client: its calls are answered, or fail. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/http/http_client.h"
#include "tests/support/fake_world_parts.h"

struct rm_http_call {
	void (*done)(const struct rm_http_answer *answer, void *arg);
	int (*on_data)(const char *data, size_t len, void *arg);
	void *arg;
	struct rm_http_call *next;
};

struct rm_http_client {
	size_t count;
};

static struct rm_http_client *client;
static struct rm_http_call *calls;

void
fake_client_end(void)
{
	if (client != NULL || calls != NULL)
		abort();
}

static void
take_off(struct rm_http_call *call)
{
	struct rm_http_call **at = &calls;

	while (*at != call)
		at = &(*at)->next;
	*at = call->next;
	client->count--;
}

static void
end(struct rm_http_call *call, const struct rm_http_answer *answer)
{
	take_off(call);
	call->done(answer, call->arg);
	free(call);
}

int
rm_http_client_new(struct rm_loop *loop, struct rm_http_client **ret)
{
	if (client != NULL)
		abort();
	client = calloc(1, sizeof(*client));
	*ret = client;
	return client == NULL ? -ENOMEM : 0;
}

void
rm_http_client_free(struct rm_http_client *gone)
{
	const struct rm_http_answer answer = {
		.r = -ECANCELED, .body = "", .reason = "", .retry_after_s = -1
	};

	if (gone == NULL)
		return;
	while (calls != NULL)
		end(calls, &answer);
	free(gone);
	client = NULL;
}

int
rm_http_client_origin(
    struct rm_http_client *of, const char *base, const struct rm_http_origin *origin)
{
	return 0;
}

int
rm_http_client_start(struct rm_http_client *by, const struct rm_http_exchange *exchange,
    struct rm_http_call **ret)
{
	struct rm_http_call *call;

	if (by->count == RM_HTTP_MAX_CALLS)
		return -EAGAIN;
	call = calloc(1, sizeof(*call));
	if (call == NULL)
		return -ENOMEM;
	call->done = exchange->done;
	call->on_data = exchange->on_data;
	call->arg = exchange->arg;
	call->next = calls;
	calls = call;
	by->count++;
	if (ret != NULL)
		*ret = call;
	return 0;
}

int
rm_http_client_send(struct rm_http_client *by, const char *url,
    const char *content_type, const char *body, size_t body_len, int64_t timeout_ns,
    void (*done)(const struct rm_http_answer *answer, void *arg), void *arg)
{
	const struct rm_http_exchange exchange = { .done = done, .arg = arg };

	return rm_http_client_start(by, &exchange, NULL);
}

void
rm_http_call_cancel(struct rm_http_call *call)
{
	if (call == NULL)
		return;
	take_off(call);
	free(call);
}

int
rm_http_client_now(struct rm_http_client *by, const struct rm_http_exchange *exchange)
{
	return -ECONNREFUSED;
}

void
fake_world_reply(size_t i, long status, const char *body, int64_t retry_after_s)
{
	struct rm_http_answer answer = { .status = status,
		.body = body,
		.body_len = strlen(body),
		.reason = "",
		.retry_after_s = retry_after_s };
	struct rm_http_call *call = calls;

	if (call == NULL)
		return;
	for (i %= client->count; i > 0; i--)
		call = call->next;
	if (status == 0) {
		answer = (struct rm_http_answer){ .r = -ECONNREFUSED,
			.body = "",
			.reason = "nobody there",
			.retry_after_s = -1 };
	} else if (status == 200 && call->on_data != NULL) {
		answer.r = call->on_data(body, answer.body_len, call->arg);
		answer.body = "";
		answer.body_len = 0;
	}
	end(call, &answer);
}
