// SPDX-License-Identifier: GPL-2.0-only

#ifndef EXPLICIT_ROUTES_H
#define EXPLICIT_ROUTES_H

#include "ns3/forwarding-policy.h"
#include "ns3/type-choice.h"

namespace ns3
{

/**
 * @ingroup forwarding
 * @brief Frames of a flow go where the input table "routes" says, whatever is shortest.
 *
 * For a flow that the table does not name at a switch another policy chooses among the shortest
 * paths. A listed path holds whether its links are cut or not.
 *
 * **Source**: our own; what a controller installs as static flow entries.
 *
 * **Not modelled**: time to install entries, limits of tables.
 */
class ExplicitRoutes final : public fabric::ForwardingPolicy
{
  public:
    static TypeId GetTypeId();
    void Check() const override;
    void Attach(fabric::SwitchContext& context) override;
    void OnRoutesChanged() override;
    uint32_t Select(const fabric::ForwardingChoice& choice, const fabric::Frame& frame) override;

    Traits GetTraits() const override
    {
        Traits traits = DefaultPolicy().GetTraits();
        traits.hasOwnRoutes = true;
        traits.keepsOrder = true; // so does a listed flow, and it is not hashed
        traits.hashesEntropy = false;
        return traits;
    }

    fabric::PortId Route(uint32_t node, const fabric::Frame& frame) override;

  private:
    void DoDispose() override;
    fabric::ForwardingPolicy& DefaultPolicy() const;

    const fabric::SwitchContext* m_context{nullptr};
    TypeChoice m_othersType;
    mutable Ptr<fabric::ForwardingPolicy> m_others; ///< Made when it is first asked for
};

} // namespace ns3

#endif // EXPLICIT_ROUTES_H
