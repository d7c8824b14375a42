// SPDX-License-Identifier: GPL-2.0-only

#ifndef MPTCP_TRANSPORT_H
#define MPTCP_TRANSPORT_H

#include "linked-windows.h"
#include "recent-arrivals.h"

#include "ns3/message-transport.h"

#include <optional>
#include <vector>

namespace ns3
{

/// What a subflow has sent under a number.
struct MptcpSent
{
    uint32_t packet{0}; ///< Of the message
    uint64_t ps{0};     ///< When [ps]
};

/// A subflow of a message: one path, packets numbered in the order in which they were sent.
struct MptcpSubflow
{
    fabric::PortId port{fabric::NO_PORT}; ///< By which it leaves its host
    std::optional<uint16_t> entropy;      ///< Of its path
    fabric::Scoreboard sent;              ///< By number; what is lost has been settled, too
    fabric::PacketRing<MptcpSent> sentAs; ///< By number
    uint32_t reduced{0};                  ///< Losses before this number have reduced the window
    uint64_t waitsPs{0};                  ///< Since when it has heard nothing [ps]
    uint32_t timeouts{0};                 ///< In a row
    uint64_t lastSentPs{0};               ///< When it has last sent [ps]
    RecentArrivals arrivals;              ///< With TailLossProbe
    std::optional<uint32_t> probeEnd;     ///< A probe is out, to be answered from this number on
    bool wantsProbe{false};               ///< The next packet is its probe
};

/// State of an MptcpTransport's message at its source.
struct MptcpOutbound : fabric::Outbound
{
    std::vector<MptcpSubflow> subflows;
    LinkedWindows windows;
    uint32_t answered{0};       ///< Subflow of the last answer
    uint32_t answeredNumber{0}; ///< Of its packet on that subflow
};

/**
 * @ingroup mptcp
 * @brief A message over several subflows, each a TCP on a path of its own, with linked increases.
 *
 * Subflows take the ports of the host in turn that serve the destination when the message begins,
 * and keep to them. The first packet of a subflow takes its entropy from the path selector, all
 * others of it the same. When a port is free, a packet goes by that of its subflows with the
 * shortest round trip that has room; one that has timed out waits for those that have not, of all
 * ports. A packet is lost when one ReorderPackets later on the same subflow has arrived, when it
 * came without its payload, or when nothing was heard of its subflow for Rto, doubled each time;
 * then any subflow sends it again. A loss or a mark halves the window of its subflow, once per
 * window.
 *
 * With TailLossProbe (RACK-TLP) a packet is also lost when one that was sent after it has arrived
 * and it is late by more than a reordering window (RecentArrivals). A subflow that has sent and
 * heard nothing for two round trips sends a probe, once, beyond its window: the next packet of the
 * message or, if there is none, its last one again. The answer shows what was lost before it.
 *
 * **Source** RFC 8684 (subflows), RFC 6356 (LinkedWindows), RFC 6675 section 4 (losses), RFC 8985
 * sections 6 and 7 (TailLossProbe); the lowest round trip first is Linux' default, over all ports
 * there, where packets do not wait for a port. No probe by default, like the simulator of the
 * authors of MPTCP (SIGCOMM 2011); Linux has RACK-TLP on.
 * **Not modelled** Handshakes, byte numbers, delayed acknowledgements and what a probe waits for
 * them, receive windows; an Rto by round trips, or Linux' least probe time of two ticks; a
 * reordering window that grows (RFC 8985 section 6.2, step 4); subflows that are opened later.
 */
class MptcpTransport final : public fabric::MessageTransport<MptcpOutbound, fabric::Inbound>
{
  public:
    static TypeId GetTypeId();

    Traits GetTraits() const override
    {
        Traits traits = MessageTransport::GetTraits();
        traits.spreadsOverPorts = true;
        return traits;
    }

  private:
    void Begin(MptcpOutbound& out) override;
    bool MaySend(const MptcpOutbound& out) const override;
    bool MayLeaveBy(const MptcpOutbound& out, fabric::PortId port) const override;
    void Stamp(MptcpOutbound& out, fabric::FrameId data, fabric::PortId port) override;
    void LearnMore(fabric::Outbound& out, fabric::FrameId id, fabric::Answer& answer) override;
    void JudgeLosses(MptcpOutbound& out, fabric::Answer& answer) override;
    void OnTimeout(MptcpOutbound& out, fabric::Answer& lost) override;
    void OnDeadline(MptcpOutbound& out) override;

    void SpreadOverPorts(MptcpOutbound& out);
    bool HasRoom(const MptcpOutbound& out, uint32_t index) const;
    uint32_t Choose(const MptcpOutbound& out, fabric::PortId port) const;
    void Reduce(MptcpOutbound& out, uint32_t index, uint32_t number);
    void Lose(MptcpOutbound& out,
              MptcpSubflow& subflow,
              uint32_t number,
              fabric::CongestionControl::Loss how,
              fabric::Answer& answer);
    void GiveUp(MptcpOutbound& out, uint32_t index, fabric::Answer& lost);
    uint64_t DuePs(const MptcpSubflow& subflow) const;
    uint64_t ProbePs(const MptcpOutbound& out, uint32_t index) const;
    void LookBehind(MptcpOutbound& out, uint32_t index, uint32_t number, fabric::Answer& answer);
    void Await(MptcpOutbound& out, uint64_t atPs);
    uint64_t JudgeLate(MptcpOutbound& out, uint32_t index, fabric::Answer& answer);
    void Probe(MptcpOutbound& out, MptcpSubflow& subflow);
    uint64_t ProbeOrJudge(MptcpOutbound& out, uint32_t index);

    uint32_t m_subflows{0};
    uint32_t m_initialPackets{0};
    bool m_tailLossProbe{false};
};

} // namespace ns3

#endif // MPTCP_TRANSPORT_H
