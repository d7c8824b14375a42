// SPDX-License-Identifier: GPL-2.0-only

#ifndef MRC_TRANSPORT_H
#define MRC_TRANSPORT_H

#include "mrc-connection.h"

#include "ns3/message-transport.h"
#include "ns3/selective-answers.h"

#include <map>
#include <string>

namespace ns3
{

/// State of an MrcTransport's message at its source.
struct MrcOutbound : fabric::Outbound
{
    MrcConnection* connection{nullptr};  ///< That it shares with others to the same host
    mutable bool hasRefused{false};      ///< A port asked when it was not its turn
};

/// State of an MrcTransport's message at its destination.
struct MrcInbound : fabric::Inbound
{
    fabric::selective::Unanswered unanswered;
};

/**
 * @ingroup mrc
 * @brief A transport like MRC: sprayed by entropies that have states, equally over all ports.
 *
 * Each packet takes the next entropy of MrcEntropies, by a port whose turn it is by MrcConnection.
 * The destination answers as selective-answers.h says, and adds which of its ports are down; a
 * trimmed packet is answered at once, with whether that was next to the destination (NACK reasons
 * TRIMMED and TRIMMED_LASTHOP). A mark, or a trim elsewhere, makes an entropy SKIP. A packet that
 * was overtaken by more than ReorderPackets, or not answered for Rto, makes it ASSUMED_BAD unless
 * its port is known to be down. Those are probed every ProbeInterval, one at a time. Congestion
 * control is that of the message, as a rule ns3::Nscc.
 *
 * **Source** What is public of the OCP specification "Multipath Reliable Connection" 1.0, March
 * 2026, and Araujo et al., "Resilient AI Supercomputer Networking using MRC and SRv6", arXiv
 * 2605.04333: ns3-modules/mrc/README.md names the source of each rule.
 * **Not modelled** The specification itself was not read, so this is a transport like MRC. A window
 * for all messages to a host, a timer for each packet, transport ACKs, penalties of a receiver,
 * receivers that run out of resources (NACK reasons NO_BITMAP, NO_PKT_BUFFER, NO_RESOURCE),
 * entropies of their own for answers, probes by a controller.
 */
class MrcTransport final : public fabric::MessageTransport<MrcOutbound, MrcInbound>
{
  public:
    static TypeId GetTypeId();
    void Check() const override;

    Traits GetTraits() const override
    {
        Traits traits = MessageTransport::GetTraits();
        traits.wire.ackInterval =
            fabric::selective::PacketsPerAnswer(m_ackEveryBytes, m_mtuBytes + m_headerBytes);
        traits.spreadsOverPorts = true;
        traits.keepsOrder = false;
        traits.entropies = m_isSourceRouted ? fabric::PathSelector::ONE_FOR_EACH_PATH
                                            : std::max(2U, m_entropies); // of each port, and others
        return traits;
    }

  private:
    static constexpr uint8_t PROBE = FAMILY; ///< Kind of a probe, and of its answer

    static TypeId AddPaths(TypeId tid); ///< Attributes of entropies and probes

    void DoAttach() override;

    // ---- source
    void Begin(MrcOutbound& out) override;
    bool MaySend(const MrcOutbound& out) const override;
    bool MayLeaveBy(const MrcOutbound& out, fabric::PortId port) const override;
    void Stamp(MrcOutbound& out, fabric::FrameId data, fabric::PortId port) override;
    void LearnMore(fabric::Outbound& out, fabric::FrameId id, fabric::Answer& answer) override;
    void JudgeLosses(MrcOutbound& out, fabric::Answer& answer) override;
    void OnTimeout(MrcOutbound& out, fabric::Answer& lost) override;
    void OnControl(MrcOutbound& out, fabric::FrameId probe) override;
    void OnDeadline(MrcOutbound& out) override;

    // ---- destination
    void OnPayload(MrcInbound& in, fabric::FrameId id, fabric::PortId port, uint32_t) override;
    void OnTrimmed(MrcInbound& in, fabric::FrameId id, fabric::PortId port) override;
    void OnRequest(MrcInbound& in, fabric::FrameId probe, fabric::PortId port) override;

    MrcConnection Connect(uint32_t message) const;
    uint32_t PortsUp(uint32_t dst) const;
    uint32_t AliveOf(const MrcOutbound& out) const;
    uint16_t PathOf(uint32_t message, fabric::PortId port, uint16_t entropy) const;
    void Blame(MrcOutbound& out, uint32_t packet);
    void Await(MrcOutbound& out);
    void Acknowledge(MrcInbound& in, fabric::FrameId id, fabric::PortId port, uint8_t kind);

    uint32_t m_entropies{0};
    double m_leastActiveShare{0};
    bool m_isSourceRouted{false};
    uint32_t m_probeSuccesses{0};
    uint32_t m_psnRange{0};
    uint32_t m_ackEveryBytes{0};
    uint64_t m_probeIntervalPs{0};
    Time m_probeInterval;
    std::string m_denylist;
    std::map<uint32_t, MrcConnection> m_connections; ///< By dense index of the other host
};

} // namespace ns3

#endif // MRC_TRANSPORT_H
