// SPDX-License-Identifier: GPL-2.0-only

#ifndef POWER_TCP_H
#define POWER_TCP_H

#include "telemetry-window.h"

namespace ns3
{

/**
 * @ingroup congestion
 * @brief PowerTCP: a window from the power, rate times bytes on the way, of the busiest link.
 *
 * **Source** Addanki, Michel and Schmid, "PowerTCP: Pushing the Performance Limits of Datacenter
 * Networks", NSDI 2022, algorithm 1. The old window is the one at the end of the last round trip.
 * **Not modelled** theta-PowerTCP, which has round trips alone.
 */
class PowerTcp final : public TelemetryWindow
{
  public:
    static TypeId GetTypeId();

  private:
    double LoadOf(const PathLoad::Change& link, double rttSeconds) const override;
    double NewWindow(Flow& flow, bool endsRound) const override;

    double m_gamma{0};
};

} // namespace ns3

#endif // POWER_TCP_H
