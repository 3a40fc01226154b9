#include "tor-aggregator/switch/nexus_client.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/file.h"
#include "rackmesh/http/http_client.h"
#include "rackmesh/loop/worker.h"
#include "tor-aggregator/switch/config/switch_config.h"
#include "tor-aggregator/switch/nexus.h"

struct job {                         /* owned by the worker until it is done */
	struct nexus_client *client; /* for the loop; NULL: the request was canceled */
	atomic_bool is_canceled;     /* the same, for the worker */
	unsigned also;
	char *text;
	size_t len;
	struct nexus_values *values;
	struct rm_error error;
};

struct nexus_client {
	struct nexus_client_options options;
	char url[320];
	/* bodies of the requests, indexed by the bits of NEXUS_* */
	char *questions[NEXUS_QUESTIONS];
	unsigned also; /* the bits of the last request */
	struct rm_http_call *call;
	struct job *job;
};

int
nexus_client_new(const struct nexus_client_options *options, struct nexus_client **ret)
{
	struct nexus_client *client = calloc(1, sizeof(*client));

	if (client == NULL)
		return -ENOMEM;
	client->options = *options;
	snprintf(client->url, sizeof(client->url), "https://%s/ins",
	    options->config->address);
	for (unsigned i = 0; i < NEXUS_QUESTIONS; i++) {
		client->questions[i] = nexus_question(i);
		if (client->questions[i] == NULL) {
			nexus_client_free(client);
			return -ENOMEM;
		}
	}
	*ret = client;
	return 0;
}

void
nexus_client_free(struct nexus_client *client)
{
	if (client == NULL)
		return;
	nexus_client_cancel(client);
	for (int i = 0; i < NEXUS_QUESTIONS; i++)
		free(client->questions[i]);
	free(client);
}

void
nexus_client_cancel(struct nexus_client *client)
{
	if (client == NULL)
		return;
	if (client->call != NULL)
		rm_http_call_cancel(client->call);
	client->call = NULL;
	if (client->job != NULL) {
		client->job->client = NULL;
		atomic_store(&client->job->is_canceled, true);
	}
	client->job = NULL;
}

/* ---- the answer, on the worker ---- */

static void
free_job(struct job *job)
{
	free(job->text);
	nexus_values_free(job->values);
	free(job);
}

static int
run_job(void *arg)
{
	struct job *job = arg;

	if (atomic_load(&job->is_canceled))
		return -ECANCELED; /* others wait for the worker */
	return nexus_parse(job->text, job->len, job->also, &job->values, &job->error);
}

static void
on_job(void *arg, int r)
{
	struct job *job = arg;
	struct nexus_client *client = job->client;
	struct nexus_values *values = job->values;

	if (client != NULL) {
		client->job = NULL;
		job->values = NULL;
		client->options.done(r, job->error.text, values, client->options.arg);
	}
	free_job(job);
}

static int
submit(struct nexus_client *client, const struct rm_http_answer *answer)
{
	struct job *job = calloc(1, sizeof(*job));
	int r = -ENOMEM;

	if (job == NULL)
		return r;
	job->client = client;
	job->also = client->also;
	job->len = answer->body_len;
	job->text = malloc(answer->body_len + 1);
	if (job->text != NULL) {
		memcpy(job->text, answer->body, answer->body_len);
		r = rm_worker_submit(client->options.worker, run_job, on_job, job);
	}
	if (r < 0)
		free_job(job);
	else
		client->job = job;
	return r;
}

/* ---- the exchange ---- */

static int
classify(const struct rm_http_answer *answer, struct rm_error *error)
{
	if (answer->r == -ETIMEDOUT)
		return rm_error_set(
		    error, answer->r, "not all of its answer came in time");
	if (answer->r < 0)
		return rm_error_set(error, answer->r, "%s",
		    answer->reason[0] != '\0' ? answer->reason : strerror(-answer->r));
	if (answer->status == 401 || answer->status == 403)
		return rm_error_set(error, -EACCES,
		    "it refused switch.user with the password of switch.password_file "
		    "(HTTP %ld)",
		    answer->status);
	if (answer->status != 200)
		return rm_error_set(error, -EPROTO,
		    "it answered with HTTP %ld: is it NX-API?", answer->status);
	return 0;
}

static void
on_answer(const struct rm_http_answer *answer, void *arg)
{
	struct nexus_client *client = arg;
	struct rm_error error = { .text = "" };
	int r;

	client->call = NULL;
	r = classify(answer, &error);
	if (r == 0)
		r = submit(client, answer);
	if (r < 0)
		client->options.done(r, error.text, NULL, client->options.arg);
}

int
nexus_client_ask(struct nexus_client *client, unsigned also, int64_t timeout_ns,
    struct rm_error *error)
{
	static const char *const headers[] = { "Content-Type: application/json",
		"Accept: application/json", NULL };
	const struct switch_config *config = client->options.config;
	const struct rm_http_tls tls = { .authorities = config->authorities[0] == '\0'
							    ? NULL
							    : config->authorities };
	char password[SWITCH_PASSWORD_BYTES];
	const struct rm_http_exchange exchange = {
		.url = client->url,
		.headers = headers,
		.body = client->questions[also],
		.body_len = strlen(client->questions[also]),
		.user = config->user,
		.password = password,
		.tls = &tls,
		.max_body_bytes = NEXUS_MAX_BYTES,
		.whole = true,
		.timeout_ns = timeout_ns,
		.done = on_answer,
		.arg = client,
	};
	int r = rm_file_read_password(
	    config->password_file, password, sizeof(password), error);

	client->also = also;
	if (r == 0)
		r = rm_http_client_start(
		    client->options.http, &exchange, &client->call);
	explicit_bzero(password, sizeof(password));
	return r;
}
