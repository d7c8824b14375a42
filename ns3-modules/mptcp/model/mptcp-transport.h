// SPDX-License-Identifier: GPL-2.0-only

#ifndef MPTCP_TRANSPORT_H
#define MPTCP_TRANSPORT_H

#include "linked-windows.h"

#include "ns3/message-transport.h"

#include <optional>
#include <vector>

namespace ns3
{

/// A subflow of a message: one path, packets numbered in the order in which they were sent.
struct MptcpSubflow
{
    std::optional<uint16_t> entropy;       ///< Of its path
    fabric::Scoreboard sent;               ///< By number; what is lost has been settled, too
    fabric::PacketRing<uint32_t> packetOf; ///< The packet of the message, by number
    uint32_t reduced{0};                   ///< Losses before this number have reduced the window
    uint64_t waitsPs{0};                   ///< Since when it has heard nothing [ps]
    uint32_t timeouts{0};                  ///< In a row
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
 * The first packet of a subflow takes its entropy from the path selector, all others of it the
 * same. A packet goes by the subflow with the shortest round trip that has room, by one that has
 * timed out only if no other has. It is lost when
 * one ReorderPackets later on the same subflow has arrived, when it came without its payload, or
 * when nothing was heard of its subflow for Rto, doubled each time; then any subflow sends it
 * again. A loss or a mark halves the window of its subflow, once per window.
 *
 * **Source** RFC 8684 (subflows), RFC 6356 (LinkedWindows), RFC 6675 section 4 (losses); the lowest
 * round trip first is Linux' default.
 * **Not modelled** Handshakes, byte numbers, delayed acknowledgements, receive windows; an Rto
 * by round trips; subflows by several ports of a host.
 */
class MptcpTransport final : public fabric::MessageTransport<MptcpOutbound, fabric::Inbound>
{
  public:
    static TypeId GetTypeId();

  private:
    void Begin(MptcpOutbound& out) override;
    bool MaySend(const MptcpOutbound& out) const override;
    void Stamp(MptcpOutbound& out, fabric::FrameId data) override;
    void LearnMore(fabric::Outbound& out, fabric::FrameId id, fabric::Answer& answer) override;
    void JudgeLosses(MptcpOutbound& out, fabric::Answer& answer) override;
    void OnTimeout(MptcpOutbound& out, fabric::Answer& lost) override;
    void OnDeadline(MptcpOutbound& out) override;

    uint32_t Choose(const MptcpOutbound& out) const;
    void Reduce(MptcpOutbound& out, uint32_t index, uint32_t number);
    void Lose(MptcpOutbound& out,
              MptcpSubflow& subflow,
              uint32_t number,
              fabric::CongestionControl::Loss how,
              fabric::Answer& answer);
    void GiveUp(MptcpOutbound& out, uint32_t index, fabric::Answer& lost);
    uint64_t DuePs(const MptcpSubflow& subflow) const;

    uint32_t m_subflows{0};
    uint32_t m_initialPackets{0};
};

} // namespace ns3

#endif // MPTCP_TRANSPORT_H
