/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * connections: limit_conn, which counts requests in progress, each stream of HTTP/2 too. A place is taken zone by zone; the
 * first that has none left gives the others back, and refuses.
 */
#include "doors/nginx/take/take.h"


static ngx_int_t ngx_http_weir_connections_refuse(ngx_http_request_t *r,
    ngx_http_weir_take_loc_conf_t *tlcf, ngx_http_weir_line_t *line);


ngx_int_t
ngx_http_weir_take_connections(ngx_http_request_t *r,
    ngx_http_weir_take_loc_conf_t *tlcf)
{
    ngx_int_t                        rc;
    ngx_str_t                        value;
    ngx_uint_t                       i, n;
    enum table_charge                taken;
    struct algo_time                 t;
    struct table_key                 key;
    struct table_look                look;
    ngx_http_weir_line_t            *lines;
    ngx_http_weir_world_t           *world;
    ngx_http_weir_places_t          *places;
    ngx_http_weir_take_main_conf_t  *tmcf;

    tmcf = ngx_http_get_module_main_conf(r, ngx_http_weir_take_module);

    world = ngx_http_weir_world(&tmcf->realm, &t);
    if (world == NULL) {
        return NGX_DECLINED;
    }

    places = NULL;
    lines = tlcf->connections.lines.elts;
    n = tlcf->connections.lines.nelts;

    for (i = 0; i < n; i++) {
        rc = ngx_http_weir_zone_value(r, lines[i].zone, &value);

        if (rc == NGX_OK) {
            rc = ngx_http_weir_zone_counter(r, world, lines[i].zone, &value,
                                            &key);
        }

        if (rc == NGX_DECLINED) {
            continue;
        }

        if (rc == NGX_OK && places == NULL) {
            places = ngx_http_weir_places(r, world, n);
        }

        if (rc == NGX_ERROR || places == NULL) {
            return NGX_HTTP_INTERNAL_SERVER_ERROR;
        }

        if (!r->main->limit_conn_status && !r->main->limit_req_status) {
            stats_add(&stats_process(world->env.table)->decisions, 1);
        }

        r->main->limit_conn_status = NGX_HTTP_WEIR_CONN_PASSED;

        taken = table_take_bound(world->env.table, &key, lines[i].zone->row,
                                 &t, &lines[i].bound,
                                 &places->place[places->n].ticket, &look);

        if (tlcf->headers && !tlcf->connections.dry_run
            && taken != TABLE_NO_ROOM)
        {
            /* without memory the answer goes without headers */
            (void) ngx_http_weir_take_note(r, tlcf, world, lines[i].zone,
                                           &key, &look, &t);
        }

        if (taken == TABLE_REFUSED) {
            ngx_http_weir_take_refused(world, lines[i].zone, &value, &t,
                                       tlcf->connections.dry_run);
            ngx_http_weir_places_free(places);

            return ngx_http_weir_connections_refuse(r, tlcf, &lines[i]);
        }

        if (taken == TABLE_NO_ROOM) {
            /* passes uncounted */
            ngx_http_weir_take_crowded(world, lines[i].zone);
            continue;
        }

        places->place[places->n++].zone = lines[i].zone;
    }

    for (i = 0; places && i < places->n; i++) {
        ngx_http_weir_take_passed(world, places->place[i].zone, 0);
    }

    return NGX_DECLINED;
}


static ngx_int_t
ngx_http_weir_connections_refuse(ngx_http_request_t *r,
    ngx_http_weir_take_loc_conf_t *tlcf, ngx_http_weir_line_t *line)
{
    ngx_http_weir_take_log_connection(r, tlcf, line);

    if (tlcf->connections.dry_run) {
        r->main->limit_conn_status = NGX_HTTP_WEIR_CONN_REJECTED_DRY_RUN;
        return NGX_DECLINED;
    }

    r->main->limit_conn_status = NGX_HTTP_WEIR_CONN_REJECTED;

    return ngx_http_weir_take_status(tlcf, &tlcf->connections, line);
}
