/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * places: what a request holds of limit_conn until it ends, whichever way: its pool is freed then. A worker that is killed frees
 * nothing, and need not: what its process slot holds is void with it (table/hold.h).
 */
#include "doors/nginx/take/take.h"


static void ngx_http_weir_places_cleanup(void *data);


ngx_http_weir_places_t *
ngx_http_weir_places(ngx_http_request_t *r, ngx_http_weir_world_t *world,
    ngx_uint_t n)
{
    size_t                   size;
    ngx_pool_cleanup_t      *cln;
    ngx_http_weir_places_t  *places;

    size = offsetof(ngx_http_weir_places_t, place)
           + n * sizeof(ngx_http_weir_place_t);

    cln = ngx_pool_cleanup_add(r->pool, size);
    if (cln == NULL) {
        return NULL;
    }

    places = cln->data;
    ngx_memzero(places, size);
    places->world = ngx_http_weir_world_hold(world);

    cln->handler = ngx_http_weir_places_cleanup;

    return places;
}


void
ngx_http_weir_places_free(ngx_http_weir_places_t *places)
{
    struct table      *table;
    struct algo_time   t;

    if (places->n == 0) {
        return;
    }

    table = places->world->env.table;

    table_time(table, &t);

    table_stay(table);    /* to its last step, should it leave with the last of them */

    while (places->n) {
        (void) table_give_back(table, &places->place[--places->n].ticket, &t);
    }

    table_unstay(table);
}


static void
ngx_http_weir_places_cleanup(void *data)
{
    ngx_http_weir_places_t  *places = data;

    ngx_http_weir_places_free(places);
    ngx_http_weir_world_drop(places->world);
}
