// SPDX-License-Identifier: GPL-2.0-only

#ifndef RANDOM_SPRAY_H
#define RANDOM_SPRAY_H

#include "ns3/forwarding-policy.h"

#include <vector>

namespace ns3
{

/**
 * @ingroup forwarding
 * @brief Per-packet random choice at the switch, uniform and independent.
 *
 * **Source**: Dixit et al., "On the Impact of Packet Spraying in Data Center Networks", INFOCOM
 * 2013, section IV (random packet spraying).
 *
 * **Not modelled**: weights of links, see WeightedHash with RandomEntropy.
 */
class RandomSpray final : public fabric::ForwardingPolicy
{
  public:
    static TypeId GetTypeId();
    void Attach(fabric::SwitchContext& context) override;
    uint32_t Select(const fabric::ForwardingChoice& choice, const fabric::Frame& frame) override;

    Traits GetTraits() const override
    {
        return {.sees = Sees::TURN};
    }

  private:
    std::vector<fabric::RandomCursor> m_draws; ///< Per node
};

} // namespace ns3

#endif // RANDOM_SPRAY_H
