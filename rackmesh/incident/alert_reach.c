#include "rackmesh/incident/alert_reach.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/core/log.h"
#include "rackmesh/http/http_client.h"
#include "rackmesh/http/http_url.h"
#include "rackmesh/loop/loop.h"

#define REACH_TIMEOUT_NS (2 * RM_NS_PER_S)
#define REACH_AGAIN_NS (3 * RM_NS_PER_S)
#define REACH_TROUBLE_BYTES 512
#define REACH_QUOTED_BYTES 200
/* maximum number of bytes of a refusal's text that are shown */
#define REACH_TEXT_BYTES 120

/* A request may end after its owner was freed: then reach is NULL. */
struct question {
	struct alert_reach *reach;
	/* number of exchanges that had ended when this request was sent */
	uint64_t exchanges;
};

struct alert_reach {
	struct rm_http_client *http;
	struct rm_timer *timer;
	char *url, *name;
	const char *body;
	int64_t every_ns;
	/* the running request without alerts; NULL: none is running */
	struct question *question;
	uint64_t exchanges;
	/* times of the last request and of the last answer of any kind */
	rm_mono_t asked, answered;
	rm_mono_t dated; /* when the receiver last sent its time; ns 0: never */
	rm_wall_t date;
	/* status of the last exchange if the receiver refused it; else 0 */
	long refusal;
	bool fails;
	bool refused;                      /* the last alert was refused for good */
	char trouble[REACH_TROUBLE_BYTES]; /* "": none */
};

/* Half of the largest time, because ages are added to it. */
#define DATE_MAX_S (INT64_MAX / RM_NS_PER_S / 2)

/* True: the answer is from the receiver's host, even if it is an expired
 * certificate. */
static bool
is_from_host(const struct rm_http_answer *answer)
{
	return answer->r == 0 || answer->r == -ECONNREFUSED ||
	       answer->r == -ECONNRESET || answer->r == -EPROTO;
}

static void
note_answer(struct alert_reach *reach, const struct rm_http_answer *answer)
{
	if (is_from_host(answer))
		reach->answered = rm_mono_now();
	if (answer->r != 0 || answer->date_s <= 0 || answer->date_s > DATE_MAX_S)
		return;
	reach->dated = rm_mono_now();
	reach->date.ns = answer->date_s * RM_NS_PER_S;
}

/* An Alertmanager answers with an empty body or with JSON. */
static bool
is_page(const struct alert_reach *reach, const struct rm_http_answer *answer)
{
	return reach->body != NULL && rm_http_answer_is_page(answer);
}

bool
alert_reach_took(const struct alert_reach *reach, const struct rm_http_answer *answer)
{
	return answer->r == 0 && answer->status >= 200 && answer->status < 300 &&
	       !is_page(reach, answer);
}

/* Many webhooks do not support GET, and some answer 501 to it. */
static bool
is_good(const struct alert_reach *reach, const struct rm_http_answer *answer)
{
	const bool will_do = reach->body != NULL
				 ? alert_reach_took(reach, answer)
				 : answer->status < 500 || answer->status == 501;

	return answer->r == 0 && will_do && answer->status != reach->refusal;
}

/* Advice for an operator; "": there is no advice. */
static const char *
advice(const struct alert_reach *reach, long status)
{
	if (status == 401 || status == 403)
		return ": look at alerts.user, alerts.password_file, "
		       "alerts.token_file";
	if (status == 404 && reach->body != NULL)
		return ": look at its prefix (--web.route-prefix)";
	return "";
}

/* True: the refusal has a text with the reason, and that text is not a web page. */
static bool
has_text(const struct rm_http_answer *answer)
{
	return answer->body != NULL && answer->body[0] != '\0' &&
	       !rm_http_answer_is_page(answer);
}

static void
describe(struct alert_reach *reach, const struct rm_http_answer *answer)
{
	char shown[RM_HTTP_URL_SHOWN_BYTES], quoted[REACH_QUOTED_BYTES];
	char *out = reach->trouble;

	if (answer->r != 0)
		snprintf(out, REACH_TROUBLE_BYTES, "%s does not answer: %s",
		    reach->name,
		    answer->reason[0] != '\0' ? answer->reason : strerror(-answer->r));
	else if (answer->redirect != NULL) {
		rm_http_url_show(answer->redirect, reach->body != NULL, shown);
		snprintf(out, REACH_TROUBLE_BYTES,
		    "%s answers %ld, a redirect to %s: configure the URL that it leads "
		    "to",
		    reach->name, answer->status,
		    rm_log_quote(quoted, sizeof(quoted), shown, strlen(shown)));
	} else if (answer->status < 300)
		snprintf(out, REACH_TROUBLE_BYTES,
		    "%s answers %ld with a web page, as no Alertmanager does: look at "
		    "what is at this URL, perhaps a login",
		    reach->name, answer->status);
	else
		snprintf(out, REACH_TROUBLE_BYTES, "%s answers %ld%s%s%s", reach->name,
		    answer->status, advice(reach, answer->status),
		    has_text(answer) ? ": " : "",
		    has_text(answer)
			? rm_log_quote(quoted, sizeof(quoted), answer->body,
			      strnlen(answer->body, REACH_TEXT_BYTES))
			: "");
}

/* Logs the beginning and the end of a problem. */
static void
note_trouble(
    struct alert_reach *reach, const struct rm_http_answer *answer, bool trouble)
{
	const bool before = reach->trouble[0] != '\0';

	if (trouble)
		describe(reach, answer);
	else
		reach->trouble[0] = '\0';
	if (trouble && !before)
		rm_log_warn(0, "alerts: receiver failed: %s", reach->trouble);
	if (!trouble && before)
		rm_log_info("alerts: receiver recovered: %s", reach->name);
}

static void
on_answer(const struct rm_http_answer *answer, void *arg)
{
	struct question *question = arg;
	struct alert_reach *reach = question->reach;
	/* If an exchange ended meanwhile, its result is newer than this answer. */
	bool counts = reach != NULL && question->exchanges == reach->exchanges;

	free(question);
	if (reach == NULL)
		return;
	reach->question = NULL;
	if (answer->r == -ECANCELED)
		return; /* the HTTP client is being freed */
	note_answer(reach, answer);
	if (!counts)
		return;
	reach->fails = !is_good(reach, answer);
	if (reach->fails || !reach->refused)
		note_trouble(reach, answer, reach->fails);
}

static void
ask(struct alert_reach *reach)
{
	struct question *question = calloc(1, sizeof(*question));

	reach->asked = rm_mono_now();
	if (question == NULL)
		return;
	question->reach = reach;
	question->exchanges = reach->exchanges;
	if (rm_http_client_send(reach->http, reach->url, "application/json",
		reach->body, reach->body == NULL ? 0 : strlen(reach->body),
		REACH_TIMEOUT_NS, on_answer, question) < 0)
		free(question);
	else
		reach->question = question;
}

static void
on_timer(void *arg)
{
	struct alert_reach *reach = arg;

	if (reach->question == NULL)
		ask(reach);
	rm_timer_after(reach->timer, reach->every_ns);
}

int
alert_reach_new(struct rm_loop *loop, struct rm_http_client *http, const char *url,
    const char *name, const char *body, int64_t every_ns, struct alert_reach **ret)
{
	struct alert_reach *reach = calloc(1, sizeof(*reach));
	int r = -ENOMEM;

	if (reach == NULL)
		return r;
	reach->http = http;
	reach->body = body;
	reach->every_ns = every_ns;
	reach->url = strdup(url);
	reach->name = strdup(name);
	if (reach->url != NULL && reach->name != NULL)
		r = rm_timer_new(loop, on_timer, reach, &reach->timer);
	if (r < 0) {
		alert_reach_free(reach);
		return r;
	}
	if (every_ns > 0)
		rm_timer_after(reach->timer, 0);
	*ret = reach;
	return 0;
}

void
alert_reach_free(struct alert_reach *reach)
{
	if (reach == NULL)
		return;
	if (reach->question != NULL)
		reach->question->reach = NULL;
	rm_timer_free(reach->timer);
	free(reach->url);
	free(reach->name);
	free(reach);
}

void
alert_reach_note(
    struct alert_reach *reach, const struct rm_http_answer *answer, bool taken)
{
	const bool good = alert_reach_took(reach, answer);

	reach->exchanges++;
	/* A web page with status 200 is refused because of its content, so the status
	 * is not shown. */
	reach->refusal =
	    taken || answer->r != 0 || answer->status < 300 ? 0 : answer->status;
	reach->refused = taken && !good;
	reach->fails = !taken;
	note_trouble(reach, answer, !good);
	note_answer(reach, answer);
	if (reach->every_ns > 0)
		rm_timer_after(reach->timer, reach->every_ns);
}

bool
alert_reach_is_good(const struct alert_reach *reach)
{
	return !reach->fails;
}

const char *
alert_reach_trouble(const struct alert_reach *reach)
{
	return reach->trouble;
}

bool
alert_reach_answered(struct alert_reach *reach, rm_mono_t since)
{
	if (reach->answered.ns > since.ns)
		return true;
	if (reach->question == NULL &&
	    (reach->asked.ns <= since.ns ||
		rm_mono_since(rm_mono_now(), reach->asked) >= REACH_AGAIN_NS))
		ask(reach);
	return false;
}

bool
alert_reach_date(const struct alert_reach *reach, rm_mono_t now, rm_wall_t *ret)
{
	if (reach->dated.ns == 0 ||
	    rm_mono_since(now, reach->dated) > ALERT_REACH_DATE_NS)
		return false;
	ret->ns = reach->date.ns + rm_mono_since(now, reach->dated);
	return true;
}
