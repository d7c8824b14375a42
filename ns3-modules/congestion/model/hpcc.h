// SPDX-License-Identifier: GPL-2.0-only

#ifndef HPCC_H
#define HPCC_H

#include "telemetry-window.h"

namespace ns3
{

/**
 * @ingroup congestion
 * @brief HPCC: a window from the utilisation that switches report of each link.
 *
 * **Source** Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019, algorithm 1; Eta
 * and MaxStage as in the authors' simulations, whose project page calls the paper's maxStage of 5 a
 * mistake.
 * **Not modelled** Telemetry that wraps, is rounded or sampled (PINT).
 */
class Hpcc final : public TelemetryWindow
{
  public:
    static TypeId GetTypeId();

  private:
    double LoadOf(const PathLoad::Change& link, double rttSeconds) const override;
    double NewWindow(Flow& flow, bool endsRound) const override;

    double m_eta{0};
    uint32_t m_maxStage{0};
};

} // namespace ns3

#endif // HPCC_H
