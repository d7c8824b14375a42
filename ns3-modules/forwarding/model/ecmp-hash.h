// SPDX-License-Identifier: GPL-2.0-only

#ifndef ECMP_HASH_H
#define ECMP_HASH_H

#include "ns3/forwarding-policy.h"

/**
 * @defgroup forwarding Forwarding
 * @brief Which of several equal-cost paths a switch takes.
 */

namespace ns3
{

/**
 * @ingroup forwarding
 * @brief Equal-cost multipath: hash of the flow's header fields and entropy, salted per switch.
 *
 * **Source**: RFC 2992 (hash-threshold).
 *
 * **Not modelled**: the hash functions of real switches, which are weaker.
 */
class EcmpHash : public fabric::ForwardingPolicy
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
    const fabric::SwitchContext* m_context{nullptr};
};

} // namespace ns3

#endif // ECMP_HASH_H
