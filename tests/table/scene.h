/* SPDX-License-Identifier: BSD-2-Clause */
/* scene: a table with two process slots, both taken, and what there is to count in it. */
#ifndef WEIR_TESTS_TABLE_SCENE_H
#define WEIR_TESTS_TABLE_SCENE_H

#include "tests/table/rig.h"

struct scene { /* of `old`, who is to go, and of `other` */
	struct rig rig;
	struct table *old, *other;
	uint32_t row, places; /* five in an hour; two at once */
	struct table_key key, door;
	struct algo_time t;
	struct table_look look;
};

static inline void scene_begin(struct scene *scene)
{
	struct algo_numbers token = rig_token(5, RIG_SECOND * 3600, 5), flight;
	if (!algo_concurrent(2, &flight))
		rig_die("algo_concurrent", "refused");
	scene->rig = rig_new(TABLE_SIZE_MIN, 2);
	scene->old = rig_open(&scene->rig);
	scene->other = rig_open(&scene->rig);
	scene->row = rig_row(scene->old, 5, &token, 1);
	scene->places = rig_row(scene->old, 6, &flight, 1);
	scene->key = rig_key(scene->old, 1, 1);
	scene->door = rig_key(scene->old, 2, 1);
	table_time(scene->old, &scene->t);
}

#endif
