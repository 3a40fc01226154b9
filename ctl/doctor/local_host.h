/*
 * local_host - fills in a struct host for this machine: it requests the agent's
 * answers, and has the real calls.
 */
#ifndef CTL_DOCTOR_LOCAL_HOST_H
#define CTL_DOCTOR_LOCAL_HOST_H

struct host;

/* agent, controller: addresses of their HTTP APIs; a controller need not be there.
 * configs: borrowed. */
void local_host_init(
    struct host *host, const char *configs, const char *agent, const char *controller);
void local_host_clear(struct host *host);

#endif
