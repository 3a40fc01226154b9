#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <sys/stat.h>
#include <time.h>

#include "rackmesh/core/file.h"
#include "tests/support/tls_fixture.h"

#define DAMAGED "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"

static struct rm_tls_files
good_files(struct ends *ends)
{
	return pki_issue(ends->pki, "own", &(struct pki_wish){ .uri = AGENT_URI });
}

static void
expect_refusal(struct ends *ends, const struct rm_tls_files *files, int expected,
    const char *reports)
{
	struct rm_tls *tls = NULL;
	struct rm_error error = { .text = "" };
	int r = rm_tls_new(ends->loop, files, &error, &tls);

	if (r != expected || strstr(error.text, reports) == NULL)
		fail_msg("%d: %s (expected %d: %s)", r, error.text, expected, reports);
	assert_null(tls);
}

static void
good_files_give_the_identity_and_its_expiry(void **state)
{
	struct ends *ends = *state;
	struct rm_tls_files files = good_files(ends);
	struct rm_tls *tls = tls_of(ends->loop, &files);

	assert_string_equal(rm_tls_own_identity(tls), AGENT_URI);
	assert_in_range(
	    rm_tls_expires_wall_s(tls), time(NULL) + 3590, time(NULL) + 3601);
	assert_string_equal(rm_tls_trouble(tls), "");
	rm_tls_free(tls);
}

/* Valid for an hour and some minutes: a fifth of that is between 700 and 1000 s. */
static void
a_certificate_is_about_to_expire_with_a_fifth_of_its_validity_left(void **state)
{
	struct ends *ends = *state;
	struct rm_tls_files files = good_files(ends);
	struct rm_tls *tls = tls_of(ends->loop, &files);
	int64_t ends_s = rm_tls_expires_wall_s(tls);

	assert_int_equal(rm_tls_ending_wall_s(tls, time(NULL)), 0);
	assert_int_equal(rm_tls_ending_wall_s(tls, ends_s - 1000), 0);
	assert_int_equal(rm_tls_ending_wall_s(tls, ends_s - 700), ends_s);
	assert_int_equal(rm_tls_ending_wall_s(tls, ends_s + 700), ends_s);
	assert_int_equal(rm_tls_ending_wall_s(NULL, ends_s), 0);
	rm_tls_free(tls);
}

static void
an_own_certificate_that_peers_would_refuse_is_refused_with_a_reason(void **state)
{
	static const struct {
		struct pki_wish wish;
		const char *reports;
	} bad[] = {
		{ { .uri = AGENT_URI, .expired = true },
		    "own.pem: certificate has expired" },
		{ { .uri = AGENT_URI, .not_yet = true },
		    "own.pem: certificate is not yet" },
		{ { .uri = AGENT_URI, .other_uri = TOR_URI }, "own.pem: has 2 URIs" },
		{ { .dns = "h1" }, "own.pem: has 0 URIs" },
		{ { .uri = AGENT_URI, .no_usage = true },
		    "own.pem: its extended key usage" },
		{ { .uri = AGENT_URI, .self_signed = true }, "own.pem: self-signed" },
		{ { .uri = AGENT_URI, .sha1 = true }, "own.pem: CA signature digest" },
		{ { .uri = AGENT_URI, .short_key = true },
		    "own.pem: EE certificate key" },
		{ { .uri = AGENT_URI, .foreign_key = true },
		    "own.key: is not the key of" },
		{ { .uri = AGENT_URI, .unknown_critical = true },
		    "unhandled critical" },
	};
	struct ends *ends = *state;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct rm_tls_files files = pki_issue(ends->pki, "own", &bad[i].wish);

		expect_refusal(ends, &files, -EBADMSG, bad[i].reports);
	}
}

static void
a_key_that_others_may_read_is_refused(void **state)
{
	static const int modes[] = { 0644, 0640, 0604, 0602, 0700 };
	struct ends *ends = *state;
	struct rm_tls_files files = good_files(ends);
	struct rm_tls *tls;

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		chmod(files.key, (mode_t)modes[i]);
		expect_refusal(ends, &files, -EACCES, "own.key: has mode 0");
	}
	chmod(files.key, 0400);
	tls = tls_of(ends->loop, &files);
	rm_tls_free(tls);
}

static void
invalid_files_are_named(void **state)
{
	struct ends *ends = *state;
	struct rm_tls_files files = good_files(ends);
	struct rm_tls_files odd = files;
	const char *empty = pki_path(ends->pki, "empty", ".pem");
	const char *damaged = pki_path(ends->pki, "damaged", ".pem");

	pki_write(ends->pki, empty, "", 0600);
	pki_write(ends->pki, damaged, DAMAGED, 0600);
	odd.certificate = "/nowhere/at/all.pem";
	expect_refusal(ends, &odd, -ENOENT, "/nowhere/at/all.pem: No such file");
	odd.certificate = empty;
	expect_refusal(ends, &odd, -EBADMSG, "empty.pem: contains no certificate");
	odd.certificate = damaged;
	expect_refusal(ends, &odd, -EBADMSG, "damaged.pem: certificate 1");
	odd.certificate = files.key;
	expect_refusal(ends, &odd, -EBADMSG, "own.key: contains no certificate");
	odd = files;
	odd.key = empty;
	expect_refusal(ends, &odd, -EBADMSG, "empty.pem: contains no key");
	odd.key = "/";
	expect_refusal(ends, &odd, -EINVAL, "/: is not a plain file");
	odd = files;
	odd.authorities = empty;
	expect_refusal(ends, &odd, -EBADMSG, "empty.pem: contains no certificate");
	odd.authorities = files.certificate;
	expect_refusal(ends, &odd, -EBADMSG, "own.pem: certificate 1 is not an auth");
	odd = files;
	odd.revoked = damaged;
	expect_refusal(ends, &odd, -EBADMSG, "damaged.pem: contains no list");
	odd.revoked = "/dev/zero";
	expect_refusal(ends, &odd, -EFBIG, "/dev/zero");
	odd.certificate = NULL;
	expect_refusal(ends, &odd, -EINVAL, "are needed");
}

static void
a_list_that_its_authority_has_not_signed_is_refused(void **state)
{
	struct ends *ends = *state;
	struct rm_tls_files files = good_files(ends);
	struct pki *other = pki_new(); /* with the same name */
	struct rm_tls *tls;

	files.revoked = pki_revoke(other, "list", NULL, NULL);
	expect_refusal(ends, &files, -EBADMSG, "list 1 is not signed");
	/* After our own certificate is revoked we continue, and refuse other revoked
	 * peers. */
	files.revoked = pki_revoke(ends->pki, "list", NULL, "own");
	tls = tls_of(ends->loop, &files);
	rm_tls_free(tls);
	pki_free(other);
}

static void
new_files_are_used_within_seconds(void **state)
{
	struct ends *ends = *state;
	struct rm_tls_files files = good_files(ends);
	struct rm_tls *tls = tls_of(ends->loop, &files);
	struct loopback_watch since;

	pki_issue(
	    ends->pki, "own", &(struct pki_wish){ .uri = TOR_URI, .valid_s = 60 });
	since = loopback_watch();
	LOOPBACK_WAIT(ends->loop, rm_tls_counts(tls)->rotations == 1);
	assert_true(loopback_took_ns(since) < 2 * RM_NS_PER_S);
	assert_string_equal(rm_tls_own_identity(tls), TOR_URI);
	assert_in_range(rm_tls_expires_wall_s(tls), time(NULL) + 50, time(NULL) + 61);
	rm_tls_free(tls);
}

static void
bad_files_are_counted_once_and_the_former_ones_stay(void **state)
{
	struct ends *ends = *state;
	struct rm_tls_files files = good_files(ends);
	struct rm_tls *tls = tls_of(ends->loop, &files);

	pki_issue(ends->pki, "own",
	    &(struct pki_wish){ .uri = TOR_URI, .foreign_key = true });
	LOOPBACK_WAIT(ends->loop, rm_tls_counts(tls)->bad_files == 1);
	assert_non_null(strstr(rm_tls_trouble(tls), "is not the key of"));
	assert_string_equal(rm_tls_own_identity(tls), AGENT_URI);
	loopback_run(ends->loop, 2200 * RM_NS_PER_MS);
	assert_int_equal(rm_tls_counts(tls)->bad_files, 1);
	assert_non_null(strstr(rm_tls_trouble(tls), "is not the key of"));
	unlink(files.key);
	LOOPBACK_WAIT(ends->loop, rm_tls_counts(tls)->bad_files == 2);
	pki_issue(ends->pki, "own", &(struct pki_wish){ .uri = TOR_URI });
	LOOPBACK_WAIT(ends->loop, rm_tls_counts(tls)->rotations == 1);
	assert_string_equal(rm_tls_trouble(tls), "");
	assert_string_equal(rm_tls_own_identity(tls), TOR_URI);
	rm_tls_free(tls);
}

static void
a_secret_is_read_only_if_others_cannot_read_it(void **state)
{
	struct ends *ends = *state;
	const char *path = pki_path(ends->pki, "password", ".txt");
	struct rm_error error = { .text = "" };
	uint8_t *data = NULL;
	size_t len = 0;
	char password[16];

	pki_write(ends->pki, path, "secret", 0600);
	assert_int_equal(rm_file_read_secret(path, 100, &data, &len, &error), 0);
	assert_int_equal(len, 6);
	assert_memory_equal(data, "secret", 7);
	free(data);
	assert_int_equal(rm_file_read_secret(path, 5, &data, &len, &error), -EFBIG);
	assert_int_equal(rm_file_read_password(path, password, 7, &error), 0);
	assert_string_equal(password, "secret");
	assert_int_equal(rm_file_read_password(path, password, 6, &error), -EINVAL);
	pki_write(ends->pki, path, "secret\r\n", 0600);
	assert_int_equal(
	    rm_file_read_password(path, password, sizeof(password), &error), 0);
	assert_string_equal(password, "secret");
	pki_write(ends->pki, path, "secret\nmore\n", 0600);
	assert_int_equal(
	    rm_file_read_password(path, password, sizeof(password), &error), -EINVAL);
	pki_write(ends->pki, path, "\n", 0600);
	assert_int_equal(
	    rm_file_read_password(path, password, sizeof(password), &error), -EINVAL);
	chmod(path, 0660);
	assert_int_equal(rm_file_check_secret(path, &error), -EACCES);
	assert_int_equal(rm_file_read_secret(path, 100, &data, &len, &error), -EACCES);
	assert_non_null(strstr(error.text, "has mode 0660, expected 0600 or 0400"));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, ends_setup_bare, ends_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(
		    a_certificate_is_about_to_expire_with_a_fifth_of_its_validity_left),
		TEST(good_files_give_the_identity_and_its_expiry),
		TEST(
		    an_own_certificate_that_peers_would_refuse_is_refused_with_a_reason),
		TEST(a_key_that_others_may_read_is_refused),
		TEST(invalid_files_are_named),
		TEST(a_list_that_its_authority_has_not_signed_is_refused),
		TEST(new_files_are_used_within_seconds),
		TEST(bad_files_are_counted_once_and_the_former_ones_stay),
		TEST(a_secret_is_read_only_if_others_cannot_read_it),
	};

	return cmocka_run_group_tests_name("tls", tests, NULL, NULL);
}
