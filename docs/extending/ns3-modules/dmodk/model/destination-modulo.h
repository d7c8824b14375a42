// SPDX-License-Identifier: GPL-2.0-only

#ifndef DESTINATION_MODULO_H
#define DESTINATION_MODULO_H

#include "ns3/forwarding-policy.h"

namespace ns3
{

/**
 * @ingroup dmodk
 * @brief All frames to one host take the same of equally short ways: destination modulo ways.
 *
 * Source: D-mod-k (Zahavi, Journal of Parallel and Distributed Computing 72, 2012), first tier.
 */
class DestinationModulo final : public fabric::ForwardingPolicy
{
  public:
    static TypeId GetTypeId();
    void Attach(fabric::Fabric& fabric) override;
    uint32_t Select(uint32_t node,
                    uint32_t group,
                    const fabric::Frame& frame,
                    const fabric::PortId* members,
                    uint32_t n) override;
    bool KeepsFlowOnOnePath() const override;
};

} // namespace ns3

#endif // DESTINATION_MODULO_H
