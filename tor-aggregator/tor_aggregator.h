/*
 * tor_aggregator - the daemon: connects agents, racks, controllers, alerts and the
 * report spool.
 *
 * Only this file knows all modules, and logs for them.
 */
#ifndef TOR_AGGREGATOR_TOR_AGGREGATOR_H
#define TOR_AGGREGATOR_TOR_AGGREGATOR_H

struct aggregator_config;
struct rm_loop;
struct tor_aggregator;

/* config: borrowed for the life of the aggregator; a reload changes it. On failure the
 * reason is logged. */
int tor_aggregator_new(struct rm_loop *loop, struct aggregator_config *config,
    struct tor_aggregator **ret);
void tor_aggregator_free(struct tor_aggregator *aggregator);

/* For rm_loop_on_reload: reads the config again, and plan files that have changed. */
void tor_aggregator_reload(void *arg);

#endif
