/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * zones: limit_req_zone and limit_conn_zone, in nginx's grammar and its words where one is wrong.
 *
 * Each zone is also one of nginx's shared memory zones, so that nginx itself finds names that are used twice, by other
 * modules too; nothing is ever kept there, and compile.c makes it as small as it can be.
 */
#include "doors/nginx/take/take.h"

#include "policy/zones.h"


static ngx_int_t ngx_http_weir_zone_init(ngx_shm_zone_t *shm, void *data);
static char *ngx_http_weir_zone_argument(ngx_conf_t *cf, ngx_str_t *value,
    ngx_str_t *name, size_t *size);
static char *ngx_http_weir_zone_declare(ngx_conf_t *cf, ngx_command_t *cmd,
    ngx_http_weir_zone_t *declared);
static void ngx_http_weir_zone_other(ngx_conf_t *cf, ngx_array_t *zones,
    ngx_str_t *name, ngx_uint_t connections);


/* What nginx knows the owner of a shared memory zone by: one may not serve both. */
static ngx_uint_t  ngx_http_weir_zone_tags[2];


char *
ngx_http_weir_limit_req_zone(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_str_t             *value;
    ngx_uint_t             i;
    ngx_http_weir_zone_t   zone;

    ngx_memzero(&zone, sizeof(ngx_http_weir_zone_t));

    /* nginx's, if zone= stands there twice and rate= never */

    ngx_str_set(&zone.rate, "1r/s");
    zone.count = 1;
    zone.period_ns = 1000000000;
    zone.nginx = 1;

    value = cf->args->elts;

    if (ngx_http_weir_complex(cf, &value[1], &zone.key) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    for (i = 2; i < cf->args->nelts; i++) {

        if (ngx_strncmp(value[i].data, "zone=", 5) == 0) {

            if (ngx_http_weir_zone_argument(cf, &value[i], &zone.name,
                                            &zone.size)
                != NGX_CONF_OK)
            {
                return NGX_CONF_ERROR;
            }

            continue;
        }

        if (ngx_strncmp(value[i].data, "rate=", 5) == 0) {

            if (ngx_http_weir_rate(cf, &value[i], &zone) != NGX_CONF_OK) {
                return NGX_CONF_ERROR;
            }

            continue;
        }

        return ngx_http_weir_parameter(cf, &value[i], "zone= rate=");
    }

    return ngx_http_weir_zone_declare(cf, cmd, &zone);
}


char *
ngx_http_weir_limit_conn_zone(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_str_t             *value;
    ngx_http_weir_zone_t   zone;

    ngx_memzero(&zone, sizeof(ngx_http_weir_zone_t));
    zone.connections = 1;

    value = cf->args->elts;

    if (ngx_http_weir_complex(cf, &value[1], &zone.key) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    if (ngx_strncmp(value[2].data, "zone=", 5) != 0) {
        return ngx_http_weir_parameter(cf, &value[2], "zone=");
    }

    if (ngx_http_weir_zone_argument(cf, &value[2], &zone.name, &zone.size)
        != NGX_CONF_OK)
    {
        return NGX_CONF_ERROR;
    }

    return ngx_http_weir_zone_declare(cf, cmd, &zone);
}


/* `zone=NAME:SIZE` */

static char *
ngx_http_weir_zone_argument(ngx_conf_t *cf, ngx_str_t *value, ngx_str_t *name,
    size_t *size)
{
    u_char     *colon;
    ssize_t     n;
    ngx_str_t   text;

    name->data = value->data + 5;
    colon = (u_char *) ngx_strchr(name->data, ':');
    n = NGX_ERROR;

    if (colon) {
        name->len = colon - name->data;
        text.data = colon + 1;
        text.len = value->data + value->len - text.data;
        n = ngx_parse_size(&text);
    }

    if (n == NGX_ERROR) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid zone size \"%V\": write zone=NAME:SIZE, "
                           "the size in bytes, k or m (zone=one:10m)", value);
        return NGX_CONF_ERROR;
    }

    if (n < (ssize_t) NGX_HTTP_WEIR_ZONE_LEAST) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "zone \"%V\" is too small: %uzk is the least",
                           value, (size_t) NGX_HTTP_WEIR_ZONE_LEAST / 1024);
        return NGX_CONF_ERROR;
    }

    *size = (size_t) n;

    return NGX_CONF_OK;
}


static char *
ngx_http_weir_zone_declare(ngx_conf_t *cf, ngx_command_t *cmd,
    ngx_http_weir_zone_t *declared)
{
    ngx_http_weir_zone_t  *zone, first;

    if (declared->name.len == 0) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" must have \"zone\" parameter: "
                           "zone=NAME:SIZE", &cmd->name);
        return NGX_CONF_ERROR;
    }

    zone = ngx_http_weir_zone(cf, &declared->name, declared->size,
                              declared->connections);
    if (zone == NULL) {
        return NGX_CONF_ERROR;
    }

    if (zone->size) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "%V \"%V\" is already bound to key \"%V\", "
                           "declared at %s:%ui", &cmd->name, &zone->name,
                           &zone->key.value, zone->file, zone->line);
        return NGX_CONF_ERROR;
    }

    /* lines that stand before it have left something already */

    first = *zone;
    *zone = *declared;

    zone->shm = first.shm;
    zone->name = first.name;
    zone->burst = first.burst;
    zone->burst_varies = first.burst_varies;
    zone->used = first.used;
    zone->file = cf->conf_file->file.name.data;
    zone->line = cf->conf_file->line;

    zone->address = zones_key_is_address((struct text) {
                                             (char *) zone->key.value.data,
                                             zone->key.value.len });

    return NGX_CONF_OK;
}


ngx_http_weir_zone_t *
ngx_http_weir_zone(ngx_conf_t *cf, ngx_str_t *name, size_t size,
    ngx_uint_t connections)
{
    ngx_shm_zone_t                  *shm;
    ngx_http_weir_zone_t            *zone, **slot;
    ngx_http_weir_take_main_conf_t  *tmcf;

    shm = ngx_shared_memory_add(cf, name, size,
                                &ngx_http_weir_zone_tags[connections]);
    tmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_weir_take_module);

    if (shm == NULL) {
        ngx_http_weir_zone_other(cf, &tmcf->zones, name, connections);
        return NULL;
    }

    if (shm->data) {
        return shm->data;
    }

    zone = ngx_pcalloc(cf->pool, sizeof(ngx_http_weir_zone_t));
    if (zone == NULL) {
        return NULL;
    }

    slot = ngx_array_push(&tmcf->zones);
    if (slot == NULL) {
        return NULL;
    }

    *slot = zone;

    zone->shm = shm;
    zone->name = *name;
    zone->connections = connections;
    zone->file = cf->conf_file->file.name.data;
    zone->line = cf->conf_file->line;

    shm->init = ngx_http_weir_zone_init;
    shm->data = zone;

    return zone;
}


/* nginx has said that the name is taken: by whom, if it is taken here. */

static void
ngx_http_weir_zone_other(ngx_conf_t *cf, ngx_array_t *zones, ngx_str_t *name,
    ngx_uint_t connections)
{
    ngx_uint_t              i;
    ngx_http_weir_zone_t  **zone;

    zone = zones->elts;

    for (i = 0; i < zones->nelts; i++) {
        if (zone[i]->connections != connections
            && zone[i]->name.len == name->len
            && ngx_strncmp(zone[i]->name.data, name->data, name->len) == 0)
        {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "weir: \"%V\" is a zone for limit_%s, since "
                               "%s:%ui: limit_%s needs one of its own, from "
                               "limit_%s_zone",
                               name, connections ? "req" : "conn",
                               zone[i]->file, zone[i]->line,
                               connections ? "conn" : "req",
                               connections ? "conn" : "req");
        }
    }
}


/* Also after a reload, with what the last configuration had there: it is as empty. */

static ngx_int_t
ngx_http_weir_zone_init(ngx_shm_zone_t *shm, void *data)
{
    return NGX_OK;
}
