/*
 * analyzer_hello - the first word to an analyzer, once it is seen to be one.
 */
#ifndef TOR_AGGREGATOR_ANALYZER_HELLO_H
#define TOR_AGGREGATOR_ANALYZER_HELLO_H

struct analyzer_link_options;
struct rm_link;
struct wire_writer;

/* -EACCES: by its certificate it is no analyzer of ours, which is said. */
int analyzer_hello_say(struct rm_link *link,
    const struct analyzer_link_options *options, struct wire_writer *writer);

#endif
