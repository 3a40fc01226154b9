/*
 * page - serves the files of analyzer/page, the web page, which are compiled into the
 * program. The page only reads data, and all of them over the HTTP API.
 */
#ifndef ANALYZER_API_PAGE_H
#define ANALYZER_API_PAGE_H

struct rm_http_server;

/* Serves "/" and the files below it. */
int page_serve(struct rm_http_server *server);

#endif
