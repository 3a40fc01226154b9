#include "rackmesh/tls/credentials.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/core/log.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/metrics/metrics.h"
#include "rackmesh/tls/tls.h"

#define LOOK_NS RM_NS_PER_S
#define WARN_AGAIN_NS (3600 * RM_NS_PER_S)

struct rm_credentials {
	struct rm_tls *tls;
	struct rm_timer *timer;
	struct rm_tls_counts logged; /* the counts when they were last logged */
	int64_t warn_from_s; /* wall-clock time from which the coming end is logged */
	rm_mono_t warned;
};

struct rm_tls *
rm_credentials_tls(const struct rm_credentials *credentials)
{
	return credentials->tls;
}

static int64_t
wall_s(void)
{
	return rm_wall_now().ns / RM_NS_PER_S;
}

/* Called when a certificate is loaded. The warning begins when only a third of the life
 * that the certificate has now is left. */
static void
begin_life(struct rm_credentials *credentials)
{
	int64_t now_s = wall_s(), end_s = rm_tls_expires_wall_s(credentials->tls);

	credentials->warn_from_s = end_s - (end_s - now_s) / 3;
	credentials->warned = (rm_mono_t){ 0 };
}

static void
report_news(struct rm_credentials *credentials)
{
	const struct rm_tls_counts *counts = rm_tls_counts(credentials->tls);

	if (counts->rotations != credentials->logged.rotations) {
		rm_log_info("certificate: replaced, valid for %lld h",
		    (long long)(rm_tls_expires_wall_s(credentials->tls) - wall_s()) /
			3600);
		begin_life(credentials);
	}
	if (counts->bad_files != credentials->logged.bad_files)
		rm_log_error(0,
		    "certificate: new files refused, the old ones stay in use: %s",
		    rm_tls_trouble(credentials->tls));
	credentials->logged = *counts;
}

static void
warn_of_the_end(struct rm_credentials *credentials)
{
	int64_t left_s = rm_tls_expires_wall_s(credentials->tls) - wall_s();
	rm_mono_t now = rm_mono_now();

	if (wall_s() < credentials->warn_from_s ||
	    (credentials->warned.ns != 0 &&
		rm_mono_since(now, credentials->warned) < WARN_AGAIN_NS))
		return;
	credentials->warned = now;
	if (left_s > 0)
		rm_log_warn(0, "certificate: expires in %lld min: renew it",
		    (long long)left_s / 60);
	else
		rm_log_error(0, "certificate: expired: peers refuse every connection");
}

static void
look(void *arg)
{
	struct rm_credentials *credentials = arg;

	rm_timer_after(credentials->timer, LOOK_NS);
	report_news(credentials);
	warn_of_the_end(credentials);
}

int
rm_credentials_read(struct rm_loop *loop, const struct rm_credentials_config *config,
    struct rm_error *error, struct rm_tls **ret)
{
	const struct rm_tls_files files = {
		.certificate = config->certificate,
		.key = config->key,
		.authorities = config->authorities,
		.revoked = config->revoked[0] != '\0' ? config->revoked : NULL,
	};
	struct rm_error reports = { 0 };
	int r;

	r = rm_tls_new(loop, &files, &reports, ret);
	return r == 0 ? 0
		      : rm_error_set(error, r, "%s%s", reports.text,
			    r == -ENOENT ? "; give tls.certificate, tls.key and "
					   "tls.authorities, or, in a lab, say "
					   "'plaintext: true'"
					 : "");
}

int
rm_credentials_new(struct rm_loop *loop, const struct rm_credentials_config *config,
    struct rm_credentials **ret)
{
	struct rm_credentials *credentials = calloc(1, sizeof(*credentials));
	struct rm_error error = { 0 };
	int r;

	if (credentials == NULL)
		return -ENOMEM;
	*ret = credentials;
	if (config->plaintext) {
		rm_log_warn(
		    0, "plaintext: TLS is off: the names of peers are not checked");
		return 0;
	}
	r = rm_credentials_read(loop, config, &error, &credentials->tls);
	if (r < 0)
		rm_log_error(0, "%s", error.text);
	if (r == 0)
		r = rm_timer_new(loop, look, credentials, &credentials->timer);
	if (r < 0) {
		rm_credentials_free(credentials);
		*ret = NULL;
		return r;
	}
	begin_life(credentials);
	rm_log_info("identity: %s", rm_tls_own_identity(credentials->tls));
	rm_timer_after(credentials->timer, LOOK_NS);
	return 0;
}

void
rm_credentials_free(struct rm_credentials *credentials)
{
	if (credentials == NULL)
		return;
	rm_timer_free(credentials->timer);
	rm_tls_free(credentials->tls);
	free(credentials);
}

static double
expires(const void *arg)
{
	return (double)rm_tls_expires_wall_s(arg);
}

static double
is_plaintext(const void *arg)
{
	const struct rm_credentials *credentials = arg;

	return credentials->tls == NULL;
}

static int
tls_metrics(struct rm_tls *tls, struct rm_metrics *metrics)
{
	const struct rm_tls_counts *counts = rm_tls_counts(tls);
	const struct rm_metric list[] = {
		{ "rackmesh_tls_handshakes_total", "",
		    "TLS handshakes that were completed.", &counts->handshakes },
		{ "rackmesh_tls_refused_total", "reason=\"certificate\"",
		    "TLS handshakes that failed, by reason.", &counts->refused },
		{ "rackmesh_tls_refused_total", "reason=\"garbled\"",
		    "TLS handshakes that failed, by reason.", &counts->garbled },
		{ "rackmesh_tls_refused_total", "reason=\"timeout\"",
		    "TLS handshakes that failed, by reason.", &counts->timed_out },
		{ "rackmesh_tls_requests_refused_total", "",
		    "Requests over HTTPS that were refused because neither a "
		    "certificate nor a token named who may ask.",
		    &counts->unknown },
		{ "rackmesh_tls_rotations_total", "",
		    "Times that new certificate files came into use.",
		    &counts->rotations },
		{ "rackmesh_tls_bad_files_total", "",
		    "Times that new certificate files were refused.",
		    &counts->bad_files },
	};
	int r;

	r = rm_metrics_gauge(metrics, tls, "rackmesh_tls_certificate_expires_seconds",
	    "", "When this daemon's certificate expires, in seconds since 1970.",
	    expires, tls);
	if (r < 0)
		return r;
	return rm_metrics_counters(metrics, tls, list, sizeof(list) / sizeof(list[0]));
}

int
rm_credentials_metrics(struct rm_credentials *credentials, struct rm_metrics *metrics)
{
	int r;

	r = rm_metrics_gauge(metrics, credentials, "rackmesh_tls_plaintext", "",
	    "1: links between daemons are neither secret nor authenticated.",
	    is_plaintext, credentials);
	return r < 0 || credentials->tls == NULL
		   ? r
		   : tls_metrics(credentials->tls, metrics);
}
