/*
 * controller_store - the store that a config asks for.
 */
#ifndef REGION_CONTROLLER_CONTROLLER_STORE_H
#define REGION_CONTROLLER_CONTROLLER_STORE_H

struct controller_config;
struct rm_loop;
struct rm_why;
struct store;

int controller_store_new(struct rm_loop *loop, const struct controller_config *config,
    struct store **ret, struct rm_why *why);

#endif
