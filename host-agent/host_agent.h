/*
 * host_agent - the daemon: RNICs at work, their results to the aggregators, the
 * aggregators' pinglists to the RNICs.
 *
 * Needs nobody to go on: with every aggregator gone it probes from the last pinglists
 * and keeps what results its bounds allow. When a controller says that its host belongs
 * elsewhere, it keeps that and ends the loop with rm_loop_again.
 */
#ifndef HOST_AGENT_HOST_AGENT_H
#define HOST_AGENT_HOST_AGENT_H

struct agent_config;
struct host_agent;
struct rm_loop;

/* Takes what config holds, and leaves it empty, also on failure. */
int host_agent_new(
    struct rm_loop *loop, struct agent_config *config, struct host_agent **ret);
void host_agent_free(struct host_agent *agent); /* before the loop */

/* Reads the config file again: all of it is taken, or none. arg: the host_agent. */
void host_agent_reload(void *arg);

#endif
