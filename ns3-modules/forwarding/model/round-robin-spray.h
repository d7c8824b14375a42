// SPDX-License-Identifier: GPL-2.0-only

#ifndef ROUND_ROBIN_SPRAY_H
#define ROUND_ROBIN_SPRAY_H

#include "ns3/forwarding-policy.h"

#include <vector>

namespace ns3
{

/**
 * @ingroup forwarding
 * @brief Per-packet round robin at the switch, over a permutation drawn anew for each round.
 *
 * Each priority has rounds of its own, so acknowledgements take no turn of data. Of a priority, the
 * counts of any two members of a group differ by at most one, until routes change.
 *
 * **Source**: Dixit et al., INFOCOM 2013, section IV (round robin); the permutation is as NDP's
 * senders have it (Handley et al., SIGCOMM 2017, section 3.1).
 *
 * **Not modelled**: weights of links.
 */
class RoundRobinSpray final : public fabric::ForwardingPolicy
{
  public:
    static TypeId GetTypeId();
    void Attach(fabric::SwitchContext& context) override;
    void OnRoutesChanged() override;
    uint32_t Select(const fabric::ForwardingChoice& choice, const fabric::Frame& frame) override;

    Traits GetTraits() const override
    {
        return {.sees = Sees::TURN};
    }

  private:
    /// Position of one group and priority in its round.
    struct Round
    {
        std::vector<uint16_t> order;
        uint32_t next{0};
    };

    const fabric::SwitchContext* m_context{nullptr};
    std::vector<Round> m_rounds;               ///< Per group and priority
    std::vector<fabric::RandomCursor> m_draws; ///< Per node
};

} // namespace ns3

#endif // ROUND_ROBIN_SPRAY_H
