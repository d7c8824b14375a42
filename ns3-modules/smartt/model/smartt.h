// SPDX-License-Identifier: GPL-2.0-only

#ifndef SMARTT_H
#define SMARTT_H

#include "smartt-window.h"

#include "ns3/window-control.h"

/**
 * @defgroup smartt SMaRTT congestion control
 */

namespace ns3
{

/**
 * @ingroup smartt
 * @brief A window by marks and delay together, for senders that spray (SMaRTT).
 *
 * No mark and a short round trip: more, in proportion to what is left up to the target. No mark and
 * a long one: a fair share more. A mark and a short one: a fair share less. Both: less, in
 * proportion to what is too much. After a round trip with losses the window is what arrived in it
 * (QuickAdapt); after a window without mark or delay it grows by packets (FastIncrease).
 *
 * **Source** Bonato et al., "SMaRTT-REPS: Sender-based Marked Rapidly-adapting Trimmed & Timed
 * Transport with Recycled Entropies", arXiv 2404.01630, first version; constants and what the text
 * leaves open as in its authors' simulator ("delayB"). Sizes are payload, an acknowledgement of n
 * packets counts n times.
 * **Not modelled** The smaller fair increase after a quick adaption; a window that only a timeout
 * has told to be lost is taken off as a whole.
 */
class Smartt final : public fabric::WindowControl<SmarttWindow>
{
  public:
    static TypeId GetTypeId();

    Traits GetTraits() const override
    {
        return {.needsMarks = true};
    }

    void Attach(fabric::HostContext& host) override;

  private:
    static TypeId AddAdaption(TypeId tid); ///< Attributes of fast increase and quick adaption

    double m_fairIncrease{0};
    double m_proportionalIncrease{0};
    double m_proportionalDecrease{0};
    double m_fairDecrease{0};
    double m_targetShare{0};
    double m_startBdp{0};
    double m_fastPackets{0};
    double m_fastDelayPackets{0};
    double m_quickShare{0};
    double m_waitShare{0};
};

} // namespace ns3

#endif // SMARTT_H
