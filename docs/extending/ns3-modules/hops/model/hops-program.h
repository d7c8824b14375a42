// SPDX-License-Identifier: GPL-2.0-only

#ifndef HOPS_PROGRAM_H
#define HOPS_PROGRAM_H

#include "ns3/switch-program.h"

namespace ns3
{

/**
 * @ingroup hops
 * @brief In-band telemetry: each switch appends to data what it knows of the egress.
 *
 * **Source** HPCC (Li et al., SIGCOMM 2019), section 4.1.
 * **Not modelled** Fields that wrap.
 */
class HopsProgram final : public fabric::SwitchProgram
{
  public:
    static TypeId GetTypeId();

    Traits GetTraits() const override
    {
        return {.hooks = DEPARTURE, .writesIntHops = true};
    }

    void Attach(fabric::ProgramContext& context) override;
    void OnDeparture(fabric::PortId egress, fabric::FrameId frame, uint64_t queuedBytes) override;

  private:
    fabric::ProgramContext* m_context{nullptr};
    uint32_t m_hopBytes{0};
};

} // namespace ns3

#endif // HOPS_PROGRAM_H
