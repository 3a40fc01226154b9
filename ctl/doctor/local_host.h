/*
 * local_host - fills in a struct host for this machine: it requests the agent's
 * answers, and sets the calls that run real programs.
 */
#ifndef CTL_DOCTOR_LOCAL_HOST_H
#define CTL_DOCTOR_LOCAL_HOST_H

struct host;

/* agent, controller: addresses of their HTTP APIs. The controller need not exist.
 * configs: borrowed. */
void local_host_init(
    struct host *host, const char *configs, const char *agent, const char *controller);
void local_host_clear(struct host *host);

#endif
