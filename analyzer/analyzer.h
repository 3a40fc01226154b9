/*
 * analyzer - creates and connects all modules of the daemon. Only this file and
 * analyzer_events know all modules.
 */
#ifndef ANALYZER_ANALYZER_H
#define ANALYZER_ANALYZER_H

struct analyzer;
struct analyzer_config;
struct rm_loop;

/* config: borrowed; a reload changes it. On failure the reason is logged. */
int analyzer_new(
    struct rm_loop *loop, struct analyzer_config *config, struct analyzer **ret);
void analyzer_free(struct analyzer *analyzer);

/* For rm_loop_on_reload. */
void analyzer_reload(void *analyzer);

/* The ports on which the analyzer listens, also if the config has port 0; negative: it
 * does not listen. */
int analyzer_port(const struct analyzer *analyzer);
int analyzer_http_port(const struct analyzer *analyzer);

#endif
