#include "ctl/history/influx.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/client/request.h"
#include "ctl/output/printable.h"
#include "rackmesh/core/file.h"

#define ANSWER_MAX_BYTES (64u << 20)
#define TIMEOUT_S 60L
#define CONNECT_S 3L

struct answer {
	long status;
	char *data;
	size_t len;
};

int
influx_password(struct influx_place *place, const char *path)
{
	uint8_t *data;
	size_t len;
	int r = rm_file_read(path, sizeof(place->password) - 1, &data, &len);

	if (r < 0) {
		fprintf(
		    stderr, "rackmeshctl: cannot read %s: %s\n", path, strerror(-r));
		return r;
	}
	len = strcspn((char *)data, "\r\n");
	memcpy(place->password, data, len);
	place->password[len] = '\0';
	explicit_bzero(data, len);
	free(data);
	return 0;
}

static size_t
on_data(char *data, size_t size, size_t count, void *arg)
{
	struct answer *answer = arg;
	size_t len = size * count;
	char *grown;

	if (answer->len + len > ANSWER_MAX_BYTES)
		return 0;
	grown = realloc(answer->data, answer->len + len + 1);
	if (grown == NULL)
		return 0;
	memcpy(grown + answer->len, data, len);
	answer->data = grown;
	answer->len += len;
	grown[answer->len] = '\0';
	return len;
}

static int
ask(const struct influx_place *place, const char *path, const char *form,
    struct answer *answer)
{
	const char *scheme = strstr(place->url, "://") != NULL ? "" : "http://";
	size_t base = strlen(place->url);
	char reason[CURL_ERROR_SIZE] = "", url[2048];
	CURL *curl = curl_easy_init();
	CURLcode code;

	*answer = (struct answer){ 0 };
	while (base > 0 && place->url[base - 1] == '/')
		base--;
	if (curl == NULL || snprintf(url, sizeof(url), "%s%.*s%s", scheme, (int)base,
				place->url, path) >= (int)sizeof(url)) {
		curl_easy_cleanup(curl);
		return -ENOMEM;
	}
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, reason);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
	curl_easy_setopt(curl, CURLOPT_TIMEOUT, TIMEOUT_S);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, CONNECT_S);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_data);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer);
	if (place->user != NULL) {
		curl_easy_setopt(curl, CURLOPT_USERNAME, place->user);
		curl_easy_setopt(curl, CURLOPT_PASSWORD, place->password);
	}
	if (place->authorities != NULL)
		curl_easy_setopt(curl, CURLOPT_CAINFO, place->authorities);
	if (form != NULL)
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, form);
	code = curl_easy_perform(curl);
	if (code != CURLE_OK)
		fprintf(stderr,
		    "rackmeshctl: cannot ask %s: %s; is the database running there? "
		    "(see --url, $RACKMESH_INFLUX)\n",
		    place->url, reason[0] != '\0' ? reason : curl_easy_strerror(code));
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer->status);
	curl_easy_cleanup(curl);
	return code == CURLE_OK ? 0 : -ECONNREFUSED;
}

int
influx_kind(const struct influx_place *place, enum influx_kind *ret)
{
	struct answer answer;
	json_t *json;
	const char *version;
	bool victoria;
	int r = ask(place, "/api/v1/status/buildinfo", NULL, &answer);

	/* Only VictoriaMetrics answers at this path, but a login page may do so, too.
	 */
	json =
	    answer.data == NULL ? NULL : json_loadb(answer.data, answer.len, 0, NULL);
	victoria =
	    answer.status == 200 && json_is_object(json_object_get(json, "data"));
	json_decref(json);
	free(answer.data);
	if (r < 0)
		return r;
	if (victoria) {
		*ret = INFLUX_VICTORIA;
		return 0;
	}
	r = ask(place, "/health", NULL, &answer);
	if (r < 0) {
		free(answer.data);
		return r;
	}
	json =
	    answer.data == NULL ? NULL : json_loadb(answer.data, answer.len, 0, NULL);
	version = json_string_value(json_object_get(json, "version"));
	if (version != NULL && version[0] == 'v')
		version++;
	*ret = answer.status == 200 && version != NULL && version[0] == '2' ? INFLUX_2
									    : INFLUX_1;
	json_decref(json);
	free(answer.data);
	return 0;
}

static char *
write_form(const struct influx_place *place, const char *statement)
{
	char *database = request_escape(place->database);
	char *question = request_escape(statement), *form = NULL;

	if (database == NULL || question == NULL ||
	    asprintf(&form, "epoch=ns&db=%s&q=%s", database, question) < 0)
		form = NULL;
	free(database);
	free(question);
	return form;
}

/* What to do about an answer without an error of InfluxDB. */
static const char *
advice_on(long status)
{
	if (status == 401 || status == 403)
		return "it requires a user: give --user and --password-file of an "
		       "admin";
	if (status >= 300 && status < 400)
		return "a redirect: give in --url the URL that it leads to";
	return "not an answer of InfluxDB: look at what is at --url, perhaps a proxy";
}

static int
read_result(const struct influx_place *place, const struct answer *answer, json_t **ret)
{
	json_t *json = answer->data == NULL
			   ? NULL
			   : json_loadb(answer->data, answer->len, 0, NULL);
	json_t *result = json_array_get(json_object_get(json, "results"), 0);
	const char *error;
	int r;

	r = json == NULL ? 0 : printable_json(json);
	if (r < 0) {
		json_decref(json);
		return r;
	}
	error = json_string_value(json_object_get(result, "error"));
	if (error == NULL)
		error = json_string_value(json_object_get(json, "error"));
	if (error != NULL || answer->status != 200 || result == NULL) {
		fprintf(stderr, "rackmeshctl: %s answered status %ld: %s\n", place->url,
		    answer->status, error != NULL ? error : advice_on(answer->status));
		r = -EPROTO;
	} else if (ret != NULL) {
		json_t *series = json_object_get(result, "series");

		*ret = series != NULL ? json_incref(series) : json_array();
		r = *ret == NULL ? -ENOMEM : 0;
	}
	json_decref(json);
	return r;
}

int
influx_query(const struct influx_place *place, const char *statement, json_t **ret)
{
	char *form = write_form(place, statement);
	struct answer answer = { 0 };
	int r = -ENOMEM;

	if (form != NULL)
		r = ask(place, "/query", form, &answer);
	if (r == 0)
		r = read_result(place, &answer, ret);
	free(answer.data);
	free(form);
	return r;
}
