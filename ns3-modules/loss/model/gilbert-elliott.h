// SPDX-License-Identifier: GPL-2.0-only

#ifndef GILBERT_ELLIOTT_H
#define GILBERT_ELLIOTT_H

#include "ns3/loss-model.h"

#include <vector>

namespace ns3
{

/**
 * @ingroup loss
 * @brief Losses in bursts: a direction is in a good or a bad state, each with a loss probability of
 * its own, and may change with every frame.
 *
 * Sojourns are geometric with means MeanGap and MeanBurst in frames, so the share of bad frames is
 * MeanBurst / (MeanBurst + MeanGap); a direction begins in either state with that probability.
 *
 * **Source**: Gilbert, "Capacity of a Burst-Noise Channel", Bell System Technical Journal 39(5),
 * 1960; Elliott, the same 42(5), 1963.
 *
 * **Not modelled**: states that change with time instead of frames; sizes of frames.
 */
class GilbertElliott final : public fabric::LossModel
{
  public:
    static TypeId GetTypeId();
    void Attach(fabric::SwitchContext& context) override;
    Fate Judge(fabric::PortId receiver, const fabric::Frame& frame) override;

  private:
    double m_meanBurst{0};                     ///< Of the bad state [frame]
    double m_meanGap{0};                       ///< Of the good state [frame]
    double m_lossInBad{0};                     ///< [1]
    double m_lossInGood{0};                    ///< [1]
    std::vector<fabric::RandomCursor> m_draws; ///< Per receiving port
    std::vector<bool> m_bad;                   ///< State for the next frame, per receiving port
};

} // namespace ns3

#endif // GILBERT_ELLIOTT_H
