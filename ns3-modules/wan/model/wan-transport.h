// SPDX-License-Identifier: GPL-2.0-only

#ifndef WAN_TRANSPORT_H
#define WAN_TRANSPORT_H

#include "block-code.h"

#include "ns3/message-transport.h"

#include <vector>

namespace ns3
{

/**
 * @defgroup wan A transport for long-haul links
 */

/// State of a WanTransport's message at its source.
struct WanOutbound : fabric::Outbound
{
    uint32_t dataPackets{0};    ///< Without parity
    uint32_t judged{0};         ///< Packets below this were looked at for loss
    std::vector<uint16_t> lost; ///< Of each block: packets lost and not sent again
};

/// State of a WanTransport's message at its destination.
struct WanInbound : fabric::Inbound
{
    uint32_t dataPackets{0};       ///< Without parity
    std::vector<uint16_t> arrived; ///< Of each block, copies may be counted twice
};

/**
 * @ingroup wan
 * @brief A sender that has been admitted to a rate and keeps it; selective repeat; optional FEC.
 *
 * There is no window: what is in flight is rate times round trip. Each packet is acknowledged by
 * its number. With ParityPackets a message is sent in blocks of an erasure code (BlockCode), parity
 * on top of the admitted rate; of a block that has lost more packets than it has parity as many are
 * sent again as it needs.
 *
 * **Source** Our own; admission as in B4 (SIGCOMM 2013), block code as in RFC 5510.
 * **Not modelled** The time to encode and decode; how the rate is negotiated; payload.
 */
class WanTransport final : public fabric::MessageTransport<WanOutbound, WanInbound>
{
  public:
    static TypeId GetTypeId();

  private:
    void DoAttach() override;
    uint32_t Packets(uint64_t bytes) const override;
    void Begin(WanOutbound& out) override;
    void Stamp(WanOutbound& out, fabric::FrameId data, fabric::PortId port) override;
    void JudgeLosses(WanOutbound& out, fabric::Answer& answer) override;
    void OnTimeout(WanOutbound& out, fabric::Answer& lost) override;
    void OnFirst(WanInbound& in) override;
    void OnPayload(WanInbound& in,
                   fabric::FrameId data,
                   fabric::PortId port,
                   uint32_t expected) override;

    uint64_t AdmittedBps(const WanOutbound& out) const;
    void Decode(WanInbound& in, uint32_t packet);

    BlockCode m_code;
    uint64_t m_rateBps{0};
    double m_nicShare{0};
    uint32_t m_blockPackets{0};
    uint32_t m_parityPackets{0};
    uint32_t m_interleave{0};
};

} // namespace ns3

#endif // WAN_TRANSPORT_H
