// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_FORWARDING_POLICIES_H
#define FABRIC_FORWARDING_POLICIES_H

#include "forwarding-policy.h"

#include <vector>

namespace ns3
{

/**
 * @ingroup fabric
 * @brief Equal-cost multipath: hash of the flow's header fields and entropy, salted per switch.
 *
 * Source: RFC 2992 (hash-threshold); every switch has a salt of its own, so there is no hash
 * polarisation between tiers.
 */
class EcmpHash final : public fabric::ForwardingPolicy
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

  private:
    std::vector<uint64_t> m_salt;   ///< Per node
    std::vector<uint32_t> m_tuples; ///< Per message
};

/**
 * @ingroup fabric
 * @brief The entropy names the member: entropy / (members of the tiers below) modulo members.
 *
 * What source routing over a list of paths does; consecutive entropies use all paths equally.
 */
class EntropyModulo final : public fabric::ForwardingPolicy
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

  private:
    std::vector<uint32_t> m_divisor; ///< Per node
};

/**
 * @ingroup fabric
 * @brief Per-packet random choice at the switch, uniform and independent.
 */
class RandomSpray final : public fabric::ForwardingPolicy
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

  private:
    fabric::Fabric* m_fabric{nullptr};
};

/**
 * @ingroup fabric
 * @brief Per-packet round robin at the switch, over a permutation drawn anew for each round.
 *
 * Counts of any two members of a group differ by at most one.
 */
class RoundRobinSpray final : public fabric::ForwardingPolicy
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

  private:
    /// Position of one group in its round.
    struct Round
    {
        std::vector<uint16_t> order;
        uint32_t next{0};
    };

    fabric::Fabric* m_fabric{nullptr};
    std::vector<Round> m_rounds; ///< Per group
};

} // namespace ns3

#endif // FABRIC_FORWARDING_POLICIES_H
