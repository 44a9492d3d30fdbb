/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compile: the zones of nginx.conf as the image of a realm, when the whole of http{} has been read: what a line uses may be
 * declared after it.
 */
#include "doors/nginx/take/take.h"

#include "policy/place.h"
#include "policy/suggest.h"
#include "policy/zones.h"


static ngx_uint_t ngx_http_weir_zones_close(ngx_conf_t *cf,
    ngx_array_t *zones);
static void ngx_http_weir_zone_unknown(ngx_conf_t *cf, ngx_array_t *zones,
    ngx_http_weir_zone_t *zone);
static struct image *ngx_http_weir_zones_image(ngx_conf_t *cf,
    ngx_array_t *zones, const char *source);
static void ngx_http_weir_image_free(void *data);


ngx_int_t
ngx_http_weir_take_compile(ngx_conf_t *cf, ngx_http_weir_take_main_conf_t *tmcf)
{
    u_char                     *path;
    uint64_t                    size;
    ngx_uint_t                  i, used;
    ngx_pool_cleanup_t         *cln;
    ngx_http_weir_zone_t      **zone;
    ngx_http_core_loc_conf_t   *clcf;

    if (ngx_http_weir_zones_close(cf, &tmcf->zones)) {
        return NGX_ERROR;
    }

    zone = tmcf->zones.elts;
    size = 0;
    used = 0;

    for (i = 0; i < tmcf->zones.nelts; i++) {
        zone[i]->index = (uint32_t) i;
        used |= zone[i]->used;
        size += ngx_min(zone[i]->size, TABLE_SIZE_MAX - size);
    }

    if (!used) {
        if (tmcf->realm.table.len || tmcf->realm.snapshot.len) {
            ngx_log_error(NGX_LOG_WARN, cf->log, 0,
                          "weir: no limit_req and no limit_conn uses a zone: "
                          "weir_limit_%s has no effect",
                          tmcf->realm.table.len ? "table" : "snapshot");
        }

        return NGX_OK;
    }

    path = ngx_palloc(cf->pool, PLACE_MAX);
    cln = ngx_pool_cleanup_add(cf->pool, 0);

    if (path == NULL || cln == NULL) {
        return NGX_ERROR;
    }

    if (!policy_absolute_path((char *) cf->cycle->conf_file.data,
                              (char *) path, PLACE_MAX))
    {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "weir: \"%V\" has too long a path",
                      &cf->cycle->conf_file);
        return NGX_ERROR;
    }

    tmcf->image = ngx_http_weir_zones_image(cf, &tmcf->zones, (char *) path);
    if (tmcf->image == NULL) {
        return NGX_ERROR;
    }

    cln->handler = ngx_http_weir_image_free;
    cln->data = tmcf->image;

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);

    tmcf->realm.path.data = path;
    tmcf->realm.path.len = ngx_strlen(path);
    tmcf->realm.image = tmcf->image;
    tmcf->realm.directive = "weir_limit_table";
    tmcf->realm.fixed = 1;
    tmcf->realm.log = clcf->error_log ? clcf->error_log : &cf->cycle->new_log;

    tmcf->realm.what = "zones";

    if (tmcf->realm.size == 0) {
        tmcf->realm.size = ngx_max(size, TABLE_SIZE_MIN);
    }

    tmcf->image->table_bytes = tmcf->realm.size;

    return ngx_http_weir_realm_share(cf, &tmcf->realm) == NGX_CONF_OK
           ? NGX_OK : NGX_ERROR;
}


/* From now on no directive mentions a zone. How many are used and not declared; of nginx's shared memory the others
 * take as little as there can be. */

static ngx_uint_t
ngx_http_weir_zones_close(ngx_conf_t *cf, ngx_array_t *zones)
{
    ngx_uint_t              i, unknown;
    ngx_http_weir_zone_t  **zone;

    zone = zones->elts;
    unknown = 0;

    for (i = 0; i < zones->nelts; i++) {
        if (zone[i]->size == 0) {
            ngx_http_weir_zone_unknown(cf, zones, zone[i]);
            unknown++;
            continue;
        }

        zone[i]->shm->shm.size = NGX_HTTP_WEIR_ZONE_LEAST;
    }

    return unknown;
}


/* nginx says the first words when all is read, and not where. */

static void
ngx_http_weir_zone_unknown(ngx_conf_t *cf, ngx_array_t *zones,
    ngx_http_weir_zone_t *zone)
{
    ngx_uint_t              i;
    struct suggest          suggest;
    ngx_http_weir_zone_t  **other;

    suggest = suggest_begin((struct text) { (char *) zone->name.data,
                                            zone->name.len });
    other = zones->elts;

    for (i = 0; i < zones->nelts; i++) {
        if (other[i]->size && other[i]->connections == zone->connections) {
            suggest_offer(&suggest, (struct text) {
                              (char *) other[i]->name.data,
                              other[i]->name.len });
        }
    }

    ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                  "zero size shared memory zone \"%V\" in %s:%ui: no "
                  "limit_%s_zone declares it%s%*s%s",
                  &zone->name, zone->file, zone->line,
                  zone->connections ? "conn" : "req",
                  suggest.best.size ? "; did you mean \"" : "",
                  suggest.best.size, suggest.best.size ? suggest.best.data : "",
                  suggest.best.size ? "\"?" : "");
}


static struct image *
ngx_http_weir_zones_image(ngx_conf_t *cf, ngx_array_t *zones,
    const char *source)
{
    char                    why[1024];
    ngx_uint_t              i;
    struct image           *image;
    struct zone_spec       *spec;
    ngx_http_weir_zone_t  **zone;

    spec = ngx_pcalloc(cf->temp_pool, zones->nelts * sizeof(struct zone_spec));
    if (spec == NULL) {
        return NULL;
    }

    zone = zones->elts;

    for (i = 0; i < zones->nelts; i++) {
        spec[i].name = (struct text) { (char *) zone[i]->name.data,
                                       zone[i]->name.len };
        spec[i].key = (struct text) { (char *) zone[i]->key.value.data,
                                      zone[i]->key.value.len };
        spec[i].rate = (struct text) { (char *) zone[i]->rate.data,
                                       zone[i]->rate.len };
        spec[i].connections = zone[i]->connections;
        spec[i].nginx = zone[i]->nginx;
        spec[i].count = zone[i]->count;
        spec[i].period_ns = zone[i]->period_ns;
        spec[i].burst = zone[i]->burst;
        spec[i].bytes = zone[i]->size;
        spec[i].burst_varies = zone[i]->burst_varies;
        spec[i].file = (char *) zone[i]->file;
        spec[i].line = (unsigned) zone[i]->line;
    }

    image = zones_image(spec, zones->nelts, "nginx", source, ngx_time(), why,
                        sizeof(why));

    if (image == NULL) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0, "weir: %s", why);
    }

    return image;
}


static void
ngx_http_weir_image_free(void *data)
{
    free(data);
}
