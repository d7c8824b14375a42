// SPDX-License-Identifier: GPL-2.0-only

#ifndef WINDOW_CREW_H
#define WINDOW_CREW_H

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

namespace ns3
{
namespace fabric
{

/**
 * @ingroup fabric
 * @brief Threads that execute the domains of each window; who executes the last one plans the next.
 *
 * A domain is executed by the thread to which it belongs, whose core has its state in its cache, or
 * by another one that has nothing left to do: nobody waits for a thread that has not begun.
 *
 * Windows last microseconds to milliseconds, and to be woken takes tens of microseconds, so who
 * waits looks for a while before it sleeps, the less the more often that was in vain: threads of
 * others may have the core of the one that is waited for. Threads that the plan leaves out sleep.
 */
class WindowCrew
{
  public:
    WindowCrew(uint32_t threads, uint32_t domains, uint32_t active)
        : m_domains(domains),
          m_mostLooks(threads <= std::thread::hardware_concurrency() ? LOOKS : 0),
          m_active(active),
          m_left(domains),
          m_claims(std::make_unique<Claim[]>(domains))
    {
    }

    /**
     * Take part until the plan ends it.
     * @param thread number of the calling one; 0 always executes domains
     * @param work executes a domain, given its number
     * @param plan decides on the next window. @return how many threads execute it, 0: none follows
     */
    template <typename Work, typename Plan>
    void TakePart(uint32_t thread, Work&& work, Plan&& plan)
    {
        uint32_t looks = m_mostLooks;
        for (;;)
        {
            const uint32_t window = m_window.load(std::memory_order_acquire);
            const uint32_t active = m_active.load(std::memory_order_relaxed);
            if (active == 0)
            {
                return;
            }
            if (thread >= active)
            {
                m_active.wait(active, std::memory_order_relaxed);
                continue;
            }
            const uint32_t first = thread * m_domains / active;
            for (uint32_t i = 0; i < m_domains; i++)
            {
                const uint32_t domain = (first + i) % m_domains;
                if (TakeOver(domain, window))
                {
                    work(domain);
                    if (m_left.fetch_sub(1, std::memory_order_acq_rel) == 1)
                    {
                        Begin(window + 1, plan());
                    }
                }
            }
            Wait(window, looks);
        }
    }

  private:
    static constexpr uint32_t LOOKS = 10000; ///< A hundred or two hundred microseconds

    /// The window after the last one in which a domain was executed; on a cache line of its own.
    struct alignas(64) Claim
    {
        std::atomic<uint32_t> next{0};
    };

    /// @return whether nobody else executes a domain in a window
    bool TakeOver(uint32_t domain, uint32_t window)
    {
        auto& next = m_claims[domain].next;
        uint32_t expected = window;
        return next.load(std::memory_order_relaxed) == window &&
               next.compare_exchange_strong(expected, window + 1, std::memory_order_acq_rel);
    }

    void Begin(uint32_t window, uint32_t active)
    {
        m_left.store(m_domains, std::memory_order_relaxed);
        if (m_active.exchange(active, std::memory_order_relaxed) != active)
        {
            m_active.notify_all();
        }
        m_window.store(window, std::memory_order_release);
        m_window.notify_all();
    }

    void Wait(uint32_t window, uint32_t& looks) const
    {
        for (uint32_t look = 0; look < looks; look++)
        {
            if (m_window.load(std::memory_order_acquire) != window)
            {
                looks = looks > m_mostLooks / 2 ? m_mostLooks : 2 * looks;
                return;
            }
            __builtin_ia32_pause();
        }
        looks = looks > 1 ? looks / 2 : looks;
        m_window.wait(window, std::memory_order_acquire);
    }

    const uint32_t m_domains;
    const uint32_t m_mostLooks;
    alignas(64) std::atomic<uint32_t> m_window{0};
    alignas(64) std::atomic<uint32_t> m_active; ///< Threads that execute the window
    alignas(64) std::atomic<uint32_t> m_left;   ///< Domains of the window that are not done
    const std::unique_ptr<Claim[]> m_claims;    ///< By domain
};

} // namespace fabric
} // namespace ns3

#endif // WINDOW_CREW_H
