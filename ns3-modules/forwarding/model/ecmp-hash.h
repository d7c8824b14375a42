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
 * Without seeds of their own all switches hash alike. Then what a switch gets from one member of a
 * group below has hashes of one part of the range only, and with as many members it sends all of it
 * to one of them: the hash is polarised.
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
        return {.sees = Sees::FRAME,
                .keepsFlowOnOnePath = true,
                .hashesEntropy = m_fields == Fields::MESSAGE};
    }

  private:
    /// What the hash is of.
    enum class Fields
    {
        MESSAGE,    ///< Header fields, direction and entropy
        HOSTS,      ///< Source and destination: all messages of a pair take one path
        DESTINATION ///< All messages to a host take one path down
    };

    uint64_t HeaderOf(const fabric::Frame& frame) const;

    const fabric::SwitchContext* m_context{nullptr};
    Fields m_fields{Fields::MESSAGE};
    bool m_ownSeeds{true}; ///< Beside m_seed
    uint64_t m_seed{0};
    bool m_isUsual{true}; ///< All as by default
};

} // namespace ns3

#endif // ECMP_HASH_H
