/* SPDX-License-Identifier: GPL-2.0-only */

/* Two hosts send a message to each other in turn: ./ping_pong session.txt 0 5 1000000 3 */

#include "ns3/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static PyorchSession* session;

static int64_t
Checked(int64_t result)
{
    if (result == PYORCH_FAILED)
    {
        fprintf(stderr, "%s\n", PyorchError());
        exit(1);
    }
    return result;
}

int
main(int argc, char* argv[])
{
    if (argc != 6)
    {
        fprintf(stderr, "usage: %s FILE HOST HOST BYTES TIMES\n", argv[0]);
        return 1;
    }
    const int64_t hosts[] = {atoll(argv[2]), atoll(argv[3])};
    const int64_t bytes = atoll(argv[4]);
    const int64_t times = atoll(argv[5]);
    session = PyorchOpen(argv[1]);
    if (!session)
    {
        Checked(PYORCH_FAILED);
    }
    for (int64_t i = 0; i < times; i++)
    {
        const int64_t startPs = PyorchNowPs(session);
        Checked(PyorchSend(session, hosts[i % 2], hosts[(i + 1) % 2], bytes, startPs, 0));
        if (Checked(PyorchAdvance(session, PYORCH_FOREVER_PS)) == PYORCH_NOTHING)
        {
            fprintf(stderr, "message %" PRId64 " does not arrive before the stop\n", i);
            return 1;
        }
        printf("%" PRId64 " ps\n", PyorchNowPs(session));
    }
    PyorchClose(session);
    return 0;
}
