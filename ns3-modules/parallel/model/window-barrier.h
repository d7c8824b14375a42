// SPDX-License-Identifier: GPL-2.0-only

#ifndef WINDOW_BARRIER_H
#define WINDOW_BARRIER_H

#include <atomic>
#include <cstdint>
#include <thread>

namespace ns3
{
namespace fabric
{

/**
 * @ingroup fabric
 * @brief Where the threads of a run meet; the last one to come decides what all do next.
 *
 * Windows last microseconds to milliseconds, and to be woken takes tens of microseconds, so who
 * waits looks for a while before it sleeps; unless threads have to share cores, where looking would
 * take the time of those that are waited for.
 */
class WindowBarrier
{
  public:
    explicit WindowBarrier(uint32_t threads)
        : m_threads(threads),
          m_looks(threads <= std::thread::hardware_concurrency() ? LOOKS : 0)
    {
    }

    /// Wait for all; the last one calls `plan` before any goes on.
    template <typename Plan>
    void Meet(Plan&& plan)
    {
        const uint32_t window = m_window.load(std::memory_order_relaxed);
        if (m_arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == m_threads)
        {
            m_arrived.store(0, std::memory_order_relaxed);
            plan();
            m_window.store(window + 1, std::memory_order_release);
            m_window.notify_all();
            return;
        }
        for (uint32_t look = 0; look < m_looks; look++)
        {
            if (m_window.load(std::memory_order_acquire) != window)
            {
                return;
            }
            __builtin_ia32_pause();
        }
        m_window.wait(window, std::memory_order_acquire);
    }

  private:
    static constexpr uint32_t LOOKS = 10000; ///< A hundred or two hundred microseconds

    const uint32_t m_threads;
    const uint32_t m_looks;
    alignas(64) std::atomic<uint32_t> m_arrived{0};
    alignas(64) std::atomic<uint32_t> m_window{0};
};

} // namespace fabric
} // namespace ns3

#endif // WINDOW_BARRIER_H
