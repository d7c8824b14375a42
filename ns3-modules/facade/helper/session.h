/* SPDX-License-Identifier: GPL-2.0-only */

#ifndef PYORCH_SESSION_H
#define PYORCH_SESSION_H

/*
 * A network that a program drives: it sends messages, lets time pass and learns of arrivals.
 *
 *     PyorchSession* session = PyorchOpen("session.txt");
 *     int64_t message = PyorchSend(session, 0, 5, 1000000, PyorchNowPs(session), 0);
 *     while (PyorchAdvance(session, PYORCH_FOREVER_PS) == message)
 *         printf("arrived at %lld ps\n", (long long)PyorchNowPs(session));
 *     PyorchClose(session);
 *
 * It is in C, so that other languages can call it. `pyorch session SCENARIO` writes the file.
 * There is one session at a time in a process, and one thread calls it.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C"
{
#endif

#define PYORCH_FOREVER_PS INT64_MAX
#define PYORCH_NOTHING (-1)
#define PYORCH_FAILED (-2)

    typedef struct PyorchSession PyorchSession;

    /** Build the network of a session file. @return null: PyorchError says why */
    PyorchSession* PyorchOpen(const char* path);

    /** @return one line on what the last call that failed refuses; valid until the next call */
    const char* PyorchError(void);

    /**
     * Send a message.
     * @param src, dst node ids of two hosts
     * @param bytes payload, at least 1, and no more packets than the transport counts
     * @param startPs now or later; a recorded message may start 1 ps before PyorchPassedPs [ps]
     * @param transport index of the transport
     * @return its id, larger than that of the message before; or PYORCH_FAILED
     */
    int64_t PyorchSend(PyorchSession* session,
                       int64_t src,
                       int64_t dst,
                       int64_t bytes,
                       int64_t startPs,
                       int64_t transport);

    /**
     * Let time pass until a message arrives, but not beyond a time, nor beyond the stop of the
     * scenario. Of several messages that arrive at one time each call returns one, in the order of
     * their ids.
     * @param untilPs if nothing arrives before, this becomes the time; what happens at this time
     *        has not happened then [ps]
     * @return id of a message whose last byte has arrived; PYORCH_NOTHING if none did; or
     *         PYORCH_FAILED
     */
    int64_t PyorchAdvance(PyorchSession* session, int64_t untilPs);

    /** @return simulated time [ps] */
    int64_t PyorchNowPs(const PyorchSession* session);

    /** @return time before which everything has happened: that of now, or 1 ps more [ps] */
    int64_t PyorchPassedPs(const PyorchSession* session);

    /** End the run and fill its tables; it cannot go on. @return 0, or PYORCH_FAILED */
    int64_t PyorchFinish(PyorchSession* session);

    /**
     * @return the columns of a table after PyorchFinish, with commas in between, valid until the
     *         next call; null: PyorchError
     */
    const char* PyorchColumns(PyorchSession* session, const char* table);

    /** @return rows of a table after PyorchFinish, or PYORCH_FAILED */
    int64_t PyorchRows(PyorchSession* session, const char* table);

    /** @return a column of a table, valid until the session is closed; null: PyorchError */
    const int64_t* PyorchValues(PyorchSession* session, const char* table, const char* column);

    void PyorchClose(PyorchSession* session);

#ifdef __cplusplus
}
#endif

#endif /* PYORCH_SESSION_H */
