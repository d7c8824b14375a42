// SPDX-License-Identifier: GPL-2.0-only

#ifndef INDEPENDENT_LOSS_H
#define INDEPENDENT_LOSS_H

#include "ns3/loss-model.h"

#include <vector>

namespace ns3
{

/**
 * @ingroup loss
 * @brief Each frame is lost with the same probability, whatever became of others.
 *
 * **Source**: Bernoulli trials.
 *
 * **Not modelled**: sizes of frames, see BitErrors; bursts, see GilbertElliott.
 */
class IndependentLoss final : public fabric::LossModel
{
  public:
    static TypeId GetTypeId();
    void Attach(fabric::SwitchContext& context) override;
    Fate Judge(fabric::PortId receiver, const fabric::Frame& frame) override;

  private:
    double m_ratio{0};                         ///< Probability of a loss [1]
    std::vector<fabric::RandomCursor> m_draws; ///< Per receiving port
};

} // namespace ns3

#endif // INDEPENDENT_LOSS_H
