// SPDX-License-Identifier: GPL-2.0-only

#ifndef WEIGHTED_SPRAY_H
#define WEIGHTED_SPRAY_H

#include "weighted-hash.h"

namespace ns3
{

/**
 * @ingroup forwarding
 * @brief Per-packet turns in proportion to what admitted traffic leaves free behind each member.
 *
 * Free is the least on the way to the destination of link rate less what is admitted on listed
 * paths; paths side by side add up. Turns are a Kronecker sequence (multiples of the golden ratio,
 * modulo 1), so that counts stay close to the shares at any time.
 *
 * **Source**: our own; shares as in WCMP (Zhou et al., EuroSys 2014) section 3, for packets.
 *
 * **Not modelled**: how a switch learns what is admitted elsewhere; weights in integers.
 */
class WeightedSpray final : public WeightedHash
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
    double WeightBps(fabric::PortId member, uint32_t dst) const override;

    std::vector<fabric::RandomCursor> m_draws; ///< Per node
    std::vector<uint64_t> m_turn; ///< Per node and shares: point of the last turn [2^-64]
};

} // namespace ns3

#endif // WEIGHTED_SPRAY_H
