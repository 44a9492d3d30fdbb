/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compile: `weir_policy FILE`: the policy is compiled while nginx reads its configuration.
 *
 * The master, and `nginx -t`, only compile: a broken policy fails the test and refuses the reload, and the table is
 * touched by nobody but the workers of a configuration that has been started (publish.c).
 */
#include "doors/nginx/gate.h"

#include "policy/place.h"


static void ngx_http_weir_free_policy(void *data);
static void ngx_http_weir_report(ngx_conf_t *cf, struct policy *policy);


char *
ngx_http_weir_policy(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_str_t                  *value, path;
    ngx_pool_cleanup_t         *cln;
    struct policy_options       options;
    ngx_http_weir_main_conf_t  *mcf = conf;

    if (ngx_http_weir_enabled(mcf)) {
        return "is duplicate";
    }

    value = cf->args->elts;
    path = value[1];

    if (path.len == 0) {
        return "needs a file";
    }

    if (ngx_conf_full_name(cf->cycle, &path, 1) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    mcf->realm.path.data = ngx_palloc(cf->pool, PLACE_MAX);
    if (mcf->realm.path.data == NULL) {
        return NGX_CONF_ERROR;
    }

    if (!policy_absolute_path((char *) path.data, (char *) mcf->realm.path.data,
                              PLACE_MAX))
    {
        return "has too long a path";
    }

    mcf->realm.path.len = ngx_strlen(mcf->realm.path.data);

    cln = ngx_pool_cleanup_add(cf->pool, 0);
    if (cln == NULL) {
        return NGX_CONF_ERROR;
    }

    ngx_memzero(&options, sizeof(struct policy_options));
    options.path = (char *) mcf->realm.path.data;

    policy_load(&options, &mcf->policy);

    cln->handler = ngx_http_weir_free_policy;
    cln->data = &mcf->policy;

    ngx_http_weir_report(cf, &mcf->policy);

    if (mcf->policy.image == NULL) {
        return NGX_CONF_ERROR;
    }

    mcf->realm.image = mcf->policy.image;
    mcf->realm.directive = "weir_table";
    mcf->realm.what = "policy";

    return ngx_http_weir_realm_share(cf, &mcf->realm);
}


static void
ngx_http_weir_report(ngx_conf_t *cf, struct policy *policy)
{
    size_t                  i;
    ngx_uint_t              level;
    struct policy_finding  *f;

    for (i = 0; i < policy->finding_count; i++) {
        f = &policy->findings[i];

        level = f->severity == POLICY_ERROR ? NGX_LOG_EMERG : NGX_LOG_WARN;

        ngx_conf_log_error(level, cf, 0, "weir: %s:%ui:%ui: %s: %s", f->file,
                           (ngx_uint_t) f->line, (ngx_uint_t) f->column,
                           f->severity == POLICY_ERROR ? "error" : "warning",
                           f->message);
    }

    if (policy->errors > POLICY_FINDINGS_MAX) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "weir: %uz errors in all; \"weir check\" shows "
                           "them with their places", policy->errors);
    }
}


static void
ngx_http_weir_free_policy(void *data)
{
    policy_free(data);
}
