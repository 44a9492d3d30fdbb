/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * key: what a zone's key is for this request, which counter that is, and what a line lets pass of it.
 *
 * A key of any length is hashed whole: nginx leaves those of more than 65,535 bytes (connections: 255) unlimited.
 */
#include "doors/nginx/take/take.h"

#include "flow/keybytes.h"
#include "policy/zones.h"


static void ngx_http_weir_zone_find(ngx_http_request_t *r,
    ngx_http_weir_world_t *world, ngx_http_weir_zone_t *zone);


ngx_int_t
ngx_http_weir_zone_value(ngx_http_request_t *r, ngx_http_weir_zone_t *zone,
    ngx_str_t *value)
{
    if (ngx_http_complex_value(r, &zone->key, value) != NGX_OK) {
        return NGX_ERROR;
    }

    return value->len ? NGX_OK : NGX_DECLINED;
}


ngx_int_t
ngx_http_weir_zone_counter(ngx_http_request_t *r,
    ngx_http_weir_world_t *world, ngx_http_weir_zone_t *zone,
    ngx_str_t *value, struct table_key *key)
{
    struct keybytes  bytes;

    if (zone->serial != world->serial) {
        ngx_http_weir_zone_find(r, world, zone);
    }

    if (zone->row == TABLE_ROW_NONE) {
        return NGX_DECLINED;
    }

    keybytes_begin(&bytes, world->env.table);
    keybytes_part(&bytes, IMAGE_KEY_VAR, TEXT(""), value->len);
    keybytes_add(&bytes, value->data, value->len);

    *key = keybytes_key(&bytes, zone->identity);

    return NGX_OK;
}


/* Where the zone's counter is in the image that decides. That is this configuration's own, as a rule; of a worker that
 * has come late, a newer one. */

static void
ngx_http_weir_zone_find(ngx_http_request_t *r, ngx_http_weir_world_t *world,
    ngx_http_weir_zone_t *zone)
{
    uint32_t                         i;
    const struct image              *image;
    const struct image_counter      *counters;
    ngx_http_weir_take_main_conf_t  *tmcf;

    tmcf = ngx_http_get_module_main_conf(r, ngx_http_weir_take_module);

    if (zone->identity == 0) {
        counters = image_at(tmcf->realm.image,
                            tmcf->realm.image->counters.offset);
        zone->identity = counters[zone->index].identity;
    }

    image = world->env.image;
    counters = image_at(image, image->counters.offset);

    zone->serial = world->serial;
    zone->row = TABLE_ROW_NONE;

    for (i = 0; i < image->counters.count; i++) {
        if (counters[i].identity == zone->identity) {
            zone->row = counters[i].row;
            zone->counter = i;
            zone->stat = counters[i].stat % TABLE_STAT_COUNT;
            return;
        }
    }
}


ngx_int_t
ngx_http_weir_line_bound(ngx_http_request_t *r, ngx_http_weir_line_t *line,
    struct algo_bound *bound)
{
    uint32_t               count;
    uint64_t               period_ns;
    ngx_int_t              burst;
    ngx_str_t              value;
    bool                   nginx;
    ngx_http_weir_zone_t  *zone;

    *bound = line->bound;
    zone = line->zone;

    if (line->burst_value) {
        if (ngx_http_complex_value(r, line->burst_value, &value) != NGX_OK) {
            return NGX_ERROR;
        }

        /* nothing, or no number: no burst, as if it were not there */

        burst = value.len ? ngx_atoi(value.data, value.len) : 0;

        if (burst == NGX_ERROR) {
            burst = 0;
        }

        bound->burst = (uint32_t) ngx_min(burst, (ngx_int_t) ALGO_BURST_MAX - 1);
        bound->at_once = line->nodelay ? bound->burst
                         : ngx_min(bound->at_once, bound->burst);
    }

    if (zone->rate_value) {
        if (ngx_http_complex_value(r, zone->rate_value, &value) != NGX_OK) {
            return NGX_ERROR;
        }

        if (value.len == 0) {
            return NGX_DECLINED;
        }

        if (!zones_rate((struct text) { (char *) value.data, value.len },
                        &count, &period_ns, &nginx, NULL))
        {
            /* a limit that cannot be read does not hold; once a second that is said */

            if (zone->wrong_at != ngx_time()) {
                zone->wrong_at = ngx_time();

                ngx_log_error(NGX_LOG_ERR, r->connection->log, 0,
                              "weir: zone \"%V\": \"%V\" is no rate, "
                              "the request is not limited by it",
                              &zone->name, &value);
            }

            return NGX_DECLINED;
        }

        bound->token_ns = period_ns / count;
    }

    return NGX_OK;
}
