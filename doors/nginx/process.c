/* SPDX-License-Identifier: BSD-2-Clause */
/* process: a worker starts and ends. Cache manager and loader do nothing. */
#include "doors/nginx/take/take.h"


ngx_uint_t
ngx_http_weir_realms(ngx_cycle_t *cycle, ngx_http_weir_realm_t **realms)
{
    ngx_uint_t                       n;
    ngx_http_weir_main_conf_t       *mcf;
    ngx_http_weir_take_main_conf_t  *tmcf;

    n = 0;
    mcf = ngx_http_cycle_get_module_main_conf(cycle, ngx_http_weir_gate_module);

    if (mcf && ngx_http_weir_has(&mcf->realm)) {
        realms[n++] = &mcf->realm;
    }

    tmcf = ngx_http_cycle_get_module_main_conf(cycle,
                                               ngx_http_weir_take_module);

    if (tmcf && ngx_http_weir_has(&tmcf->realm)) {
        realms[n++] = &tmcf->realm;
    }

    return n;
}


ngx_int_t
ngx_http_weir_init_process(ngx_cycle_t *cycle)
{
    ngx_uint_t              i, n;
    struct algo_time        t;
    ngx_http_weir_realm_t  *realms[NGX_HTTP_WEIR_REALMS];

    if (ngx_process != NGX_PROCESS_WORKER && ngx_process != NGX_PROCESS_SINGLE)
    {
        return NGX_OK;
    }

    n = ngx_http_weir_realms(cycle, realms);

    for (i = 0; i < n; i++) {
        /* whatever fails is logged, and tried again at a request */
        (void) ngx_http_weir_world(realms[i], &t);
        realms[i]->serving = 1;
    }

    if (n && ngx_process == NGX_PROCESS_WORKER) {
        ngx_http_weir_leave_init(cycle);
    }

    return NGX_OK;
}


void
ngx_http_weir_exit_process(ngx_cycle_t *cycle)
{
    ngx_uint_t              n;
    ngx_http_weir_realm_t  *realms[NGX_HTTP_WEIR_REALMS];

    ngx_http_weir_leave_end();
    ngx_http_weir_settle_end();
    ngx_http_weir_log_flush();
    ngx_http_weir_take_log_flush();

    n = ngx_http_weir_realms(cycle, realms);

    while (n) {
        ngx_http_weir_world_close(realms[--n]);
    }
}
