/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * decide: as nginx does. In PREACCESS, in subrequests and after internal redirects too, the first location of a request
 * that has limits decides, once: first its requests, which may wait, then its connections. What never comes here
 * (`return`, redirects) is not limited.
 */
#include "doors/nginx/take/take.h"


static ngx_int_t ngx_http_weir_take_handler(ngx_http_request_t *r);


ngx_int_t
ngx_http_weir_take_init(ngx_conf_t *cf)
{
    ngx_http_handler_pt        *h;
    ngx_http_core_main_conf_t  *cmcf;

    cmcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_core_module);

    h = ngx_array_push(&cmcf->phases[NGX_HTTP_PREACCESS_PHASE].handlers);
    if (h == NULL) {
        return NGX_ERROR;
    }

    *h = ngx_http_weir_take_handler;

    return NGX_OK;
}


static ngx_int_t
ngx_http_weir_take_handler(ngx_http_request_t *r)
{
    ngx_int_t                       rc;
    ngx_msec_t                      delay;
    ngx_http_weir_take_loc_conf_t  *tlcf;

    tlcf = ngx_http_get_module_loc_conf(r, ngx_http_weir_take_module);

    if (tlcf->requests.lines.nelts && !r->main->limit_req_status) {

        delay = 0;
        rc = ngx_http_weir_take_requests(r, tlcf, &delay);

        if (rc != NGX_DECLINED) {
            return rc;
        }

        if (delay) {
            return ngx_http_weir_wait(r, delay);
        }
    }

    if (tlcf->connections.lines.nelts && !r->main->limit_conn_status) {
        return ngx_http_weir_take_connections(r, tlcf);
    }

    return NGX_DECLINED;
}
