/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * requests: limit_req. The lines of a location are looked at in their order, and the first that refuses is the one that is
 * logged; if none does, all are charged. nginx charges them without looking again, so that several workers can
 * exceed a burst; here a charge that others were faster for gives the earlier ones back, and refuses.
 */
#include "doors/nginx/take/take.h"


#define NGX_HTTP_WEIR_LINES  4    /* of a location, without asking for memory */


typedef struct {
    ngx_http_weir_line_t        *line;
    ngx_str_t                    value;
    struct table_key             key;
    struct algo_bound            bound;
    struct table_look            look;
    unsigned                     charged:1;
} ngx_http_weir_asked_t;


static ngx_int_t ngx_http_weir_requests_ask(ngx_http_request_t *r,
    ngx_http_weir_world_t *world, ngx_http_weir_line_t *line,
    ngx_http_weir_asked_t *asked);
static ngx_http_weir_asked_t *ngx_http_weir_requests_charge(
    struct table *table, ngx_http_weir_asked_t *asked, ngx_uint_t n,
    const struct algo_time *t);
static ngx_int_t ngx_http_weir_requests_refuse(ngx_http_request_t *r,
    ngx_http_weir_take_loc_conf_t *tlcf, ngx_http_weir_world_t *world,
    ngx_http_weir_asked_t *asked, const struct algo_time *t);
static ngx_msec_t ngx_http_weir_requests_pass(ngx_http_request_t *r,
    ngx_http_weir_take_loc_conf_t *tlcf, ngx_http_weir_world_t *world,
    ngx_http_weir_asked_t *asked, ngx_uint_t n, const struct algo_time *t);


ngx_int_t
ngx_http_weir_take_requests(ngx_http_request_t *r,
    ngx_http_weir_take_loc_conf_t *tlcf, ngx_msec_t *delay)
{
    ngx_int_t                        rc;
    ngx_uint_t                       i, n;
    struct algo_time                 t;
    ngx_http_weir_line_t            *lines;
    ngx_http_weir_world_t           *world;
    ngx_http_weir_asked_t           *asked, *refused;
    ngx_http_weir_asked_t            few[NGX_HTTP_WEIR_LINES];
    ngx_http_weir_take_main_conf_t  *tmcf;

    tmcf = ngx_http_get_module_main_conf(r, ngx_http_weir_take_module);

    world = ngx_http_weir_world(&tmcf->realm, &t);
    if (world == NULL) {
        return NGX_DECLINED;
    }

    lines = tlcf->requests.lines.elts;
    asked = few;

    if (tlcf->requests.lines.nelts > NGX_HTTP_WEIR_LINES) {
        asked = ngx_palloc(r->pool, tlcf->requests.lines.nelts
                                    * sizeof(ngx_http_weir_asked_t));
        if (asked == NULL) {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }
    }

    n = 0;

    for (i = 0; i < tlcf->requests.lines.nelts; i++) {
        rc = ngx_http_weir_requests_ask(r, world, &lines[i], &asked[n]);

        if (rc == NGX_ERROR) {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }

        if (rc == NGX_OK) {
            n++;
        }
    }

    if (n == 0) {
        return NGX_DECLINED;
    }

    refused = ngx_http_weir_requests_charge(world->env.table, asked, n, &t);

    stats_add(&stats_process(world->env.table)->decisions, 1);

    if (refused) {
        return ngx_http_weir_requests_refuse(r, tlcf, world, refused, &t);
    }

    *delay = ngx_http_weir_requests_pass(r, tlcf, world, asked, n, &t);

    return NGX_DECLINED;
}


static ngx_int_t
ngx_http_weir_requests_ask(ngx_http_request_t *r,
    ngx_http_weir_world_t *world, ngx_http_weir_line_t *line,
    ngx_http_weir_asked_t *asked)
{
    ngx_int_t  rc;

    rc = ngx_http_weir_zone_value(r, line->zone, &asked->value);

    if (rc == NGX_OK) {
        rc = ngx_http_weir_line_bound(r, line, &asked->bound);
    }

    if (rc == NGX_OK) {
        rc = ngx_http_weir_zone_counter(r, world, line->zone, &asked->value,
                                        &asked->key);
    }

    asked->line = line;
    asked->charged = 0;

    return rc;
}


/* All or none. NULL: all; else the line that refuses. One alone is charged without looking first. */

static ngx_http_weir_asked_t *
ngx_http_weir_requests_charge(struct table *table,
    ngx_http_weir_asked_t *asked, ngx_uint_t n, const struct algo_time *t)
{
    ngx_uint_t  i, k;

    for (i = 0; n > 1 && i < n; i++) {
        table_peek_bound(table, &asked[i].key, asked[i].line->zone->row, t,
                         &asked[i].bound, &asked[i].look);

        if (!asked[i].look.allowed) {
            return &asked[i];
        }
    }

    for (i = 0; i < n; i++) {

        switch (table_charge_bound(table, &asked[i].key,
                                   asked[i].line->zone->row, t,
                                   &asked[i].bound, &asked[i].look))
        {
        case TABLE_CHARGED:
            asked[i].charged = 1;
            break;

        case TABLE_NO_ROOM:
            /* passes uncounted */
            break;

        case TABLE_REFUSED:

            for (k = 0; k < i; k++) {
                if (asked[k].charged) {
                    table_uncharge_bound(table, &asked[k].key,
                                         asked[k].line->zone->row, t, t->now,
                                         &asked[k].bound);
                }
            }

            return &asked[i];
        }
    }

    return NULL;
}


static ngx_int_t
ngx_http_weir_requests_refuse(ngx_http_request_t *r,
    ngx_http_weir_take_loc_conf_t *tlcf, ngx_http_weir_world_t *world,
    ngx_http_weir_asked_t *asked, const struct algo_time *t)
{
    uint64_t  excess;

    excess = algo_excess(&asked->look.numbers, asked->look.state, t->now,
                         false);

    ngx_http_weir_take_log_request(r, tlcf, asked->line, excess, 0);
    ngx_http_weir_take_refused(world, asked->line->zone, &asked->value, t,
                               tlcf->requests.dry_run);

    if (tlcf->requests.dry_run) {
        r->main->limit_req_status = NGX_HTTP_WEIR_REJECTED_DRY_RUN;
        return NGX_DECLINED;
    }

    r->main->limit_req_status = NGX_HTTP_WEIR_REJECTED;

    if (tlcf->headers
        && ngx_http_weir_take_note(r, tlcf, world, asked->line->zone,
                                   &asked->key, &asked->look, t)
           != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    return ngx_http_weir_take_status(tlcf, &tlcf->requests, asked->line);
}


/* Of several that make it wait the longest holds; of equal ones the last. */

static ngx_msec_t
ngx_http_weir_requests_pass(ngx_http_request_t *r,
    ngx_http_weir_take_loc_conf_t *tlcf, ngx_http_weir_world_t *world,
    ngx_http_weir_asked_t *asked, ngx_uint_t n, const struct algo_time *t)
{
    uint64_t                delay_ns;
    ngx_uint_t              i;
    struct algo_report      report;
    ngx_http_weir_asked_t  *longest;

    delay_ns = 0;
    longest = NULL;

    for (i = n; i-- > 0; /* void */) {

        if (!asked[i].charged) {
            ngx_http_weir_take_crowded(world, asked[i].line->zone);
            continue;
        }

        table_describe(&asked[i].look, t, 1, true, &report);

        ngx_http_weir_take_passed(world, asked[i].line->zone,
                                  report.delay_ns != 0);

        if (report.delay_ns > delay_ns) {
            delay_ns = report.delay_ns;
            longest = &asked[i];
        }
    }

    if (tlcf->headers && !tlcf->requests.dry_run) {
        for (i = 0; i < n; i++) {
            if (asked[i].charged) {
                /* without memory the answer goes without headers */
                (void) ngx_http_weir_take_note(r, tlcf, world,
                                               asked[i].line->zone,
                                               &asked[i].key, &asked[i].look,
                                               t);
            }
        }
    }

    if (longest == NULL) {
        r->main->limit_req_status = NGX_HTTP_WEIR_PASSED;
        return 0;
    }

    ngx_http_weir_take_log_request(r, tlcf, longest->line,
                                   algo_excess(&longest->look.numbers,
                                               longest->look.state, t->now,
                                               true),
                                   1);

    if (tlcf->requests.dry_run) {
        r->main->limit_req_status = NGX_HTTP_WEIR_DELAYED_DRY_RUN;
        return 0;
    }

    r->main->limit_req_status = NGX_HTTP_WEIR_DELAYED;

    return (ngx_msec_t) ((delay_ns + 999999) / 1000000);
}
