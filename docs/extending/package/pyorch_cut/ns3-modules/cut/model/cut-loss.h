// SPDX-License-Identifier: GPL-2.0-only

#ifndef CUT_LOSS_H
#define CUT_LOSS_H

#include "ns3/loss-model.h"

#include <vector>

namespace ns3
{

/**
 * @ingroup cut
 * @brief Each wire carries a number of frames, then loses some in a row.
 *
 * **Source** None: an example of a module in a package.
 * **Not modelled** Chance, sizes of frames, a time that a cut lasts.
 */
class CutLoss final : public fabric::LossModel
{
  public:
    static TypeId GetTypeId();

    void Attach(fabric::SwitchContext& context) override;
    Fate Judge(fabric::PortId receiver, const fabric::Frame& frame) override;

  private:
    uint32_t m_every{0};
    uint32_t m_length{0};
    std::vector<uint32_t> m_frames; ///< Since the end of the last cut, by port that receives
};

} // namespace ns3

#endif // CUT_LOSS_H
