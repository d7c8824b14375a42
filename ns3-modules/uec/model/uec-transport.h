// SPDX-License-Identifier: GPL-2.0-only

#ifndef UEC_TRANSPORT_H
#define UEC_TRANSPORT_H

#include "uec-destination.h"

namespace ns3
{

/**
 * @ingroup uec
 * @brief The Ultra Ethernet transport: sprayed, few acknowledgements, window or credit or both.
 *
 * The destination acknowledges every AckEveryBytes, and at once the first packet, a marked one, a
 * copy, and one whose source asks for it because it cannot go on. An acknowledgement has the first
 * missing packet, a bitmap of 64 packets and the number of all that have arrived, which is what
 * leaves the window. With ReceiverCredit (RCCC) a source may send what it has credit for: at first
 * one largest window, from the first answer on what its destination gives to all of its sources in
 * turn at CreditShare of its rate. While no source wants any, those of unfinished messages get up
 * to a largest window more than they ask for.
 *
 * Ordered (ROD): one path; the destination drops what comes behind a gap, says so once (NACK
 * UET_ROD_OOO with the packet that it expects), and the source sends again from there on.
 *
 * **Source** Ultra Ethernet specification 1.0, sections 3.5 and 3.6; what it leaves open as in its
 * simulator (uet-htsim, uec.cpp).
 * **Not modelled** RUDI, of which each packet is answered (AckEveryBytes 0 does so) and a copy is
 * delivered twice; UUD; idle credit for what has arrived whole; the share of sources at one host in
 * what each asks for; connections, messages within one; probes and SLEEK.
 */
class UecTransport final : public UecDestination
{
  public:
    static TypeId GetTypeId();
    void Check() const override;

    Traits GetTraits() const override
    {
        Traits traits = UecDestination::GetTraits();
        traits.acceptsOutOfOrder = !IsOrdered();
        traits.spreadsOverPorts = !IsOrdered();
        traits.mayShorten = !IsOrdered();
        return traits;
    }

  private:
    uint64_t RtoPs(const fabric::Outbound& out) const override;

    void Begin(UecOutbound& out) override;
    bool MaySend(const UecOutbound& out) const override;
    void Stamp(UecOutbound& out, fabric::FrameId data, fabric::PortId port) override;
    void LearnMore(fabric::Outbound& out, fabric::FrameId id, fabric::Answer& answer) override;
    void JudgeLosses(UecOutbound& out, fabric::Answer& answer) override;
    void OnAnswer(UecOutbound& out, const fabric::Answer& answer) override;
    void OnControl(UecOutbound& out, fabric::FrameId pull) override;
    void OnTimeout(UecOutbound& out, fabric::Answer& lost) override;
    void OnDeadline(UecOutbound& out) override;

    void GoBack(UecOutbound& out, uint32_t packet);
    uint64_t TargetBytes(const UecOutbound& out) const;
    void StopSpeculating(UecOutbound& out);
    void Starve(UecOutbound& out);
    void WaitForCredit(UecOutbound& out);

    Time m_creditTimeout;
};

} // namespace ns3

#endif // UEC_TRANSPORT_H
