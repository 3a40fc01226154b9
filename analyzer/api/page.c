#include "analyzer/api/page.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rackmesh/core/fnv.h"
#include "rackmesh/http/http_handler.h"
#include "rackmesh/http/http_server.h"

#define PAGE_FILE(symbol, name, type) extern const char symbol[], symbol##_end[];
#include "analyzer/api/page_files.h"
#undef PAGE_FILE

static const struct page_file {
	const char *name, *content_type, *data, *end;
} files[] = {
#define PAGE_FILE(symbol, name, type) { name, type, symbol, symbol##_end },
#include "analyzer/api/page_files.h"
#undef PAGE_FILE
};

static void
get_file(struct rm_http_request *request, void *arg)
{
	const char *rest = rm_http_path_rest(request);
	const char *name = rest[0] != '\0' ? rest : "index.html";
	char tag[24];

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		const size_t len = (size_t)(files[i].end - files[i].data);

		if (strcmp(name, files[i].name) != 0)
			continue;
		snprintf(tag, sizeof(tag), "\"%016" PRIx64 "\"",
		    rm_fnv1a(RM_FNV1A, files[i].data, len));
		rm_http_reply_file(
		    request, &(struct rm_http_file){
				 files[i].content_type, tag, files[i].data, len });
		return;
	}
	rm_http_reply_error(request, 404, "nothing at this path");
}

int
page_serve(struct rm_http_server *server)
{
	return rm_http_route(server, RM_HTTP_READ_PART, "/", get_file, NULL);
}
