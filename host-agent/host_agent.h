/*
 * host_agent - the daemon: it sends the RNICs' results to the aggregators, and applies
 * the aggregators' pinglists to the RNICs.
 *
 * It works without its peers: when all aggregators are gone, it probes from the last
 * pinglists and keeps as many results as its limits allow. When a controller names
 * other ToRs or aggregators for its host, the agent saves them and ends the loop with
 * rm_loop_again.
 */
#ifndef HOST_AGENT_HOST_AGENT_H
#define HOST_AGENT_HOST_AGENT_H

struct agent_config;
struct host_agent;
struct rm_loop;

/* Moves the contents of config to the agent; config is empty afterwards, also on
 * failure. */
int host_agent_new(
    struct rm_loop *loop, struct agent_config *config, struct host_agent **ret);
void host_agent_free(struct host_agent *agent); /* Call it before the loop is freed. */

/* Reads the config file again, and applies all of it or nothing. arg: the host_agent.
 */
void host_agent_reload(void *arg);

#endif
