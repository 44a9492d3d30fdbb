/* SPDX-License-Identifier: BSD-2-Clause */
/* realm: where a table stands, how large it is, and what the workers that decide in it share. */
#include "doors/nginx/gate.h"

#include <sys/mman.h>


static void ngx_http_weir_realm_end(void *data);


char *
ngx_http_weir_realm_share(ngx_conf_t *cf, ngx_http_weir_realm_t *realm)
{
    ngx_pool_cleanup_t  *cln;

    cln = ngx_pool_cleanup_add(cf->pool, 0);
    if (cln == NULL) {
        return NGX_CONF_ERROR;
    }

    realm->shared = mmap(NULL, sizeof(ngx_http_weir_shared_t),
                       PROT_READ|PROT_WRITE, MAP_SHARED|MAP_ANONYMOUS, -1, 0);

    if (realm->shared == MAP_FAILED) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, ngx_errno,
                           "weir: no memory to share among the workers");
        return NGX_CONF_ERROR;
    }

    cln->handler = ngx_http_weir_realm_end;
    cln->data = realm;

    if (ngx_http_weir_lock_init(&realm->shared->opening) != NGX_OK
        || ngx_http_weir_lock_init(&realm->shared->publishing) != NGX_OK)
    {
        return "finds no robust locks on this system";
    }

    return NGX_CONF_OK;
}


char *
ngx_http_weir_realm_table(ngx_conf_t *cf, ngx_http_weir_realm_t *realm)
{
    off_t       size;
    ngx_str_t  *value;

    if (realm->table.len) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (value[1].len == 0) {
        return "needs a path";
    }

    if (ngx_parse_offset(&value[1]) != (off_t) NGX_ERROR) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "weir: \"%V\" is a size, and stands where the path "
                           "belongs: write \"%V PATH %V\"",
                           &value[1], &value[0], &value[1]);
        return NGX_CONF_ERROR;
    }

    realm->table = value[1];

    if (ngx_conf_full_name(cf->cycle, &realm->table, 0) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    if (cf->args->nelts == 3) {
        size = ngx_parse_offset(&value[2]);

        if (size == (off_t) NGX_ERROR || (uint64_t) size < TABLE_SIZE_MIN
            || (uint64_t) size > TABLE_SIZE_MAX)
        {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "weir: table size \"%V\" is not a size from "
                               "64k to 64g", &value[2]);
            return NGX_CONF_ERROR;
        }

        realm->size = (uint64_t) size;
    }

    return NGX_CONF_OK;
}


/* "off", or where the table's snapshot stands; without it, where policy_kept_path says. */

char *
ngx_http_weir_realm_snapshot(ngx_conf_t *cf, ngx_http_weir_realm_t *realm)
{
    ngx_str_t  *value;

    if (realm->snapshot.data) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (value[1].len == 0) {
        return "needs a path, or \"off\"";
    }

    realm->snapshot = value[1];

    if (ngx_strcmp(value[1].data, "off") == 0) {
        realm->snapshot.len = 0;
        return NGX_CONF_OK;
    }

    if (ngx_conf_full_name(cf->cycle, &realm->snapshot, 0) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    return NGX_CONF_OK;
}


/* In a process without master and workers the next configuration takes over here, and nobody else closes the table. */

static void
ngx_http_weir_realm_end(void *data)
{
    ngx_http_weir_realm_t  *realm = data;

    ngx_http_weir_world_close(realm);
    (void) munmap(realm->shared, sizeof(ngx_http_weir_shared_t));
}
