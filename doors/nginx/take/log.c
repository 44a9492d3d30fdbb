/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log: nginx's lines, word for word, since others read them; one for each request, as there. If they are sampled, the first of
 * a second is told in full, for each zone and each worker, and how many more there were in one line afterwards.
 */
#include "doors/nginx/take/take.h"


static ngx_uint_t ngx_http_weir_take_sampled(ngx_http_request_t *r,
    ngx_http_weir_zone_t *zone, ngx_uint_t level, ngx_uint_t delayed);
static void ngx_http_weir_take_untold(ngx_http_weir_zone_t *zone);
static void ngx_http_weir_take_log_timer(ngx_event_t *ev);


static ngx_event_t       ngx_http_weir_take_timer;
static ngx_connection_t  ngx_http_weir_take_dummy = { .fd = (ngx_socket_t) -1 };


void
ngx_http_weir_take_log_request(ngx_http_request_t *r,
    ngx_http_weir_take_loc_conf_t *tlcf, ngx_http_weir_line_t *line,
    uint64_t excess, ngx_uint_t delayed)
{
    ngx_uint_t  level;

    level = delayed ? tlcf->requests.delay_log_level
                    : tlcf->requests.log_level;

    if (r->connection->log->log_level < level
        || (tlcf->sample
            && !ngx_http_weir_take_sampled(r, line->zone, level, delayed)))
    {
        return;
    }

    ngx_log_error(level, r->connection->log, 0,
                  "%s request%s%s, excess: %uL.%03uL%s by zone \"%V\"",
                  delayed ? "delaying" : "limiting", delayed ? "" : "s",
                  tlcf->requests.dry_run ? ", dry run" : "",
                  excess / 1000, excess % 1000, delayed ? "," : "",
                  &line->zone->name);
}


void
ngx_http_weir_take_log_connection(ngx_http_request_t *r,
    ngx_http_weir_take_loc_conf_t *tlcf, ngx_http_weir_line_t *line)
{
    ngx_uint_t  level;

    level = tlcf->connections.log_level;

    if (r->connection->log->log_level < level
        || (tlcf->sample
            && !ngx_http_weir_take_sampled(r, line->zone, level, 0)))
    {
        return;
    }

    ngx_log_error(level, r->connection->log, 0,
                  "limiting connections%s by zone \"%V\"",
                  tlcf->connections.dry_run ? ", dry run," : "",
                  &line->zone->name);
}


/* Is it the first of its second? The others are counted. */

static ngx_uint_t
ngx_http_weir_take_sampled(ngx_http_request_t *r, ngx_http_weir_zone_t *zone,
    ngx_uint_t level, ngx_uint_t delayed)
{
    ngx_http_core_loc_conf_t  *clcf;

    if (zone->told_at[delayed] == ngx_time()) {
        clcf = ngx_http_get_module_loc_conf(r, ngx_http_core_module);

        /* the number goes where the last of them would have gone */
        zone->untold[delayed]++;
        zone->untold_level[delayed] = level;
        zone->untold_log[delayed] = clcf->error_log;

        if (!ngx_http_weir_take_timer.timer_set && !ngx_exiting) {
            ngx_http_weir_take_timer.handler = ngx_http_weir_take_log_timer;
            ngx_http_weir_take_timer.data = &ngx_http_weir_take_dummy;
            ngx_http_weir_take_timer.log = ngx_cycle->log;
            ngx_http_weir_take_timer.cancelable = 1;

            ngx_add_timer(&ngx_http_weir_take_timer, 1000);
        }

        return 0;
    }

    zone->told_at[delayed] = ngx_time();

    return 1;
}


static void
ngx_http_weir_take_untold(ngx_http_weir_zone_t *zone)
{
    ngx_uint_t  delayed;

    for (delayed = 0; delayed < 2; delayed++) {
        if (zone->untold[delayed] == 0) {
            continue;
        }

        ngx_log_error(zone->untold_level[delayed],
                      zone->untold_log[delayed], 0,
                      "weir: %ui more lines \"%s\" by zone \"%V\"",
                      zone->untold[delayed],
                      zone->connections ? "limiting connections"
                      : delayed ? "delaying request" : "limiting requests",
                      &zone->name);

        zone->untold[delayed] = 0;
    }
}


static void
ngx_http_weir_take_log_timer(ngx_event_t *ev)
{
    ngx_http_weir_take_log_flush();
}


void
ngx_http_weir_take_log_flush(void)
{
    ngx_uint_t                       i;
    ngx_http_weir_zone_t           **zones;
    ngx_http_weir_take_main_conf_t  *tmcf;

    tmcf = ngx_http_cycle_get_module_main_conf(ngx_cycle,
                                               ngx_http_weir_take_module);
    if (tmcf == NULL || !ngx_http_weir_has(&tmcf->realm)) {
        return;
    }

    zones = tmcf->zones.elts;

    for (i = 0; i < tmcf->zones.nelts; i++) {
        ngx_http_weir_take_untold(zones[i]);
    }
}
