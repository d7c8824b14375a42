// SPDX-License-Identifier: GPL-2.0-only

#ifndef FLUID_ENGINE_H
#define FLUID_ENGINE_H

#include "ns3/run.h"

namespace ns3
{

/**
 * @ingroup fluid
 * @brief Makes runs at flow level of the tables that runs of packets take.
 *
 * The tables are compiled, and refused, as those of packets. Columns that have no meaning without
 * packets are not in the tables of the outcome.
 */
class FluidEngine final : public fabric::Engine
{
  public:
    static TypeId GetTypeId();
    std::unique_ptr<fabric::Run> Start(fabric::FabricTables tables,
                                       const fabric::RunOptions& options) const override;
};

} // namespace ns3

#endif // FLUID_ENGINE_H
