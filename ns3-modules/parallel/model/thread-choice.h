// SPDX-License-Identifier: GPL-2.0-only

#ifndef THREAD_CHOICE_H
#define THREAD_CHOICE_H

#include <chrono>
#include <cstdint>

namespace ns3
{
namespace fabric
{

/**
 * @ingroup fabric
 * @brief How many threads are worth their while: all, or one where others keep them from cores.
 *
 * Threads that wait for each other at the end of each window need their cores at the same time. On
 * a machine with other work they seldom have them, and all of them together are slower than one.
 * Whether that is so is measured: while threads get less of their cores than they would alone, one
 * of them executes a stretch of windows by itself, and what was faster goes on for a while.
 */
class ThreadChoice
{
  public:
    explicit ThreadChoice(uint32_t threads)
        : m_threads(threads),
          m_active(threads)
    {
    }

    uint32_t Most() const ///< Threads that there are
    {
        return m_threads;
    }

    uint32_t Active() const ///< Threads of the next window
    {
        return m_active;
    }

    uint64_t WindowsOnOne() const ///< That one thread has executed where there were several
    {
        return m_windowsOnOne;
    }

    /// A window has ended; all events executed until now.
    void OnWindow(uint64_t events);

  private:
    using Clock = std::chrono::steady_clock;

    void Begin(uint64_t events);
    void Judge(double events, double seconds, double cpuSeconds);

    static constexpr uint32_t WINDOWS = 8; ///< Between two looks at the clock
    static constexpr double STRETCH_SECONDS = 0.1;
    static constexpr uint32_t STRETCHES = 10; ///< That a choice holds for
    static constexpr double FEW_CORES = 0.8;  ///< Share of its cores that a busy process gets

    const uint32_t m_threads;
    uint32_t m_active;
    uint32_t m_holds{0};   ///< Stretches until the other choice is tried
    bool m_tries{false};   ///< The stretch at hand is a trial of the other choice
    double m_perSecond{0}; ///< Events, by the choice that is not tried
    uint64_t m_windows{0};
    uint64_t m_windowsOnOne{0};
    bool m_begun{false};
    uint64_t m_sinceEvents{0};
    Clock::time_point m_since;
    double m_sinceCpuSeconds{0};
};

} // namespace fabric
} // namespace ns3

#endif // THREAD_CHOICE_H
