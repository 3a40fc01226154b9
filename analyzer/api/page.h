/*
 * page - what a browser shows of the region: the files of analyzer/page, which are part
 * of the program. It only reads: all it knows comes from the HTTP API.
 */
#ifndef ANALYZER_API_PAGE_H
#define ANALYZER_API_PAGE_H

struct rm_http_server;

/* "/" and the files below it. */
int page_serve(struct rm_http_server *server);

#endif
