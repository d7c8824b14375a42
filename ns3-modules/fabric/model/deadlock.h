// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_DEADLOCK_H
#define FABRIC_DEADLOCK_H

#include "fabric-parts.h"

namespace ns3
{
namespace fabric
{

/// How often a network with link flow control is searched for a deadlock [ps].
constexpr uint64_t DEADLOCK_CHECK_PS = 1'000'000'000;

/// @return the first time for such a search that is later than a time
template <typename Time>
constexpr Time
NextDeadlockCheck(Time nowPs)
{
    return Time(nowPs.Ps() / DEADLOCK_CHECK_PS * DEADLOCK_CHECK_PS + DEADLOCK_CHECK_PS);
}

/// @return nodes (dense indices) that wait for each other's buffers for ever; empty if none do
std::vector<uint32_t> FindDeadlock(const FabricParts& parts);

/**
 * @ingroup fabric
 * @brief Ends a run whose switches wait for each other for ever.
 */
class DeadlockWatch final : public Observer
{
  public:
    explicit DeadlockWatch(const RunView& run);

    uint32_t Wishes() const override
    {
        return 0;
    }

    EnginePs NextLookPs() const override
    {
        return m_nextPs;
    }

    void Look(EnginePs nextPs) override;

    bool EndsRun() const override
    {
        return m_found;
    }

  private:
    const RunView& m_run;
    EnginePs m_nextPs;
    bool m_found{false};
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_DEADLOCK_H
