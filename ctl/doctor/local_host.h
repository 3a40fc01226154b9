/*
 * local_host - this machine as a struct host: asks the agent, and makes the calls.
 */
#ifndef CTL_DOCTOR_LOCAL_HOST_H
#define CTL_DOCTOR_LOCAL_HOST_H

struct host;

/* agent, controller: addresses of their HTTP APIs. The controller is asked if it is
 * there. configs is borrowed. */
void local_host_init(
    struct host *host, const char *configs, const char *agent, const char *controller);
void local_host_clear(struct host *host);

#endif
