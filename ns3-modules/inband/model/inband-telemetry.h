// SPDX-License-Identifier: GPL-2.0-only

#ifndef INBAND_TELEMETRY_H
#define INBAND_TELEMETRY_H

#include "ns3/switch-program.h"

namespace ns3
{

/**
 * @defgroup inband In-band telemetry
 */

/**
 * @ingroup inband
 * @brief In-band telemetry: each switch appends to data what it knows of the egress.
 *
 * What is appended: when the packet began to leave, how many bytes, framing included, the egress
 * had sent until then, how many waited behind the packet in its class, and the rate of the link.
 * Data grows by HopBytes at every switch, and by BaseBytes at the first one; the acknowledgement
 * takes it all back.
 *
 * **Source** Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019, section 4.1: 2
 * bytes, and 8 for each hop.
 * **Not modelled** Fields that wrap or are rounded; a limit of the number of hops.
 */
class InbandTelemetry final : public fabric::SwitchProgram
{
  public:
    static TypeId GetTypeId();

    void Attach(fabric::ProgramContext& context) override;

    Traits GetTraits() const override
    {
        return {.hooks = DEPARTURE, .writesIntHops = true, .maySkip = true};
    }

    void OnDeparture(fabric::PortId egress, fabric::FrameId frame, uint64_t queuedBytes) override;

  private:
    fabric::ProgramContext* m_context{nullptr};
    uint32_t m_hopBytes{0};
    uint32_t m_baseBytes{0};
};

} // namespace ns3

#endif // INBAND_TELEMETRY_H
