#include "rackmesh/http/http_defer.h"

#include <errno.h>
#include <event2/http.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "rackmesh/http/http_request.h"
#include "rackmesh/loop/loop.h"

#define DEFER_MAX_REQUESTS 32

struct deferred {
	struct rm_http_request
	    request; /* first: rm_http_defers_remove finds us by it */
	struct rm_timer *timer;
	uint64_t token;
};

struct rm_http_defers {
	struct rm_loop *loop;
	struct deferred *requests[DEFER_MAX_REQUESTS]; /* NULL: free */
	uint64_t last_token;
};

int
rm_http_defers_new(struct rm_loop *loop, struct rm_http_defers **ret)
{
	struct rm_http_defers *defers = calloc(1, sizeof(*defers));

	if (defers == NULL)
		return -ENOMEM;
	defers->loop = loop;
	*ret = defers;
	return 0;
}

void
rm_http_defers_free(struct rm_http_defers *defers)
{
	if (defers == NULL)
		return;
	for (size_t i = 0; i < DEFER_MAX_REQUESTS; i++) {
		if (defers->requests[i] != NULL)
			rm_http_reply_error(
			    &defers->requests[i]->request, 503, "shutting down");
	}
	free(defers);
}

static void
deferred_on_timeout(void *arg)
{
	struct deferred *deferred = arg;

	rm_http_reply_error(&deferred->request, 504, "no answer in time");
}

int
rm_http_defers_add(struct rm_http_defers *defers, struct rm_http_request *request,
    int64_t timeout_ns, uint64_t *token)
{
	struct deferred *deferred;
	size_t i = 0;
	int r;

	while (i < DEFER_MAX_REQUESTS && defers->requests[i] != NULL)
		i++;
	if (i == DEFER_MAX_REQUESTS)
		return -EAGAIN;
	deferred = calloc(1, sizeof(*deferred));
	if (deferred == NULL)
		return -ENOMEM;
	r = rm_timer_new(defers->loop, deferred_on_timeout, deferred, &deferred->timer);
	if (r < 0) {
		free(deferred);
		return r;
	}
	rm_timer_after(deferred->timer, timeout_ns);
	deferred->request.req = request->req;
	deferred->request.rest = "";
	deferred->request.defers = defers;
	TAILQ_INIT(&deferred->request.query);
	deferred->token = ++defers->last_token;
	request->answered = true;
	defers->requests[i] = deferred;
	*token = deferred->token;
	return 0;
}

struct rm_http_request *
rm_http_defers_find(struct rm_http_defers *defers, uint64_t token)
{
	for (size_t i = 0; i < DEFER_MAX_REQUESTS; i++) {
		struct deferred *deferred = defers->requests[i];

		if (deferred == NULL || deferred->token != token)
			continue;
		if (evhttp_request_get_connection(deferred->request.req) != NULL)
			return &deferred->request;
		/* libevent keeps the request of a lost connection until it is answered.
		 */
		rm_http_reply_error(&deferred->request, 503, "the client has left");
		return NULL;
	}
	return NULL;
}

void
rm_http_defers_remove(struct rm_http_defers *defers, struct rm_http_request *request)
{
	struct deferred *deferred = (struct deferred *)request;

	for (size_t i = 0; i < DEFER_MAX_REQUESTS; i++) {
		if (defers->requests[i] != deferred)
			continue;
		defers->requests[i] = NULL;
		rm_timer_free(deferred->timer);
		free(deferred);
		return;
	}
}
