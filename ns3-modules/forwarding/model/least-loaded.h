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
 *
 * **Source**: DRILL (Ghorbani et al., SIGCOMM 2017) section 3.2 with m = 0.
 *
 * **Not modelled**: remembered ports; queues of other switches; rates of links.
 */
class LeastLoaded final : public fabric::ForwardingPolicy
{
  public:
    static TypeId GetTypeId();
    void Attach(fabric::SwitchView& view) override;
    uint32_t Select(const fabric::ForwardingChoice& choice, const fabric::Frame& frame) override;
    Sees LooksAt() const override;
    bool KeepsFlowOnOnePath() const override;

  private:
    const fabric::SwitchView* m_view{nullptr};
    std::vector<fabric::RandomCursor> m_draws; ///< Per node
    uint32_t m_choices{2};
};

} // namespace ns3

#endif // LEAST_LOADED_H
