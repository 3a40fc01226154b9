/*
 * analyzer - the daemon's wiring: only it and analyzer_events know all modules.
 */
#ifndef ANALYZER_ANALYZER_H
#define ANALYZER_ANALYZER_H

struct analyzer;
struct analyzer_config;
struct rm_loop;

/* The config is borrowed; a reload changes it. Errors are logged. */
int analyzer_new(
    struct rm_loop *loop, struct analyzer_config *config, struct analyzer **ret);
void analyzer_free(struct analyzer *analyzer);

/* For rm_loop_on_reload. */
void analyzer_reload(void *analyzer);

/* The ports in use, for an address with port 0; negative: none. */
int analyzer_port(const struct analyzer *analyzer);
int analyzer_http_port(const struct analyzer *analyzer);

#endif
