// SPDX-License-Identifier: GPL-2.0-only

#ifndef LEAST_LOADED_H
#define LEAST_LOADED_H

#include "ns3/forwarding-policy.h"

#include <vector>

namespace ns3
{

/**
 * @ingroup forwarding
 * @brief Per-packet choice of the emptiest of a few random members ("power of two choices").
 *
 * Ties go to the member drawn first. Choices = 0 looks at all members, as adaptive routing does.
 * With Memory the emptiest of those that were looked at last time are looked at again: DRILL(d, m)
 * is Choices = d and Memory = m.
 *
 * **Source**: DRILL (Ghorbani et al., SIGCOMM 2017) section 3.2.
 *
 * **Not modelled**: several forwarding engines with a memory each; weights of DRILL for unequal
 * paths; queues of other switches; rates of links.
 */
class LeastLoaded final : public fabric::ForwardingPolicy
{
  public:
    static TypeId GetTypeId();
    void Attach(fabric::SwitchContext& context) override;
    void OnRoutesChanged() override;
    uint32_t Select(const fabric::ForwardingChoice& choice, const fabric::Frame& frame) override;

  private:
    uint64_t LoadBytes(fabric::PortId port) const;
    uint32_t SelectWithMemory(const fabric::ForwardingChoice& choice);

    const fabric::SwitchContext* m_context{nullptr};
    std::vector<fabric::RandomCursor> m_draws; ///< Per node
    std::vector<std::vector<uint32_t>> m_best; ///< Remembered members, per group; emptiest first
    uint32_t m_choices{2};
    uint32_t m_memory{0};
};

} // namespace ns3

#endif // LEAST_LOADED_H
