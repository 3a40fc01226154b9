/* Checks how long the certificates of the daemons are valid. --check of the daemon
 * checks the rest. */
#include <errno.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ctl/doctor/checks.h"
#include "ctl/doctor/daemons.h"
#include "ctl/doctor/host.h"
#include "ctl/output/findings.h"
#include "rackmesh/config/yaml.h"

/* if less than this part of a certificate's life is left, its renewal has failed */
#define RENEWAL_PART 5
#define DAY_S 86400

static int64_t
seconds_of(const ASN1_TIME *time)
{
	struct tm tm;

	return time == NULL || ASN1_TIME_to_tm(time, &tm) != 1 ? 0 : timegm(&tm);
}

static void
judge_life(const char *who, const char *path, int64_t begins, int64_t ends, int64_t now,
    struct findings *findings)
{
	const time_t end = ends;
	char day[32];
	struct tm tm;

	strftime(day, sizeof(day), "%Y-%m-%d %H:%M UTC", gmtime_r(&end, &tm));
	if (now >= ends) {
		findings_add(findings, FINDING_WRONG, "%s: %s has expired on %s", who,
		    path, day);
		findings_remedy(findings, "renew it: peers refuse it");
	} else if (now < begins) {
		findings_add(
		    findings, FINDING_WRONG, "%s: %s is not valid yet", who, path);
		findings_remedy(findings, "correct the clock of this host, or of the "
					  "authority");
	} else if ((ends - now) < (ends - begins) / RENEWAL_PART) {
		findings_add(findings, FINDING_WARNING,
		    "%s: %s ends on %s, with less than a fifth of its life left", who,
		    path, day);
		findings_remedy(findings, "renew it: its automatic renewal has failed");
	} else {
		findings_add(findings, FINDING_GOOD,
		    "%s: %s is valid until %s, %lld days", who, path, day,
		    (long long)(ends - now) / DAY_S);
	}
}

static X509 *
certificate_parse(const char *text)
{
	BIO *bio = BIO_new_mem_buf(text, -1);
	X509 *certificate = NULL;

	if (bio != NULL)
		certificate = PEM_read_bio_X509(bio, NULL, NULL, NULL);
	BIO_free(bio);
	return certificate;
}

static void
look_at(const struct host *host, const char *who, const char *path,
    struct findings *findings)
{
	X509 *certificate = NULL;
	char *text;
	int r;

	text = host_file(host, &r, "%s", path);
	if (text == NULL) {
		findings_add(
		    findings, FINDING_WRONG, "%s: %s: %s", who, path, strerror(-r));
		findings_remedy(
		    findings, r == -EACCES ? "run doctor as root or rackmesh"
					   : "put the certificate there "
					     "(/usr/share/doc/rackmesh/security.md)");
		return;
	}
	certificate = certificate_parse(text);
	free(text);
	if (certificate == NULL) {
		findings_add(findings, FINDING_WRONG,
		    "%s: %s contains no certificate in PEM", who, path);
		findings_remedy(findings, "replace the file");
		return;
	}
	judge_life(who, path, seconds_of(X509_get0_notBefore(certificate)),
	    seconds_of(X509_get0_notAfter(certificate)), host->now_s, findings);
	X509_free(certificate);
}

void
check_certificates(const struct host *host, struct findings *findings)
{
	for (const char *const *name = daemon_names; *name != NULL; name++) {
		struct rm_yaml *config;

		if (!daemon_installed(host, *name))
			continue;
		config = daemon_config(host, *name);
		if (config == NULL)
			continue; /* check_config reports this */
		if (strcmp(daemon_config_text(config, "plaintext", "false"), "true") ==
		    0) {
			findings_add(findings, FINDING_WARNING,
			    "%s: plaintext: any host can act as one of your daemons",
			    *name);
			findings_remedy(findings,
			    "take it out of %s/%s.yaml, unless this "
			    "is a lab",
			    host->configs, *name);
		} else {
			look_at(host, *name,
			    daemon_config_text(config, "tls.certificate",
				"/etc/rackmesh/tls/certificate.pem"),
			    findings);
		}
		rm_yaml_free(config);
	}
}
