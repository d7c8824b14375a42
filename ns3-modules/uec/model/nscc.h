// SPDX-License-Identifier: GPL-2.0-only

#ifndef NSCC_H
#define NSCC_H

#include "nscc-window.h"

#include "ns3/nstime.h"
#include "ns3/window-control.h"

/**
 * @defgroup uec Ultra Ethernet transport
 */

namespace ns3
{

/**
 * @ingroup uec
 * @brief Network signal-based congestion control (NSCC): a window by delay and marks.
 *
 * Without marks the window grows, in proportion to what is left up to the target delay or by a fair
 * share; with a mark and much delay it shrinks by what the smoothed delay is above the target, once
 * per round trip; with a mark alone only the path selector reacts. After a round with losses in
 * which little arrived the window is that (quick adaption).
 *
 * **Source** Ultra Ethernet specification 1.0, section 3.6.13 (NSCC), as its simulator (uet-htsim,
 * uec.cpp) has it, which is where all constants are from.
 * **Not modelled** Congestion windows of the receiver (penalties); SLEEK; base round trips that
 * turn out shorter: the unloaded one is known.
 */
class Nscc final : public fabric::WindowControl<NsccWindow>
{
  public:
    static TypeId GetTypeId();

    Traits GetTraits() const override
    {
        return {.needsMarks = true};
    }

    void Attach(fabric::HostContext& host) override;

  private:
    Time m_networkRtt;
    double m_targetShare{0};
    double m_mostBdp{0};
    uint32_t m_quickGate{0};
    bool m_ignoresLastHopTrims{false};
};

} // namespace ns3

#endif // NSCC_H
