/* SPDX-License-Identifier: BSD-2-Clause */
/* tell: statistics and recent refusals of zones, where `weir show` looks for those of limits. */
#include "doors/nginx/take/take.h"


void
ngx_http_weir_take_passed(ngx_http_weir_world_t *world,
    ngx_http_weir_zone_t *zone, ngx_uint_t delayed)
{
    struct stats_limit  *stats;

    stats = stats_limit(world->env.table, zone->stat);

    stats_add(&stats->allowed, 1);
    stats_add(&stats->cost, 1);

    if (delayed) {
        stats_add(&stats->delayed, 1);
    }
}


void
ngx_http_weir_take_crowded(ngx_http_weir_world_t *world,
    ngx_http_weir_zone_t *zone)
{
    stats_add(&stats_limit(world->env.table, zone->stat)->no_room, 1);
}


void
ngx_http_weir_take_refused(ngx_http_weir_world_t *world,
    ngx_http_weir_zone_t *zone, ngx_str_t *value, const struct algo_time *t,
    ngx_uint_t dry_run)
{
    char                   text[ADDRESS_TEXT_MAX];
    struct address         address;
    struct stats_event     event;
    struct stats_limit    *stats;

    stats = stats_limit(world->env.table, zone->stat);

    stats_add(dry_run ? &stats->shadow : &stats->refused, 1);

    ngx_memzero(&event, sizeof(struct stats_event));
    event.at = t->now;
    event.kind = dry_run ? STATS_EVENT_SHADOW : STATS_EVENT_REFUSED;
    event.stat = zone->stat;

    if (!flow_recorder_due(world->env.recorder, event.kind, zone->stat,
                           t->now, &event.count))
    {
        return;
    }

    ngx_memzero(&address, sizeof(struct address));

    if (zone->address && value->len == 4) {
        address.bytes[10] = address.bytes[11] = 0xff;
        ngx_memcpy(&address.bytes[12], value->data, 4);

    } else if (zone->address && value->len == 16) {
        ngx_memcpy(address.bytes, value->data, 16);

    } else {
        event.length = (uint8_t) ngx_min(value->len, sizeof(event.text));
        ngx_memcpy(event.text, value->data, event.length);
        stats_event(world->env.table, &event);
        return;
    }

    event.length = (uint8_t) address_format(&address, text);
    ngx_memcpy(event.text, text, event.length);
    stats_event(world->env.table, &event);
}
