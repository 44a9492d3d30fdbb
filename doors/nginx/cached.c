/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cached: `instead: cached`. A request over the limit may have a stored answer, fresh or stale, and nothing that would ask the
 * backend.
 *
 * nginx looks into its cache before it asks an upstream for a peer. So the request goes on as if it had passed; where a peer would be
 * chosen, it gets none (without a word: no log is flooded), and nginx sends what it has stored, however old, or gives up; then the
 * header filter puts the refusal in place of what nginx says about that (filter.c). Nothing is stored of it.
 *
 * Only a GET or HEAD goes on, and only where the place that was asked for passes to a backend that it names and stores what that
 * says: anything else would do what it does (write a file, run a script) before the header filter sees it. A backend that is named by a
 * variable has no peers to choose from, since nginx resolves it itself, so it does not go on there either.
 *
 * Whether a place is one of those, its configuration says, which is private to the four modules that have a store; but each has an
 * ngx_http_upstream_conf_t in it, and a directive of the module tells where.
 */
#include "doors/nginx/gate.h"


#if (NGX_HTTP_CACHE)
static const struct {
    const char  *module, *directive;    /* one that is kept in cache_lock */
} ngx_http_weir_stores[NGX_HTTP_WEIR_STORES] = {
    { "ngx_http_proxy_module", "proxy_cache_lock" },
    { "ngx_http_fastcgi_module", "fastcgi_cache_lock" },
    { "ngx_http_uwsgi_module", "uwsgi_cache_lock" },
    { "ngx_http_scgi_module", "scgi_cache_lock" }
};


static void ngx_http_weir_cached_stores(ngx_conf_t *cf,
    ngx_http_weir_main_conf_t *mcf);
#endif

static ngx_int_t ngx_http_weir_cached_peer_init(ngx_http_request_t *r,
    ngx_http_upstream_srv_conf_t *us);
static ngx_int_t ngx_http_weir_cached_no_peer(ngx_peer_connection_t *pc,
    void *data);
static void ngx_http_weir_cached_free_peer(ngx_peer_connection_t *pc,
    void *data, ngx_uint_t state);


/* After the upstreams have made what they choose by, in init_main_conf. */

ngx_int_t
ngx_http_weir_cached_init(ngx_conf_t *cf)
{
    ngx_uint_t                       i;
    ngx_http_weir_main_conf_t       *mcf;
    ngx_http_upstream_srv_conf_t   **uscfp;
    ngx_http_upstream_main_conf_t   *umcf;

    mcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_weir_gate_module);
    umcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_upstream_module);

#if (NGX_HTTP_CACHE)
    ngx_http_weir_cached_stores(cf, mcf);
#endif

    uscfp = umcf->upstreams.elts;

    mcf->peer_inits = ngx_pcalloc(cf->pool, (umcf->upstreams.nelts + 1)
                                            * sizeof(ngx_http_weir_peer_init_t));
    if (mcf->peer_inits == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < umcf->upstreams.nelts; i++) {

        if (uscfp[i]->peer.init == NULL) {
            continue;
        }

        mcf->peer_inits[i].upstream = uscfp[i];
        mcf->peer_inits[i].init = uscfp[i]->peer.init;
        uscfp[i]->peer.init = ngx_http_weir_cached_peer_init;
    }

    mcf->peer_init_count = umcf->upstreams.nelts;

    return NGX_OK;
}


static ngx_int_t
ngx_http_weir_cached_peer_init(ngx_http_request_t *r,
    ngx_http_upstream_srv_conf_t *us)
{
    ngx_uint_t                  i;
    ngx_http_upstream_t        *u;
    ngx_http_weir_visit_t      *visit;
    ngx_http_weir_main_conf_t  *mcf;

    visit = ngx_http_weir_visit_find(r->main);

    if (visit && visit->stale) {
        u = r->upstream;

        u->peer.get = ngx_http_weir_cached_no_peer;
        u->peer.free = ngx_http_weir_cached_free_peer;
        u->peer.data = NULL;
        u->peer.tries = 0;
#if (NGX_HTTP_CACHE)
        u->cacheable = 0;    /* not that there was no answer */

        if (r->cache) {
            r->cache->stale_error = 1;    /* whatever use_stale says */
        }
#endif

        return NGX_OK;
    }

    mcf = ngx_http_get_module_main_conf(r, ngx_http_weir_gate_module);

    for (i = 0; i < mcf->peer_init_count; i++) {
        if (mcf->peer_inits[i].upstream == us) {
            return mcf->peer_inits[i].init(r, us);
        }
    }

    return NGX_ERROR;
}


/* NGX_DECLINED: the next one, and there is none; unlike NGX_BUSY it writes nothing into the error log. */

static ngx_int_t
ngx_http_weir_cached_no_peer(ngx_peer_connection_t *pc, void *data)
{
    return NGX_DECLINED;
}


static void
ngx_http_weir_cached_free_peer(ngx_peer_connection_t *pc, void *data,
    ngx_uint_t state)
{
    pc->tries = 0;
}


#if (NGX_HTTP_CACHE)

static void
ngx_http_weir_cached_stores(ngx_conf_t *cf, ngx_http_weir_main_conf_t *mcf)
{
    size_t                  lock;
    ngx_uint_t              i, k;
    ngx_module_t           *module;
    ngx_command_t          *cmd;
    ngx_http_weir_store_t  *store;

    lock = offsetof(ngx_http_upstream_conf_t, cache_lock);

    for (i = 0; cf->cycle->modules[i]; i++) {
        module = cf->cycle->modules[i];

        for (k = 0; k < NGX_HTTP_WEIR_STORES; k++) {

            if (ngx_strcmp(module->name, ngx_http_weir_stores[k].module) != 0) {
                continue;
            }

            for (cmd = module->commands; cmd && cmd->name.len; cmd++) {

                if (ngx_strcmp(cmd->name.data,
                               ngx_http_weir_stores[k].directive) == 0
                    && cmd->conf == NGX_HTTP_LOC_CONF_OFFSET
                    && cmd->offset >= lock)
                {
                    store = &mcf->stores[mcf->store_count++];
                    store->ctx_index = module->ctx_index;
                    store->offset = cmd->offset - lock;
                    break;
                }
            }
        }
    }
}

#endif


ngx_uint_t
ngx_http_weir_cached_may(ngx_http_request_t *r)
{
#if (NGX_HTTP_CACHE)
    u_char                     *conf;
    ngx_uint_t                  i;
    ngx_http_upstream_conf_t   *ucf;
    ngx_http_weir_main_conf_t  *mcf;

    if (!(r->method & (NGX_HTTP_GET|NGX_HTTP_HEAD))
        || r->content_handler == NULL)
    {
        return 0;
    }

    mcf = ngx_http_get_module_main_conf(r, ngx_http_weir_gate_module);

    for (i = 0; i < mcf->store_count; i++) {
        conf = r->loc_conf[mcf->stores[i].ctx_index];
        ucf = (ngx_http_upstream_conf_t *) (conf + mcf->stores[i].offset);

        /* its own backend, which no place inside another inherits */

        if (ucf->upstream && ucf->cache > 0) {
            return 1;
        }
    }
#endif

    return 0;
}


/* Is the answer that is about to be sent one that nginx had stored? */

ngx_uint_t
ngx_http_weir_cached_answer(ngx_http_request_t *r)
{
#if (NGX_HTTP_CACHE)
    if (r->upstream) {
        switch (r->upstream->cache_status) {

        case NGX_HTTP_CACHE_HIT:
        case NGX_HTTP_CACHE_STALE:
        case NGX_HTTP_CACHE_UPDATING:
            return 1;
        }
    }
#endif

    return 0;
}
