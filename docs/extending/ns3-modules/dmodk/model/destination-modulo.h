// SPDX-License-Identifier: GPL-2.0-only

#ifndef DESTINATION_MODULO_H
#define DESTINATION_MODULO_H

#include "ns3/forwarding-policy.h"

/**
 * @defgroup dmodk Routing by destination
 * @brief Static routes that the number of the destination decides.
 */

namespace ns3
{

/**
 * @ingroup dmodk
 * @brief All frames to one host take the same of equal-cost paths: destination modulo their number.
 *
 * **Source**: D-mod-k (Zahavi, Journal of Parallel and Distributed Computing 72, 2012), first tier.
 *
 * **Not modelled**: the division by the paths of the tiers below.
 */
class DestinationModulo final : public fabric::ForwardingPolicy
{
  public:
    static TypeId GetTypeId();

    Traits GetTraits() const override
    {
        return {.sees = Sees::FRAME, .keepsFlowOnOnePath = true};
    }

    void Attach(fabric::SwitchContext& context) override;
    uint32_t Select(const fabric::ForwardingChoice& choice, const fabric::Frame& frame) override;
};

} // namespace ns3

#endif // DESTINATION_MODULO_H
