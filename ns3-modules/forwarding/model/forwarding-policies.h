// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_FORWARDING_POLICIES_H
#define FABRIC_FORWARDING_POLICIES_H

#include "forwarding-policy.h"

#include "ns3/nstime.h"

#include <unordered_map>
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

/**
 * @ingroup fabric
 * @brief Per-packet choice of the emptiest of a few random members ("power of two choices").
 *
 * Source: DRILL (Ghorbani et al., SIGCOMM 2017) section 3.2 with m = 0, no remembered port; ties
 * go to the member drawn first. Choices = 0 looks at all members, as adaptive routing does.
 */
class LeastLoaded final : public fabric::ForwardingPolicy
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
    bool LooksAtQueues() const override;

  private:
    fabric::Fabric* m_fabric{nullptr};
    uint32_t m_choices{2};
};

/**
 * @ingroup fabric
 * @brief A flow takes a new random member whenever it was silent for longer than Gap.
 *
 * Source: LetFlow (Vanini et al., NSDI 2017) section 3. When routes change, a flow whose way is
 * still among them keeps it.
 */
class Flowlet final : public fabric::ForwardingPolicy
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
    bool LooksAtQueues() const override;

  private:
    /// Where a flow went last, and when.
    struct Last
    {
        uint64_t timePs{0};
        fabric::PortId port{fabric::NO_PORT};
        uint32_t member{0}; ///< Where that port was among the members
    };

    fabric::Fabric* m_fabric{nullptr};
    Time m_gap;
    std::vector<std::unordered_map<uint64_t, Last>> m_last; ///< Per node, by message and direction
};

/**
 * @ingroup fabric
 * @brief Equal-cost multipath with weights in proportion to the rates of the members' links.
 *
 * Source: WCMP (Zhou et al., EuroSys 2014) section 3, with exact weights. The rates are those at
 * the time of the last change of routes.
 */
class WeightedHash final : public fabric::ForwardingPolicy
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
    std::vector<std::vector<double>> m_cumulative; ///< Per group: shares up to each member [1]
};

} // namespace ns3

#endif // FABRIC_FORWARDING_POLICIES_H
