// SPDX-License-Identifier: GPL-2.0-only

#include "session.h"

#include "facade-error.h"
#include "fabric-facade.h"
#include "session-file.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>

using ns3::fabric::Facade;

/// A run between two calls.
struct PyorchSession
{
    Facade facade;
    int64_t stopPs{0}; ///< End of the run
    int64_t nowPs{0};
    int64_t passedPs{0};         ///< All before it has happened
    bool isFinished{false};      ///< Its tables are filled
    std::deque<int64_t> arrived; ///< Of now, not returned yet
    std::string names;           ///< For PyorchColumns
};

namespace
{

constexpr double SLICE_S = 1000; ///< Of the wall clock; nobody is asked in between
bool g_isOpen = false;
std::string g_error;

/// Do something; what it throws is kept for PyorchError. @return what it returns, or `failed`
template <typename Result, typename Action>
Result
Try(Result failed, Action&& action)
{
    try
    {
        return action();
    }
    catch (const std::exception& error)
    {
        g_error = error.what();
        return failed;
    }
}

void
CheckGoesOn(const PyorchSession& session)
{
    if (session.isFinished)
    {
        throw std::runtime_error("its tables are filled, so it cannot go on; open another session");
    }
}

/// @return whether all messages and tasks are done
bool
IsIdle(const Facade& facade)
{
    return facade.FlowsDone() == facade.FlowsTotal() && facade.TasksDone() == facade.TasksTotal();
}

/// Run until a message arrives, or all before a time has happened. If nothing is left to happen
/// before the stop, time stays where it is.
void
RunUntil(PyorchSession& session, int64_t untilPs)
{
    Facade& facade = session.facade;
    while (!facade.RunSlice(untilPs - 1, SLICE_S))
    {
    }
    const int64_t nowPs = facade.NowPs();
    const auto decided = facade.Decided();
    session.arrived.assign(decided.begin(), decided.end());
    std::sort(session.arrived.begin(), session.arrived.end());
    if (decided.empty() && (untilPs != session.stopPs || !IsIdle(facade)))
    {
        session.nowPs = untilPs;
        session.passedPs = untilPs;
        return;
    }
    session.nowPs = std::max(session.nowPs, nowPs);
    session.passedPs = session.nowPs + 1;
}

} // namespace

PyorchSession*
PyorchOpen(const char* path)
{
    return Try<PyorchSession*>(nullptr, [path] {
        if (g_isOpen)
        {
            throw std::runtime_error("another session is open in this process; close it first");
        }
        auto session = std::make_unique<PyorchSession>();
        session->stopPs = ns3::fabric::ReadSessionFile(path, session->facade);
        session->facade.Open();
        session->facade.Build();
        g_isOpen = true;
        return session.release();
    });
}

const char*
PyorchError()
{
    return g_error.c_str();
}

int64_t
PyorchSend(PyorchSession* session,
           int64_t src,
           int64_t dst,
           int64_t bytes,
           int64_t startPs,
           int64_t transport)
{
    return Try<int64_t>(PYORCH_FAILED, [&] {
        CheckGoesOn(*session);
        if (bytes < 1)
        {
            throw std::runtime_error("a message has 1 byte or more, not " + std::to_string(bytes));
        }
        if (startPs < session->passedPs - 1)
        {
            throw std::runtime_error("a message starts now or later; " + std::to_string(startPs) +
                                     " ps is over");
        }
        return session->facade.Send(src, dst, bytes, startPs, transport);
    });
}

int64_t
PyorchAdvance(PyorchSession* session, int64_t untilPs)
{
    return Try<int64_t>(PYORCH_FAILED, [&]() -> int64_t {
        CheckGoesOn(*session);
        const int64_t endPs = std::min(untilPs, session->stopPs);
        if (session->arrived.empty() && endPs > session->nowPs)
        {
            RunUntil(*session, endPs);
        }
        if (session->arrived.empty())
        {
            return PYORCH_NOTHING;
        }
        const int64_t message = session->arrived.front();
        session->arrived.pop_front();
        return message;
    });
}

int64_t
PyorchNowPs(const PyorchSession* session)
{
    return session->nowPs;
}

int64_t
PyorchPassedPs(const PyorchSession* session)
{
    return session->passedPs;
}

int64_t
PyorchFinish(PyorchSession* session)
{
    return Try<int64_t>(PYORCH_FAILED, [&] {
        CheckGoesOn(*session);
        session->isFinished = true;
        session->facade.Finish();
        return 0;
    });
}

const char*
PyorchColumns(PyorchSession* session, const char* table)
{
    return Try<const char*>(nullptr, [&] {
        session->names = ns3::fabric::Join(session->facade.Columns(table), ",");
        return session->names.c_str();
    });
}

int64_t
PyorchRows(PyorchSession* session, const char* table)
{
    return Try<int64_t>(PYORCH_FAILED,
                        [&] { return static_cast<int64_t>(session->facade.Rows(table)); });
}

const int64_t*
PyorchValues(PyorchSession* session, const char* table, const char* column)
{
    return Try<const int64_t*>(nullptr, [&] { return session->facade.Data(table, column); });
}

void
PyorchClose(PyorchSession* session)
{
    g_isOpen = g_isOpen && session == nullptr;
    delete session;
}
