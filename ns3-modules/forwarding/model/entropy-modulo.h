// SPDX-License-Identifier: GPL-2.0-only

#ifndef ENTROPY_MODULO_H
#define ENTROPY_MODULO_H

#include "ns3/forwarding-policy.h"

#include <vector>

namespace ns3
{

/**
 * @ingroup forwarding
 * @brief The entropy names the member: entropy / (members of the tiers below) modulo members.
 *
 * What source routing over a list of paths does: consecutive entropies use all paths equally. The
 * members of a tier are those of its largest group in the network as built. Where a member is
 * gone, a sender that uses only as many entropies as there are paths doubles the load of another
 * one; PermutedEntropy has as many as there are left, and shifts them, for that reason.
 *
 * **Source**: our own; D-mod-k (Zahavi 2012) with the entropy in place of the destination.
 *
 * **Not modelled**: more than 65536 paths.
 */
class EntropyModulo final : public fabric::ForwardingPolicy
{
  public:
    static TypeId GetTypeId();
    void Attach(fabric::SwitchContext& context) override;
    uint32_t Select(const fabric::ForwardingChoice& choice, const fabric::Frame& frame) override;

    Traits GetTraits() const override
    {
        return {.sees = Sees::FRAME, .keepsFlowOnOnePath = true};
    }

  private:
    std::vector<uint32_t> m_divisor; ///< Per node
};

} // namespace ns3

#endif // ENTROPY_MODULO_H
