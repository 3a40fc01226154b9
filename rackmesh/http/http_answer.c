#include <string.h>

#include "rackmesh/http/http_client.h"

bool
rm_http_answer_is_page(const struct rm_http_answer *answer)
{
	const char *body = answer->body != NULL ? answer->body : "";

	return body[strspn(body, " \t\r\n\xef\xbb\xbf")] == '<';
}
