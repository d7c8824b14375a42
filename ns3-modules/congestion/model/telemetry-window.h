// SPDX-License-Identifier: GPL-2.0-only

#ifndef CONGESTION_TELEMETRY_WINDOW_H
#define CONGESTION_TELEMETRY_WINDOW_H

#include "path-load.h"

#include "ns3/congestion-control.h"
#include "ns3/nstime.h"
#include "ns3/slot-table.h"

namespace ns3
{

/**
 * @ingroup congestion
 * @brief A window, and the rate that goes with it, from the load of the busiest link of the paths.
 *
 * Needs a switch program that writes in-band telemetry, for example ns3::InbandTelemetry. A sprayed
 * flow keeps a record of each link that it uses, by its egress. Windows count wire bytes, framing
 * included, as rates of links do; the last packet may overshoot, so that no rate is lost to
 * rounding.
 */
class TelemetryWindow : public fabric::CongestionControl
{
  public:
    void Open(uint32_t slot, const Path& path) final;
    void OnAck(uint32_t slot, const Ack& ack) final;
    uint64_t WindowBytes(uint32_t slot) const final;
    uint64_t RateBps(uint32_t slot) const final;

    Traits GetTraits() const override
    {
        return {.needsIntHops = true};
    }

    double Window(uint32_t slot) const; ///< In bytes on the wire [byte]
    double Load(uint32_t slot) const;   ///< Smoothed, of the busiest link [1]

  protected:
    /// One flow; windows in bytes on the wire.
    struct Flow
    {
        double rttSeconds{0};     ///< Unloaded [s]
        double fullBytes{0};      ///< Line rate times that, and the largest window [byte]
        double windowBytes{0};    ///< [byte]
        double referenceBytes{0}; ///< Window at the end of the last round trip [byte]
        double load{1};           ///< Smoothed [1]
        double payloadShare{1};   ///< Of the bytes of a full frame [1]
        uint32_t mtuBytes{1};
        uint32_t updatePacket{0}; ///< Its answer ends a round trip
        uint32_t stage{0};        ///< Free for the derived class
        PathLoad links;
    };

    /// Add the attributes that all of them have. `N` is the default of ExpectedFlows.
    static TypeId AddAttributes(TypeId tid, double expectedFlows);

    /// @return load of a link [1]
    virtual double LoadOf(const PathLoad::Change& link, double rttSeconds) const = 0;
    /// The load is known: @return the new window, which is then clipped [byte]
    virtual double NewWindow(Flow& flow, bool endsRound) const = 0;

    double m_expectedFlows{0};

  private:
    fabric::SlotTable<Flow> m_flows;
    double m_leastShare{0};
    Time m_baseRtt;
};

} // namespace ns3

#endif // CONGESTION_TELEMETRY_WINDOW_H
