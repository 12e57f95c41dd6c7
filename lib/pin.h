/* SPDX-License-Identifier: LGPL-2.1 OR MIT */
/*
 * Pinned BPF objects: one folder of bpffs for each lab or device, below
 * LACE_PIN_ROOT.
 */
#ifndef LACE_PIN_H
#define LACE_PIN_H

#include "lace.h"

#define LACE_PIN_MOUNT "/sys/fs/bpf"
#define LACE_PIN_ROOT LACE_PIN_MOUNT "/lace"
#define LACE_PIN_PATH_SIZE 512

/* Path of object in folder name, of the folder itself if object is NULL. */
int lace_pin_path(const char *name, const char *object,
		  char path[LACE_PIN_PATH_SIZE], struct lace_error *err);
/* Mounts bpffs where nobody has. */
int lace_pin_mount(struct lace_error *err);
/* Makes the folder, mounting bpffs first where nobody has. */
int lace_pin_make(const char *name, struct lace_error *err);
/* Removes the folder's objects whose names begin with prefix, and the folder
 * once it is empty.  Returns how many objects went; none is no error.
 */
int lace_pin_remove(const char *name, const char *prefix,
		    struct lace_error *err);
/* Removes one object, if it is there, and the folder once it is empty. */
int lace_pin_remove_one(const char *name, const char *object,
			struct lace_error *err);
/* Reason in words for a failed libbpf call (a negative errno): what libbpf
 * had to say last, or else the errno.
 */
const char *lace_pin_reason(int error);
/* Keeps libbpf from printing and begins to remember what it says. */
void lace_pin_capture(void);

#endif /* LACE_PIN_H */
