/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * publish: who puts a policy in force, and which.
 *
 * The policy compiled at configuration is published by the first worker of a started configuration, once: a word in the
 * page that master and workers share says that it is done. A worker that replaces a dead one publishes nothing, or it
 * would undo what `weir control` has published since.
 */
#include "doors/nginx/gate.h"


/* ms that another publisher is waited for; world.c tries again later */
#define NGX_HTTP_WEIR_WAIT_STARTING  5000
#define NGX_HTTP_WEIR_WAIT_SERVING   20


static ngx_uint_t ngx_http_weir_published(ngx_http_weir_realm_t *realm,
    struct table *table);
static ngx_uint_t ngx_http_weir_claim(ngx_http_weir_shared_t *shared);


ngx_int_t
ngx_http_weir_publish(ngx_http_weir_realm_t *realm, struct table *table,
    const struct image *last)
{
    char                    why[1024];
    ngx_uint_t              claimed;
    enum weir_error         error;
    const struct image     *image;
    struct publish_report   report;

    claimed = 0;

    if (realm->fixed) {
        if (ngx_exiting || ngx_http_weir_published(realm, table)) {
            realm->started = 1;
            return NGX_OK;
        }

        image = realm->image;

    } else if (!realm->started && ngx_http_weir_claim(realm->shared)) {
        claimed = 1;
        image = realm->image;

    } else {
        realm->started = 1;

        if (table_generation(table) != 0) {
            return NGX_OK;
        }

        /* an empty table, after its file was removed: what has been in force, edits included */

        image = last ? last : realm->image;
    }

    error = policy_publish_within(table, image, realm->serving
                                  ? NGX_HTTP_WEIR_WAIT_SERVING
                                  : NGX_HTTP_WEIR_WAIT_STARTING,
                                  &report, why, sizeof(why));

    if (claimed) {
        realm->shared->published = (error == WEIR_OK);
        ngx_http_weir_unlock(&realm->shared->publishing);
    }

    if (error != WEIR_OK) {
        ngx_http_weir_complain(realm->log, why, error,
                               table_generation(table) != 0
                               ? "what was published before is in force"
                               : "requests pass undecided");
        return NGX_ERROR;
    }

    realm->started = 1;

    if (!report.unchanged) {
        ngx_log_error(NGX_LOG_NOTICE, realm->log, 0,
                      "weir: published generation %uL of \"%V\": %s",
                      report.generation, &realm->path, report.words);
    }

    return NGX_OK;
}


/* Zones are published by nobody but nginx; so whoever finds others than his own there, those of an earlier configuration or of
 * another nginx that shares the table by mistake, publishes his. The others go on with their own (world.c). */

static ngx_uint_t
ngx_http_weir_published(ngx_http_weir_realm_t *realm, struct table *table)
{
    ngx_uint_t            own;
    struct policy_image  *image;

    if (table_generation(table) == 0
        || policy_current(table, &image, NULL, 0) != WEIR_OK)
    {
        return 0;
    }

    own = ngx_http_weir_same(realm, image->image);

    policy_drop(&image);

    return own;
}


struct policy_image *
ngx_http_weir_published_at(const char *path)
{
    struct table          *table;
    struct table_options   options;
    struct policy_image   *image;

    ngx_memzero(&options, sizeof(struct table_options));
    options.path = path;
    options.read_only = true;

    if (table_open(&options, &table, NULL, 0) != WEIR_OK) {
        return NULL;
    }

    if (policy_current(table, &image, NULL, 0) != WEIR_OK) {
        image = NULL;
    }

    table_close(&table);

    return image;
}


ngx_uint_t
ngx_http_weir_same(const ngx_http_weir_realm_t *realm,
    const struct image *image)
{
    return image->kind == realm->image->kind
           && image->source_hash == realm->image->source_hash
           && image->table_bytes == realm->image->table_bytes;
}


/* Is it this process's turn? Then it has the lock. A claimant that is killed on the way is succeeded by the worker that the
 * master puts in its place. */

static ngx_uint_t
ngx_http_weir_claim(ngx_http_weir_shared_t *shared)
{
    if (shared->published || !ngx_http_weir_lock(&shared->publishing, 0)) {
        return 0;
    }

    if (shared->published) {
        ngx_http_weir_unlock(&shared->publishing);
        return 0;
    }

    return 1;
}
