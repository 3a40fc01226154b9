#include "tests/unit/host-agent/kubernetes/kubelet_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "rackmesh/core/address.h"
#include "rackmesh/core/file.h"
#include "rackmesh/http/http_origin.h"
#include "rackmesh/http/http_server.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/worker.h"

#define DEADLINE_NS (60 * RM_NS_PER_S)

static void
on_request(struct rm_http_request *request, void *arg)
{
	struct kubelet_fixture *f = arg;

	f->asked++;
	rm_http_reply_text(request, f->status, f->answer, strlen(f->answer));
}

static void
on_end(int r, const char *reason, bool news, void *arg)
{
	struct kubelet_fixture *f = arg;

	f->r = r;
	f->news = news;
	snprintf(f->reason, sizeof(f->reason), "%s", reason);
	if (++f->ended == f->until)
		rm_loop_stop(f->loop);
}

static void
on_deadline(void *arg)
{
	struct kubelet_fixture *f = arg;

	rm_loop_stop(f->loop);
}

static int
serve(struct kubelet_fixture *f)
{
	struct rm_address address;
	int r = rm_http_server_new(f->loop, &f->server);

	if (r == 0)
		r = rm_http_route(f->server, RM_HTTP_READ, "/pods", on_request, f);
	if (r == 0)
		r = rm_address_parse("127.0.0.1:0", -1, &address);
	return r < 0 ? r : rm_http_server_listen(f->server, &address);
}

static int
ask(struct kubelet_fixture *f, int64_t interval_ns, int64_t apart_ns, int64_t news_ns)
{
	static struct rm_http_origin origin;
	char url[64];
	const struct kubelet_options options = {
		.loop = f->loop,
		.worker = f->worker,
		.url = url,
		.origin = &origin,
		.interval_ns = interval_ns,
		.apart_ns = apart_ns,
		.news_ns = news_ns,
		.done = on_end,
		.arg = f,
	};

	origin.token_file = f->token_file;
	snprintf(
	    url, sizeof(url), "http://127.0.0.1:%d/", rm_http_server_port(f->server));
	return kubelet_new(&options, &f->kubelet);
}

int
kubelet_fixture_new(
    struct kubelet_fixture *f, int64_t interval_ns, int64_t apart_ns, int64_t news_ns)
{
	*f = (struct kubelet_fixture){ .status = 200, .answer = "" };
	snprintf(f->token_file, sizeof(f->token_file), "/tmp/rackmesh-kubelet-%d",
	    (int)getpid());
	if (rm_file_replace_secret(f->token_file, (const uint8_t *)"t0ken\n", 6) < 0 ||
	    rm_loop_new(&f->loop) < 0 || rm_worker_new(f->loop, 4, &f->worker) < 0 ||
	    rm_timer_new(f->loop, on_deadline, f, &f->deadline) < 0)
		return -1;
	return serve(f) < 0 || ask(f, interval_ns, apart_ns, news_ns) < 0 ? -1 : 0;
}

void
kubelet_fixture_free(struct kubelet_fixture *f)
{
	kubelet_free(f->kubelet);
	rm_http_server_free(f->server);
	rm_worker_free(f->worker);
	rm_timer_free(f->deadline);
	rm_loop_free(f->loop);
	unlink(f->token_file);
}

void
kubelet_fixture_run(struct kubelet_fixture *f, unsigned count)
{
	f->until = count;
	rm_timer_after(f->deadline, DEADLINE_NS);
	assert_int_equal(rm_loop_run(f->loop), 0);
	rm_timer_stop(f->deadline);
	assert_int_equal(f->ended, count);
}
