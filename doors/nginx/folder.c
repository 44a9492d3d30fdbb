/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * folder: the table's folder is there, and the workers', before they start.
 *
 * Anyone can be the first to make /dev/shm/weir-33; workers would refuse it and let everything pass. So the master, who is
 * root, makes it, and a configuration whose table stands in a folder that no worker will use is no configuration. When the whole
 * of it has been read, for `user` may stand at its end: that is when nginx asks its core modules, and why this is one.
 */
#include "doors/nginx/take/take.h"

#include "policy/place.h"


static char *ngx_http_weir_folder_init_conf(ngx_cycle_t *cycle, void *conf);
static char *ngx_http_weir_folder(ngx_cycle_t *cycle,
    ngx_http_weir_realm_t *realm);


static ngx_core_module_t  ngx_http_weir_folder_module_ctx = {
    ngx_string("weir_folder"),
    NULL,
    ngx_http_weir_folder_init_conf
};


ngx_module_t  ngx_http_weir_folder_module = {
    NGX_MODULE_V1,
    &ngx_http_weir_folder_module_ctx,      /* module context */
    NULL,                                  /* module directives */
    NGX_CORE_MODULE,                       /* module type */
    NULL,                                  /* init master */
    NULL,                                  /* init module */
    NULL,                                  /* init process */
    NULL,                                  /* init thread */
    NULL,                                  /* exit thread */
    NULL,                                  /* exit process */
    NULL,                                  /* exit master */
    NGX_MODULE_V1_PADDING
};


static char *
ngx_http_weir_folder_init_conf(ngx_cycle_t *cycle, void *conf)
{
    ngx_uint_t              n;
    ngx_http_weir_realm_t  *realms[NGX_HTTP_WEIR_REALMS];

    if (ngx_process == NGX_PROCESS_SIGNALLER) {
        return NGX_CONF_OK;
    }

    n = ngx_http_weir_realms(cycle, realms);

    if (n == 2 && realms[0]->table.len
        && realms[0]->table.len == realms[1]->table.len
        && ngx_strncmp(realms[0]->table.data, realms[1]->table.data,
                       realms[0]->table.len)
           == 0)
    {
        ngx_log_error(NGX_LOG_EMERG, cycle->log, 0,
                      "weir: \"%s\" and \"%s\" name one file, \"%V\": "
                      "a table serves the one or the other",
                      realms[0]->directive, realms[1]->directive,
                      &realms[0]->table);
        return NGX_CONF_ERROR;
    }

    while (n) {
        if (ngx_http_weir_folder(cycle, realms[--n]) != NGX_CONF_OK) {
            return NGX_CONF_ERROR;
        }
    }

    return NGX_CONF_OK;
}


static char *
ngx_http_weir_folder(ngx_cycle_t *cycle, ngx_http_weir_realm_t *realm)
{
    char              why[1024], path[PLACE_MAX];
    ngx_uid_t         user;
    ngx_gid_t         group;
    const char       *table;
    enum weir_error   error;
    ngx_core_conf_t  *ccf;

    ccf = (ngx_core_conf_t *) ngx_get_conf(cycle->conf_ctx, ngx_core_module);

    user = geteuid();
    group = getegid();

    if (user == 0 && ccf->master) {
        user = ccf->user;
        group = ccf->group;
    }

    table = ngx_http_weir_table_path(realm, user, path);
    if (table == NULL) {
        ngx_log_error(NGX_LOG_EMERG, cycle->log, 0,
                      "weir: %V: too long a path; name a table: %s PATH",
                      &realm->path, realm->directive);
        return NGX_CONF_ERROR;
    }

    error = table_folder(table, user, group, ngx_test_config, why, sizeof(why));

    switch (error) {

    case WEIR_OK:
        if (why[0]) {
            ngx_log_error(NGX_LOG_WARN, cycle->log, 0, "weir: %s", why);
        }

        if (ngx_test_config && realm->fixed) {
            ngx_http_weir_take_compare(cycle, table);
        }

        return realm->fixed ? ngx_http_weir_room_check(cycle, realm, table)
                            : NGX_CONF_OK;

    case WEIR_SYSTEM:
        /* whoever needs it will try again, and say so; traffic goes on */
        ngx_log_error(NGX_LOG_WARN, cycle->log, 0, "weir: %s", why);
        return NGX_CONF_OK;

    default:
        ngx_log_error(NGX_LOG_EMERG, cycle->log, 0,
                      "weir: %s: no worker can use it for the table, which "
                      "needs a folder of its own, private to the user of the "
                      "workers: name one that nginx is to make, %s "
                      "/dev/shm/NAME/table, or, if it is nothing but weir's, "
                      "correct its owner and mode (0700)",
                      why, realm->directive);
        return NGX_CONF_ERROR;
    }
}
