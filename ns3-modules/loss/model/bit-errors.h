// SPDX-License-Identifier: GPL-2.0-only

#ifndef BIT_ERRORS_H
#define BIT_ERRORS_H

#include "ns3/loss-model.h"

#include <vector>

namespace ns3
{

/**
 * @ingroup loss
 * @brief Each bit of a frame is wrong with the same probability; a frame with a wrong bit is
 * corrupt: 1 - (1 - ratio)^bits.
 *
 * **Source**: the binary symmetric channel; IEEE 802.3 states bit error ratios (clause 4.4.2 has
 * 1e-12 and less after correction).
 *
 * **Not modelled**: forward error correction, whose errors come in bursts; errors in the preamble;
 * errors that a checksum does not see.
 */
class BitErrors final : public fabric::LossModel
{
  public:
    static TypeId GetTypeId();
    void Attach(fabric::SwitchContext& context) override;
    Fate Judge(fabric::PortId receiver, const fabric::Frame& frame) override;

  private:
    double m_ratio{0};                         ///< Probability that a bit is wrong [1]
    double m_logRight{0};                      ///< Logarithm of the probability that it is right
    std::vector<fabric::RandomCursor> m_draws; ///< Per receiving port
};

} // namespace ns3

#endif // BIT_ERRORS_H
