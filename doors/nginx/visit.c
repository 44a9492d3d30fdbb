/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * visit: one request's, and what is known of it.
 *
 * Internal redirects, named locations and finalizing filters zero r->ctx; a cleanup of the request's pool stays, and is found
 * by its handler. The storage for flow and answer is reused from request to request: it is some kilobytes, and a malloc
 * each would cost more than the decision.
 */
#include "doors/nginx/gate.h"

#include <stdalign.h>


typedef struct ngx_http_weir_block_s  ngx_http_weir_block_t;

struct ngx_http_weir_block_s {
    size_t                  size;
    ngx_http_weir_block_t  *next;
    /* what it holds follows: two words keep it aligned */
};


#define NGX_HTTP_WEIR_BLOCKS  64    /* spare ones kept by a worker */

_Static_assert(sizeof(struct flow_answer) % alignof(struct flow) == 0,
               "the flow stands behind the answer");


static void ngx_http_weir_visit_cleanup(void *data);
static void *ngx_http_weir_block_new(size_t size, ngx_log_t *log);
static void ngx_http_weir_block_free(void *data);


static ngx_http_weir_block_t  *ngx_http_weir_spare;
static ngx_uint_t              ngx_http_weir_spares;


ngx_http_weir_visit_t *
ngx_http_weir_visit_find(ngx_http_request_t *r)
{
    ngx_pool_cleanup_t  *cln;

    for (cln = r->pool->cleanup; cln; cln = cln->next) {
        if (cln->handler == ngx_http_weir_visit_cleanup) {
            return cln->data;
        }
    }

    return NULL;
}


ngx_http_weir_visit_t *
ngx_http_weir_visit_add(ngx_http_request_t *r)
{
    ngx_pool_cleanup_t     *cln;
    ngx_http_weir_visit_t  *visit;

    cln = ngx_pool_cleanup_add(r->pool, sizeof(ngx_http_weir_visit_t));
    if (cln == NULL) {
        return NULL;
    }

    visit = cln->data;
    ngx_memzero(visit, sizeof(ngx_http_weir_visit_t));
    visit->request = r;

    cln->handler = ngx_http_weir_visit_cleanup;

    return visit;
}


ngx_int_t
ngx_http_weir_visit_begin(ngx_http_weir_visit_t *visit,
    ngx_uint_t can_wait)
{
    struct algo_time            t;
    ngx_http_request_t         *r;
    ngx_http_weir_world_t      *world;
    ngx_http_weir_main_conf_t  *mcf;

    r = visit->request;
    mcf = ngx_http_get_module_main_conf(r, ngx_http_weir_gate_module);

    world = ngx_http_weir_world(&mcf->realm, &t);

    if (world == NULL) {
        visit->failed = 1;
        return NGX_OK;
    }

    visit->answer = ngx_http_weir_block_new(sizeof(struct flow_answer)
                                             + world->flow_size,
                                             r->connection->log);
    if (visit->answer == NULL) {
        return NGX_ERROR;
    }

    visit->flow = (struct flow *) (visit->answer + 1);
    visit->world = ngx_http_weir_world_hold(world);

    ngx_http_weir_request(r, visit);

    flow_begin(visit->flow, &world->env, &visit->in, &t, can_wait, false);

    return NGX_OK;
}


static void
ngx_http_weir_visit_cleanup(void *data)
{
    ngx_http_weir_visit_t *visit = data;

    if (visit->flow) {
        ngx_http_weir_ended(visit);

        if (visit->waiting) {
            table_unstay(visit->world->env.table);
        }
    }

    if (visit->answer) {
        ngx_http_weir_block_free(visit->answer);
    }

    if (visit->world) {
        ngx_http_weir_world_drop(visit->world);
    }
}


static void *
ngx_http_weir_block_new(size_t size, ngx_log_t *log)
{
    ngx_http_weir_block_t  *block;

    block = ngx_http_weir_spare;

    if (block) {
        ngx_http_weir_spare = block->next;
        ngx_http_weir_spares--;

        if (block->size >= size) {
            return block + 1;
        }

        /* of an older, smaller policy */

        ngx_free(block);
    }

    block = ngx_alloc(sizeof(ngx_http_weir_block_t) + size, log);
    if (block == NULL) {
        return NULL;
    }

    block->size = size;

    return block + 1;
}


static void
ngx_http_weir_block_free(void *data)
{
    ngx_http_weir_block_t  *block;

    block = (ngx_http_weir_block_t *) data - 1;

    if (ngx_http_weir_spares == NGX_HTTP_WEIR_BLOCKS) {
        ngx_free(block);
        return;
    }

    block->next = ngx_http_weir_spare;
    ngx_http_weir_spare = block;
    ngx_http_weir_spares++;
}
