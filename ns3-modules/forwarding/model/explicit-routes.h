// SPDX-License-Identifier: GPL-2.0-only

#ifndef EXPLICIT_ROUTES_H
#define EXPLICIT_ROUTES_H

#include "ecmp-hash.h"

namespace ns3
{

/**
 * @ingroup forwarding
 * @brief Frames of a flow go where the input table "routes" says, whatever is shortest.
 *
 * A switch that the table does not name for a flow chooses among the shortest ways by hash. A
 * listed way holds whether its links are cut or not.
 *
 * **Source**: our own; what a controller installs as static flow entries.
 *
 * **Not modelled**: time to install entries, limits of tables.
 */
class ExplicitRoutes final : public EcmpHash
{
  public:
    static TypeId GetTypeId();
    void Attach(fabric::SwitchView& view) override;
    bool HasOwnRoutes() const override;
    fabric::PortId Route(uint32_t node, const fabric::Frame& frame) override;

  private:
    const fabric::SwitchView* m_view{nullptr};
};

} // namespace ns3

#endif // EXPLICIT_ROUTES_H
