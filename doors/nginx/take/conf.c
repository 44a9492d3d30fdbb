/* SPDX-License-Identifier: BSD-2-Clause */
/* conf: the module that owns nginx's own limits; what locations inherit. */
#include "doors/nginx/take/take.h"


static ngx_int_t ngx_http_weir_take_postconfiguration(ngx_conf_t *cf);
static void *ngx_http_weir_take_create_main_conf(ngx_conf_t *cf);
static void *ngx_http_weir_take_create_loc_conf(ngx_conf_t *cf);
static void ngx_http_weir_limits_unset(ngx_http_weir_limits_t *limits);
static char *ngx_http_weir_take_merge_loc_conf(ngx_conf_t *cf, void *parent,
    void *child);
static void ngx_http_weir_limits_merge(ngx_http_weir_limits_t *conf,
    ngx_http_weir_limits_t *prev);


static ngx_http_module_t  ngx_http_weir_take_module_ctx = {
    NULL,                                  /* preconfiguration */
    ngx_http_weir_take_postconfiguration,  /* postconfiguration */

    ngx_http_weir_take_create_main_conf,   /* create main configuration */
    NULL,                                  /* init main configuration */

    NULL,                                  /* create server configuration */
    NULL,                                  /* merge server configuration */

    ngx_http_weir_take_create_loc_conf,    /* create location configuration */
    ngx_http_weir_take_merge_loc_conf      /* merge location configuration */
};


ngx_module_t  ngx_http_weir_take_module = {
    NGX_MODULE_V1,
    &ngx_http_weir_take_module_ctx,        /* module context */
    ngx_http_weir_take_commands,           /* module directives */
    NGX_HTTP_MODULE,                       /* module type */
    NULL,                                  /* init master */
    NULL,                                  /* init module */
    NULL,                                  /* init process */
    NULL,                                  /* init thread */
    NULL,                                  /* exit thread */
    NULL,                                  /* exit process */
    NULL,                                  /* exit master */
    NGX_MODULE_V1_PADDING
};


static ngx_int_t
ngx_http_weir_take_postconfiguration(ngx_conf_t *cf)
{
    ngx_http_weir_take_main_conf_t  *tmcf;

    tmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_weir_take_module);

    if (ngx_http_weir_take_compile(cf, tmcf) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_http_weir_has(&tmcf->realm) ? ngx_http_weir_take_init(cf)
                                           : NGX_OK;
}


static void *
ngx_http_weir_take_create_main_conf(ngx_conf_t *cf)
{
    ngx_http_weir_take_main_conf_t  *tmcf;

    tmcf = ngx_pcalloc(cf->pool, sizeof(ngx_http_weir_take_main_conf_t));
    if (tmcf == NULL) {
        return NULL;
    }

    if (ngx_array_init(&tmcf->zones, cf->pool, 4,
                       sizeof(ngx_http_weir_zone_t *))
        != NGX_OK)
    {
        return NULL;
    }

    return tmcf;
}


static void *
ngx_http_weir_take_create_loc_conf(ngx_conf_t *cf)
{
    ngx_http_weir_take_loc_conf_t  *tlcf;

    tlcf = ngx_pcalloc(cf->pool, sizeof(ngx_http_weir_take_loc_conf_t));
    if (tlcf == NULL) {
        return NULL;
    }

    ngx_http_weir_limits_unset(&tlcf->requests);
    ngx_http_weir_limits_unset(&tlcf->connections);

    tlcf->status = NGX_CONF_UNSET_UINT;
    tlcf->headers = NGX_CONF_UNSET_UINT;
    tlcf->sample = NGX_CONF_UNSET;

    return tlcf;
}


static void
ngx_http_weir_limits_unset(ngx_http_weir_limits_t *limits)
{
    limits->status = NGX_CONF_UNSET_UINT;
    limits->log_level = NGX_CONF_UNSET_UINT;
    limits->dry_run = NGX_CONF_UNSET;
}


static char *
ngx_http_weir_take_merge_loc_conf(ngx_conf_t *cf, void *parent, void *child)
{
    ngx_http_weir_take_loc_conf_t  *prev = parent;
    ngx_http_weir_take_loc_conf_t  *conf = child;

    ngx_conf_merge_uint_value(conf->status, prev->status,
                              NGX_HTTP_SERVICE_UNAVAILABLE);
    ngx_conf_merge_uint_value(conf->headers, prev->headers, 0);
    ngx_conf_merge_value(conf->sample, prev->sample, 0);

    ngx_http_weir_limits_merge(&conf->requests, &prev->requests);
    ngx_http_weir_limits_merge(&conf->connections, &prev->connections);

    return NGX_CONF_OK;
}


/* Lines are inherited only by a level that has none at all; everything else one by one. A status stays unset until the
 * request asks: weir_limit_status of an inner level holds where limit_req_status stands on none. */

static void
ngx_http_weir_limits_merge(ngx_http_weir_limits_t *conf,
    ngx_http_weir_limits_t *prev)
{
    if (conf->lines.elts == NULL) {
        conf->lines = prev->lines;
    }

    if (conf->status == NGX_CONF_UNSET_UINT) {
        conf->status = prev->status;
    }

    ngx_conf_merge_uint_value(conf->log_level, prev->log_level, NGX_LOG_ERR);
    ngx_conf_merge_value(conf->dry_run, prev->dry_run, 0);

    conf->delay_log_level = (conf->log_level == NGX_LOG_INFO)
                            ? NGX_LOG_INFO : conf->log_level + 1;
}
