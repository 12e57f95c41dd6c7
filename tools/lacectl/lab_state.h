/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The folder that a running lab keeps: cluster.json (the file's own bytes),
 * lab.json (what was made of it, which is a lace-macs/1 file too), and the list
 * of namespaces.
 */
#ifndef LACECTL_LAB_STATE_H
#define LACECTL_LAB_STATE_H

#include <jansson.h>

#include "lab_plan.h"

#define LAB_STATE_ROOT "/run/lace"

/* Path of a file in the state folder; of the folder itself if file is NULL. */
void lab_state_path(const char *name, const char *file, char *path,
		    size_t size);
/* LACE_ERR_ANSWER if there is such a lab already. */
int lab_state_make(const char *name, struct lace_error *err);
/* Takes the lab for oneself, waiting for who has it; close(*fd) gives it up.
 * Programs that we start inherit *fd: one that outlives us keeps the lab.
 * LACE_ERR_ANSWER if the lab has gone meanwhile.
 */
int lab_state_lock(const char *name, int *fd, struct lace_error *err);
/* Namespaces first, then the rest. */
int lab_state_write(const struct lab *lab, const char *cluster_path,
		    struct lace_error *err);
int lab_state_remove(const char *name, struct lace_error *err);

/* Whether there is such a lab; LACE_ERR_ANSWER if not. */
int lab_state_check(const char *name, struct lace_error *err);
/* lab.json; LACE_ERR_ANSWER if there is no such lab. */
int lab_state_read(const char *name, json_t **lab, struct lace_error *err);
/* None of a lab that died before it wrote the list: then it had none. */
int lab_state_namespaces(const char *name, char ***list, size_t *nr,
			 struct lace_error *err);
void lab_state_free_namespaces(char **list, size_t nr);

/* Members of lab.json: 0 and "" where there is none. */
double lab_number(const json_t *object, const char *key);
const char *lab_text(const json_t *object, const char *key);

#endif /* LACECTL_LAB_STATE_H */
