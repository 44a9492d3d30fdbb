/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * headers: rate headers for nginx's own limits, if weir_headers asks for them. What the lines said is kept with the request,
 * where internal redirects do not wipe it, and told by the flow's own station: the same fields, the same binding
 * limit as a policy's answer has.
 */
#include "doors/nginx/take/take.h"


typedef struct {
    ngx_http_weir_world_t       *world;        /* one reference */
    ngx_uint_t                   headers;
    struct algo_time             time;
    ngx_uint_t                   refused;
    ngx_array_t                  hits;         /* of struct flow_hit */
    struct flow_answer          *answer;       /* NULL: not made yet */
} ngx_http_weir_noted_t;


static ngx_http_weir_noted_t *ngx_http_weir_noted_find(ngx_http_request_t *r);
static ngx_http_weir_noted_t *ngx_http_weir_noted_add(ngx_http_request_t *r,
    ngx_http_weir_world_t *world);
static void ngx_http_weir_noted_cleanup(void *data);
static ngx_int_t ngx_http_weir_noted_answer(ngx_http_request_t *r,
    ngx_http_weir_noted_t *noted);


ngx_int_t
ngx_http_weir_take_note(ngx_http_request_t *r,
    ngx_http_weir_take_loc_conf_t *tlcf, ngx_http_weir_world_t *world,
    ngx_http_weir_zone_t *zone, const struct table_key *key,
    const struct table_look *look, const struct algo_time *t)
{
    struct flow_hit              *hit;
    ngx_http_weir_noted_t        *noted;
    const struct image_counter   *counters;

    noted = ngx_http_weir_noted_find(r);

    if (noted == NULL) {
        noted = ngx_http_weir_noted_add(r, world);
        if (noted == NULL) {
            return NGX_ERROR;
        }
    }

    if (!look->allowed) {
        noted->refused = 1;
    }

    if (noted->world != world) {

        if (look->allowed) {
            /* another table since the first location decided: its limits are told */
            return NGX_OK;
        }

        ngx_http_weir_world_drop(noted->world);
        noted->world = ngx_http_weir_world_hold(world);
        noted->hits.nelts = 0;
    }

    noted->headers = tlcf->headers;
    noted->time = *t;

    hit = ngx_array_push(&noted->hits);
    if (hit == NULL) {
        return NGX_ERROR;
    }

    counters = image_at(world->env.image, world->env.image->counters.offset);

    ngx_memzero(hit, sizeof(struct flow_hit));
    hit->limit = counters[zone->counter].limit;
    hit->counter = zone->counter;
    hit->clause = UINT32_MAX;
    hit->cost = 1;
    hit->role = FLOW_ROLE_ENFORCED;
    hit->what = zone->connections ? IMAGE_CONCURRENT : IMAGE_RATE;
    hit->allowed = look->allowed;
    hit->charged = look->allowed && !zone->connections;
    hit->held = look->allowed && zone->connections;
    hit->key = *key;
    hit->look = *look;

    return NGX_OK;
}


static ngx_http_weir_noted_t *
ngx_http_weir_noted_find(ngx_http_request_t *r)
{
    ngx_pool_cleanup_t  *cln;

    for (cln = r->pool->cleanup; cln; cln = cln->next) {
        if (cln->handler == ngx_http_weir_noted_cleanup) {
            return cln->data;
        }
    }

    return NULL;
}


static ngx_http_weir_noted_t *
ngx_http_weir_noted_add(ngx_http_request_t *r, ngx_http_weir_world_t *world)
{
    ngx_pool_cleanup_t     *cln;
    ngx_http_weir_noted_t  *noted;

    cln = ngx_pool_cleanup_add(r->pool, sizeof(ngx_http_weir_noted_t));
    if (cln == NULL) {
        return NULL;
    }

    noted = cln->data;
    ngx_memzero(noted, sizeof(ngx_http_weir_noted_t));

    if (ngx_array_init(&noted->hits, r->pool, 2, sizeof(struct flow_hit))
        != NGX_OK)
    {
        return NULL;
    }

    noted->world = ngx_http_weir_world_hold(world);
    cln->handler = ngx_http_weir_noted_cleanup;

    return noted;
}


static void
ngx_http_weir_noted_cleanup(void *data)
{
    ngx_http_weir_noted_t  *noted = data;

    ngx_http_weir_world_drop(noted->world);
}


ngx_int_t
ngx_http_weir_take_headers(ngx_http_request_t *r)
{
    ngx_http_weir_noted_t  *noted;

    noted = ngx_http_weir_noted_find(r);

    if (noted == NULL || noted->headers == 0) {
        return NGX_DECLINED;
    }

    if (noted->answer == NULL
        && ngx_http_weir_noted_answer(r, noted) != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (ngx_http_weir_headers_add(r, noted->answer) != NGX_OK) {
        return NGX_ERROR;
    }

    return noted->refused ? NGX_OK : NGX_DECLINED;
}


static ngx_int_t
ngx_http_weir_noted_answer(ngx_http_request_t *r,
    ngx_http_weir_noted_t *noted)
{
    size_t                size;
    struct flow          *flow;
    struct flow_answer   *answer;
    struct flow_request   request;

    size = sizeof(struct flow) + noted->hits.nelts * sizeof(struct flow_hit);

    flow = ngx_palloc(r->pool, size);
    answer = ngx_palloc(r->pool, sizeof(struct flow_answer));

    if (flow == NULL || answer == NULL) {
        return NGX_ERROR;
    }

    ngx_memzero(&request, sizeof(struct flow_request));

    flow_begin(flow, &noted->world->env, &request, &noted->time, 0, false);

    flow->hit_count = noted->hits.nelts;
    ngx_memcpy(flow->hits, noted->hits.elts,
               noted->hits.nelts * sizeof(struct flow_hit));

    flow_make_verdict(flow);
    flow_fields(flow, noted->headers & ~NGX_HTTP_WEIR_RETRY_AFTER,
                noted->headers & NGX_HTTP_WEIR_RETRY_AFTER, ngx_time(),
                answer);

    noted->answer = answer;

    return NGX_OK;
}
