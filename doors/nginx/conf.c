/* SPDX-License-Identifier: BSD-2-Clause */
/* conf: the directives, and the module that owns them. */
#include "doors/nginx/gate.h"


static ngx_int_t ngx_http_weir_preconfiguration(ngx_conf_t *cf);
static ngx_int_t ngx_http_weir_postconfiguration(ngx_conf_t *cf);
static void *ngx_http_weir_create_main_conf(ngx_conf_t *cf);
static void *ngx_http_weir_create_loc_conf(ngx_conf_t *cf);
static char *ngx_http_weir_merge_loc_conf(ngx_conf_t *cf, void *parent, void *child);
static char *ngx_http_weir_table(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
static char *ngx_http_weir_snapshot(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
static char *ngx_http_weir_flag(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);


static ngx_conf_enum_t  ngx_http_weir_log_levels[] = {
    { ngx_string("info"), NGX_LOG_INFO },
    { ngx_string("notice"), NGX_LOG_NOTICE },
    { ngx_string("warn"), NGX_LOG_WARN },
    { ngx_string("error"), NGX_LOG_ERR },
    { ngx_null_string, 0 }
};


static ngx_command_t  ngx_http_weir_commands[] = {

    { ngx_string("weir_policy"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_http_weir_policy,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("weir_table"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE12,
      ngx_http_weir_table,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("weir_snapshot"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_http_weir_snapshot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      0,
      NULL },

    { ngx_string("weir_log_level"),
      NGX_HTTP_MAIN_CONF|NGX_CONF_TAKE1,
      ngx_conf_set_enum_slot,
      NGX_HTTP_MAIN_CONF_OFFSET,
      offsetof(ngx_http_weir_main_conf_t, log_level),
      &ngx_http_weir_log_levels },

    { ngx_string("weir"),
      NGX_HTTP_MAIN_CONF|NGX_HTTP_SRV_CONF|NGX_HTTP_LOC_CONF|NGX_CONF_FLAG,
      ngx_http_weir_flag,
      NGX_HTTP_LOC_CONF_OFFSET,
      offsetof(ngx_http_weir_loc_conf_t, enable),
      NULL },

      ngx_null_command
};


static ngx_http_module_t  ngx_http_weir_gate_module_ctx = {
    ngx_http_weir_preconfiguration,        /* preconfiguration */
    ngx_http_weir_postconfiguration,       /* postconfiguration */

    ngx_http_weir_create_main_conf,        /* create main configuration */
    NULL,                                  /* init main configuration */

    NULL,                                  /* create server configuration */
    NULL,                                  /* merge server configuration */

    ngx_http_weir_create_loc_conf,         /* create location configuration */
    ngx_http_weir_merge_loc_conf           /* merge location configuration */
};


ngx_module_t  ngx_http_weir_gate_module = {
    NGX_MODULE_V1,
    &ngx_http_weir_gate_module_ctx,        /* module context */
    ngx_http_weir_commands,                /* module directives */
    NGX_HTTP_MODULE,                       /* module type */
    NULL,                                  /* init master */
    NULL,                                  /* init module */
    ngx_http_weir_init_process,            /* init process */
    NULL,                                  /* init thread */
    NULL,                                  /* exit thread */
    ngx_http_weir_exit_process,            /* exit process */
    NULL,                                  /* exit master */
    NGX_MODULE_V1_PADDING
};


static ngx_int_t
ngx_http_weir_preconfiguration(ngx_conf_t *cf)
{
    return ngx_http_weir_add_variables(cf);
}


static ngx_int_t
ngx_http_weir_postconfiguration(ngx_conf_t *cf)
{
    ngx_http_core_loc_conf_t   *clcf;
    ngx_http_weir_main_conf_t  *mcf;

    mcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_weir_gate_module);

    if (!ngx_http_weir_enabled(mcf)) {
        if (mcf->wanted || mcf->realm.table.len) {
            ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                          "weir: \"%s\" needs a policy: "
                          "put \"weir_policy FILE;\" into http{}",
                          mcf->wanted ? "weir on" : "weir_table");
            return NGX_ERROR;
        }

        return NGX_OK;
    }

    ngx_conf_init_uint_value(mcf->log_level, NGX_LOG_WARN);

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);
    mcf->realm.log = clcf->error_log ? clcf->error_log : &cf->cycle->new_log;

    if (ngx_http_weir_check_variables(cf, mcf->policy.image) != NGX_OK) {
        return NGX_ERROR;
    }

    if (ngx_http_weir_cached_init(cf) != NGX_OK) {
        return NGX_ERROR;
    }

    return ngx_http_weir_gate_init(cf);
}


static void *
ngx_http_weir_create_main_conf(ngx_conf_t *cf)
{
    ngx_http_weir_main_conf_t  *mcf;

    mcf = ngx_pcalloc(cf->pool, sizeof(ngx_http_weir_main_conf_t));
    if (mcf == NULL) {
        return NULL;
    }

    mcf->log_level = NGX_CONF_UNSET_UINT;

    return mcf;
}


static void *
ngx_http_weir_create_loc_conf(ngx_conf_t *cf)
{
    ngx_http_weir_loc_conf_t  *lcf;

    lcf = ngx_pcalloc(cf->pool, sizeof(ngx_http_weir_loc_conf_t));
    if (lcf == NULL) {
        return NULL;
    }

    lcf->enable = NGX_CONF_UNSET;

    return lcf;
}


static char *
ngx_http_weir_merge_loc_conf(ngx_conf_t *cf, void *parent, void *child)
{
    ngx_http_weir_loc_conf_t   *prev = parent;
    ngx_http_weir_loc_conf_t   *conf = child;
    ngx_http_weir_main_conf_t  *mcf;

    ngx_conf_merge_value(conf->enable, prev->enable, 1);

    mcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_weir_gate_module);

    return ngx_http_weir_enabled(mcf) ? ngx_http_weir_hidden_init(cf)
                                      : NGX_CONF_OK;
}


static char *
ngx_http_weir_flag(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    char                       *rv;
    ngx_http_weir_loc_conf_t   *lcf = conf;
    ngx_http_weir_main_conf_t  *mcf;

    rv = ngx_conf_set_flag_slot(cf, cmd, conf);

    if (rv == NGX_CONF_OK && lcf->enable) {
        mcf = ngx_http_conf_get_module_main_conf(cf,
                                                 ngx_http_weir_gate_module);
        mcf->wanted = 1;
    }

    return rv;
}


static char *
ngx_http_weir_table(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_weir_main_conf_t  *mcf = conf;

    return ngx_http_weir_realm_table(cf, &mcf->realm);
}


static char *
ngx_http_weir_snapshot(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_weir_main_conf_t  *mcf = conf;

    return ngx_http_weir_realm_snapshot(cf, &mcf->realm);
}
