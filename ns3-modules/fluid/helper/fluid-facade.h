// SPDX-License-Identifier: GPL-2.0-only

#ifndef FLUID_FACADE_H
#define FLUID_FACADE_H

#include "ns3/fabric-facade.h"

#include <memory>

namespace ns3
{
namespace fabric
{

/**
 * @ingroup fluid
 * @brief The door between Python and the fluid engine: that of the packet engine, with another run
 * behind it.
 *
 * The tables are compiled, and refused, as those of the packet engine; its columns that have no
 * meaning without packets are -1.
 */
class FluidFacade final : public Facade
{
  public:
    FluidFacade();
    ~FluidFacade() override;

    bool RunSlice(int64_t stopPs, double wallSeconds) override;
    void Finish() override;
    int64_t NowPs() const override;
    uint64_t Events() const override;
    uint64_t FlowsDone() const override;
    uint64_t TasksDone() const override;
    uint64_t TasksTotal() const override;
    uint64_t DataPackets() const override;

  private:
    void Prepare(FabricTables& tables, FabricOptions& options) override;
    void Built() override;

    struct Engine;
    std::unique_ptr<Engine> m_engine;
};

} // namespace fabric
} // namespace ns3

#endif // FLUID_FACADE_H
