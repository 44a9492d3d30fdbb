/* SPDX-License-Identifier: BSD-2-Clause */
/* tree: removing a folder of ours. */
#ifndef WEIR_CONTROL_TREE_H
#define WEIR_CONTROL_TREE_H

/* Removes a file, or a folder with everything in it; symbolic links are removed, not followed. What cannot be
 * removed stays, silently: there is nobody left to mend it. */
void tree_remove(const char *path);

#endif
