/* region_controller - the daemon: creates its modules and connects them. */
#ifndef REGION_CONTROLLER_REGION_CONTROLLER_H
#define REGION_CONTROLLER_REGION_CONTROLLER_H

struct controller_config;
struct region_controller;
struct rm_loop;

/* Moves the contents of config to the controller, also on failure. A failure is logged.
 */
int region_controller_new(struct rm_loop *loop, struct controller_config *config,
    struct region_controller **ret);
void region_controller_free(struct region_controller *controller);

/* Pass it to rm_loop_on_reload. Reads config and topology again; each of the two is
 * applied as a whole or not at all. */
void region_controller_reload(void *controller);

/* The ports in use, for an address with port 0; negative: none. */
int region_controller_port(const struct region_controller *controller);
int region_controller_http_port(const struct region_controller *controller);

#endif
