// SPDX-License-Identifier: GPL-2.0-only

#ifndef WEIGHTED_HASH_H
#define WEIGHTED_HASH_H

#include "ns3/forwarding-policy.h"

#include <map>
#include <optional>
#include <vector>

namespace ns3
{

/**
 * @ingroup forwarding
 * @brief Equal-cost multipath with weights in proportion to what lies behind each member: the
 * least of the rates on the way to the destination, where paths side by side add up.
 *
 * The rates are those at the time of the last change of routes.
 *
 * **Source**: WCMP (Zhou et al., EuroSys 2014) section 3, with exact weights.
 *
 * **Not modelled**: replication of entries of a table of limited size.
 */
class WeightedHash : public fabric::ForwardingPolicy
{
  public:
    static TypeId GetTypeId();
    void Attach(fabric::SwitchContext& context) override;
    void OnRoutesChanged() override;
    uint32_t Select(const fabric::ForwardingChoice& choice, const fabric::Frame& frame) override;

    Traits GetTraits() const override
    {
        return {.sees = Sees::FRAME, .keepsFlowOnOnePath = true, .hashesEntropy = true};
    }

  protected:
    /// @return what decides the share of a member on the way to a host [bit/s]
    virtual double WeightBps(fabric::PortId member, uint32_t dst) const;
    /// @return which shares hold for a choice
    uint32_t IndexAt(const fabric::ForwardingChoice& choice, uint32_t dst) const;
    /// @return member whose shares end above a point in [0, 1)
    uint32_t MemberAt(uint32_t index, double point) const;

    uint32_t NumShares() const ///< Different ones, since routes have changed
    {
        return static_cast<uint32_t>(m_shares.size());
    }

    const fabric::SwitchContext& View() const
    {
        return *m_context;
    }

  private:
    static constexpr uint32_t NONE = 0xffffffff;

    std::vector<double> SharesOf(fabric::Routing::Group group, uint32_t dst) const;
    uint32_t IndexOf(const std::vector<double>& shares);
    std::optional<fabric::Routing::Group> ChoiceAt(uint32_t node, uint32_t dst) const;

    const fabric::SwitchContext* m_context{nullptr};
    uint32_t m_classes{0};                             ///< Of destinations
    std::vector<std::vector<double>> m_shares;         ///< Up to each member of a group [1]
    std::map<std::vector<double>, uint32_t> m_indexOf; ///< Into m_shares
    std::vector<uint32_t> m_ofClass;                   ///< Per node and class: index into m_shares
    std::vector<uint32_t> m_ofLastHop; ///< Per group down to a host: index into m_shares, NONE
};

} // namespace ns3

#endif // WEIGHTED_HASH_H
