#include <stdio.h>
#include <string.h>

#include "rackmesh/core/log.h"
#include "rackmesh/http/http_client.h"
#include "rackmesh/http/http_url.h"

#define QUOTED_BYTES 200

bool
rm_http_answer_is_page(const struct rm_http_answer *answer)
{
	const char *body = answer->body != NULL ? answer->body : "";

	return body[strspn(body, " \t\r\n\xef\xbb\xbf")] == '<';
}

bool
rm_http_answer_misses(
    const struct rm_http_answer *answer, const char *option, char *out, size_t len)
{
	char shown[RM_HTTP_URL_SHOWN_BYTES], quoted[QUOTED_BYTES];
	const bool has_reason = answer->reason != NULL && answer->reason[0] != '\0';

	if (answer->r < 0)
		snprintf(
		    out, len, "%s", has_reason ? answer->reason : strerror(-answer->r));
	else if (answer->redirect != NULL) {
		rm_http_url_show(answer->redirect, true, shown);
		snprintf(out, len,
		    "status %ld: a redirect to %s: configure in %s the URL that it "
		    "leads to",
		    answer->status,
		    rm_log_quote(quoted, sizeof(quoted), shown, strlen(shown)), option);
	} else if (answer->status >= 200 && answer->status < 300 &&
		   rm_http_answer_is_page(answer))
		snprintf(out, len,
		    "status %ld with a web page: look at what is at %s, perhaps a "
		    "login",
		    answer->status, option);
	else
		return false;
	return true;
}
