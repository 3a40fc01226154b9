/* region_controller - the wiring of the daemon. */
#ifndef REGION_CONTROLLER_REGION_CONTROLLER_H
#define REGION_CONTROLLER_REGION_CONTROLLER_H

struct controller_config;
struct region_controller;
struct rm_loop;

/* Takes over the contents of config, also on failure, which is logged. */
int region_controller_new(struct rm_loop *loop, struct controller_config *config,
    struct region_controller **ret);
void region_controller_free(struct region_controller *controller);

/* For rm_loop_on_reload: reads config and topology again; each is applied as a whole or
 * not at all. */
void region_controller_reload(void *controller);

/* The ports in use, for an address with port 0; negative: none. */
int region_controller_port(const struct region_controller *controller);
int region_controller_http_port(const struct region_controller *controller);

#endif
