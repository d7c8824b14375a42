// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_OBSERVERS_H
#define FABRIC_OBSERVERS_H

#include "ns3/observer.h"

#include <vector>

namespace ns3
{
namespace fabric
{

/**
 * @ingroup fabric
 * @brief The observers of an engine, each called for what it wishes alone.
 */
class Observers
{
  public:
    /// Add an observer that lives as long as the run.
    void Add(Observer& observer);

    bool AnyWishes(Observer::Wish wish) const
    {
        return m_wishes & wish;
    }

    /// Call a method of those that wish for it.
    template <typename... Parameters, typename... Arguments>
    void Call(Observer::Wish wish,
              void (Observer::*method)(Parameters...),
              const Arguments&... arguments) const
    {
        if (!AnyWishes(wish)) [[likely]]
        {
            return;
        }
        for (Observer* observer : m_all)
        {
            if (observer->Wishes() & wish)
            {
                (observer->*method)(arguments...);
            }
        }
    }

    void OnStart(uint32_t message);
    void OnDisturbance(); ///< What they have seen of the state at hand is over
    void OnSkip(const SkippedTime& piece) const;

    /// @return Look is due before the first event after this [ps]
    EnginePs NextLookPs() const
    {
        return m_nextLookPs;
    }

    void Look(EnginePs nextPs); ///< Nothing more happens before this [ps]

    /// @return whether OnInstant is wanted until Look is due again
    bool SeeInstants() const
    {
        return m_seeInstants;
    }

    void OnInstant(const Instant& instant) const;

    /// @return whether one of them has ended the run
    bool EndRun() const
    {
        return m_endRun;
    }

    void Finish() const;
    uint64_t MemoryBytes() const;

    uint32_t Wishes() const ///< Of all of them, Wish by Wish
    {
        return m_wishes;
    }

  private:
    void FindNextLook();

    uint32_t m_wishes{0};
    std::vector<Observer*> m_all;
    EnginePs m_nextLookPs{EnginePs::Never()};
    bool m_seeInstants{false};
    bool m_endRun{false};
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_OBSERVERS_H
