// SPDX-License-Identifier: GPL-2.0-only

#include "pyorch-network.h"

#include "ns3/session.h"

#include <cmath>
#include <iostream>

namespace
{

constexpr long double PS_PER_NS = 1000;

/// End the program if a call of the session has failed. @return its result
int64_t
Checked(int64_t result)
{
    if (result == PYORCH_FAILED)
    {
        std::cerr << PyorchError() << std::endl;
        exit(1);
    }
    return result;
}

} // namespace

PyorchNetwork::PyorchNetwork(const std::string& path)
    : m_session(PyorchOpen(path.c_str()))
{
    if (!m_session)
    {
        Checked(PYORCH_FAILED);
    }
}

PyorchNetwork::~PyorchNetwork()
{
    PyorchClose(m_session);
}

void
PyorchNetwork::Send(int src, int dst, int tag, uint64_t bytes, Handler sent)
{
    const Label label{src, dst, tag};
    const auto place = m_matching[label].sent++;
    const auto size = static_cast<int64_t>(bytes);
    const int64_t id =
        Checked(PyorchSend(m_session, src, dst, size, PyorchNowPs(m_session), 0));
    m_underWay.emplace(id, UnderWay{label, place, sent});
    m_messages++;
}

void
PyorchNetwork::Receive(int src, int dst, int tag, Handler received)
{
    Matching& matching = m_matching[{src, dst, tag}];
    matching.waiting.push(received);
    Match(matching);
}

/// Call receivers whose message has arrived.
void
PyorchNetwork::Match(Matching& matching)
{
    while (!matching.waiting.empty() && matching.arrived.erase(matching.received))
    {
        const Handler handler = matching.waiting.front();
        matching.waiting.pop();
        matching.received++;
        handler.function(handler.argument);
    }
}

void
PyorchNetwork::Arrive(int64_t message)
{
    const UnderWay its = m_underWay.at(message);
    m_underWay.erase(message);
    its.sent.function(its.sent.argument);
    Matching& matching = m_matching[its.label];
    matching.arrived.emplace(its.place, true);
    Match(matching);
}

void
PyorchNetwork::Schedule(long double delayNs, Handler handler)
{
    const auto delayPs = static_cast<int64_t>(std::llround(delayNs * PS_PER_NS));
    m_due.push({PyorchNowPs(m_session) + delayPs, m_timers++, handler});
}

long double
PyorchNetwork::NowNs() const
{
    return PyorchNowPs(m_session) / PS_PER_NS;
}

void
PyorchNetwork::Run()
{
    while (!m_due.empty() || !m_underWay.empty())
    {
        const int64_t untilPs = m_due.empty() ? PYORCH_FOREVER_PS : m_due.top().atPs;
        const int64_t message = Checked(PyorchAdvance(m_session, untilPs));
        if (message != PYORCH_NOTHING)
        {
            Arrive(message);
        }
        else if (!m_due.empty() && m_due.top().atPs <= PyorchNowPs(m_session))
        {
            const Handler handler = m_due.top().handler;
            m_due.pop();
            handler.function(handler.argument);
        }
        else
        {
            std::cerr << m_underWay.size() << " messages have not arrived by the stop of the "
                      << "scenario, or never do" << std::endl;
            exit(1);
        }
    }
}

PyorchRank::PyorchRank(int rank, PyorchNetwork& network)
    : AstraNetworkAPI(rank),
      m_network(network)
{
}

int
PyorchRank::sim_send(void*,
                     uint64_t count,
                     int,
                     int dst,
                     int tag,
                     AstraSim::sim_request*,
                     void (*msg_handler)(void*),
                     void* fun_arg)
{
    m_network.Send(rank, dst, tag, count, {msg_handler, fun_arg});
    return 0;
}

int
PyorchRank::sim_recv(void*,
                     uint64_t,
                     int,
                     int src,
                     int tag,
                     AstraSim::sim_request*,
                     void (*msg_handler)(void*),
                     void* fun_arg)
{
    m_network.Receive(src, rank, tag, {msg_handler, fun_arg});
    return 0;
}

void
PyorchRank::sim_schedule(AstraSim::timespec_t delta, void (*fun_ptr)(void*), void* fun_arg)
{
    m_network.Schedule(delta.time_val, {fun_ptr, fun_arg});
}

AstraSim::timespec_t
PyorchRank::sim_get_time()
{
    return {AstraSim::NS, m_network.NowNs()};
}
