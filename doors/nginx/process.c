/* SPDX-License-Identifier: BSD-2-Clause */
/* process: a worker starts and ends. Cache manager and loader do nothing. */
#include "doors/nginx/gate.h"


ngx_int_t
ngx_http_weir_init_process(ngx_cycle_t *cycle)
{
    struct algo_time            t;
    ngx_http_conf_ctx_t        *ctx;
    ngx_http_weir_main_conf_t  *mcf;

    if (ngx_process != NGX_PROCESS_WORKER && ngx_process != NGX_PROCESS_SINGLE)
    {
        return NGX_OK;
    }

    ctx = (ngx_http_conf_ctx_t *) ngx_get_conf(cycle->conf_ctx,
                                               ngx_http_module);
    if (ctx == NULL) {
        return NGX_OK;
    }

    mcf = ctx->main_conf[ngx_http_weir_gate_module.ctx_index];

    if (ngx_http_weir_enabled(mcf)) {
        /* whatever fails is logged, and tried again at a request */
        (void) ngx_http_weir_world(mcf, &t);
        mcf->serving = 1;

        if (ngx_process == NGX_PROCESS_WORKER) {
            ngx_http_weir_leave_init(cycle, mcf);
        }
    }

    return NGX_OK;
}


void
ngx_http_weir_exit_process(ngx_cycle_t *cycle)
{
    ngx_http_weir_leave_end();
    ngx_http_weir_settle_end();
    ngx_http_weir_log_flush();
    ngx_http_weir_world_close();
}
