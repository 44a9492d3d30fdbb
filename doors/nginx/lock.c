/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lock: one worker at a time.
 *
 * Robust mutexes in the page that master and workers share: the kernel passes on the lock of a worker that is killed, and no
 * number of a process, which may be another's by now, is ever looked at.
 */
#include "doors/nginx/gate.h"


ngx_int_t
ngx_http_weir_lock_init(pthread_mutex_t *lock)
{
    int                  err;
    pthread_mutexattr_t  attr;

    err = pthread_mutexattr_init(&attr);

    if (err) {
        return NGX_ERROR;
    }

    err = pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);

    if (err == 0) {
        err = pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    }

    if (err == 0) {
        err = pthread_mutex_init(lock, &attr);
    }

    (void) pthread_mutexattr_destroy(&attr);

    return err ? NGX_ERROR : NGX_OK;
}


ngx_uint_t
ngx_http_weir_lock(pthread_mutex_t *lock, ngx_msec_t patience)
{
    int              err;
    struct timespec  until;

    err = pthread_mutex_trylock(lock);

    if (err == EBUSY && patience) {
        (void) clock_gettime(CLOCK_REALTIME, &until);

        until.tv_sec += patience / 1000;
        until.tv_nsec += patience % 1000 * 1000000;

        if (until.tv_nsec >= 1000000000) {
            until.tv_sec++;
            until.tv_nsec -= 1000000000;
        }

        err = pthread_mutex_timedlock(lock, &until);
    }

    if (err == EOWNERDEAD) {
        /* what the lock guards is whole at any moment: nothing to repair */
        err = pthread_mutex_consistent(lock);
    }

    return err == 0;
}


void
ngx_http_weir_unlock(pthread_mutex_t *lock)
{
    (void) pthread_mutex_unlock(lock);
}
