// SPDX-License-Identifier: GPL-2.0-only

#include "thread-choice.h"

#include <ctime>

namespace ns3
{
namespace fabric
{

namespace
{

/// @return CPU time of all threads of this process [s]
double
CpuSeconds()
{
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

} // namespace

void
ThreadChoice::Begin(uint64_t events)
{
    m_begun = true;
    m_sinceEvents = events;
    m_since = Clock::now();
    m_sinceCpuSeconds = CpuSeconds();
}

void
ThreadChoice::OnWindow(uint64_t events)
{
    if (m_threads == 1)
    {
        return;
    }
    m_windows++;
    m_windowsOnOne += m_active == 1;
    if (!m_begun)
    {
        Begin(events);
    }
    if (m_windows % WINDOWS != 0)
    {
        return;
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - m_since).count();
    if (seconds >= STRETCH_SECONDS)
    {
        const auto executed = static_cast<double>(events - m_sinceEvents);
        Judge(executed, seconds, CpuSeconds() - m_sinceCpuSeconds);
        Begin(events);
    }
}

void
ThreadChoice::Judge(double events, double seconds, double cpuSeconds)
{
    const uint32_t other = m_active == 1 ? m_threads : 1;
    if (m_tries)
    {
        m_tries = false;
        m_holds = STRETCHES;
        m_active = events / seconds < m_perSecond ? other : m_active;
        return;
    }
    if (m_holds > 0)
    {
        m_holds--;
        return;
    }
    if (m_active == 1 || cpuSeconds < FEW_CORES * m_threads * seconds)
    {
        m_perSecond = events / seconds;
        m_tries = true;
        m_active = other;
    }
}

} // namespace fabric
} // namespace ns3
